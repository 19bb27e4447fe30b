"""The distance to the closest synthetic record, with a weight per column that is learnt on the attacker's own releases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, softmax

from unmask.attacks._attack import FeatureSet
from unmask.attacks.closest_votes import Measure
from unmask.attacks.features.nearest_rows import NearestRowFeatures
from unmask.attacks.features.queries import hidden_column
from unmask.errors import ParameterError
from unmask.threats.knowledge import Access, Goal
from unmask.threats.pool import Pool

PULL = 1.0  # towards equal weights, in units of one release about one target

Loss = Callable[[np.ndarray], tuple[float, np.ndarray]]  # from parameters to the loss and its slope


@dataclass(frozen=True)
class TrainedDistance:
    """Minus the least weighted distance of a synthetic row to the target; the weights are those that tell best.

    Houssiau 2022, section 3.3, says that the distance may be trained. Here d(x, t) = sum over columns j of w_j d_j(x, t), with
    one weight w_j >= 0 per column for all targets, pulled towards equal ones. Membership: the log-odds of "in" are
    b_t - min d(x, t), with one b_t for each target, fitted by maximum likelihood on shadow releases; the score is their
    probability. A secret category: the probability of value v falls with the least distance to the target with v in place of
    the secret, fitted on shadow releases that the target was in. The least distance is looked for among the rows that are
    nearest under equal weights.
    """

    name: ClassVar[str] = "trained-distance"
    goals: ClassVar[frozenset[Goal]] = frozenset(Goal)
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC, Access.SHADOWS})

    metric: Measure = "gower"
    rows: int = 32  # nearest ones that are looked at

    def __post_init__(self) -> None:
        self.features  # noqa: B018 - a feature set checks its parameters when it is made

    @property
    def features(self) -> tuple[FeatureSet, ...]:
        return (NearestRowFeatures(self.rows, self.metric),)

    def fit(self, pool: Pool, rng: np.random.Generator) -> FittedDistance:
        """Learn the weights from all targets together."""
        position, columns = hidden_column(pool.targets), len(pool.targets.schema.columns)
        if position is not None and not pool.levels:
            name = pool.targets.schema.names[position]
            raise ParameterError(f"{self.name}: this attack finds out categories; '{name}' is a number. Use linear.")
        (feature,) = self.features
        shown = Shown(feature.key, columns, position, pool.levels)
        about = np.stack([pool.about(target) for target in range(len(pool.targets))], axis=1)
        if position is None:
            weights, offsets = _membership_weights(shown, pool, about)
            return FittedDistance(shown, weights, offsets)
        return FittedDistance(shown, _secret_weights(shown, pool, about & pool.members), np.zeros(len(pool.targets)))


@dataclass(frozen=True)
class Shown:
    """How features of a pool are to be read."""

    key: str
    columns: int
    secret: int | None  # position of the secret
    levels: int

    def rows(self, pool: Pool, target: int, chosen: np.ndarray) -> np.ndarray:
        """Releases x rows x columns for one target."""
        found = pool.features(self.key, target)[chosen]
        return found.reshape(len(found), found.shape[1] // self.columns, self.columns)

    def closest(self, rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least weighted distance of each release, and that row's differences, which are its slope in the weights."""
        distances = rows @ weights
        best = distances.argmin(axis=1)
        here = np.arange(len(rows))
        return distances[here, best], rows[here, best]

    def closest_by_level(self, rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for every value of the secret: releases x levels, and their slopes (x columns).

        A row with another value than v is farther by the weight of the secret: so the closest of all, or the closest with v.
        """
        secret = self.secret or 0
        codes, known = rows[:, :, secret].astype(np.int64), rows.copy()
        known[:, :, secret] = 0.0
        least, slope = self.closest(known, weights)
        found = np.repeat((least + weights[secret])[:, None], self.levels, axis=1)
        slopes = np.repeat(slope[:, None, :], self.levels, axis=1)
        slopes[:, :, secret] = 1.0
        distances = known @ weights
        for place in range(rows.shape[1]):
            code = codes[:, place]
            mine = np.flatnonzero((code >= 0) & (code < self.levels))
            nearer = mine[distances[mine, place] < found[mine, code[mine]]]
            found[nearer, code[nearer]] = distances[nearer, place]
            slopes[nearer, code[nearer]] = known[nearer, place]
        return found, slopes


@dataclass(frozen=True, eq=False)
class FittedDistance:
    """The attack with its weights, and the log-odds of each target at distance 0."""

    shown: Shown
    weights: np.ndarray
    offsets: np.ndarray

    def score(self, pool: Pool) -> np.ndarray:
        """Releases x targets (x levels): probabilities; 0 where a release is not about the target."""
        shown = self.shown
        scores = np.zeros((len(pool), len(pool.targets), *([shown.levels] if shown.levels else [])))
        for target in range(len(pool.targets)):
            chosen = pool.about(target)
            rows = shown.rows(pool, target, chosen)
            if shown.secret is None:
                scores[chosen, target] = expit(self.offsets[target] - shown.closest(rows, self.weights)[0])
            else:
                scores[chosen, target] = softmax(-shown.closest_by_level(rows, self.weights)[0], axis=1)
        return scores


def _membership_weights(shown: Shown, pool: Pool, about: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights and offsets; where a target's releases are all of one kind there is nothing to learn from them."""
    count = len(pool.targets)
    useful = [t for t in range(count) if len(np.unique(pool.members[about[:, t], t])) == 2]
    if not useful:
        return np.zeros(shown.columns), np.zeros(count)
    rows = np.concatenate([shown.rows(pool, t, about[:, t]) for t in useful])
    sign = np.concatenate([np.where(pool.members[about[:, t], t], 1.0, -1.0) for t in useful])
    owner = np.concatenate([np.full(int(about[:, t].sum()), place) for place, t in enumerate(useful)])

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        weights, offsets = parameters[: shown.columns], parameters[shown.columns :]
        distance, slope = shown.closest(rows, weights)
        odds = sign * (offsets[owner] - distance)
        pull = -sign * expit(-odds)  # the slope of the loss in the log-odds of "in"
        slopes = np.concatenate([-(pull @ slope), np.bincount(owner, pull, len(useful))])
        return -float(log_expit(odds).sum()), slopes

    found = _least(loss, shown.columns, len(useful))
    offsets = np.zeros(count)
    offsets[useful] = found[shown.columns :]
    return found[: shown.columns], offsets


def _secret_weights(shown: Shown, pool: Pool, chosen: np.ndarray) -> np.ndarray:
    """Weights under which the true value is the closest one."""
    rows = np.concatenate([shown.rows(pool, t, chosen[:, t]) for t in range(len(pool.targets))])
    truth = np.concatenate([pool.secrets[chosen[:, t], t] for t in range(len(pool.targets))]).astype(np.int64)
    if len(np.unique(truth)) < 2:  # never repeat the one secret that the attacker's side held
        return np.zeros(shown.columns)
    here = np.arange(len(rows))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        distance, slope = shown.closest_by_level(rows, weights)
        chances = softmax(-distance, axis=1)
        pull = -chances
        pull[here, truth] += 1.0
        return -float(np.log(np.maximum(chances[here, truth], 1e-300)).sum()), np.einsum("nl,nlc->c", pull, slope)

    return _least(loss, shown.columns, 0)


def _least(loss: Loss, columns: int, free: int) -> np.ndarray:
    """The parameters of least loss: `columns` weights from 0 on, pulled towards equal ones, and `free` others."""

    def pulled(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = loss(parameters)
        apart = parameters[:columns] - parameters[:columns].mean()
        slope = slope.copy()
        slope[:columns] += 2 * PULL * apart
        return value + PULL * float(apart @ apart), slope

    start = np.concatenate([np.ones(columns), np.zeros(free)])
    bounds = [(0.0, None)] * columns + [(None, None)] * free
    return np.asarray(minimize(pulled, start, jac=True, method="L-BFGS-B", bounds=bounds).x)
