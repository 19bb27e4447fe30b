"""The values that an attacker who holds the release can guess: those that stand in it, as numbers from 0 in each column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.tables.table import Table

MOST_VALUES = 200  # of a column that models tell apart; rarer ones are one value, which is never guessed


@dataclass(frozen=True, eq=False)
class Domains:
    """Per column the codes that are told apart; all others (rare, unlisted) share the last number."""

    values: tuple[np.ndarray, ...]  # codes of the schema, the most frequent first
    numbers: tuple[np.ndarray, ...]  # of each code of the schema

    @classmethod
    def of(cls, release: Table) -> Domains:
        """From the codes of a release."""
        values, numbers = [], []
        for position, column in enumerate(release.schema.columns):
            counts = np.bincount(release.codes[:, position], minlength=column.code_count)
            counts[column.unlisted_code] = 0
            order = np.argsort(-counts, kind="stable")[:MOST_VALUES]
            kept = order[counts[order] > 0]
            number = np.full(column.code_count, len(kept), dtype=np.int64)
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
        columns = [number[table.codes[:, place]] for place, number in enumerate(self.numbers)]
        return np.array(columns, dtype=np.int32).reshape(len(self.numbers), len(table))

    def guess(self, place: int, posterior: np.ndarray) -> np.ndarray:
        """The likeliest value of a column as a code of the schema; -1 where the release has none."""
        kept = self.values[place]
        if not len(kept):
            return np.full(len(posterior), -1, dtype=np.int64)
        return kept[np.argmax(posterior[:, : len(kept)], axis=1)]

    def codes(self, place: int, numbers: np.ndarray) -> np.ndarray:
        """Numbers of a column as codes of the schema; -1 for the value that is never guessed."""
        return np.append(self.values[place], -1)[numbers]
