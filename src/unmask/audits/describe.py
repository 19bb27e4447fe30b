"""What a table looks like before anything is attacked: sizes, kinds, uniqueness, and who stands alone."""

from __future__ import annotations

import numpy as np

from unmask.results.grid import Cell, Grid
from unmask.results.result import Records, Result, describe_input
from unmask.tables.matching import duplicates
from unmask.tables.schema import Column, Kind
from unmask.tables.table import Table
from unmask.tables.units import units
from unmask.threats.targets import MOST_ROWS, NEIGHBOURS, isolation


def describe(table: Table, *, seed: int = 0, workers: int = 1) -> Result:
    """Rows, units, columns, missing values, uniqueness, and every record's mean Gower distance to its 5 nearest."""
    notes: tuple[str, ...] = ()
    if len(table) == 1:
        scores = np.zeros(1)
        notes = ("One row has no neighbours: isolation was not measured.",)
    else:
        scores = isolation(table, np.random.default_rng(seed), workers=workers)
    if len(table) > MOST_ROWS:
        notes = (f"Isolation was measured against {MOST_ROWS:,} rows drawn at random, since the table is larger.",)
    order = np.argsort(-scores, kind="stable")
    return Result(
        audit="describe",
        seed=seed,
        plan={},
        inputs=(describe_input("real", table),),
        grids=(_size_grid(table), _column_grid(table)),
        notes=table.notes + notes,
        records=Records(
            ("row", f"mean distance to the {NEIGHBOURS} nearest"),
            tuple((int(row), round(float(scores[row]), 6)) for row in order),
        ),
    )


def _size_grid(table: Table) -> Grid:
    unit, copies = units(table), duplicates(table)
    lines: list[tuple[Cell, ...]] = [
        ("rows", len(table)),
        ("units of privacy", f"{unit.count:,} {'rows' if table.persons is None else 'persons'}"),
        ("columns", len(table.schema.columns)),
        ("rows that no other row equals", int((copies == 1).sum())),
        ("rows that equal another row", int((copies > 1).sum())),
        ("domains", str(table.schema.origin)),
    ]
    if table.schema.identifiers:
        lines.append(("left out as identifiers", ", ".join(table.schema.identifiers)))
    return Grid("table", "The table", ("what", "value"), tuple(lines))


def _column_grid(table: Table) -> Grid:
    lines = tuple(_column_line(table, position, column) for position, column in enumerate(table.schema.columns))
    return Grid("columns", "Its columns", ("column", "kind", "domain", "distinct here", "missing", "used as"), lines)


def _column_line(table: Table, position: int, column: Column) -> tuple[Cell, ...]:
    codes = table.codes[:, position]
    missing = int((codes == column.missing_code).sum()) if column.missing else 0
    if column.is_numeric:
        numbers = table.numbers[:, table.schema.numeric.index(position)]
        distinct = len(np.unique(numbers[~np.isnan(numbers)]))
        domain = f"{column.listed} bins"
    else:
        distinct = len(np.unique(codes[codes < column.listed]))
        domain = f"{column.listed} values{', ordered' if column.ordered else ''}"
    uses = [
        use for use, names in (("key", table.schema.keys), ("secret", table.schema.secrets)) if column.name in names
    ]
    share = f"{missing / len(table):.1%}" if missing else ""
    return (column.name, str(Kind(column.kind)), domain, distinct, share, ", ".join(uses))
