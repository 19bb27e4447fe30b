"""From features to evidence: one scorer for everybody, learnt on runs whose coins are known and never judged.

Three steps, each cheap and each over all units together:
1. Every feature of a unit is compared with the same unit's other runs (`usual`). What is left is how much this release differs
   from others, as far as this person is concerned.
2. One linear discriminant over all units weighs the features. Pooled, it has runs x units examples.
3. That one number becomes odds, by everybody's curve and by the unit's own (`odds`).

A gradient-boosted scorer on all features was measured beside it and is worse and dearer (docs/explanation/everyone.md); one
that adds trees on top of these steps is `attacks.everyone.boosted`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unmask.attacks.everyone.odds import Odds
from unmask.attacks.everyone.usual import Block, Load, Usual

ENOUGH = 2**16  # examples for the discriminant: of more, every so many units are taken


class FittedScorer(Protocol):
    """Evidence about everybody in one run."""

    def score(self, block: Block) -> np.ndarray:
        """Log-likelihood ratio of "in" against "out" for every unit; 0 = no opinion."""
        ...


class Scorer(Protocol):
    """Learns from some runs."""

    def fit(self, load: Load, runs: Sequence[int], members: np.ndarray, groups: Sequence[str]) -> FittedScorer:
        """`members` is runs x units: who was in each of these runs; `groups` says which counts are of a kind."""
        ...


@dataclass(frozen=True)
class RatioScorer:
    """The three steps above."""

    prior_runs: float = 16.0  # a unit's own variance counts as its runs, the borrowed one as this many
    farthest: float = 8.0  # standard deviations: what lies further counts as this far
    ridge: float = 0.03  # on the correlation of the features: many say nearly the same

    def fit(self, load: Load, runs: Sequence[int], members: np.ndarray, groups: Sequence[str]) -> FittedRatio:
        usual = Usual.of(load, runs, members, groups, prior_runs=self.prior_runs, farthest=self.farthest)

        weights = self._weights(usual, load, runs, members)
        pairs = zip(runs, members, strict=True)
        scores = np.stack([usual.weighed(load(run), weights, ~inside) for run, inside in pairs])
        return FittedRatio(usual, weights, Odds.of(scores, members, self.prior_runs))

    def _weights(self, usual: Usual, load: Load, runs: Sequence[int], members: np.ndarray) -> np.ndarray:
        """The linear discriminant: inverse covariance times the shift of the means."""
        step = max(1, -(-members.size // ENOUGH))
        some = usual.of_every(step) if step > 1 else usual
        products, sums, count = 0.0, [0.0, 0.0], np.zeros(2)
        for run, everybody in zip(runs, members, strict=True):
            (counts, values), inside = load(run), everybody[::step]
            z = some.compared((np.ascontiguousarray(counts[::step]), np.ascontiguousarray(values[::step])), ~inside)
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
class FittedRatio:
    """A scorer that has learnt."""

    usual: Usual
    weights: np.ndarray
    odds: Odds

    def score(self, block: Block) -> np.ndarray:
        return self.odds.log_ratio(self.usual.weighed(block, self.weights))
