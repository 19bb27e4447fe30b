"""How many synthetic rows lie around the target, and what their secrets are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import Prediction, Secret
from unmask.attacks._density import check_count, part_of
from unmask.attacks.closest_votes import Measure, known_columns, measure_of, votes
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

    def __post_init__(self) -> None:
        measure_of(self.metric)
        check_count("k", self.k)
        if self.k > 64:
            raise ParameterError(f"k is {self.k}; choose 1 to 64 neighbours.")
        if self.radius is not None and not self.radius >= 0:
            raise ParameterError(f"radius is {self.radius!r}; give a distance of 0 or more, or none.")

    def prepare(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> PreparedLocalNeighbourhood:
        if self.radius is not None:
            return PreparedLocalNeighbourhood(self, np.full(len(targets), self.radius))
        if Access.REFERENCE not in view.allowed:
            return PreparedLocalNeighbourhood(self, None)
        people = part_of(view.reference, PEOPLE, rng)
        return PreparedLocalNeighbourhood(self, self.to_kth(targets, people, secret))

    def to_kth(self, queries: Table, people: Table, secret: Secret | None, *, itself: bool = False) -> np.ndarray:
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


@dataclass(frozen=True, eq=False)
class PreparedLocalNeighbourhood:
    """The attack with the radius of each target; none where every release must give its own."""

    attack: LocalNeighbourhood
    radii: np.ndarray | None

    def score(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> np.ndarray | Prediction:
        synthetic = view.synthetic
        radii = self.radii
        if radii is None:
            radii = np.full(len(targets), self._typical(part_of(synthetic, PEOPLE, rng), secret))
        if secret is None:
            if not len(synthetic):
                return np.zeros(len(targets))
            found = count_within(targets, synthetic, radius=radii, metric=measure_of(self.attack.metric))
            return np.asarray(found / len(synthetic))
        inside = distances(targets, synthetic, self.attack.metric, known_columns(targets, secret)) <= radii[:, None]
        return votes([np.flatnonzero(row) for row in inside], synthetic, secret, prior=1.0)

    def _typical(self, rows: Table, secret: Secret | None) -> float:
        """The median distance of rows to the k-th nearest of the others."""
        return float(np.median(self.attack.to_kth(rows, rows, secret, itself=True))) if len(rows) > 1 else 0.0


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
