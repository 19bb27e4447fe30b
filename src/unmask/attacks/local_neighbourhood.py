"""How many synthetic rows lie around the target, and what their secrets are."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import Prediction, Secret
from unmask.attacks._density import check_count, part_of
from unmask.attacks.closest_record import Measure, known_columns, measure_of, votes
from unmask.errors import ParameterError
from unmask.tables.distance import count_within, nearest
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View

REFERENCE_ROWS = 1000  # from which the radius is taken: about as many as a release has


@dataclass(frozen=True)
class LocalNeighbourhood:
    """Share of the synthetic rows within a radius of the target.

    Training rows attract synthetic rows, so a crowded neighbourhood speaks for membership. The radius is given, or it is the
    median distance of reference people to their k-th nearest (of a thousand of them; of the synthetic rows themselves where there
    are no reference people), so that a typical person has about k neighbours.

    Attribute: votes of the rows in the radius, and one more vote shared as in the whole synthetic table, which decides
    where nobody is near.
    """

    name: ClassVar[str] = "local-neighbourhood"
    goals: ClassVar[frozenset[Goal]] = frozenset(Goal)
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC})

    radius: float | None = None  # in the unit of the metric
    k: int = 5
    metric: Measure = "gower"
    _radius: float | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        measure_of(self.metric)
        check_count("k", self.k)
        if self.k > 64:
            raise ParameterError(f"k is {self.k}; choose 1 to 64 neighbours.")
        if self.radius is not None and not self.radius >= 0:
            raise ParameterError(f"radius is {self.radius!r}; give a distance of 0 or more, or none.")

    def prepare(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> LocalNeighbourhood:
        if self.radius is not None or Access.REFERENCE not in view.allowed:
            return self
        prepared = copy(self)
        object.__setattr__(prepared, "_radius", self._radius_in(view.reference, known_columns(targets, secret), rng))
        return prepared

    def score(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> np.ndarray | Prediction:
        synthetic, columns = view.synthetic, known_columns(targets, secret)
        radius = self.radius if self.radius is not None else self._radius
        if radius is None:
            found = self.prepare(view, targets, secret, rng)._radius
            radius = self._radius_in(synthetic, columns, rng) if found is None else found
        if secret is None:
            inside = count_within(targets, synthetic, radius=radius, metric=measure_of(self.metric))
            return np.asarray(inside / max(len(synthetic), 1))
        away = distances(targets, synthetic, self.metric, columns)
        return votes([np.flatnonzero(row <= radius) for row in away], synthetic, secret, prior=1.0)

    def _radius_in(self, table: Table, columns: list[str], rng: np.random.Generator) -> float:
        part = part_of(table, REFERENCE_ROWS, rng)
        k = min(self.k, len(part) - 1)
        if k < 1:
            return 0.0
        found = nearest(
            part, part, k=k, metric=measure_of(self.metric), columns=columns, exclude_same_row=True
        )
        return float(np.median(found.distances[:, -1]))


def distances(targets: Table, rows: Table, metric: Measure, columns: list[str]) -> np.ndarray:
    """Every target against every row (targets x rows), as `unmask.tables.distance` measures them."""
    total = np.zeros((len(targets), len(rows)))
    measured = []
    for name in columns:
        position = targets.schema.position(name)
        if metric == "gower" and targets.schema.columns[position].is_numeric:
            measured.append(position)
        else:
            total += targets.codes[:, position, None] != rows.codes[None, :, position]
    for position in measured:  # after the categories, as there, so that sums are equal to the last digit
        column, place = targets.schema.columns[position], targets.schema.numeric.index(position)
        one, other = targets.numbers[:, place, None], rows.numbers[None, :, place]
        if column.lower == column.upper:
            gap = (one != other).astype(np.float64)
        else:
            gap = np.minimum(np.abs(one - other) * (1 / (column.upper - column.lower)), 1.0)
        total += np.where(np.isnan(one) | np.isnan(other), np.isnan(one) != np.isnan(other), gap)
    return total / len(columns) if metric == "gower" else total
