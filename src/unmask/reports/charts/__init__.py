"""From names of series and tables to charts: README.md beside this package lists them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unmask.reports.charts.bars import histogram_chart, risk_chart, scores_chart
from unmask.reports.charts.fields import heat_chart, tradeoff_chart
from unmask.reports.charts.intervals import Row, card_chart, forest_chart, rows_of, rows_of_grid
from unmask.reports.charts.lines import claim_chart, ecdf_chart, finite, line_chart, power_chart, roc_chart
from unmask.reports.charts.svg import Chart
from unmask.results.grid import Grid, Series

__all__ = ["Chart", "Row", "card_chart", "chart_of_grid", "charts_of", "forest_chart", "heat_chart", "rows_of"]

COUNTED = ("people", "persons", "records", "rows", "count", "number", "attempts", "releases")

Draw = Callable[[str, str, Sequence[Series]], Chart]


@dataclass(frozen=True)
class Family:
    """What a prefix of series names means: where the chart stands, how it is drawn, and its title."""

    section: str
    draw: Draw
    title: str = ""  # empty: that of the series


FAMILIES = {
    "roc": Family("detail", roc_chart, "People recognised, against false alarms"),
    "ecdf": Family("detail", ecdf_chart),
    "histogram": Family("detail", scores_chart),
    "reconstruction": Family("detail", lambda name, title, series: line_chart(name, title, series)),
    "risk": Family("risk", lambda name, title, series: risk_chart(name, title, series[0])),
    "epsilon": Family("epsilon", claim_chart, "Bound on epsilon, against the claim"),
    "wealth": Family("epsilon", claim_chart),
    "power": Family("sound", power_chart, "How large a leak this audit sees"),
    "tradeoff": Family("utility", tradeoff_chart, "Each mark is one release"),
}


def charts_of(series: Sequence[Series]) -> list[tuple[str, Chart]]:
    """Every chart with its section. Series that share all but the last part of their name share a chart."""
    together: dict[str, list[Series]] = {}
    for one in series:
        if finite(one).x:
            key = one.name if one.name.startswith("risk/") else one.name.rpartition("/")[0] or one.name
            together.setdefault(key, []).append(one)
    return [_chart(key, members) for key, members in together.items()]


def _chart(key: str, series: list[Series]) -> tuple[str, Chart]:
    prefix, _, rest = key.partition("/")
    name = f"chart-{slug(key)}"
    family = FAMILIES.get(prefix)
    if family is not None:
        title = family.title or _common(series, prefix, rest)
        if family.title and rest and prefix != "risk":
            title = f"{family.title}: {rest}"
        return family.section, family.draw(name, title, series)
    counted = series[0].y_label.lower() in COUNTED
    draw: Draw = (lambda *given: histogram_chart(*given)) if counted else lambda *given: line_chart(*given)
    return "detail", draw(name, _common(series, prefix, rest), series)


def _common(series: Sequence[Series], prefix: str, rest: str) -> str:
    """The title of one series, or what several are about."""
    if len(series) == 1:
        return series[0].title
    if prefix == "histogram":
        return f"Scores of {rest}" if rest else series[0].x_label
    return f"Distribution of {series[0].x_label}" if prefix == "ecdf" else (rest or series[0].y_label)


def chart_of_grid(grid: Grid) -> Chart | None:
    """A chart for tables of numbers with `low` and `high`, and for `heat/...`."""
    name = f"table-{slug(grid.name)}"
    if grid.name.startswith("heat/"):
        return heat_chart(name, grid.title, grid) if grid.rows and len(grid.columns) > 1 else None
    rows = rows_of_grid(grid)
    if len(rows) < 2 or all(row.label.count(" · ") > 1 for row in rows):
        return None  # labels of three parts do not fit beside a plot: the table says it better
    label = grid.columns[[head.lower() for head in grid.columns].index("low") - 1]
    other = "claim" if any(row.other is not None for row in rows) else ""
    return forest_chart(name, grid.title, rows, x_label=label, other=other, base=0.5 if "auc" in label.lower() else 0.0)


def slug(text: str) -> str:
    """A name that can be an id; texts that differ only in signs get different ones."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40]
    if plain == text:
        return plain
    return f"{plain}-{sum((place + 1) * ord(sign) for place, sign in enumerate(text[:400])) % 100_000}"
