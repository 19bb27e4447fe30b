"""Groundhog's attack on secrets that are numbers: a linear model trained on the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import Prediction, Secret
from unmask.attacks._known import Coarsening, known_positions, spread_features
from unmask.errors import ParameterError
from unmask.tables.schema import Column
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View

SINGULAR = 1e-10  # directions with less than this share of the largest eigenvalue carry nothing
FLOOR = 1e-6  # least scale of a prediction, as a share of the public range: keeps densities finite


@dataclass(frozen=True)
class Linear:
    """Regress the secret on everything else, in the release, and predict the target's.

    Stadler 2022, section 8.3: features and secret are centred, there is no intercept, and the secret is N(t.w, sigma^2) with
    sigma^2 = RSS / (n - (k - 1)). The target is centred like the rows, and the mean of the secret is added back (the
    authors' program forgets both, and so predicts for another person). Categories are 0/1 columns, which are collinear,
    so w is the least-norm solution and k - 1 the rank. The mean stays within the public range, as the truth does.
    """

    name: ClassVar[str] = "linear"
    goals: ClassVar[frozenset[Goal]] = frozenset({Goal.ATTRIBUTE})
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC})

    def prepare(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> Linear:
        _number(targets, secret)
        return self

    def score(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> Prediction:
        secret, column = _number(targets, secret)
        release = view.synthetic
        known = known_positions(release, secret)
        answers = release.numbers[:, release.schema.numeric.index(secret.position)]
        there = np.flatnonzero(~np.isnan(answers))
        people = Coarsening.of(release).apply(targets)
        if len(there) < 2:
            return without_rows(answers[there], len(targets), column)
        mean, scale = least_squares(
            spread_features(release.take(there), known), answers[there], spread_features(people, known)
        )
        return within(column, mean, np.full(len(targets), scale))


def least_squares(features: np.ndarray, answers: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, float]:
    """The prediction at `asked` of a regression on centred features, and its residual standard deviation."""
    middle, level = features.mean(axis=0), answers.mean()
    centred = features - middle
    useful = np.ptp(features, axis=0) > 0
    centred = centred[:, useful]
    residuals = answers - level
    weights, rank = np.zeros(centred.shape[1]), 0
    if centred.shape[1]:
        values, vectors = np.linalg.eigh(centred.T @ centred)
        kept = values > SINGULAR * values[-1]
        vectors, rank = vectors[:, kept], int(kept.sum())
        weights = vectors @ (vectors.T @ (centred.T @ residuals) / values[kept])
        residuals = residuals - centred @ weights
    variance = residuals @ residuals / max(len(answers) - rank, 1)
    return level + (asked - middle)[:, useful] @ weights, float(np.sqrt(variance))


def within(column: Column, mean: np.ndarray, scale: np.ndarray) -> Prediction:
    """A prediction inside the public range, with a scale above zero."""
    width = (column.upper - column.lower) or 1.0
    return Prediction(np.clip(mean, column.lower, column.upper), np.maximum(scale, FLOOR * width))


def without_rows(answers: np.ndarray, targets: int, column: Column) -> Prediction:
    """What can be said from no or hardly any rows: their mean, else the middle of the range; as wide as the range."""
    mean = answers.mean() if len(answers) else (column.lower + column.upper) / 2
    scale = (column.upper - column.lower) / np.sqrt(12)
    return within(column, np.full(targets, mean), np.full(targets, scale))


def _number(targets: Table, secret: Secret | None) -> tuple[Secret, Column]:
    if secret is None or secret.levels:
        what = "membership" if secret is None else f"'{secret.name}', which has categories"
        raise ParameterError(
            f"linear: this attack finds out secrets that are numbers, not {what}. "
            "Use synthetic-predictor for categories, closest-record for membership."
        )
    return secret, targets.schema.columns[secret.position]
