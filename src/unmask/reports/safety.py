"""What may leave the house: no small group, no category that is not public, no single record.

`for_sharing` is the door: HTML, Markdown and terminal render what it returns. Records stay in records.csv.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unmask.results.grid import Cell, Grid
from unmask.results.result import Result
from unmask.results.small_groups import SMALLEST_GROUP, hidden_places

GROUPS = "groups"  # grids with this name, or `groups/...`
COUNTS = ("people", "persons", "units", "records", "rows", "n", "size", "members")  # the column that says how many
PARTS = ("column", "by", "criterion")  # columns that say by what people were divided, and what was tried
NAMES = ("group", "value", "category")  # the column that names a group
SINGLE = (
    "row",
    "row number",
    "record",
    "person",
    "unit",
)  # grids whose first column is one of these name single records


def for_sharing(result: Result) -> Result:
    """The result without what could point at a person."""
    public = any(item.schema == "public" for item in result.inputs)
    grids, notes = [], list(result.notes)
    for grid in result.grids:
        if names_records(grid):
            notes.append(
                f"The table '{grid.title}' is about single records and is not shown; it belongs in records.csv."
            )
        elif grid.name.split("/")[0] == GROUPS:
            grids.append(without_small_groups(grid if public else _without_names(grid)))
        else:
            grids.append(grid)
    return replace(result, grids=tuple(grids), notes=tuple(notes), records=None)


def names_records(grid: Grid) -> bool:
    """Whether a table has one line per person."""
    return bool(grid.columns) and grid.columns[0].lower() in SINGLE


def without_small_groups(grid: Grid, smallest: int = SMALLEST_GROUP) -> Grid:
    """Leave out groups under ten, and the next larger ones until those left out cannot be told by subtraction.

    Audits do so already; this is the guard. If the column that says how many is missing, nothing can be shown.
    """
    counts, lowered = _positions(grid, COUNTS), [column.lower() for column in grid.columns]
    if not counts:
        line = ("not shown: the table does not say how many people each group has",)
        return replace(grid, columns=grid.columns[:1], rows=(line,))
    count, parts = counts[0], [place for place, name in enumerate(lowered) if name in PARTS]
    rows: list[tuple[Cell, ...]] = []
    for family in dict.fromkeys(tuple(row[part] for part in parts) for row in grid.rows):
        members = [row for row in grid.rows if tuple(row[part] for part in parts) == family]
        rows += _family(members, count, parts, smallest)
    return (
        grid if set(rows) == set(grid.rows) else replace(grid, rows=tuple(rows))
    )  # in its own order, if nothing is hidden


def _family(
    rows: Sequence[tuple[Cell, ...]], count: int, parts: Sequence[int], smallest: int
) -> list[tuple[Cell, ...]]:
    hidden = hidden_places([_size(row[count]) for row in rows], smallest)
    shown = [row for place, row in enumerate(rows) if place not in hidden]
    if hidden:
        line: list[Cell] = [rows[0][place] if place in parts else None for place in range(len(rows[0]))]
        label = next(place for place in range(len(line)) if place != count and place not in parts)
        line[label] = f"{len(hidden)} small group{'s' if len(hidden) > 1 else ''}, not shown"
        shown.append(tuple(line))
    return shown


def _size(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) and cell == cell else 0.0


def _without_names(grid: Grid) -> Grid:
    """Groups by number: the schema does not list its categories as public."""
    places = _positions(grid, NAMES)
    if not places:
        return grid
    place = places[0]
    rows = tuple((*row[:place], f"group {number}", *row[place + 1 :]) for number, row in enumerate(grid.rows, start=1))
    return replace(grid, rows=rows)


def _positions(grid: Grid, names: Sequence[str]) -> list[int]:
    """Columns with one of these names, in the order of the names."""
    lowered = [column.lower() for column in grid.columns]
    return [lowered.index(name) for name in names if name in lowered]
