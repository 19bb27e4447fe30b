"""From features to evidence: one scorer for everybody, learnt on runs whose coins are known and never judged.

Three steps, each cheap and each over all units together:
1. Every feature of a unit is measured against the same unit's own runs without it (mean and spread; spreads are shrunk
   towards what the feature has elsewhere). What is left is how much this release differs from releases without this person.
2. One linear discriminant over all units weighs the features. Pooled, it has runs x units examples.
3. Each unit gets a Gaussian likelihood ratio of that one number: its own shift, shrunk towards everybody's.

A gradient-boosted scorer on all features was measured beside it and is worse and dearer (docs/explanation/everyone.md); one
that adds trees on top of these steps is `attacks.everyone.boosted`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numba import njit

from unmask.attacks.everyone.features import Family

LEAST_VARIANCE = 1e-9  # a feature that never moved says nothing as long as it stays, and everything once it moves

Block = tuple[np.ndarray, np.ndarray]  # counts and values of all units in one run
Load = Callable[[int], Block]  # from the number of a run to its features: runs are streamed, never all in memory


class FittedScorer(Protocol):
    """Evidence about everybody in one run."""

    def score(self, block: Block) -> np.ndarray:
        """Log-likelihood ratio of "in" against "out" for every unit; 0 = no opinion."""
        ...


class Scorer(Protocol):
    """Learns from some runs."""

    def fit(self, load: Load, runs: Sequence[int], members: np.ndarray, families: tuple[Family, ...]) -> FittedScorer:
        """`members` is runs x units: who was in each of these runs."""
        ...


@dataclass(frozen=True)
class RatioScorer:
    """The three steps above."""

    prior_runs: float = 16.0  # a unit's own variance counts as its runs, the borrowed one as this many
    farthest: float = 8.0  # standard deviations: what lies further counts as this far
    ridge: float = 0.1  # on the correlation of the features: many say nearly the same

    def fit(self, load: Load, runs: Sequence[int], members: np.ndarray, families: tuple[Family, ...]) -> FittedRatio:
        absences = Absences.of(load, runs, members, families, self.prior_runs)

        def learning(place: int) -> np.ndarray:
            return absences.standardised(load(runs[place]), self.farthest, part=~members[place])

        weights = self._weights(learning, members)
        scores = np.stack([learning(place) @ weights for place in range(len(runs))]).astype(np.float64)
        return FittedRatio(absences, self.farthest, weights, Shift.of(scores, members, self.prior_runs))

    def _weights(self, learning: Callable[[int], np.ndarray], members: np.ndarray) -> np.ndarray:
        """The linear discriminant: inverse covariance times the shift of the means."""
        products, sums, count = 0.0, [0.0, 0.0], np.zeros(2)
        for place, inside in enumerate(members):
            z = learning(place)
            products = products + z.T @ z
            for side, chosen in enumerate((~inside, inside)):
                sums[side] = sums[side] + chosen.astype(np.float32) @ z
                count[side] += chosen.sum()
        # numpy 1 would divide in the single precision of the sums
        centre = np.divide(sums[0] + sums[1], count.sum(), dtype=np.float64)
        covariance = np.divide(products, count.sum(), dtype=np.float64) - np.outer(centre, centre)
        absent, present = (np.divide(sums[side], max(count[side], 1), dtype=np.float64) for side in (0, 1))
        shift = present - absent
        spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        moves = spread > 1e-6
        spread = np.where(moves, spread, 1.0)
        correlation = covariance / np.outer(spread, spread) + self.ridge * np.eye(len(spread))
        return np.asarray(np.where(moves, np.linalg.solve(correlation, shift / spread) / spread, 0.0), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Absences:
    """Where each unit's features lie in the runs without it, and how much they scatter (units x features)."""

    mean: np.ndarray
    scatter: np.ndarray  # sum of squares about the mean, plus the borrowed variance times `prior_runs`
    runs: np.ndarray  # units: how many runs were without it
    prior_runs: float

    @classmethod
    def of(
        cls, load: Load, runs: Sequence[int], members: np.ndarray, families: tuple[Family, ...], prior_runs: float
    ) -> Absences:
        shape = (members.shape[1], len(families))
        total, squares = np.zeros(shape), np.zeros(shape)
        for run, inside in zip(runs, members, strict=True):
            counts, values = load(run)
            _add_up(counts, values, ~inside, total, squares)
        absent = (~members).sum(axis=0)
        n = np.maximum(absent, 1)[:, None]
        mean = total / n
        own = np.maximum(squares / n - mean**2, 0.0)
        scatter = absent[:, None] * own + prior_runs * _borrowed(mean, own, families)
        return cls(mean.astype(np.float32), scatter.astype(np.float32), absent, prior_runs)

    def standardised(self, block: Block, farthest: float, part: np.ndarray | None = None) -> np.ndarray:
        """Features of one run in standard deviations from where they are without the unit.

        `part` says for which units this run is one of those runs. They are compared with the *others*: a run that was its own
        yardstick would look tamer than it is, and only runs without the unit would, which makes a shift where there is
        none. Rare counts are the worst of it.
        """
        own = np.zeros(len(self.runs)) if part is None else part.astype(np.float64)
        others = self.runs - own
        # Without x the mean moves by (x - mean)/(n - 1) and the sum of squares falls by (x - mean)^2 n/(n - 1).
        less = np.where(own > 0, self.runs / np.maximum(others, 1), 0.0)
        factor = np.where(own > 0, less, 1.0) * np.sqrt(others + self.prior_runs)
        factor[others < 1] = 0.0  # a unit that was always in has nothing to be compared with
        least = LEAST_VARIANCE * (others + self.prior_runs)
        z = np.empty(self.mean.shape, dtype=np.float32)
        factors = np.stack([factor, less, least], axis=1).astype(np.float32)
        _standardise(block[0], block[1], self.mean, self.scatter, factors, np.float32(farthest), z)
        return z


def _borrowed(mean: np.ndarray, own: np.ndarray, families: tuple[Family, ...]) -> np.ndarray:
    """The variance to be expected of a feature with this mean: counts scatter more where they are larger."""
    grows = np.array([family is Family.COUNT for family in families])
    raised = np.where(grows, mean + 0.1, 1.0)
    return np.asarray(raised * own.sum(axis=0) / raised.sum(axis=0))


@dataclass(frozen=True, eq=False)
class Shift:
    """For each unit: where its score lies on average, by how much "in" shifts it, and its variance within."""

    centre: np.ndarray
    shift: np.ndarray
    variance: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, members: np.ndarray, prior_runs: float) -> Shift:
        """Shifts are shrunk towards their mean over units; none is below 0."""
        inside, outside = members.sum(axis=0), (~members).sum(axis=0)
        known = (inside > 0) & (outside > 0)
        n_in, n_out = np.maximum(inside, 1), np.maximum(outside, 1)
        mean_in = np.where(members, scores, 0).sum(axis=0) / n_in
        mean_out = np.where(members, 0, scores).sum(axis=0) / n_out
        within = ((scores - np.where(members, mean_in, mean_out)) ** 2).sum(axis=0)
        typical = within[known].sum() / max((n_in + n_out - 2)[known].sum(), 1) if known.any() else 1.0
        variance = np.maximum((within + prior_runs * typical) / (len(scores) + prior_runs), 1e-12)
        raw = mean_in - mean_out
        noise = variance * (1 / n_in + 1 / n_out)
        if not known.any():
            return cls(scores.mean(axis=0), np.zeros(len(raw)), variance)
        usual = raw[known].mean()
        # Shifts differ as far as their noise does not explain it: among all units, or for one that stands out by itself.
        differ = max(raw[known].var() - noise[known].mean(), 0.0)
        differ = np.maximum(differ, (raw - usual) ** 2 - noise)
        shrunk = (raw * differ + usual * noise) / (differ + noise)
        return cls(scores.mean(axis=0), np.where(known, np.maximum(shrunk, 0.0), 0.0), variance)

    def log_ratio(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(self.shift * (scores - self.centre) / self.variance)


@dataclass(frozen=True, eq=False)
class FittedRatio:
    """A scorer that has learnt."""

    absences: Absences
    farthest: float
    weights: np.ndarray
    shift: Shift

    def standardised(self, block: Block) -> np.ndarray:
        return self.absences.standardised(block, self.farthest)

    def score(self, block: Block) -> np.ndarray:
        return self.shift.log_ratio((self.standardised(block) @ self.weights).astype(np.float64))


@njit(nogil=True, cache=True)
def _add_up(counts, values, chosen, total, squares):
    for unit in range(total.shape[0]):
        if chosen[unit]:
            _add_row(counts[unit], total[unit, : counts.shape[1]], squares[unit, : counts.shape[1]])
            _add_row(values[unit], total[unit, counts.shape[1] :], squares[unit, counts.shape[1] :])


@njit(nogil=True, cache=True)
def _add_row(row, total, squares):
    for place in range(row.size):
        number = np.float64(row[place])
        total[place] += number
        squares[place] += number * number


@njit(nogil=True, cache=True)
def _standardise(counts, values, mean, scatter, factors, farthest, z):
    width = counts.shape[1]
    for unit in range(z.shape[0]):
        given = (factors[unit, 0], factors[unit, 1], factors[unit, 2], farthest)
        _standardise_row(counts[unit], mean[unit, :width], scatter[unit, :width], given, z[unit, :width])
        _standardise_row(values[unit], mean[unit, width:], scatter[unit, width:], given, z[unit, width:])


@njit(nogil=True, cache=True, fastmath=True, error_model="numpy")  # no checks in the way of vector instructions
def _standardise_row(row, mean, scatter, given, z):
    factor, less, least, farthest = given
    for place in range(row.size):
        gap = np.float32(row[place]) - mean[place]
        spread = scatter[place] - less * gap * gap
        number = factor * gap / np.sqrt(max(spread, least))
        z[place] = min(max(number, -farthest), farthest)
