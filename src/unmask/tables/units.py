"""The unit of privacy: a row, or all rows of one person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.tables.table import Table

SMALLEST_GROUP = 10  # fewer people: no result or report may tell about them as a group


@dataclass(frozen=True, eq=False)
class Units:
    """Which unit each row belongs to. Identical rows of different people are different units."""

    of_row: np.ndarray  # unit of each row, 0 .. count-1, in order of first appearance
    count: int
    labels: np.ndarray | None  # the person id of each unit, where one is declared

    @property
    def sizes(self) -> np.ndarray:
        """Rows per unit."""
        return np.bincount(self.of_row, minlength=self.count)

    def rows(self, chosen: np.ndarray) -> np.ndarray:
        """Rows that belong to the chosen units (a boolean mask over units, or unit numbers), in table order."""
        mask = np.zeros(self.count, dtype=bool)
        mask[chosen] = True
        return np.flatnonzero(mask[self.of_row])


def units(table: Table) -> Units:
    """The units of a table: persons if the schema declares them, rows otherwise."""
    if table.persons is None:
        return Units(np.arange(len(table)), len(table), None)
    import pandas as pd

    of_row, labels = pd.factorize(table.persons)
    return Units(of_row, len(labels), np.asarray(labels, dtype=object))


def one_row_each(table: Table, rng: np.random.Generator) -> np.ndarray:
    """One random row of every unit, in table order."""
    if table.persons is None:
        return np.arange(len(table))
    order = rng.permutation(len(table))
    _, first = np.unique(units(table).of_row[order], return_index=True)
    return np.sort(order[first])
