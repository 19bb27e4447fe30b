"""How far apart two rows are: choices for `unmask.tables.distance`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from unmask.tables.search._kernels import FAR
from unmask.tables.table import Table


@dataclass(frozen=True)
class Hamming:
    """Number of columns in which two rows differ, numbers compared by their bin."""


@dataclass(frozen=True)
class Gower:
    """Mean over columns of the difference on the column's public range, 0 to 1.

    Numbers give |a - b| / (upper - lower), at most 1; categories 0 or 1; missing against a value 1. A column whose
    range is a single number counts as a category. The gap of the plain numbers is taken first, so equal gaps tie exactly.
    """


@dataclass(frozen=True)
class Euclid:
    """Root of the sum over columns of ((a - b) / sd)^2; categories by the position of their value in the schema.

    A missing value, or a category outside the listed ones, against anything else adds 2: the mean squared difference
    of two unrelated standardised values. A column that is constant in the fitted table adds nothing.
    """

    deviations: tuple[tuple[str, float], ...]  # (column, standard deviation)

    @classmethod
    def fitted_to(cls, table: Table) -> Euclid:
        """Standard deviations (population) of the values present in this table. The means cancel."""
        found = []
        for position, column in enumerate(table.schema.columns):
            scale = labels(table, position)
            present = scale[scale < FAR]
            constant = len(present) == 0 or present.min() == present.max()
            found.append((column.name, 0.0 if constant else float(present.std())))
        return cls(tuple(found))


class RankCriterion(StrEnum):
    """How absolute rank differences of the columns become one number."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    EUCLID = "euclid"


@dataclass(frozen=True)
class Ranks:
    """Absolute rank differences, for rank linkage. Takes arrays of ranks (rows x columns), not tables."""

    criterion: RankCriterion = RankCriterion.SUM


Metric = Hamming | Gower | Euclid | Ranks
HAMMING = Hamming()


def labels(table: Table, position: int) -> np.ndarray:
    """A column as numbers: its own, or the codes of its categories; what is on no scale is FAR from the rest."""
    column = table.schema.columns[position]
    if column.is_numeric:
        numbers = table.numbers[:, table.schema.numeric.index(position)]
        return np.where(np.isnan(numbers), FAR, numbers)
    beyond = table.codes[:, position].astype(np.float64) - column.listed
    return np.where(beyond >= 0, FAR * (1 + beyond), beyond + column.listed)
