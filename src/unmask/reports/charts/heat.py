"""Heat maps of tables."""

from __future__ import annotations

import math

from markupsafe import Markup

from unmask.reports.charts.svg import NARROW, Chart, Words, chart, shortened, tag, text
from unmask.reports.words import number, short
from unmask.results.grid import Cell, Grid

SHADES = 5  # shades of a heat map in the stylesheet
LARGEST = 40  # lines and columns of a heat map


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
        cells: dict[str, list[str]] = {}  # by shade: one path each is a quarter of one rectangle each
        for line, row in enumerate(rows):
            y = top + line * tall
            parts.append(text(left - 6, y + tall / 2 + 4, shortened(str(row[0]), left - 10), class_="label end"))
            for place, cell in enumerate(row[1 : len(heads) + 1]):
                box = f"M{left + place * side:.1f} {y:.1f}h{side - 1:.1f}v{tall - 1:.1f}h{1 - side:.1f}z"
                cells.setdefault(_shade(cell, low, high), []).append(box)
        parts += [tag("path", d="".join(boxes), class_=f"heat {shade}") for shade, boxes in sorted(cells.items())]
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
