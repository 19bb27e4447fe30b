"""A table inside unmask: integer codes against a schema, numbers beside them, nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.errors import InputError, SchemaError
from unmask.files import limit
from unmask.tables._raw import RawColumn, raw_column
from unmask.tables._text_columns import TextColumns
from unmask.tables.encode import Unlisted, encode
from unmask.tables.infer import infer_schema
from unmask.tables.narrow import NarrowColumn, columns_of, narrow, numbers_between, rows_of, stacked_numbers, together
from unmask.tables.schema import Schema, quoted, repeats
from unmask.tables.schema_json import schema_to_json

if TYPE_CHECKING:
    import pandas as pd

MOST_COLUMNS = 10_000


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of people. Encoded once at the door; everything inside works on these arrays.

    Column j of `codes` belongs to `schema.columns[j]` (numbers by their bin); column i of `numbers` to
    `schema.columns[schema.numeric[i]]`. Both are stored column by column (Fortran order).
    """

    schema: Schema
    codes: np.ndarray  # rows x columns, smallest unsigned integers
    numbers: np.ndarray  # rows x numeric columns, float64, NaN = missing; of large tables what reads so (`narrow.py`)
    persons: np.ndarray | None = None  # the person id of each row as text, where the schema declares one
    notes: tuple[str, ...] = ()  # what a reader of the result should know about this table

    def __post_init__(self) -> None:
        rows = len(self.codes)
        if self.codes.shape != (rows, len(self.schema.columns)) or self.codes.dtype != self.schema.code_type:
            raise SchemaError(
                f"Codes of shape {self.codes.shape} and type {self.codes.dtype} do not fit a schema of "
                f"{len(self.schema.columns)} columns and type {self.schema.code_type}."
            )
        if self.numbers.shape != (rows, len(self.schema.numeric)):
            raise SchemaError(
                f"Numbers of shape {self.numbers.shape} do not fit {rows} rows and "
                f"{len(self.schema.numeric)} numeric columns."
            )

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"Table({len(self):,} rows x {len(self.schema.columns)} columns, schema {self.schema.origin})"

    @classmethod
    def from_pandas(
        cls,
        frame: pd.DataFrame | TextColumns,
        schema: Schema | None = None,
        *,
        unlisted: Unlisted = Unlisted.ERROR,
        where: str = "table",
        from_file: bool = False,
    ) -> Table:
        """Encode a frame (or the texts of a file) against a schema, or against one inferred from it."""
        check_frame(frame, where)
        if not isinstance(frame, TextColumns):
            frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        notes: tuple[str, ...] = ()
        if schema is None:
            schema, notes = (
                (inferred := infer_schema(frame, where, from_file=from_file)).schema,
                inferred.notes,
            )
        check_columns(frame, schema, where, person_needed=unlisted is Unlisted.ERROR)
        codes = np.empty((len(frame), len(schema.columns)), dtype=schema.code_type, order="F")
        numbers: list[NarrowColumn] = []
        said: list[tuple[str, ...]] = []
        for position, column in enumerate(schema.columns):  # one at a time: what it is made of goes at once
            raw = raw_column(frame[column.name], where, from_file=from_file)
            encoded = encode(raw, column, where, unlisted=unlisted)
            codes[:, position] = encoded.codes
            if encoded.number_of is not None:
                numbers.append(narrow(encoded.number_of, encoded.index))
            notes += (raw.note,) if raw.note else ()
            said.append(encoded.notes)
        persons = _persons(frame[schema.person], where) if schema.person and schema.person in frame.columns else None
        notes += tuple(note for each in said for note in each)
        return cls(schema, codes, together(numbers, len(frame)), persons, notes)

    def to_pandas(self) -> pd.DataFrame:
        """The values in the types they came in; columns that were dropped as identifiers do not come back."""
        import pandas as pd

        from unmask.tables.decode import decode

        columns: dict[str | None, Any] = {} if self.persons is None else {self.schema.person: self.persons}
        place = {position: i for i, position in enumerate(self.schema.numeric)}
        for position, column in enumerate(self.schema.columns):
            numbers = self.numbers[:, place[position]] if column.is_numeric else None
            columns[column.name] = decode(column, self.codes[:, position], numbers)
        return pd.DataFrame(columns)

    def take(self, rows: np.ndarray | Sequence[int]) -> Table:
        """The rows at these positions (or where a boolean mask holds), in that order."""
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
        return replace(
            self,
            codes=np.take(self.codes.T, rows, axis=1).T,  # keeps columns contiguous
            numbers=rows_of(self.numbers, rows),
            persons=None if self.persons is None else self.persons[rows],
        )

    def between(self, low: int, high: int) -> Table:
        """The rows from one place to another, to be read column by column: a view of the codes, no copy."""
        rows = slice(low, high)
        persons = None if self.persons is None else self.persons[rows]
        return replace(self, codes=self.codes[rows], numbers=numbers_between(self.numbers, low, high), persons=persons)

    def select(self, names: Iterable[str]) -> Table:
        """Only these columns, in this order."""
        positions = [self.schema.position(name) for name in names]
        schema = self.schema.with_columns(self.schema.columns[position] for position in positions)
        place = {position: i for i, position in enumerate(self.schema.numeric)}
        numbers = columns_of(self.numbers, [place[position] for position in positions if position in place])
        codes = self.codes[:, positions].astype(schema.code_type, order="F")
        return replace(self, schema=schema, codes=codes, numbers=numbers)

    def split(self, share: float, *, seed: int) -> tuple[Table, Table]:
        """Two disjoint tables, the first with this share of the units; no unit is in both."""
        from unmask.tables.split import split

        return split(self, share, np.random.default_rng(seed))

    @property
    def unlisted_rows(self) -> int:
        """How many rows hold at least one value that the schema does not list."""
        limits = self.schema.sizes[None, :]
        return int((self.codes == limits).any(axis=1).sum())

    def digest(self) -> str:
        """SHA-256 of the content and its schema: equal tables have equal digests on every machine."""
        seal = hashlib.sha256(schema_to_json(self.schema).encode())
        for column in self.codes.T:
            seal.update(np.ascontiguousarray(column).tobytes())
        for place in range(self.numbers.shape[1]):  # one NaN, and no negative zero
            numbers = self.numbers[:, place]
            seal.update(np.where(np.isnan(numbers), np.nan, numbers + 0.0).tobytes())
        if self.persons is not None:
            seal.update("\x1f".join(self.persons).encode())
        return seal.hexdigest()


def concatenate(tables: Sequence[Table]) -> Table:
    """Tables of one schema, one below the other."""
    first = tables[0]
    if len(tables) == 1:
        return first
    if any(table.schema != first.schema for table in tables):
        raise SchemaError("Tables of different schemas cannot be put together. Encode them against one schema.")
    persons = [table.persons for table in tables]
    return Table(
        first.schema,
        np.concatenate([table.codes.T for table in tables], axis=1).T,
        stacked_numbers([table.numbers for table in tables]),
        None if any(person is None for person in persons) else np.concatenate(persons),  # type: ignore[arg-type]
        tuple(dict.fromkeys(note for table in tables for note in table.notes)),
    )


def check_frame(frame: pd.DataFrame | TextColumns, where: str) -> None:
    """A frame needs rows, columns and a name of its own for each column."""
    names = [str(name) for name in frame.columns]
    if doubled := repeats(names):
        raise InputError(f"{where}: the column name {quoted(doubled)} occurs more than once. Rename one of them.")
    if not names:
        raise InputError(f"{where}: there are no columns.")
    check_width(len(names), where)
    if not len(frame):
        raise InputError(f"{where}: there is a header but no rows ({len(names)} columns: {quoted(names)}).")


def check_width(columns: int, where: str) -> None:
    """Whether anybody meant so many columns: much takes time or memory by the pair of them."""
    if columns > (most := limit("UNMASK_MAX_COLUMNS", MOST_COLUMNS)):
        raise InputError(
            f"{where}: {columns:,} columns; at most {most:,} are read. Is the right line the header? If they are meant, set "
            "UNMASK_MAX_COLUMNS to a larger number."
        )


def check_columns(frame: pd.DataFrame | TextColumns, schema: Schema, where: str, *, person_needed: bool) -> None:
    """A frame holds all columns of the schema, and no others than identifiers (a synthetic one need not name persons)."""
    person = [schema.person] if schema.person else []
    absent = [name for name in [*schema.names, *(person if person_needed else [])] if name not in frame.columns]
    extra = [name for name in frame.columns if name not in {*schema.names, *person, *schema.identifiers}]
    if not absent and not extra:
        return
    lines = [f"{where}: the columns are not those of the schema."]
    lines += [f"Missing here: {quoted(absent)}."] if absent else []
    lines += [f"Only here: {quoted(extra)}."] if extra else []
    lines.append(
        "Rename or remove columns so that both agree, "
        "or list what is not to be analysed under identifiers in the schema."
    )
    raise SchemaError("\n".join(lines))


def _persons(series: pd.Series | RawColumn, where: str) -> np.ndarray:
    absent = np.asarray(series.index) < 0 if isinstance(series, RawColumn) else series.isna().to_numpy()
    if absent.any():
        row = int(np.flatnonzero(absent)[0])
        raise InputError(
            f"{where}: row {row} has no person id in column '{series.name}'.\n"
            "Give every row one: rows without it cannot be assigned to a unit of privacy."
        )
    if isinstance(series, RawColumn):
        return np.array(series.texts, dtype=object)[series.index]
    from unmask.tables._packed import plain

    return plain(series).astype(str).to_numpy(dtype=object)
