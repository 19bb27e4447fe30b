"""Histograms: scores of people in the data beside others, distances of synthetic rows beside those of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from unmask.reports.charts.lines import finite, label, legend_of, numbers_of, stairs, style, title_of
from unmask.reports.charts.svg import Chart, Words, around, chart, frame, path
from unmask.reports.words import number
from unmask.results.grid import Series

BINS = "Bins of fewer than ten are joined with their neighbours, and the outer ones hold all beyond."


def histogram_chart(name: str, about: str, series: Sequence[Series]) -> Chart:
    """Scores of an attack."""
    title = title_of(series, f"Scores of {about}" if about else series[0].x_label)
    return _outlines(Words(name, title, f"A higher score means more likely in the data. {BINS}"), series)


def distance_chart(name: str, about: str, series: Sequence[Series]) -> Chart:
    """Distances to the nearest row of a kind."""
    title = title_of(series, f"Distances to the {about}" if about else series[0].x_label)
    told = f"More rows at small distances than others have mean that rows were copied, exactly or nearly. {BINS}"
    return _outlines(Words(name, title, told), series)


def _outlines(words: Words, series: Sequence[Series]) -> Chart:
    """Outlines over one another, so that both sides can be compared; x holds the left edges of the bins."""
    series, edges = [finite(one) for one in series], [_edges(finite(one)) for one in series]
    x = around((value for one in edges for value in one), room=0)
    y = around((value for one in series for value in one.y), zero=True)

    def draw(width: int) -> tuple[int, list[Markup]]:
        height = 300
        across, up, parts = frame(x, y, series[0].x_label, series[0].y_label, width, height)
        for place, (one, bounds) in enumerate(zip(series, edges, strict=True)):
            heights = one.y[: len(bounds) - 1]
            points = [
                (across(a), up(b)) for a, b in zip(bounds, (*heights, heights[-1] if heights else 0.0), strict=True)
            ]
            outline = [(across(bounds[0]), up(0)), *stairs(points), (across(bounds[-1]), up(0))]
            parts.append(path(outline, f"area area-{place % 2 + 1}", closed=True))
            parts.append(path(outline, style(place)))
        return height, parts

    tops = ", ".join(f"{label(one)} at {number(one.x[one.y.index(max(one.y))])}" for one in series if one.y)
    told = replace(words, description=f"{words.description} Highest bins: {tops}.")
    return chart(told, draw, numbers_of(series), legend_of(series))


def _edges(series: Series) -> tuple[float, ...]:
    """Left edges and the end of the last bin: where a last point has height 0, else as wide as the one before it."""
    if not series.x:
        return (0.0,)
    if len(series.x) > 1 and series.y[-1] == 0:
        return series.x
    last = series.x[-1] - series.x[-2] if len(series.x) > 1 else 1.0
    return (*series.x, series.x[-1] + last)
