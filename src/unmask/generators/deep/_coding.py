"""Between a table and what a network sees: a few real numbers and, for each segment, one of a few levels.

A numeric column becomes a real number beside a level (its mode, or whether it is missing), a categorical column a level: the
place of its value among those that occur in the training table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from unmask.tables.schema import Schema
from unmask.tables.table import Table

UNSEEN = -1  # the level of a value that no training row has


class NumberCoding(Protocol):
    """How one numeric column is seen: learnt from the training table."""

    @property
    def size(self) -> int:
        """How many levels there are."""
        ...

    def encode(self, numbers: np.ndarray, rng: np.random.Generator | None) -> tuple[np.ndarray, np.ndarray]:
        """A real number of ordinary size and a level for each; NaN = missing. Without an rng nothing is random."""
        ...

    def decode(self, values: np.ndarray, levels: np.ndarray) -> np.ndarray:
        """The numbers back; NaN = missing."""
        ...


@dataclass(frozen=True, eq=False)
class Coded:
    """A table as a network sees it."""

    values: np.ndarray  # rows x numeric columns, float32
    levels: np.ndarray  # rows x segments, int64; UNSEEN where the training table has no such value

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Coding:
    """Segments: the numeric columns with more than one level, then the categorical columns."""

    schema: Schema
    numeric: tuple[NumberCoding, ...]  # as schema.numeric
    seen: tuple[np.ndarray, ...]  # for each categorical column the codes that occur, rising

    @cached_property
    def levelled(self) -> tuple[int, ...]:
        """Which of the numeric columns have a segment."""
        return tuple(place for place, coding in enumerate(self.numeric) if coding.size > 1)

    @cached_property
    def categorical(self) -> tuple[int, ...]:
        """Positions of the categorical columns in the schema."""
        return tuple(position for position, column in enumerate(self.schema.columns) if not column.is_numeric)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of levels of every segment."""
        return (*(self.numeric[place].size for place in self.levelled), *map(len, self.seen))

    def encode(self, table: Table, rng: np.random.Generator | None = None) -> Coded:
        """The table as numbers and levels; `rng` decides between modes that fit equally well."""
        values = np.empty((len(table), len(self.numeric)), dtype=np.float32)
        levels = np.empty((len(table), len(self.sizes)), dtype=np.int64)
        segment = 0
        for place, coding in enumerate(self.numeric):
            values[:, place], own = coding.encode(table.numbers[:, place], rng)
            if coding.size > 1:
                levels[:, segment] = own
                segment += 1
        for position, codes in zip(self.categorical, self.seen, strict=True):
            found = np.searchsorted(codes, table.codes[:, position]).clip(max=len(codes) - 1)
            levels[:, segment] = np.where(codes[found] == table.codes[:, position], found, UNSEEN)
            segment += 1
        return Coded(values, levels)

    def decode(self, coded: Coded, notes: tuple[str, ...] = ()) -> Table:
        """The table back: numbers within the schema's ranges, whole where they must be."""
        schema, rows = self.schema, len(coded)
        codes = np.empty((rows, len(schema.columns)), dtype=schema.code_type, order="F")
        numbers = np.empty((rows, len(schema.numeric)), order="F")
        segment = 0
        for place, (position, coding) in enumerate(zip(schema.numeric, self.numeric, strict=True)):
            own = coded.levels[:, segment] if coding.size > 1 else np.zeros(rows, dtype=np.int64)
            segment += coding.size > 1
            column = schema.columns[position]
            drawn = coding.decode(coded.values[:, place].astype(float), own)
            drawn = np.clip(np.rint(drawn) if column.is_integral else drawn, column.lower, column.upper)
            numbers[:, place] = drawn
            gone = np.isnan(drawn)
            codes[:, position] = np.where(gone, column.missing_code, column.bin_of(np.where(gone, column.lower, drawn)))
        for position, codes_seen in zip(self.categorical, self.seen, strict=True):
            codes[:, position] = codes_seen[coded.levels[:, segment]]
            segment += 1
        return Table(schema, codes, numbers, notes=notes)


def seen_codes(table: Table) -> tuple[np.ndarray, ...]:
    """For each categorical column the codes that occur."""
    return tuple(
        np.unique(table.codes[:, position])
        for position, column in enumerate(table.schema.columns)
        if not column.is_numeric
    )
