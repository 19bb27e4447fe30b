"""Forest plots of everything with an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from unmask.reports.charts.svg import (
    NARROW,
    Axis,
    Chart,
    Words,
    around,
    chart,
    fitted,
    line,
    path,
    shortened,
    tag,
    text,
    tick,
)
from unmask.reports.words import attack_rate, finding_badge, kind, number
from unmask.results.grid import Cell, Grid, Role
from unmask.results.policy import Policy
from unmask.results.result import Result
from unmask.results.state import DOUBT

MOST = 30  # lines of a forest plot


@dataclass(frozen=True)
class Row:
    """A line of a forest plot."""

    label: str
    value: float
    low: float
    high: float
    other: float | None = None  # a mark to compare with: guessing, or a claim
    class_: str = "none"
    shape: str = ""
    hollow: bool = False


def rows_of(result: Result) -> list[Row]:
    """Findings about attacks, the largest gain first; guessing is marked where it is known."""
    rows = []
    for finding in result.findings:
        if finding.name == DOUBT or kind(finding) == "dp claim" or (finding.control and attack_rate(finding) is None):
            continue  # no gain of an attack
        estimate = finding.estimate
        control = finding.control.value if finding.control else 0.0
        guess = finding.baseline.value - control if finding.baseline else None
        rows.append(
            Row(
                finding.name,
                estimate.value,
                estimate.low,
                estimate.high,
                guess,
                str(finding.severity),
                finding_badge(finding, result).shape,
                finding.control is None,
            )
        )
    return sorted(rows, key=lambda row: -row.value)


def grid_chart(name: str, grid: Grid) -> Chart | None:
    """A table that says which column is an estimate and which hold its interval; None for others and for a single line."""
    found = [place for role in (Role.ESTIMATE, Role.AUC) for place in grid.places(role)]
    lows, highs, claims = (grid.places(role) for role in (Role.LOW, Role.HIGH, Role.CLAIM))
    if not (found and lows and highs):
        return None
    estimate, low, high = found[0], lows[0], highs[0]
    names = [place for place in range(estimate) if all(_number(row[place]) is None for row in grid.rows)]
    rows = []
    for cells in grid.rows:
        value, bottom, top = (_number(cells[place]) for place in (estimate, low, high))
        if value is not None and bottom is not None and top is not None:
            label = " · ".join(str(cells[place]) for place in names if cells[place] is not None) or str(cells[0])
            rows.append(Row(label, value, bottom, top, _number(cells[claims[0]]) if claims else None))
    if len(rows) < 2:
        return None
    base = 0.5 if grid.roles[estimate] is Role.AUC else 0.0
    other = grid.columns[claims[0]] if any(row.other is not None for row in rows) else ""
    return forest_chart(name, grid.title, rows, x_label=grid.columns[estimate], other=other, base=base)


def _number(cell: Cell) -> float | None:
    if isinstance(cell, bool) or not isinstance(cell, int | float) or math.isnan(cell):
        return None
    return float(cell)


def forest_chart(
    name: str,
    title: str,
    rows: Sequence[Row],
    *,
    x_label: str,
    policy: Policy | None = None,
    other: str = "",
    base: float = 0.0,
) -> Chart:
    """Estimates with intervals under one another. With a policy it is drawn where severity begins; `base` is where nothing is."""
    rows, every = list(rows)[:MOST], len(rows)
    places = [value for row in rows for value in (row.value, row.low, row.high, row.other) if value is not None]
    axis = around([*places, base, *((policy.high,) if policy else ())], zero=base == 0)

    def draw(width: int) -> tuple[int, list[Markup]]:
        return _forest(width, rows, axis, x_label, policy, base)

    most, least = max(rows, key=lambda row: row.value), min(rows, key=lambda row: row.value)
    above = sum(row.low > base for row in rows)
    words = Words(
        name, title,
        f"{f'The first {MOST} of {every}. ' if every > MOST else ''}Highest: {_told(most)}. Lowest: {_told(least)}. "
        f"{above} of {len(rows)} intervals lie above {number(base)}.",
    )  # fmt: skip
    legend = [("square", "estimate and interval")]
    if any(row.other is not None for row in rows) and other:
        legend.append(("other", other))
    if any(row.hollow for row in rows):
        legend.append(("square hollow", "plain success: no control to compare with"))
    return chart(words, draw, None, legend if len(legend) > 1 else ())


def _told(row: Row) -> str:
    return f"{row.label} {number(row.value)} ({number(row.low)} to {number(row.high)})"


def _forest(
    width: int, rows: Sequence[Row], axis: Axis, x_label: str, policy: Policy | None, base: float
) -> tuple[int, list[Markup]]:
    narrow = width <= NARROW
    most = 300.0 if any(row.label.count(" · ") > 1 for row in rows) else 260.0
    labels = 0.0 if narrow else min(most, max(110.0, 12 + 7.4 * max(len(row.label) for row in rows)))
    step, top = (42.0, 40.0 if policy else 18.0) if narrow else (26.0, 30.0 if policy else 12.0)
    height = int(top + step * len(rows) + 46)
    bottom = height - 46.0
    x = axis.between(labels + 14, width - (14.0 if narrow else 176.0))
    parts = []
    for value in x.ticks(4 if narrow else 5):
        parts += [
            line(x(value), top, x(value), bottom, "grid"),
            text(x(value), bottom + 17, tick(value, x, False), class_="tick middle"),
        ]
    parts.append(line(x(base), top, x(base), bottom, "axis"))
    if policy:
        for value, word in ((policy.medium, "medium"), (policy.high, "high")):
            parts.append(line(x(value), top - 6, x(value), bottom, "mark"))
            # On a phone there is no room to the left, so that one word stands above the other.
            left = word == "medium" and not narrow
            above = 26 if word == "medium" and narrow else 12
            parts.append(text(x(value) + (-2 if left else 2), top - above, word, class_="tick end" if left else "tick"))
    for place, row in enumerate(rows):
        y = top + step * (place + 0.5) + (9 if narrow else 0)
        if narrow:
            parts.append(text(2, y - 13, fitted(row.label, width - 84), class_="label halo"))
            parts.append(text(width - 4, y - 13, f"{row.shape} {number(row.value)}", class_="label end halo"))
        else:
            parts.append(text(labels, y + 4, fitted(row.label, labels - 6), class_="label end"))
            interval = f"{row.shape} {number(row.value)} ({number(row.low)} to {number(row.high)})"
            parts.append(text(width - 4, y + 4, interval, class_="tick end"))
        parts += _interval(x, y, row)
    parts.append(text((x.start + x.end) / 2, height - 8, shortened(x_label, width - 20), class_="label middle"))
    return height, parts


def _interval(x: Axis, y: float, row: Row) -> list[Markup]:
    middle, hollow = x(row.value), " hollow" if row.hollow else ""
    parts = [
        line(x(row.low), y, x(row.high), y, f"interval {row.class_}"),
        tag("rect", x=middle - 4, y=y - 4, width=8, height=8, class_=f"square {row.class_}{hollow}"),
    ]
    if math.isinf(row.high):
        parts.append(path([(x.end - 6, y - 4), (x.end, y), (x.end - 6, y + 4)], f"interval {row.class_}"))
    if row.other is not None:
        place = x(row.other)
        parts.append(path([(place, y - 6), (place + 5, y), (place, y + 6), (place - 5, y)], "other", closed=True))
    return parts
