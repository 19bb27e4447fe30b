"""Tables and samples of legends for the templates."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from unmask.reports import words
from unmask.reports.charts.svg import tag
from unmask.reports.charts.tradeoff import mark
from unmask.results.grid import Cell, Grid
from unmask.results.readable import readable

LONG_WORD = 30  # characters: longer ones may be broken
LONG_TEXT = 14  # characters: longer ones want a wider column
MOST_ROWS = 200  # rows of one table


def table_of(grid: Grid) -> dict[str, Any]:
    """A table for the template: texts, the values they sort by, and which columns hold numbers."""
    width = len(grid.columns)
    numeric = [
        any(_is_number(row[place]) for row in grid.rows)
        and all(row[place] is None or _is_number(row[place]) for row in grid.rows)
        for place in range(width)
    ]
    rows = [[_shown(cell) for cell in row[:width]] for row in grid.rows[:MOST_ROWS]]
    return {"columns": grid.columns, "numeric": numeric, "rows": rows, "left_out": max(0, len(grid.rows) - MOST_ROWS)}


def _shown(cell: Cell) -> tuple[str, Cell, str]:
    """Text of a cell, what it sorts by, and how much room it needs."""
    text = readable(words.cell_text(cell))
    long = any(len(word) > LONG_WORD for word in text.split())
    class_ = "long" if long else "roomy" if len(text) > LONG_TEXT else ""
    return text, cell if _is_number(cell) else None, class_


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def sample(class_: str) -> Markup:
    """The sample of a legend: the same shape and class as in the chart."""
    kind = class_.split(" ")[0]
    if not kind:
        return Markup("")
    if kind == "square":
        return _sample(tag("rect", x=8, y=3, width=8, height=8, class_=class_))
    if kind == "other":
        return _sample(tag("path", d="M12 1L17 7L12 13L7 7Z", class_=class_))
    if kind == "control":
        return _sample(tag("line", x1=12, y1=1, x2=12, y2=13, class_=class_))
    if kind == "heat":
        return _sample(tag("rect", x=2, y=1, width=20, height=12, class_=class_))
    if kind == "point":
        return _sample(_point(class_))
    return _sample(tag("line", x1=1, y1=7, x2=23, y2=7, class_=class_))


def _point(class_: str) -> Markup:
    place = class_.rpartition("-")[2]
    return mark(12, 7, int(place) - 1 if place.isdigit() else 99)


def _sample(inside: Markup) -> Markup:
    return tag("svg", inside, viewBox="0 0 24 14", width=24, height=14, aria_hidden="true", class_="sample")
