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
            return absences.standardised_without(joined(load(runs[place])), ~members[place], self.farthest)

        weights = self._weights(learning, members)
        scores = np.stack([learning(place) @ weights for place in range(len(runs))]).astype(np.float64)
        return FittedRatio(absences.scale(self.farthest), weights, Shift.of(scores, members, self.prior_runs))

    def _weights(self, learning: Callable[[int], np.ndarray], members: np.ndarray) -> np.ndarray:
        """The linear discriminant: inverse covariance times the shift of the means."""
        products, sums, count = 0.0, [0.0, 0.0], np.zeros(2)
        for place, inside in enumerate(members):
            z = learning(place)
            products = products + z.T @ z
            for side, chosen in enumerate((~inside, inside)):
                sums[side] = sums[side] + chosen.astype(np.float32) @ z
                count[side] += chosen.sum()
        centre = (sums[0] + sums[1]) / count.sum()
        covariance = products / count.sum() - np.outer(centre, centre)
        shift = sums[1] / max(count[1], 1) - sums[0] / max(count[0], 1)
        spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        moves = spread > 1e-6
        spread = np.where(moves, spread, 1.0)
        correlation = covariance / np.outer(spread, spread) + self.ridge * np.eye(len(spread))
        return np.asarray(np.where(moves, np.linalg.solve(correlation, shift / spread) / spread, 0.0), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Absences:
    """Each unit's features over the runs without it (units x features), and the variance borrowed from other units."""

    total: np.ndarray
    squares: np.ndarray
    runs: np.ndarray  # units: how many runs were without it
    borrowed: np.ndarray
    prior_runs: float

    @classmethod
    def of(
        cls, load: Load, runs: Sequence[int], members: np.ndarray, families: tuple[Family, ...], prior_runs: float
    ) -> Absences:
        shape = (members.shape[1], len(families))
        total, squares = np.zeros(shape), np.zeros(shape)
        for run, inside in zip(runs, members, strict=True):
            _add_up(joined(load(run)), ~inside, total, squares)
        absent = (~members).sum(axis=0)
        mean = total / np.maximum(absent, 1)[:, None]
        own = np.maximum(squares / np.maximum(absent, 1)[:, None] - mean**2, 0.0)
        return cls(total, squares, absent, _borrowed(mean, own, families), prior_runs)

    def scale(self, farthest: float) -> OwnScale:
        """For runs that are no part of this."""
        runs = self.runs[:, None]
        mean = self.total / np.maximum(runs, 1)
        own = np.maximum(self.squares / np.maximum(runs, 1) - mean**2, 0.0)
        variance = (runs * own + self.prior_runs * self.borrowed) / (runs + self.prior_runs)
        inverse = 1 / np.sqrt(np.maximum(variance, LEAST_VARIANCE))
        inverse[self.runs == 0] = 0.0  # a unit that was always in has nothing to be compared with
        return OwnScale(mean.astype(np.float32), inverse.astype(np.float32), farthest)

    def standardised_without(self, features: np.ndarray, absent: np.ndarray, farthest: float) -> np.ndarray:
        """For a run that is part of this: each unit is compared with its *other* runs without it.

        A run that was its own yardstick would look tamer than it is, and only runs without the unit would: a shift where
        there is none. Rare counts are the worst of it.
        """
        z = np.empty_like(features)
        _standardise_without(
            features, absent, self.total, self.squares, self.runs, self.borrowed, self.prior_runs, farthest, z
        )
        return z


def _borrowed(mean: np.ndarray, own: np.ndarray, families: tuple[Family, ...]) -> np.ndarray:
    """The variance to be expected of a feature with this mean: counts scatter more where they are larger."""
    grows = np.array([family is Family.COUNT for family in families])
    raised = np.where(grows, mean + 0.1, 1.0)
    return np.asarray(raised * own.sum(axis=0) / raised.sum(axis=0))


@dataclass(frozen=True, eq=False)
class OwnScale:
    """Where each unit's features lie without it (units x features), and one over how much they scatter."""

    mean: np.ndarray
    inverse: np.ndarray
    farthest: float

    def standardised(self, features: np.ndarray) -> np.ndarray:
        z = np.empty_like(features)
        _standardise(features, self.mean, self.inverse, np.float32(self.farthest), z)
        return z


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

    scale: OwnScale
    weights: np.ndarray
    shift: Shift

    def score(self, block: Block) -> np.ndarray:
        return self.shift.log_ratio((self.scale.standardised(joined(block)) @ self.weights).astype(np.float64))


def joined(block: Block) -> np.ndarray:
    """Counts and values of one run side by side (units x features, float32)."""
    counts, values = block
    together = np.empty((len(counts), counts.shape[1] + values.shape[1]), dtype=np.float32)
    together[:, : counts.shape[1]] = counts
    together[:, counts.shape[1] :] = values
    return together


@njit(nogil=True, cache=True)
def _add_up(features, chosen, total, squares):
    for unit in range(features.shape[0]):
        if chosen[unit]:
            for place in range(features.shape[1]):
                number = np.float64(features[unit, place])
                total[unit, place] += number
                squares[unit, place] += number * number


@njit(nogil=True, cache=True)
def _standardise(features, mean, inverse, farthest, z):
    for unit in range(features.shape[0]):
        for place in range(features.shape[1]):
            number = (features[unit, place] - mean[unit, place]) * inverse[unit, place]
            z[unit, place] = min(max(number, -farthest), farthest)


@njit(nogil=True, cache=True)
def _standardise_without(features, absent, total, squares, runs, borrowed, prior, farthest, z):
    for unit in range(features.shape[0]):
        own = 1.0 if absent[unit] else 0.0
        others = runs[unit] - own
        if others < 1:
            z[unit] = 0.0
            continue
        for place in range(features.shape[1]):
            number = np.float64(features[unit, place])
            mean = (total[unit, place] - own * number) / others
            spread = (squares[unit, place] - own * number * number) / others - mean * mean
            variance = (others * max(spread, 0.0) + prior * borrowed[unit, place]) / (others + prior)
            gap = (number - mean) / np.sqrt(max(variance, LEAST_VARIANCE))
            z[unit, place] = min(max(gap, -farthest), farthest)
