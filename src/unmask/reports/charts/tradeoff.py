"""Privacy against utility: a mark per release."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from unmask.reports.charts.lines import finite, label, legend_of, style, subject
from unmask.reports.charts.svg import LINES, Chart, Words, around, chart, frame, tag
from unmask.results.grid import Cell, Grid, Series


def tradeoff_chart(name: str, about: str, series: Sequence[Series]) -> Chart:
    """A point per release; one kind of mark per generator."""
    series = [finite(one) for one in series]
    x = around((value for one in series for value in one.x), zero=True)
    y = around((value for one in series for value in one.y), zero=True)

    def draw(width: int) -> tuple[int, list[Markup]]:
        height = 340
        across, up, parts = frame(x, y, series[0].x_label, series[0].y_label, width, height)
        for place, one in enumerate(series):
            for a, b in zip(one.x, one.y, strict=True):
                parts.append(mark(across(a), up(b), place))
        return height, parts

    rows: list[tuple[Cell, ...]] = []
    for one in series:
        rows += [(label(one), float(f"{a:.4g}"), float(f"{b:.4g}")) for a, b in zip(one.x, one.y, strict=True)]
    numbers = Grid("numbers", "Numbers", ("release", series[0].x_label, series[0].y_label), tuple(rows))
    words = Words(
        name,
        subject("Each mark is one release", about),
        f"{len(rows)} releases: {series[0].y_label} against {series[0].x_label}.",
    )
    legend = [(f"point {sample}", name) for sample, name in legend_of(series)]
    return chart(words, draw, numbers, legend)


def mark(x: float, y: float, place: int) -> Markup:
    """Circle, square, triangle or diamond: shapes differ as well as colours."""
    class_ = style(place).replace("line", "point", 1) if place < LINES else "point more"
    if place % 4 == 0:
        return tag("circle", cx=x, cy=y, r=5, class_=class_)
    if place % 4 == 1:
        return tag("rect", x=x - 4.5, y=y - 4.5, width=9, height=9, class_=class_)
    corners = ((0, -6), (6, 5), (-6, 5)) if place % 4 == 2 else ((0, -6), (6, 0), (0, 6), (-6, 0))
    return tag("polygon", points=" ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in corners), class_=class_)
