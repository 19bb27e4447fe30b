"""Points of two or more kinds: where one kind covers the other."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from unmask.reports.charts.lines import finite, label, legend_of, style
from unmask.reports.charts.svg import LINES, Chart, Words, around, chart, frame, tag
from unmask.results.grid import Cell, Grid, Series


def scatter_chart(name: str, _about: str, series: Sequence[Series]) -> Chart:
    """Small marks; squares for the first kind, circles for the others."""
    series = [finite(one) for one in series]
    x = around(value for one in series for value in one.x)
    y = around(value for one in series for value in one.y)

    def draw(width: int) -> tuple[int, list[Markup]]:
        height = 340
        across, up, parts = frame(x, y, series[0].x_label, series[0].y_label, width, height)
        for place, one in enumerate(series):
            parts += [_dot(across(a), up(b), place) for a, b in zip(one.x, one.y, strict=True)]
        return height, parts

    rows: tuple[tuple[Cell, ...], ...] = tuple((label(one), len(one.x)) for one in series)
    numbers = Grid("numbers", "Points", ("kind", "points"), rows)
    told = f"{', '.join(f'{len(one.x)} {label(one)}' for one in series)}. Every point was moved at random."
    legend = [(f"point {sample}", words) for sample, words in legend_of(series)]
    return chart(Words(name, series[0].title, told), draw, numbers, legend)


def _dot(x: float, y: float, place: int) -> Markup:
    class_ = style(place).replace("line", "point", 1) if place < LINES else "point more"
    if place == 0:
        return tag("rect", x=x - 2, y=y - 2, width=4, height=4, class_=class_)
    return tag("circle", cx=x, cy=y, r=2, class_=class_)
