"""Charts of estimates: the bar of a card, and forest plots of everything with an interval."""

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
    line,
    path,
    shortened,
    tag,
    text,
    tick,
)
from unmask.reports.words import SHAPES, attack_rate, kind, number, short
from unmask.results.grid import Cell, Grid
from unmask.results.policy import Policy
from unmask.results.result import Finding

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


def rows_of(findings: Sequence[Finding]) -> list[Row]:
    """Findings about attacks, the largest gain first; guessing is marked where it is known."""
    rows = []
    for finding in findings:
        if kind(finding) == "dp claim" or (finding.control is not None and attack_rate(finding) is None):
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
                SHAPES[finding.severity],
                finding.control is None,
            )
        )
    return sorted(rows, key=lambda row: -row.value)


def rows_of_grid(grid: Grid) -> list[Row]:
    """Lines of a table that has a number, `low` and `high` side by side; `claim` becomes a mark."""
    heads = [head.lower() for head in grid.columns]
    if "low" not in heads or "high" not in heads or heads.index("low") < 1 or not grid.rows:
        return []
    low, high = heads.index("low"), heads.index("high")
    other = heads.index("claim") if "claim" in heads else None
    texts = [place for place in range(low - 1) if all(_number(row[place]) is None for row in grid.rows)]
    rows = []
    for cells in grid.rows:
        value, bottom, top = (_number(cells[place]) for place in (low - 1, low, high))
        if value is not None and bottom is not None and top is not None:
            label = " · ".join(str(cells[place]) for place in texts if cells[place] is not None) or str(cells[0])
            rows.append(Row(label, value, bottom, top, None if other is None else _number(cells[other])))
    return rows


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
    thresholds: bool = False,
    other: str = "",
    base: float = 0.0,
) -> Chart:
    """Estimates with intervals under one another. `thresholds` draws where severity begins, `base` is where nothing is."""
    rows, every = list(rows)[:MOST], len(rows)
    places = [value for row in rows for value in (row.value, row.low, row.high, row.other) if value is not None]
    axis = around([*places, base, *((Policy().high,) if thresholds else ())], zero=base == 0)

    def draw(width: int) -> tuple[int, list[Markup]]:
        return _forest(width, rows, axis, x_label, thresholds, base)

    best, many = rows[0], f"The first {MOST} of {every}" if every > MOST else str(every)
    words = Words(
        name, title,
        f"{many} estimates with their intervals. {best.label}: {number(best.value)}, "
        f"interval {number(best.low)} to {number(best.high)}.",
    )  # fmt: skip
    legend = [("square", "estimate and interval")]
    if any(row.other is not None for row in rows) and other:
        legend.append(("other", other))
    if any(row.hollow for row in rows):
        legend.append(("square hollow", "plain success: no control to compare with"))
    return chart(words, draw, None, legend if len(legend) > 1 else ())


def _forest(
    width: int, rows: Sequence[Row], axis: Axis, x_label: str, thresholds: bool, base: float
) -> tuple[int, list[Markup]]:
    narrow = width <= NARROW
    labels = 0.0 if narrow else min(260.0, max(110.0, 12 + 7.4 * max(len(row.label) for row in rows)))
    step, top = (42.0, 40.0 if thresholds else 18.0) if narrow else (26.0, 30.0 if thresholds else 12.0)
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
    if thresholds:
        for value, word in ((Policy().medium, "medium"), (Policy().high, "high")):
            parts.append(line(x(value), top - 6, x(value), bottom, "mark"))
            # On a phone there is no room to the left, so that one word stands above the other.
            left = word == "medium" and not narrow
            above = 26 if word == "medium" and narrow else 12
            parts.append(text(x(value) + (-2 if left else 2), top - above, word, class_="tick end" if left else "tick"))
    for place, row in enumerate(rows):
        y = top + step * (place + 0.5) + (9 if narrow else 0)
        if narrow:
            parts.append(text(2, y - 13, shortened(row.label, width - 84), class_="label halo"))
            parts.append(text(width - 4, y - 13, f"{row.shape} {number(row.value)}", class_="label end halo"))
        else:
            parts.append(text(labels, y + 4, shortened(row.label, labels - 6), class_="label end"))
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


CARD, BAR = 260, 46


def card_chart(name: str, finding: Finding, title: str) -> Markup:
    """The bar of a card: from the control to the attack, with the interval and a mark for guessing. Labels stand beside it."""
    estimate, rate = finding.estimate, attack_rate(finding)
    if rate is not None and finding.control is not None:
        control = finding.control.value
        x = Axis(0.0, 1.0, 6.0, CARD - 6.0)
        low, high, value = control + estimate.low, control + estimate.high, rate
        guess = finding.baseline.value if finding.baseline else None
        described = f"On a scale from 0 to 100 in 100: control {short(100 * control)}, attack {short(100 * rate)}."
    else:
        control, low, high, value = 0.0, estimate.low, estimate.high, estimate.value
        guess = finding.baseline.value if finding.baseline else None
        finite = [one for one in (low, high, value, guess) if one is not None and math.isfinite(one)]
        top = 1.0 if kind(finding) != "dp claim" and max(finite, default=1.0) <= 1 else 1.15 * max(finite, default=1.0)
        x = Axis(0.0, top or 1.0, 6.0, CARD - 6.0)
        described = f"{number(value)}, from {number(low)} to {number(high)}."
    y = 17.0
    parts = [line(x.start, y, x.end, y, "track")]
    if finding.control is not None:
        parts.append(line(x(control), y, x(value), y, f"gain {finding.severity}"))
        parts.append(line(x(control), y - 10, x(control), y + 10, "control"))
    parts.append(line(x(low), y, x(high), y, f"interval {finding.severity}"))
    parts += [
        line(x(end), y - 5, x(end), y + 5, f"interval {finding.severity}") for end in (low, high) if math.isfinite(end)
    ]
    parts.append(tag("rect", x=x(value) - 5, y=y - 5, width=10, height=10, class_=f"square {finding.severity}"))
    if guess is not None:
        place = x(guess)
        parts.append(path([(place, y - 7), (place + 5, y), (place, y + 7), (place - 5, y)], "other", closed=True))
    scale = ("0", "50", "100 in 100") if x.high == 1 and kind(finding) != "dp claim" else ("0", "", short(x.high))
    for value_, word, side in ((0.0, scale[0], ""), (x.high / 2, scale[1], "middle"), (x.high, scale[2], "end")):
        parts.append(text(x(value_), BAR - 4, word, class_=f"tick {side}"))
    inside = [
        tag("title", f"{SHAPES[finding.severity]} {title}", id=f"{name}-title"),
        tag("desc", described, id=f"{name}-desc"),
        *parts,
    ]
    return tag(
        "svg",
        *inside,
        viewBox=f"0 0 {CARD} {BAR}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        class_="card-bar",
    )
