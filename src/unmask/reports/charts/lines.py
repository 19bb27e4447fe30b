"""Charts with lines: distributions, power, evidence against a claim, anything else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from markupsafe import Markup

from unmask.reports.charts.svg import LINES, Axis, Chart, Words, around, chart, frame, line, path, text
from unmask.reports.words import number, plural, sentence
from unmask.results.grid import Cell, Grid, Series

POINTS = 160  # points of one line that can be told apart in print
WIDTH = 3.0  # of a line with the gap beside it
NUMBERS = 24  # lines of the table of numbers

Point = tuple[float, float]


@dataclass(frozen=True)
class Mark:
    """A horizontal line that means something, such as a goal."""

    value: float
    label: str


def lines(
    words: Words,
    series: Sequence[Series],
    *,
    steps: bool = False,
    share: tuple[bool, bool] = (False, False),
    y_range: tuple[float, float] | None = None,
    mark: Mark | None = None,
) -> Chart:
    """Lines in one frame; lines beyond the sixth are grey."""
    series = [finite(one) for one in series]
    all_y = [value for one in series for value in one.y] + ([mark.value] if mark else [])
    x = around((value for one in series for value in one.x), room=0)
    y = Axis(*y_range) if y_range else around(all_y, zero=min(all_y, default=0.0) >= 0)

    def draw(width: int) -> tuple[int, list[Markup]]:
        height = 300
        across, up, parts = frame(x, y, series[0].x_label, series[0].y_label, width, height, share=share)
        if mark is not None:
            parts += [
                line(across.start, up(mark.value), across.end, up(mark.value), "mark"),
                text(across.end, up(mark.value) - 6, mark.label, class_="tick end"),
            ]
        placed = [[(across(a), up(b)) for a, b in zip(*thinned(one), strict=True)] for one in series]
        for place, points in side_by_side(placed):
            parts += line_of(stairs(points) if steps else points, place)
        return height, parts

    return chart(words, draw, numbers_of(series), legend_of(series))


def side_by_side(lines: Sequence[Sequence[Point]]) -> list[tuple[int, list[Point]]]:
    """Lines of which none hides another, with their places: what would lie on an earlier line is moved up by its width.

    In the order in which they are drawn: grey ones, the solid one, dashed ones. Where two lines touch for a while, one shows
    between the dashes of the other.
    """
    drawn: list[set[tuple[int, int]]] = []
    moved: list[tuple[int, list[Point]]] = []
    for place, points in enumerate(lines):
        spots = {(round(x), round(y)) for x, y in points}
        same = sum(len(spots & other) > 1 and 2 * len(spots & other) >= min(len(spots), len(other)) for other in drawn)
        drawn.append(spots)
        moved.append((place, [(x, y - WIDTH * same) for x, y in points]))
    return [*moved[LINES:], *moved[:LINES]]


def line_of(points: Sequence[tuple[float, float]], place: int) -> list[Markup]:
    """A line, or a dot where there is but one point."""
    if len(points) == 1:
        (x, y) = points[0]
        return [line(x - 0.1, y, x + 0.1, y, f"{style(place)} dot")]
    return [path(points, style(place))] if points else []


def line_chart(name: str, about: str, series: Sequence[Series]) -> Chart:
    """Whatever has no chart of its own."""
    series = [finite(one) for one in series]
    return lines(Words(name, title_of(series, about or series[0].y_label), _describe(series)), series)


def ecdf_chart(name: str, _about: str, series: Sequence[Series]) -> Chart:
    """Shares of people up to a value, as steps."""
    told = (
        "Each line rises to the share of rows whose value is at most that on the axis. "
        "A line further left has smaller values."
    )
    words = Words(name, title_of(series, f"Distribution of {series[0].x_label}"), told)
    return lines(words, series, steps=True, share=(False, True), y_range=(0.0, 1.0))


def power_chart(name: str, about: str, series: Sequence[Series]) -> Chart:
    """How often a planted leak is seen, by its size."""
    told = (
        "How often this audit sees a leak that was planted, by the size of the leak. Equal lines stand a little apart."
    )
    words = Words(name, subject("How large a leak this audit sees", about), told)
    return lines(words, series, share=(True, True), y_range=(0.0, 1.0), mark=Mark(0.8, "seen in 8 of 10 runs"))


def wealth_chart(name: str, about: str, series: Sequence[Series]) -> Chart:
    """Evidence against a claim as runs come in; its title says where the claim is refuted."""
    series = [finite(one) for one in series]
    last = ", ".join(f"{label(one)} ends at {number(one.y[-1])}" for one in series[:LINES])
    told = f"{sentence(series[0].title)} {sentence(last)}"
    return lines(Words(name, title_of(series, about or series[0].y_label), told), series)


def title_of(series: Sequence[Series], several: str) -> str:
    """The title of one series, or what several are about."""
    return series[0].title if len(series) == 1 else several


def subject(title: str, about: str) -> str:
    """A title of its own, with what the chart is about where that is known."""
    return f"{title}: {about}" if about else title


def stairs(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points of a step function that jumps at each x."""
    made = list(points[:1])
    for (_, before), (x, y) in pairwise(points):
        made += [(x, before), (x, y)]
    return made


def finite(series: Series) -> Series:
    """Without points that no paper has a place for."""
    points = [(x, y) for x, y in zip(series.x, series.y, strict=False) if math.isfinite(x) and math.isfinite(y)]
    return replace(series, x=tuple(x for x, _ in points), y=tuple(y for _, y in points))


def thinned(series: Series, most: int = POINTS) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Evenly chosen points, with the first and the last."""
    places = _places(len(series.x), most)
    return tuple(series.x[place] for place in places), tuple(series.y[place] for place in places)


def _places(count: int, most: int) -> list[int]:
    if count <= most:
        return list(range(count))
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)})


def numbers_of(series: Sequence[Series]) -> Grid:
    """The numbers behind lines: one column per line where they share their x, else one line per point."""
    shared = all(one.x == series[0].x for one in series)
    places = _places(len(series[0].x), NUMBERS)
    note = (
        ""
        if len(series[0].x) <= NUMBERS
        else f"; every {len(series[0].x) // NUMBERS + 1}th point or so, all are in result.json"
    )
    rows: list[tuple[Cell, ...]] = []
    if shared:
        rows = [(_round(series[0].x[place]), *(_round(one.y[place]) for one in series)) for place in places]
        heads = (series[0].x_label, *(label(one) for one in series))
        return Grid("numbers", f"Numbers{note}", heads, tuple(rows))
    for one in series:
        rows += [(label(one), _round(one.x[place]), _round(one.y[place])) for place in _places(len(one.x), NUMBERS)]
    return Grid("numbers", f"Numbers{note}", ("line", series[0].x_label, series[0].y_label), tuple(rows))


def _round(value: float) -> float:
    return float(f"{value:.4g}")


def legend_of(series: Sequence[Series]) -> list[tuple[str, str]]:
    """Which line is which; one line needs no legend."""
    if len(series) < 2:
        return []
    named = [(style(place), label(one)) for place, one in enumerate(series[:LINES])]
    rest = len(series) - LINES
    return [*named, ("line more", f"{plural(rest, 'other')}, grey")] if rest > 0 else named


def style(place: int) -> str:
    """Class of the line at a place."""
    return f"line line-{place + 1}" if place < LINES else "line more"


def label(series: Series) -> str:
    """What tells a line from the others of its chart: the last part of its name."""
    return series.name.rpartition("/")[2] or series.title


def _describe(series: Sequence[Series]) -> str:
    parts = []
    for one in series[:LINES]:
        if one.y:
            parts.append(f"{label(one)}: from {number(min(one.y))} to {number(max(one.y))}")
    return f"{sentence(f'{series[0].y_label} by {series[0].x_label}')} {sentence('; '.join(parts))}"
