"""From kinds of series and tables to charts. A new chart is a file here and a line in `DRAWN`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from unmask.reports.charts.card import card_chart
from unmask.reports.charts.forest import Row, forest_chart, grid_chart, rows_of
from unmask.reports.charts.heat import heat_chart
from unmask.reports.charts.histograms import distance_chart, histogram_chart
from unmask.reports.charts.lines import ecdf_chart, finite, line_chart, power_chart, wealth_chart
from unmask.reports.charts.mechanisms import sweep_chart, targets_chart, tradeoff_grid_chart
from unmask.reports.charts.risk import risk_chart
from unmask.reports.charts.roc import roc_chart
from unmask.reports.charts.scatter import scatter_chart
from unmask.reports.charts.svg import Chart
from unmask.reports.charts.tradeoff import tradeoff_chart
from unmask.results.grid import Grid, GridKind, Series, SeriesKind

__all__ = ["Chart", "Row", "card_chart", "chart_of_grid", "charts_of", "forest_chart", "rows_of", "subject_of"]

Draw = Callable[[str, str, Sequence[Series]], Chart]  # id, what the names of the series share, the series

DRAWN: dict[SeriesKind, Draw] = {
    SeriesKind.LINE: line_chart,
    SeriesKind.ROC: roc_chart,
    SeriesKind.ECDF: ecdf_chart,
    SeriesKind.HISTOGRAM: histogram_chart,
    SeriesKind.DISTANCES: distance_chart,
    SeriesKind.RISK: risk_chart,
    SeriesKind.WEALTH: wealth_chart,
    SeriesKind.POWER: power_chart,
    SeriesKind.SCATTER: scatter_chart,
    SeriesKind.TRADEOFF: tradeoff_chart,
}
DRAWN_GRIDS: dict[GridKind, Callable[[str, Grid], Chart | None]] = {
    GridKind.TRADEOFF: tradeoff_grid_chart,
    GridKind.TARGETS: targets_chart,
    GridKind.SWEEP: sweep_chart,
}
ALONE = frozenset({SeriesKind.RISK})  # each of these series has a chart to itself


def charts_of(series: Sequence[Series]) -> list[tuple[Series, Chart]]:
    """Every chart, with its first series: that says where the chart stands and of which kind it is.

    Series of one kind and section that share all but the last part of their name share a chart.
    """
    together: dict[tuple[str, str, str], list[Series]] = {}
    for one in series:
        if finite(one).x:
            shared = one.name if one.kind in ALONE else one.name.rpartition("/")[0] or one.name
            together.setdefault((one.section, one.kind, shared), []).append(one)
    return [
        (members[0], DRAWN[members[0].kind](f"chart-{slug('/'.join(key))}", subject_of(members[0]), members))
        for key, members in together.items()
    ]


def subject_of(series: Series) -> str:
    """What a chart is about: the parts of a name between the first and the last, which tells its lines apart."""
    return series.name.partition("/")[2].rpartition("/")[0]


def chart_of_grid(grid: Grid) -> Chart | None:
    """A chart of its kind, or a forest plot of estimates with their intervals; None for tables that are to be read."""
    name = f"table-{slug(grid.name)}"
    if grid.kind in DRAWN_GRIDS:
        return DRAWN_GRIDS[grid.kind](name, grid)
    if grid.kind is GridKind.HEAT:
        return heat_chart(name, grid.title, grid) if grid.rows and len(grid.columns) > 1 else None
    return grid_chart(name, grid)


def slug(text: str) -> str:
    """A name that can be an id; texts that differ only in signs get different ones."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40]
    if plain == text:
        return plain
    return f"{plain}-{sum((place + 1) * ord(sign) for place, sign in enumerate(text[:400])) % 100_000}"
