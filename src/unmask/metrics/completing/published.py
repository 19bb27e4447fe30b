"""The rows of a release in an order of their own, perhaps some of them replaced, without a copy of the table.

What attacks need of many rows they take block by block, so that a release of ten million rows is never held twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from unmask.tables.schema import Schema
from unmask.tables.table import Table, concatenate

AT_ONCE = 250_000  # rows that are copied at a time


@dataclass(frozen=True, eq=False)
class PublishedRows:
    """Some columns of a table, its rows as `order` has them; behind its last row come those of `added`."""

    table: Table
    names: tuple[str, ...]
    order: np.ndarray
    added: Table | None = None
    left_out: np.ndarray = field(
        default_factory=lambda: np.empty(0, dtype=np.int64)
    )  # rows of the table, not in `order`

    @classmethod
    def whole(cls, table: Table) -> PublishedRows:
        """All rows and columns as they stand."""
        return cls(table, table.schema.names, _narrow(np.arange(len(table))))

    @classmethod
    def replaced(cls, table: Table, rows: np.ndarray, added: Table) -> PublishedRows:
        """Other rows in place of these: all that are left, in order, and behind them the new ones."""
        kept = np.ones(len(table), dtype=bool)
        kept[rows] = False
        order = np.concatenate([np.flatnonzero(kept), len(table) + np.arange(len(added))])
        plain = Table(added.schema, added.codes, added.numbers)
        return cls(table, table.schema.names, _narrow(order), plain if len(added) else None, rows)

    def __len__(self) -> int:
        return len(self.order)

    def select(self, names: Sequence[str]) -> PublishedRows:
        """Only these columns, in this order."""
        return replace(self, names=tuple(names))

    def shuffled(self, rng: np.random.Generator) -> PublishedRows:
        """The same rows in random order."""
        return replace(self, order=self.order[rng.permutation(len(self))])

    @cached_property
    def schema(self) -> Schema:
        """That of the columns."""
        return self.take(np.arange(0)).schema

    def take(self, rows: np.ndarray) -> Table:
        """The rows at these places of the order."""
        places, size = self.order[rows], len(self.table)
        if self.added is None:
            return self._bare(self.table.take(places))
        new = places >= size
        if not new.any():
            return self._bare(self.table.take(places))
        both = concatenate([self._bare(self.table.take(places[~new])), self._bare(self.added.take(places[new] - size))])
        back = np.empty(len(places), dtype=np.int64)
        back[np.concatenate([np.flatnonzero(~new), np.flatnonzero(new)])] = np.arange(len(places))
        return both.take(back)

    def blocks(self) -> Iterator[tuple[int, Table]]:
        """All rows in order, some at a time, and the place of the first of them."""
        for low in range(0, len(self), AT_ONCE):
            yield low, self.take(np.arange(low, min(low + AT_ONCE, len(self))))

    def tally(self, count: Callable[[Table], np.ndarray], names: Sequence[str]) -> np.ndarray:
        """What a function of these columns that adds up over rows says of all rows: in the order of the table, read sooner."""
        table, wanted = self.table, self.select(names)
        total = np.asarray(0)
        for low in range(0, len(table), AT_ONCE):
            total = total + count(wanted._bare(table.between(low, low + AT_ONCE)))
        if len(self.left_out):
            total = total - count(wanted._bare(table.take(self.left_out)))
        if self.added is not None:
            total = total + count(wanted._bare(self.added))
        return total

    @cached_property
    def counts(self) -> tuple[np.ndarray, ...]:
        """Of each column: how many rows have each code."""
        sizes = [column.code_count for column in self.schema.columns]
        ends = np.cumsum(sizes)

        def count(part: Table) -> np.ndarray:
            return np.concatenate(
                [np.bincount(part.codes[:, place], minlength=size) for place, size in enumerate(sizes)]
            )

        return tuple(np.split(self.tally(count, self.names), ends[:-1]))

    def _bare(self, table: Table) -> Table:
        return Table(table.schema, table.codes, table.numbers).select(self.names)


def _narrow(places: np.ndarray) -> np.ndarray:
    """Half of the room, where that is enough."""
    return places.astype(np.int32) if places.max(initial=0) < np.iinfo(np.int32).max else places
