"""Charts with lines: ROC on log axes, distributions, power, epsilon over runs, reconstruction, anything else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from markupsafe import Markup

from unmask.reports.charts.svg import LINES, Axis, Chart, Words, around, chart, frame, line, path, text
from unmask.reports.words import number, plural, sentence, short
from unmask.results.grid import Cell, Grid, Series

POINTS = 160  # points of one line that can be told apart in print
NUMBERS = 24  # lines of the table of numbers
LOWEST = 1e-4  # of an ROC curve on log axes


@dataclass(frozen=True)
class Mark:
    """A horizontal line that means something: a claim, a goal."""

    value: float
    label: str


def line_chart(
    name: str,
    title: str,
    series: Sequence[Series],
    *,
    description: str = "",
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
        for place, one in reversed(list(enumerate(series))):
            points = [(across(a), up(b)) for a, b in zip(*thinned(one), strict=True)]
            parts += _line(stairs(points) if steps else points, place)
        return height, parts

    return chart(Words(name, title, description or _describe(series)), draw, numbers_of(series), legend_of(series))


def _line(points: Sequence[tuple[float, float]], place: int) -> list[Markup]:
    """A line, or a dot where there is but one point."""
    if len(points) == 1:
        (x, y) = points[0]
        return [line(x - 0.1, y, x + 0.1, y, f"{style(place)} dot")]
    return [path(points, style(place))] if points else []


def roc_chart(name: str, title: str, series: Sequence[Series]) -> Chart:
    """True against false positive rate, both on log axes: what matters is the corner of few false alarms."""
    series = sorted((finite(one) for one in series), key=lambda one: -_recognised(one))
    least = min((value for one in series for value in one.x if value > 0), default=LOWEST)
    lowest = 10 ** math.floor(math.log10(max(least, LOWEST)) + 1e-9)
    axis = Axis(lowest, 1.0, log=True)

    def draw(width: int) -> tuple[int, list[Markup]]:
        height = 380 if width > 400 else 330
        x, y, parts = frame(
            axis, axis, "false alarms (false positive rate)", "recognised (true positive rate)", width, height
        )
        parts.append(path([(x(lowest), y(lowest)), (x(1), y(1))], "mark"))
        parts.append(text(x(lowest * 40), y(lowest * 12), "guessing", class_="tick"))
        for place, one in reversed(list(enumerate(series))):
            points = _apart([(x(a), y(b)) for a, b in zip(one.x, one.y, strict=True) if a >= lowest])
            parts += _line(points, place)
        return height, parts

    best = series[0]
    description = (
        f"Both axes are logarithmic. At 1 false alarm in 100, {label(best)} recognises most: "
        f"{short(round(100 * _recognised(best), 1))} in 100. A line on the diagonal does no better than guessing."
    )
    return chart(Words(name, title, description), draw, numbers_of(series), legend_of(series))


def _apart(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points that can be told apart on paper: on log axes most of a long curve lies in one corner."""
    kept = points[:1]
    for point in points[1:-1]:
        if abs(point[0] - kept[-1][0]) + abs(point[1] - kept[-1][1]) >= 2:
            kept.append(point)
    return [*kept, points[-1]] if len(points) > 1 else kept


def _recognised(series: Series) -> float:
    """The true positive rate at 1 false alarm in 100."""
    return max((b for a, b in zip(series.x, series.y, strict=True) if a <= 0.01 + 1e-12), default=0.0)


def ecdf_chart(name: str, title: str, series: Sequence[Series]) -> Chart:
    """Shares of people up to a value, as steps."""
    return line_chart(
        name, title, series, steps=True, share=(False, True), y_range=(0.0, 1.0),
        description="Each line rises to the share of rows whose value is at most that on the axis. "
        "A line further left has smaller values.",
    )  # fmt: skip


def power_chart(name: str, title: str, series: Sequence[Series]) -> Chart:
    """How often a planted leak is seen, by its size."""
    return line_chart(
        name, title, series, share=(True, True), y_range=(0.0, 1.0), mark=Mark(0.8, "seen in 8 of 10 runs"),
        description="How often this audit sees a leak that was planted, by the size of the leak.",
    )  # fmt: skip


def claim_chart(name: str, title: str, series: Sequence[Series]) -> Chart:
    """What is known about epsilon as runs come in, against the claim or a limit (the series whose name ends so)."""
    claims = [one for one in series if one.name.endswith(("/claim", "/limit"))]
    bounds = [one for one in series if one not in claims] or list(claims)
    mark = Mark(claims[0].y[-1], f"{label(claims[0])}: {short(claims[0].y[-1])}") if claims and claims[0].y else None
    last = ", ".join(f"{label(one)} ends at {number(one.y[-1])}" for one in bounds[:LINES] if one.y)
    return line_chart(
        name, title, bounds, mark=mark,
        description=f"{sentence(bounds[0].title)} Above the dashed line, if there is one, the claim is refuted. {sentence(last)}",
    )  # fmt: skip


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
