"""The distance to the closest synthetic record, as it is and with each value that a secret may have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import Prediction, Secret
from unmask.attacks.closest_votes import Measure, measure_of, votes_of_nearest
from unmask.errors import ParameterError
from unmask.tables.distance import kth_distances
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View


@dataclass(frozen=True)
class ClosestRecord:
    """Compare the distance to synthetic rows with the distance to reference rows.

    A generator that memorises places synthetic rows beside training rows. The reference distance discounts targets that are
    far from everything: score = log of reference distance over synthetic distance, above 0 where a synthetic row is nearer than
    anybody known. Without reference people (`reference=false`, or a view without any) the score is minus the distance.

    Attribute (Houssiau 2022, section 3.3): the score of a value v is minus the least distance of a synthetic row to the target
    with v in place of the secret. For numbers, which the paper leaves out, the mean and spread of the nearest rows.
    """

    name: ClassVar[str] = "closest-record"
    goals: ClassVar[frozenset[Goal]] = frozenset(Goal)
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC})

    metric: Measure = "gower"
    reference: bool = True
    floor: float = 1e-6  # keeps exact copies finite

    def __post_init__(self) -> None:
        measure_of(self.metric)
        if not isinstance(self.reference, bool):
            raise ParameterError(f"reference is {self.reference!r}; it must be true or false.")
        if not self.floor > 0:
            raise ParameterError(f"floor is {self.floor!r}; it must be above 0, or exact copies score infinity.")

    def prepare(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> PreparedClosestRecord:
        if secret is not None or not self.reference or Access.REFERENCE not in view.allowed:
            return PreparedClosestRecord(self, None)
        return PreparedClosestRecord(self, _distance(targets, view.reference, self.metric))


@dataclass(frozen=True, eq=False)
class PreparedClosestRecord:
    """The attack with each target's distance to the closest reference person; none where that is not compared."""

    attack: ClosestRecord
    to_reference: np.ndarray | None

    def score(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> np.ndarray | Prediction:
        if secret is not None:
            guess = _levels if secret.levels else votes_of_nearest
            return guess(view.synthetic, targets, secret, self.attack.metric)
        to_synthetic = _distance(targets, view.synthetic, self.attack.metric)
        if self.to_reference is None:
            return -to_synthetic
        return np.asarray(np.log((self.to_reference + self.attack.floor) / (to_synthetic + self.attack.floor)))


def _distance(targets: Table, rows: Table, metric: Measure) -> np.ndarray:
    """Distance to the closest row; the largest possible one where there are no rows."""
    if not len(rows):
        return np.full(len(targets), 1.0 if metric == "gower" else float(len(targets.schema.columns)))
    return kth_distances(targets, rows, ks=(1,), metric=measure_of(metric))[:, 0]


def _levels(synthetic: Table, targets: Table, secret: Secret, metric: Measure) -> np.ndarray:
    """Minus the distance of each target, completed with each value of the secret, to the closest row (targets x levels)."""
    codes = np.repeat(targets.codes, secret.levels, axis=0)
    codes[:, secret.position] = np.tile(np.arange(secret.levels), len(targets))
    completed = replace(
        targets,
        codes=np.asfortranarray(codes),
        numbers=np.asfortranarray(np.repeat(targets.numbers, secret.levels, axis=0)),
    )
    return -_distance(completed, synthetic, metric).reshape(len(targets), secret.levels)
