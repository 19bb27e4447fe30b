"""Mechanisms side by side: privacy against utility with the front, the gain of every target, and both by epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from unmask.reports.charts.lines import style
from unmask.reports.charts.svg import (
    LINES,
    NARROW,
    Axis,
    Chart,
    Words,
    around,
    chart,
    frame,
    line,
    path,
    shortened,
    text,
    tick,
)
from unmask.reports.charts.tradeoff import mark
from unmask.reports.words import number, short
from unmask.results.grid import Cell, Grid, Role

ROWS = 24  # of the chart of targets


@dataclass(frozen=True)
class Measured:
    """A number with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Spot:
    """A mechanism on paper."""

    name: str
    x: Measured
    y: Measured


def tradeoff_grid_chart(name: str, grid: Grid) -> Chart | None:
    """Two estimates of every line against each other, error bars, and the front: what no other beats on both by its values."""
    across, up = (_triples(grid) + [()] * 2)[:2]
    if not (across and up):
        return None
    spots = [
        Spot(str(row[0]), x, y) for row in grid.rows if (x := _measured(row, across)) and (y := _measured(row, up))
    ]
    if not spots:
        return None
    level = _level(grid)
    x_axis = around([value for spot in spots for value in (spot.x.low, spot.x.high)], room=0.06)
    y_axis = around([*level, *(value for spot in spots for value in (spot.y.low, spot.y.high))], room=0.1)
    along = _front(spots)

    def draw(width: int) -> tuple[int, list[Markup]]:
        height = 380 if width > NARROW else 340
        x, y, parts = frame(x_axis, y_axis, grid.columns[across[0]], grid.columns[up[0]], width, height)
        for value in level:
            parts.append(line(x.start, y(value), x.end, y(value), "axis"))
            parts.append(
                text(x.end - 2, y(value) + 14, grid.columns[grid.places(Role.CLAIM)[0]], class_="tick end halo")
            )
        if len(along) > 1:
            parts.append(path([(x(spot.x.value), y(spot.y.value)) for spot in along], "mark"))
        for place, spot in enumerate(spots):
            parts += _bars(x, y, spot, place)
        for place, spot in enumerate(spots):
            parts.append(mark(x(spot.x.value), y(spot.y.value), place))
        return height, parts + _labels(x, y, spots, width)

    ends = (
        f"{along[0].name} keeps most, {along[-1].name} hides most"
        if len(along) > 1
        else f"{along[0].name} beats all others"
    )
    told = (
        "Upper right is better. Bars are intervals, each for itself; the dashed line joins those that no other beats on both by "
        f"its value: {ends}."
    )
    legend = [
        (f"point {style(place)}" if place < LINES else "point more", spot.name)
        for place, spot in enumerate(spots[:LINES])
    ]
    return chart(Words(name, grid.title, told), draw, None, legend)


def _level(grid: Grid) -> list[float]:
    """What utility is compared with, the same for all lines: at most one number."""
    found = {row[place] for place in grid.places(Role.CLAIM)[:1] for row in grid.rows}
    return [float(value) for value in found if isinstance(value, int | float) and math.isfinite(value)][:1]


def _front(spots: Sequence[Spot]) -> list[Spot]:
    def better(one: Spot, other: Spot) -> bool:
        gains = one.x.value - other.x.value, one.y.value - other.y.value
        return min(gains) >= 0 and max(gains) > 0

    return sorted(
        (spot for spot in spots if not any(better(other, spot) for other in spots)), key=lambda spot: spot.x.value
    )


def _bars(x: Axis, y: Axis, spot: Spot, place: int) -> list[Markup]:
    class_ = f"bars {style(place)}"
    across, up = x(spot.x.value), y(spot.y.value)
    return [
        line(x(spot.x.low), up, x(spot.x.high), up, class_),
        line(across, y(spot.y.low), across, y(spot.y.high), class_),
    ]


def _labels(x: Axis, y: Axis, spots: Sequence[Spot], width: int) -> list[Markup]:
    """Names beside the marks, where one does not stand on another; the legend has all."""
    if width <= NARROW:
        return []
    parts, taken = (
        [],
        [(x(spot.x.value) - 7, y(spot.y.value) - 7, x(spot.x.value) + 7, y(spot.y.value) + 7) for spot in spots],
    )
    for spot in spots:
        long = 6.6 * len(spot.name)
        for right, above in ((True, True), (False, True), (True, False), (False, False)):
            left = x(spot.x.value) + (9 if right else -9 - long)
            base = y(spot.y.value) + (-8 if above else 18)
            box = (left, base - 12, left + long, base + 3)
            inside = left >= x.start and left + long <= width - 4 and y.end - 6 <= base - 10 and base <= y.start - 2
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                parts.append(text(left, base, spot.name, class_="tick halo"))
                break
    return parts


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def targets_chart(name: str, grid: Grid) -> Chart | None:
    """A line per mechanism and kind of target: a dot for each target, and the estimate for all of them with its interval."""
    triples = _triples(grid)
    if not triples or not grid.rows:
        return None
    place = triples[0]
    names = [at for at in range(place[0]) if grid.roles[at] is Role.TEXT]
    rows = [(row, found) for row in grid.rows[:ROWS] if (found := _measured(row, place))]
    dots = [[float(cell) for cell in row[place[2] + 1 :] if isinstance(cell, int | float)] for row, _ in rows]
    ends = [end for _, found in rows for end in (found.low, found.high)]
    axis = around([0.0, 1.0, *ends, *(each for row in dots for each in row)], room=0.02)
    kinds = list(dict.fromkeys(str(row[names[-1]]) for row, _ in rows))

    def draw(width: int) -> tuple[int, list[Markup]]:
        narrow = width <= NARROW
        labels = 0.0 if narrow else min(280.0, 24 + 7.0 * max(len(_label(row, names)) for row, _ in rows))
        step, top = (40.0 if narrow else 27.0), 26.0
        height = int(top + step * len(rows) + 46)
        bottom = height - 46.0
        x = axis.between(labels + 14, width - 16.0)
        parts = []
        for value in x.ticks(4 if narrow else 6):
            parts += [
                line(x(value), top, x(value), bottom, "grid"),
                text(x(value), bottom + 17, tick(value, x, False), class_="tick middle"),
            ]
        for value, words, side in ((0.0, "as raw", "tick"), (1.0, "not in the data", "tick end")):
            parts += [
                line(x(value), top - 6, x(value), bottom, "mark"),
                text(x(value), top - 12, words, class_=side),
            ]
        for at, ((row, found), points) in enumerate(zip(rows, dots, strict=True)):
            y = top + step * (at + 0.5) + (9 if narrow else 0)
            if narrow:
                parts.append(text(2, y - 12, shortened(_label(row, names), width - 8), class_="label halo"))
            else:
                parts.append(text(labels, y + 4, shortened(_label(row, names), labels - 4), class_="label end"))
            which = kinds.index(str(row[names[-1]]))
            parts.append(line(x(found.low), y, x(found.high), y, "interval none"))
            parts += [mark(x(each), y, which) for each in points]
            parts.append(line(x(found.value), y - 8, x(found.value), y + 8, "control"))
        parts.append(text((x.start + x.end) / 2, height - 8, grid.columns[place[0]], class_="label middle"))
        return height, parts

    worst = min(((value, _label(row, names)) for (row, _), points in zip(rows, dots, strict=True) for value in points),
                default=(math.nan, ""))  # fmt: skip
    told = (
        "0: as if the real table were published, 1: as if they were not in the data. Each mark is one target, never named; the "
        f"least is {number(worst[0])} ({worst[1]}). The interval is that of all of them."
    )
    legend = [*((f"point {style(which)}", f"a target: {kind}") for which, kind in enumerate(kinds[:LINES])),
              ("control", "all of them together")]  # fmt: skip
    return chart(Words(name, grid.title, told), draw, None, legend)


def _label(row: Sequence[Cell], names: Sequence[int]) -> str:
    return " · ".join(str(row[at]) for at in names)


def sweep_chart(name: str, grid: Grid) -> Chart | None:
    """Every line of what is told against the parameter, on a logarithmic axis where that is above 0, with intervals."""
    triples, by = _triples(grid), grid.places(Role.BY)
    if not triples or not by:
        return None
    place = triples[0]
    told = []
    for row in grid.rows:
        at, found = row[by[0]], _measured(row, place)
        if isinstance(at, int | float) and found:
            told.append((str(row[0]), float(at), found))
    if not told:
        return None
    values = [x for _, x, _ in told]
    log = min(values) > 0
    reach = (max(values) / min(values)) ** 0.08 if log else 0.0
    x_axis = Axis(min(values) / reach, max(values) * reach, log=True) if log and reach > 1 else around(values)
    y_axis = around([end for _, _, found in told for end in (found.low, found.high)], zero=True)
    lines = list(dict.fromkeys(what for what, _, _ in told))

    def draw(width: int) -> tuple[int, list[Markup]]:
        height = 320
        x, y, parts = frame(x_axis, y_axis, grid.columns[by[0]], "privacy gain, and what is kept", width, height)
        for which, what in enumerate(lines):
            points = [(x(at) + 3.0 * (which - (len(lines) - 1) / 2), found) for each, at, found in told if each == what]
            parts += [line(at, y(found.low), at, y(found.high), f"bars {style(which)}") for at, found in points]
            parts.append(path([(at, y(found.value)) for at, found in points], style(which)))
            parts += [mark(at, y(found.value), which) for at, found in points]
        return height, parts

    words = (
        f"From {grid.columns[by[0]]} {short(min(values))} to {short(max(values))}. Bars are intervals, each for itself."
    )
    legend = [(f"point {style(which)}", what) for which, what in enumerate(lines[:LINES])]
    return chart(Words(name, grid.title, words), draw, None, legend)


def _triples(grid: Grid) -> list[tuple[int, ...]]:
    """Places of every estimate with the ends of its interval."""
    places = (grid.places(role) for role in (Role.ESTIMATE, Role.LOW, Role.HIGH))
    return [tuple(each) for each in zip(*places, strict=False)]


def _measured(row: Sequence[Cell], places: Sequence[int]) -> Measured | None:
    """The estimate of a line; an end that is not known is the value itself."""
    cells = [row[place] for place in places]
    if isinstance(cells[0], bool) or not isinstance(cells[0], int | float) or not math.isfinite(cells[0]):
        return None
    value = float(cells[0])
    low, high = (float(cell) if isinstance(cell, int | float) and math.isfinite(cell) else value for cell in cells[1:])
    return Measured(value, low, high)
