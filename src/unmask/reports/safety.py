"""What may leave the house: no small group, no category that is not public, no single record.

`for_sharing` is the door: HTML, Markdown and terminal render what it returns. Records stay in records.csv.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unmask.audits.result import Cell, Grid, Result

SMALLEST_GROUP = 10
GROUPS = "groups"  # grids with this name, or `groups/...`
COUNTS = ("people", "persons", "units", "records", "rows", "n", "size", "members")  # the column that says how many
PARTS = ("column", "by")  # the column that says by what people were divided
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

    If the column that says how many is missing, nothing can be shown.
    """
    count = _position(grid, COUNTS)
    if count is None:
        line = ("not shown: the table does not say how many people each group has",)
        return replace(grid, columns=grid.columns[:1], rows=(line,))
    part = _position(grid, PARTS)
    rows: list[tuple[Cell, ...]] = []
    for family in dict.fromkeys(row[part] if part is not None else None for row in grid.rows):
        members = [row for row in grid.rows if part is None or row[part] == family]
        rows += _family(members, count, part, smallest)
    return replace(grid, rows=tuple(rows))


def _family(rows: Sequence[tuple[Cell, ...]], count: int, part: int | None, smallest: int) -> list[tuple[Cell, ...]]:
    by_size = sorted(range(len(rows)), key=lambda place: _size(rows[place][count]))
    hidden: list[int] = []
    for place in by_size:
        if _size(rows[place][count]) >= smallest and sum(
            _size(rows[other][count]) for other in hidden
        ) >= smallest * bool(hidden):
            break
        hidden.append(place)
    shown = [row for place, row in enumerate(rows) if place not in hidden]
    if hidden:
        line: list[Cell] = [None] * len(rows[0])
        if part is not None:
            line[part] = rows[hidden[0]][part]
        label = next(place for place in range(len(line)) if place not in (part, count))
        line[label] = f"{len(hidden)} small group{'s' if len(hidden) > 1 else ''}, not shown"
        shown.append(tuple(line))
    return shown


def _size(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) and cell == cell else 0.0


def _without_names(grid: Grid) -> Grid:
    """Groups by number: the schema does not list its categories as public."""
    place = _position(grid, NAMES)
    if place is None:
        return grid
    rows = tuple((*row[:place], f"group {number}", *row[place + 1 :]) for number, row in enumerate(grid.rows, start=1))
    return replace(grid, rows=rows)


def _position(grid: Grid, names: Sequence[str]) -> int | None:
    lowered = [column.lower() for column in grid.columns]
    return next((lowered.index(name) for name in names if name in lowered), None)
