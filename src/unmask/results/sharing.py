"""What may leave the house: no small group, no category that is not public, no single record.

`for_sharing` is the door: HTML, Markdown, terminal and notebook render what it returns. Records stay in records.csv.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unmask.results.grid import Cell, Grid, GridKind, Role
from unmask.results.result import Result
from unmask.results.small_groups import SMALLEST_GROUP, hidden_places, is_place


def for_sharing(result: Result) -> Result:
    """The result without what could point at a person."""
    public = any(item.schema == "public" for item in result.inputs)
    grids, notes = [], list(result.notes)
    for grid in result.grids:
        if grid.kind is GridKind.RECORDS:
            notes.append(
                f"The table '{grid.title}' is about single records and is not shown; it belongs in records.csv."
            )
        elif grid.kind is GridKind.GROUPS:
            grids.append(without_small_groups(grid if public else _without_names(grid)))
        else:
            grids.append(grid)
    return replace(result, grids=tuple(grids), notes=tuple(notes), records=None)


def without_small_groups(grid: Grid, smallest: int = SMALLEST_GROUP) -> Grid:
    """Leave out groups under ten, and the next larger ones until those left out cannot be told by subtraction.

    Audits do so already; this is the guard. If no column names the groups or says how many people they have, nothing
    can be shown.
    """
    if not grid.places(Role.PEOPLE) or not grid.places(Role.GROUP):
        line = ("not shown: the table does not say which groups there are and how many people each has",)
        return replace(grid, columns=("groups",), rows=(line,), roles=())
    by = grid.places(Role.BY)
    rows: list[tuple[Cell, ...]] = []
    for family in dict.fromkeys(tuple(row[place] for place in by) for row in grid.rows):
        members = [row for row in grid.rows if tuple(row[place] for place in by) == family]
        rows += _family(grid, members, smallest)
    if set(rows) == set(grid.rows):
        return grid  # in its own order, if nothing is hidden
    return replace(grid, rows=tuple(rows))


def _family(grid: Grid, rows: Sequence[tuple[Cell, ...]], smallest: int) -> list[tuple[Cell, ...]]:
    """Groups that divide the people by one thing, without the small ones and with a line that says so."""
    people, label, by = grid.places(Role.PEOPLE)[0], grid.places(Role.GROUP)[0], grid.places(Role.BY)
    hidden = hidden_places([_size(row[people]) for row in rows], smallest)
    shown = [row for place, row in enumerate(rows) if place not in hidden]
    if hidden:
        line: list[Cell] = [rows[0][place] if place in by else None for place in range(len(rows[0]))]
        line[label] = f"{len(hidden)} small group{'s' if len(hidden) > 1 else ''}, not shown"
        shown.append(tuple(line))
    return shown


def _size(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) and cell == cell else 0.0


def _without_names(grid: Grid) -> Grid:
    """Groups by number, since the schema does not list its categories as public: one group has one number in all lines.

    A group that is told by its place in the schema stays.
    """
    names, by = grid.places(Role.GROUP), grid.places(Role.BY)[-1:]  # the last says which column a value is of
    keys = [tuple(row[place] for place in (*by, *names)) for row in grid.rows]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys), start=1)}
    rows = tuple(
        tuple(
            f"group {numbers[key]}" if place in names and not is_place(cell) else cell for place, cell in enumerate(row)
        )
        for key, row in zip(keys, grid.rows, strict=True)
    )
    return replace(grid, rows=rows)
