"""The values that an attacker who holds the release can guess: those that stand in it, as numbers from 0 in each column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.metrics.completing.published import PublishedRows
from unmask.tables.table import Table

MOST_VALUES = 200  # of a column that models tell apart; rarer ones are one value, which is never guessed


@dataclass(frozen=True, eq=False)
class Domains:
    """Per column the codes that are told apart; all others (rare, unlisted) share the last number."""

    values: tuple[np.ndarray, ...]  # codes of the schema, the most frequent first
    numbers: tuple[np.ndarray, ...]  # of each code of the schema

    @classmethod
    def of(cls, release: PublishedRows) -> Domains:
        """From the codes of a release."""
        values, numbers = [], []
        for position, column in enumerate(release.schema.columns):
            counts = release.counts[position].copy()
            counts[column.unlisted_code] = 0
            order = np.argsort(-counts, kind="stable")[:MOST_VALUES]
            kept = order[counts[order] > 0]
            number = np.full(column.code_count, len(kept), dtype=np.int32)
            number[kept] = np.arange(len(kept))
            values.append(kept)
            numbers.append(number)
        return cls(tuple(values), tuple(numbers))

    @property
    def sizes(self) -> np.ndarray:
        """How many numbers each column has, that of all other values included."""
        return np.array([len(kept) + 1 for kept in self.values], dtype=np.int64)

    def encode(self, table: Table) -> np.ndarray:
        """The columns of a table as numbers (columns x rows, int32)."""
        columns = np.empty((len(self.numbers), len(table)), dtype=np.int32)
        for place, number in enumerate(self.numbers):
            columns[place] = number[table.codes[:, place]]
        return columns

    def counts(self, release: PublishedRows, place: int) -> np.ndarray:
        """How many rows of a release have each number of a column."""
        counts = np.zeros(len(self.values[place]) + 1, dtype=np.int64)
        np.add.at(counts, self.numbers[place], release.counts[place])
        return counts

    def guess(self, place: int, posterior: np.ndarray) -> np.ndarray:
        """The likeliest value of a column as a code of the schema; -1 where the release has none."""
        kept = self.values[place]
        if not len(kept):
            return np.full(len(posterior), -1, dtype=np.int64)
        return kept[np.argmax(posterior[:, : len(kept)], axis=1)]

    def codes(self, place: int, numbers: np.ndarray) -> np.ndarray:
        """Numbers of a column as codes of the schema; -1 for the value that is never guessed."""
        return np.append(self.values[place], -1)[numbers]
