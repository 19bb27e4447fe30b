"""Charts on two dimensions: privacy against utility, and heat maps."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from unmask.reports.charts.lines import finite, legend_of, style
from unmask.reports.charts.svg import LINES, NARROW, Chart, Words, around, chart, frame, shortened, tag, text
from unmask.reports.words import number, short
from unmask.results.grid import Cell, Grid, Series

SHADES = 5  # shades of a heat map in the stylesheet
LARGEST = 40  # lines and columns of a heat map


def tradeoff_chart(name: str, title: str, series: Sequence[Series]) -> Chart:
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
        label = one.name.rpartition("/")[2]
        rows += [(label, float(f"{a:.4g}"), float(f"{b:.4g}")) for a, b in zip(one.x, one.y, strict=True)]
    numbers = Grid("numbers", "Numbers", ("release", series[0].x_label, series[0].y_label), tuple(rows))
    words = Words(name, title, f"{len(rows)} releases: {series[0].y_label} against {series[0].x_label}.")
    legend = [(f"point {sample}", label) for sample, label in legend_of(series)]
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


def heat_chart(name: str, title: str, grid: Grid) -> Chart:
    """A shaded table: the first column names the lines, every other column holds numbers."""
    rows, heads = grid.rows[:LARGEST], grid.columns[1 : LARGEST + 1]
    values = [cell for row in rows for cell in row[1:] if isinstance(cell, int | float) and math.isfinite(cell)]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)

    def draw(width: int) -> tuple[int, list[Markup]]:
        narrow = width <= NARROW
        left, top = (96.0 if narrow else 150.0), 84.0
        side = min(34.0, (width - left - 8) / max(1, len(heads)))
        tall = min(26.0, max(16.0, side))
        parts = []
        for place, head in enumerate(heads):
            x = left + (place + 0.5) * side
            parts.append(
                text(
                    x + 4,
                    top - 8,
                    shortened(head, 92),
                    class_="tick",
                    transform=f"rotate(-55 {x + 4:.1f} {top - 8:.1f})",
                )
            )
        for line, row in enumerate(rows):
            y = top + line * tall
            parts.append(text(left - 6, y + tall / 2 + 4, shortened(str(row[0]), left - 10), class_="label end"))
            for place, cell in enumerate(row[1 : len(heads) + 1]):
                box = {"x": left + place * side, "y": y, "width": side - 1, "height": tall - 1}
                parts.append(tag("rect", class_=f"heat {_shade(cell, low, high)}", **box))
        return int(top + tall * len(rows) + 12), parts

    words = Words(
        name,
        title,
        f"{len(rows)} lines and {len(heads)} columns, from {number(low)} to {number(high)}; the legend gives the shades.",
    )
    legend = [(f"heat heat-{shade + 1}", short(low + (high - low) * shade / (SHADES - 1))) for shade in range(SHADES)]
    return chart(words, draw, grid, legend)


def _shade(cell: Cell, low: float, high: float) -> str:
    if not isinstance(cell, int | float) or not math.isfinite(cell):
        return "heat-0"
    share = (cell - low) / (high - low) if high > low else 0.0
    return f"heat-{1 + min(SHADES - 1, int(share * SHADES))}"
