"""Predicates such as "age >= 90 and region = north", and which of them match exactly one row of a table.

Every column becomes a scale of whole levels, common to all tables: categories their codes, numbers their rank among all
distinct numbers. A condition is then an interval of levels. Each table keeps, per column, its rows in the order of
their levels, so the rows that meet the narrowest condition of a predicate are a contiguous piece; only these are looked
at, and never past the second match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from unmask.compiled import inner, njit
from unmask.tables.schema import Column
from unmask.tables.table import Table

ANY = np.iinfo(np.int32).max  # upper level of a column without a condition


@dataclass(frozen=True, eq=False)
class Predicates:
    """Conjunctions of conditions lows <= level <= highs; `highs` is ANY for columns without one."""

    lows: np.ndarray  # predicates x columns, int32
    highs: np.ndarray

    def __len__(self) -> int:
        return len(self.lows)

    def take(self, chosen: np.ndarray) -> Predicates:
        return Predicates(self.lows[chosen], self.highs[chosen])

    def distinct(self) -> Predicates:
        """Each predicate once, in order of first appearance."""
        both = np.hstack([self.lows, self.highs])
        _, first = np.unique(both, axis=0, return_index=True)
        return self.take(np.sort(first))


def join(parts: Sequence[Predicates]) -> Predicates:
    """All predicates of these parts, in order."""
    return Predicates(np.concatenate([part.lows for part in parts]), np.concatenate([part.highs for part in parts]))


@dataclass(frozen=True, eq=False)
class Leveled:
    """A table on the common scales, indexed for predicates."""

    levels: np.ndarray  # rows x columns, int32
    starts: np.ndarray  # per column, how many rows are below each level; one column after the other
    bases: np.ndarray  # where each column begins in `starts`
    tops: np.ndarray  # number of levels of values; level `top` of a numeric column means missing
    numeric: np.ndarray  # bool per column
    unlisted: np.ndarray  # per column, the level that equals nothing

    def __len__(self) -> int:
        return len(self.levels)

    def take(self, rows: np.ndarray) -> Leveled:
        """Some of the rows on the same scales."""
        return _indexed(self.levels[rows], self.tops, self.numeric, self.unlisted)

    def counts(self, column: int) -> np.ndarray:
        """How many rows have each level of a column; for numbers, the missing one and the unlisted one are last."""
        return np.bincount(self.levels[:, column], minlength=self.tops[column] + 2)

    @cached_property
    def order(self) -> np.ndarray:
        """Columns x rows: row numbers by rising level."""
        order = np.empty(self.levels.shape[::-1], dtype=np.int32)
        _sort_by_counts(self.levels, self.starts.copy(), self.bases, order)
        return order

    @cached_property
    def medians(self) -> np.ndarray:
        """The median level of the values present; -1 for categories and for columns without values."""
        found = np.full(len(self.tops), -1.0)
        for column in np.flatnonzero(self.numeric):
            base, top = self.bases[column], self.tops[column]
            upto = self.starts[base + 1 : base + 1 + top]  # rows at each level or below it
            if top and (present := upto[-1]):
                middle = np.searchsorted(upto, [(present - 1) // 2, present // 2], side="right")
                found[column] = middle.mean()
        return found

    def conditions(self, rows: np.ndarray, used: np.ndarray) -> Predicates:
        """Predicates from rows of levels: equality for categories and missing values, outward half-lines for numbers.

        A number above the median of this table gives ">= number", any other "<= number": rarer than both being likely.
        """
        lows, highs = rows.copy(), rows.copy()
        value = self.numeric & (rows < self.tops)
        upward = value & (rows > self.medians)
        highs[upward] = np.broadcast_to(self.tops - 1, rows.shape)[upward]
        lows[value & ~upward] = 0
        never = rows == self.unlisted
        lows[never], highs[never] = 1, 0
        return Predicates(np.where(used, lows, 0).astype(np.int32), np.where(used, highs, ANY).astype(np.int32))

    def only_match(self, predicates: Predicates) -> np.ndarray:
        """The one row that each predicate matches; -1 if it matches none, -2 if it matches several."""
        return _only_match(self.levels, self.order, self.starts, self.bases, predicates.lows, predicates.highs)


def on_common_levels(tables: Sequence[Table]) -> list[Leveled]:
    """The tables on scales that hold every value of all of them."""
    schema = tables[0].schema
    scales = [np.empty((len(table), len(schema.columns)), dtype=np.int32) for table in tables]
    tops = np.empty(len(schema.columns), dtype=np.int32)
    for position, column in enumerate(schema.columns):
        tops[position], found = _scale(tables, position, column)
        for scale, levels in zip(scales, found, strict=True):
            scale[:, position] = levels
    numeric = np.array([column.is_numeric for column in schema.columns])
    codes = np.array([column.unlisted_code for column in schema.columns])
    unlisted = np.where(numeric, tops + 1, codes).astype(np.int32)
    return [_indexed(scale, tops, numeric, unlisted) for scale in scales]


def _scale(tables: Sequence[Table], position: int, column: Column) -> tuple[int, list[np.ndarray]]:
    if not column.is_numeric:
        return column.code_count, [table.codes[:, position] for table in tables]
    place = tables[0].schema.numeric.index(position)
    numbers = np.concatenate([table.numbers[:, place] for table in tables])
    ranks, values = pd.factorize(numbers, sort=True)  # hashes: sorts the distinct ones alone
    present = ranks >= 0
    codes = np.concatenate([table.codes[:, position] for table in tables])
    no_number = codes == column.unlisted_code if column.missing else np.zeros(len(codes), dtype=bool)
    levels = len(values) + no_number  # a text that is no number is not missing: it equals nothing
    levels[present] = ranks[present]
    return len(values), np.split(levels, np.cumsum([len(table) for table in tables])[:-1])


def _indexed(levels: np.ndarray, tops: np.ndarray, numeric: np.ndarray, unlisted: np.ndarray) -> Leveled:
    below = [
        np.concatenate([[0], np.bincount(levels[:, column], minlength=top + 2).cumsum()])
        for column, top in enumerate(tops)
    ]
    bases = np.cumsum([0, *(len(part) for part in below[:-1])])
    return Leveled(levels, np.concatenate(below), bases, tops, numeric, unlisted)


@njit(nogil=True, cache=True)
def _sort_by_counts(levels, free, bases, order):
    """`free` is where the next row of each level goes: at first, how many rows are below it."""
    for column in range(levels.shape[1]):
        base = bases[column]
        for row in range(levels.shape[0]):
            level = base + levels[row, column]
            order[column, free[level]] = row
            free[level] += 1


@njit(nogil=True, cache=True)
def _only_match(levels, order, starts, bases, lows, highs):
    rows, columns = levels.shape
    found = np.empty(len(lows), dtype=np.int64)
    for query in range(len(lows)):
        best, start, stop = 0, 0, rows
        for column in range(columns):
            if highs[query, column] == ANY:
                continue
            first = starts[bases[column] + lows[query, column]]
            last = starts[bases[column] + highs[query, column] + 1]
            if last - first < stop - start:
                best, start, stop = column, first, last
        matches, match = 0, -1
        for place in range(start, stop):
            row = order[best, place]
            if _meets(levels[row], lows[query], highs[query]):
                matches, match = matches + 1, row
                if matches == 2:
                    break
        found[query] = -2 if matches == 2 else match
    return found


@inner()
def _meets(levels, lows, highs):
    for column in range(levels.size):  # noqa: SIM110 - compiled
        if levels[column] < lows[column] or levels[column] > highs[column]:
            return False
    return True
