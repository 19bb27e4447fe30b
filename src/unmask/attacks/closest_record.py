"""The distance to the closest synthetic record, and the secret that record has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from unmask.attacks._attack import Prediction, Secret
from unmask.errors import ParameterError
from unmask.tables.distance import Gower, Hamming, Metric, all_nearest, nearest
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View

Measure = Literal["gower", "hamming"]
LEAST_SCALE = 0.01  # of a predicted number, in units of its public range


@dataclass(frozen=True)
class ClosestRecord:
    """Compare the distance to synthetic rows with the distance to reference rows.

    A generator that memorises places synthetic rows beside training rows. The reference distance discounts targets that are
    far from everything: score = log of reference distance over synthetic distance, above 0 where a synthetic row is nearer than
    anybody known. Without reference people (`reference=false`, or a view without any) the score is minus the distance.

    Attribute: the share of each value among the nearest synthetic rows, the secret aside, all ties counted; for numbers
    their mean and spread.
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
            return _guess(view.synthetic, targets, secret, self.attack.metric)
        to_synthetic = _distance(targets, view.synthetic, self.attack.metric)
        if self.to_reference is None:
            return -to_synthetic
        return np.asarray(np.log((self.to_reference + self.attack.floor) / (to_synthetic + self.attack.floor)))


def _distance(targets: Table, rows: Table, metric: Measure) -> np.ndarray:
    """Distance to the closest row; the largest possible one where there are no rows."""
    if not len(rows):
        return np.full(len(targets), 1.0 if metric == "gower" else float(len(targets.schema.columns)))
    return nearest(targets, rows, metric=measure_of(metric)).distances[:, 0]


def _guess(synthetic: Table, targets: Table, secret: Secret, metric: Measure) -> np.ndarray | Prediction:
    if not len(synthetic):
        return votes([np.zeros(0, dtype=np.int64)] * len(targets), synthetic, secret)
    tied = all_nearest(targets, synthetic, metric=measure_of(metric), columns=known_columns(targets, secret))
    return votes(list(tied), synthetic, secret)


def measure_of(name: str) -> Metric:
    """The metric of this name."""
    if name not in get_args(Measure):
        raise ParameterError(f"metric is {name!r}; choose one of {', '.join(get_args(Measure))}.")
    return Gower() if name == "gower" else Hamming()


def known_columns(targets: Table, secret: Secret | None) -> list[str]:
    """What the attacker knows of a target: every column but the secret."""
    return [name for name in targets.schema.names if secret is None or name != secret.name]


def votes(
    neighbours: list[np.ndarray], synthetic: Table, secret: Secret, *, prior: float = 0.0
) -> np.ndarray | Prediction:
    """What each target's neighbours (row numbers) say about the secret: shares of its values, or mean and spread.

    `prior` votes are shared among the values as in the whole synthetic table. No votes at all: equal scores, or the middle of the
    public range. Values that the schema does not list, and missing numbers, have no vote.
    """
    if not secret.levels:
        return _mean_and_spread(neighbours, synthetic, secret, prior)
    codes = synthetic.codes[:, secret.position]
    everyone = np.bincount(codes, minlength=secret.levels)[: secret.levels]
    shares = np.zeros((len(neighbours), secret.levels))
    for target, rows in enumerate(neighbours):
        shares[target] = np.bincount(codes[rows], minlength=secret.levels)[: secret.levels]
    shares += prior * everyone / max(everyone.sum(), 1)
    return shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)


def _mean_and_spread(neighbours: list[np.ndarray], synthetic: Table, secret: Secret, prior: float) -> Prediction:
    column = synthetic.schema.columns[secret.position]
    numbers = synthetic.numbers[:, synthetic.schema.numeric.index(secret.position)]
    span = column.upper - column.lower
    everyone = numbers[~np.isnan(numbers)]
    middle = float(everyone.mean()) if len(everyone) else (column.lower + column.upper) / 2
    width = float(everyone.std()) if len(everyone) else span
    mean, scale = np.full(len(neighbours), middle), np.full(len(neighbours), width)
    for target, rows in enumerate(neighbours):
        said = numbers[rows][~np.isnan(numbers[rows])]
        if len(said):
            count = len(said) + prior
            mean[target] = (said.sum() + prior * middle) / count
            square = ((said - mean[target]) ** 2).sum() + prior * (width**2 + (middle - mean[target]) ** 2)
            scale[target] = np.sqrt(square / count)
    return Prediction(mean, np.maximum(scale, max(LEAST_SCALE * span, 1e-9)))
