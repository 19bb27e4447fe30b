"""Ranks of every column: 1 is the smallest, nominal values in schema order, missing values last."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from scipy.stats import rankdata

from unmask.tables.table import Table


class Ties(StrEnum):
    """What rank equal values get."""

    IN_ORDER = "in order"  # 1..n in order of appearance: a permutation, as the reverse mapping needs
    MIDDLE = "middle"  # the mean rank: says nothing about the row's position, as rank linkage needs


def ranks(table: Table, ties: Ties = Ties.MIDDLE) -> np.ndarray:
    """Rank of each value within its column, rows x columns, float64."""
    place = {position: i for i, position in enumerate(table.schema.numeric)}
    result = np.empty(table.codes.shape, order="F")
    for position in range(table.codes.shape[1]):
        values = table.numbers[:, place[position]] if position in place else table.codes[:, position]
        values = np.nan_to_num(values, nan=np.inf)
        result[:, position] = rankdata(values, method="ordinal" if ties is Ties.IN_ORDER else "average")
    return result
