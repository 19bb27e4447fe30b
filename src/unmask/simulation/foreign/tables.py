"""Tables on their way through CSV files: what comes back is read against the real schema, and nothing may be lost on the way."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from unmask.errors import InputError
from unmask.tables.encode import Unlisted
from unmask.tables.read import read_frame, write_csv
from unmask.tables.schema import Kind, Schema, quoted
from unmask.tables.table import Table

DATE_FORMATS = {"D": "%Y-%m-%d", "s": "%Y-%m-%d %H:%M:%S", "us": "%Y-%m-%d %H:%M:%S.%f"}


def writable(real: Table) -> Table:
    """The table with dates that files can hold: those of a frame have no text format of their own."""
    columns = [
        replace(column, format=DATE_FORMATS[column.resolution], dtype="")
        if column.kind is Kind.DATETIME and not column.format
        else column
        for column in real.schema.columns
    ]
    return replace(real, schema=replace(real.schema, columns=tuple(columns)))


def read_synthetic(path: Path, schema: Schema) -> Table:
    """A synthetic file against the real schema; what the schema does not list gets a code that matches nothing."""
    loaded = read_frame(path)
    dropped = {schema.person, *schema.identifiers}
    table = Table.from_pandas(
        loaded.held[[name for name in loaded.held.columns if name not in dropped]],
        replace(schema, person=None, identifiers=()),
        unlisted=Unlisted.NOTE,
        where=path.name,
        from_file=loaded.from_file,
    )
    return replace(table, schema=schema, notes=loaded.notes)


def check_files_hold(table: Table, folder: Path) -> None:
    """Whether a CSV file holds all there is to the table; if not, every synthetic file would be misread in the same way.

    The table is real: it is written to a folder of its own inside `folder`, which must be as private as the table.
    """
    with tempfile.TemporaryDirectory(prefix="check-", dir=folder) as own:
        path = Path(own) / "table.csv"
        write_csv(table, path)
        again = read_synthetic(path, table.schema)
    if lost := [name for name in table.schema.names if not _same(table, again, name)]:
        raise InputError(
            f"Column {quoted(lost)} is not the same after it was written to a CSV file and read again.\n"
            "Save the real table as CSV, check the schema of that file, and export from there."
        )


def _same(one: Table, other: Table, name: str) -> bool:
    position, numeric = one.schema.position(name), one.schema.numeric
    if not np.array_equal(one.codes[:, position], other.codes[:, position]):
        return False
    if position not in numeric:
        return True
    place = numeric.index(position)
    return np.array_equal(one.numbers[:, place], other.numbers[:, place], equal_nan=True)
