"""ROC curves on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from unmask.reports.charts.lines import finite, label, legend_of, line_of, numbers_of, side_by_side, subject
from unmask.reports.charts.svg import Axis, Chart, Words, chart, frame, path, text
from unmask.reports.words import short
from unmask.results.grid import Series

LOWEST = 1e-4  # of the axes


def roc_chart(name: str, about: str, series: Sequence[Series]) -> Chart:
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
        placed = [_apart([(x(a), y(b)) for a, b in zip(one.x, one.y, strict=True) if a >= lowest]) for one in series]
        for place, points in side_by_side(placed):
            parts += line_of(points, place)
        return height, parts

    best = series[0]
    description = (
        f"Both axes are logarithmic. At 1 false alarm in 100, {label(best)} recognises most: "
        f"{short(round(100 * _recognised(best), 1))} in 100. A line on the diagonal does no better than guessing."
    )
    title = subject("People recognised, against false alarms", about)
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
