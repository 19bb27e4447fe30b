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

PEOPLE = 1000  # from whom the radius is taken: about as many as a release has rows


@dataclass(frozen=True)
class LocalNeighbourhood:
    """Share of the synthetic rows within a radius of the target.

    Training rows attract synthetic rows, so a crowded neighbourhood speaks for membership. The radius is given, or it is the
    target's own distance to the k-th nearest of a thousand reference people, so that about k in a thousand rows lie within
    it whether the person is typical or odd (one radius for all would leave odd people without neighbours in every release).
    Without reference people it is the median distance of synthetic rows to the k-th nearest of them.

    Attribute: votes of the rows in the radius, and one more vote shared as in the whole synthetic table, which decides
    where nobody is near.
    """

    name: ClassVar[str] = "local-neighbourhood"
    goals: ClassVar[frozenset[Goal]] = frozenset(Goal)
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC})

    radius: float | None = None  # in the unit of the metric
    k: int = 5
    metric: Measure = "gower"
    _radii: np.ndarray | None = field(default=None, init=False, repr=False, compare=False)

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
        people = part_of(view.reference, PEOPLE, rng)
        prepared = copy(self)
        object.__setattr__(prepared, "_radii", self._to_kth(targets, people, secret))
        return prepared

    def score(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> np.ndarray | Prediction:
        synthetic = view.synthetic
        radii = self._radii_for(view, targets, secret, rng)
        if secret is None:
            if not len(synthetic):
                return np.zeros(len(targets))
            found = count_within(targets, synthetic, radius=radii, metric=measure_of(self.metric))
            return np.asarray(found / len(synthetic))
        inside = distances(targets, synthetic, self.metric, known_columns(targets, secret)) <= radii[:, None]
        return votes([np.flatnonzero(row) for row in inside], synthetic, secret, prior=1.0)

    def _radii_for(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> np.ndarray:
        if self.radius is not None:
            return np.full(len(targets), self.radius)
        radii = self.prepare(view, targets, secret, rng)._radii if self._radii is None else self._radii
        if radii is None:
            part = part_of(view.synthetic, PEOPLE, rng)
            typical = float(np.median(self._to_kth(part, part, secret, itself=True))) if len(part) > 1 else 0.0
            return np.full(len(targets), typical)
        return radii

    def _to_kth(self, queries: Table, people: Table, secret: Secret | None, *, itself: bool = False) -> np.ndarray:
        """Distance to the k-th nearest of these people, or to the last where there are fewer."""
        found = nearest(
            queries,
            people,
            k=min(self.k, len(people) - itself),
            metric=measure_of(self.metric),
            columns=known_columns(queries, secret),
            exclude_same_row=itself,
        )
        return found.distances[:, -1]


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
