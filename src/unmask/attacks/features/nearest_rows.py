"""The synthetic rows nearest to a target, column by column: what a distance that is yet to be learnt is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks.closest_votes import Measure, measure_of
from unmask.attacks.features.queries import hidden_column
from unmask.errors import ParameterError
from unmask.tables.distance import MOST_NEIGHBOURS, nearest
from unmask.tables.table import Table

NO_ROW = -1.0  # in place of the secret of a row that does not exist


@dataclass(frozen=True)
class NearestRowFeatures:
    """How far each of the nearest rows is from the target in each column: 0 = equal, 1 = as far as can be.

    Rows are found with equal weights, the secret aside, nearest first. In place of the difference the column of a secret
    holds the row's code. Where a release has fewer rows, the missing ones are as far as can be.
    """

    name: ClassVar[str] = "nearest-rows"

    rows: int = 32
    metric: Measure = "gower"

    def __post_init__(self) -> None:
        measure_of(self.metric)
        if isinstance(self.rows, bool) or not isinstance(self.rows, int) or not 1 <= self.rows <= MOST_NEIGHBOURS:
            raise ParameterError(f"rows is {self.rows!r}; use a whole number from 1 to {MOST_NEIGHBOURS}.")

    @property
    def key(self) -> str:
        return f"nearest-rows:rows={self.rows},metric={self.metric}"

    def compute(self, synthetic: Table, targets: Table) -> np.ndarray:
        """Targets x (rows x columns)."""
        secret, names = hidden_column(targets), targets.schema.names
        known = [position for position in range(len(names)) if position != secret]
        found = np.ones((len(targets), self.rows, len(names)))
        if secret is not None:
            found[:, :, secret] = NO_ROW
        count = min(self.rows, len(synthetic))
        if count:
            if known:
                columns = [names[position] for position in known]
                rows = nearest(targets, synthetic, k=count, metric=measure_of(self.metric), columns=columns).rows
            else:
                rows = np.tile(np.arange(count), (len(targets), 1))
            for position in known:
                found[:, :count, position] = self._difference(targets, synthetic, rows, position)
            if secret is not None:
                found[:, :count, secret] = synthetic.codes[rows, secret]
        return found.reshape(len(targets), -1)

    def _difference(self, targets: Table, synthetic: Table, rows: np.ndarray, position: int) -> np.ndarray:
        column = targets.schema.columns[position]
        if self.metric != "gower" or not column.is_numeric:
            return np.asarray(targets.codes[:, position, None] != synthetic.codes[rows, position], dtype=np.float64)
        place = targets.schema.numeric.index(position)
        one, other = targets.numbers[:, place, None], synthetic.numbers[rows, place]
        if column.lower == column.upper:
            gap = (one != other).astype(np.float64)
        else:
            gap = np.minimum(np.abs(one - other) / (column.upper - column.lower), 1.0)
        return np.where(np.isnan(one) | np.isnan(other), np.isnan(one) != np.isnan(other), gap)
