"""What the synthetic rows nearest to a person say about their secret, each with one vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from unmask.attacks._attack import Prediction, Secret
from unmask.errors import ParameterError
from unmask.tables.distance import Gower, Hamming, Metric, all_nearest
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View

Measure = Literal["gower", "hamming"]
LEAST_SCALE = 0.01  # of a predicted number, in units of its public range


@dataclass(frozen=True)
class ClosestVotes:
    """The share of each value among the nearest synthetic rows, the secret aside, all ties counted.

    The guess is that of `closest-record`, but for ties, which the majority decides; the score is not graded: where one row
    is nearest it is 0 or 1. For numbers the mean and the spread of the nearest rows.
    """

    name: ClassVar[str] = "closest-votes"
    goals: ClassVar[frozenset[Goal]] = frozenset({Goal.ATTRIBUTE})
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC})

    metric: Measure = "gower"

    def __post_init__(self) -> None:
        measure_of(self.metric)

    def prepare(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> ClosestVotes:
        return self

    def score(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> np.ndarray | Prediction:
        if secret is None:
            raise ParameterError(f"{self.name}: this attack finds out a secret, so it needs --goal attribute.")
        return votes_of_nearest(view.synthetic, targets, secret, self.metric)


def votes_of_nearest(synthetic: Table, targets: Table, secret: Secret, metric: Measure) -> np.ndarray | Prediction:
    """What all rows at the least distance say, by the columns that are known."""
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
