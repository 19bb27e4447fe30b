"""Gradient boosting on top of the ratio scorer: a few trees over its numbers and over what kind of person it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from unmask.attacks.everyone.scorer import FittedRatio, RatioScorer
from unmask.attacks.everyone.usual import Block, Load

MOST = 200_000  # examples that the trees learn from


@dataclass(frozen=True)
class BoostedScorer:
    """Trees may find what a straight line cannot, such as "a copy counts only for odd people". They cost more than all else."""

    ratio: RatioScorer = field(default_factory=RatioScorer)
    trees: int = 60
    leaves: int = 8
    smallest_leaf: int = 200
    penalty: float = 5.0
    seed: int = 0

    def fit(self, load: Load, runs: Sequence[int], members: np.ndarray, groups: Sequence[str]) -> FittedBoosted:
        ratio = self.ratio.fit(load, runs, members, groups)
        rng = np.random.default_rng(self.seed)
        each = max(1, MOST // max(len(runs), 1))
        known = np.flatnonzero(members.any(axis=0) & ~members.all(axis=0))
        chosen = [rng.choice(known, min(each, len(known)), replace=False) for _ in runs]
        x = np.concatenate([_inputs(ratio, load(run))[units] for run, units in zip(runs, chosen, strict=True)])
        y = np.concatenate([inside[units] for inside, units in zip(members, chosen, strict=True)])
        trees = HistGradientBoostingClassifier(
            max_iter=self.trees, max_leaf_nodes=self.leaves, min_samples_leaf=self.smallest_leaf,
            l2_regularization=self.penalty, early_stopping=False, random_state=self.seed,
        )  # fmt: skip
        return FittedBoosted(ratio, trees.fit(x, y))


@dataclass(frozen=True, eq=False)
class FittedBoosted:
    """A ratio scorer and the trees on top of it."""

    ratio: FittedRatio
    trees: HistGradientBoostingClassifier

    def score(self, block: Block) -> np.ndarray:
        return np.asarray(self.trees.decision_function(_inputs(self.ratio, block)))


def _inputs(ratio: FittedRatio, block: Block) -> np.ndarray:
    """Units x inputs: the likelihood ratio, the values, the match on all columns, and the unit's own shift."""
    z = ratio.usual.compared(block)
    shift, counts = ratio.odds.shift, block[0].shape[1]
    evidence = ratio.score(block)
    return np.column_stack(
        [evidence, shift.shift / np.sqrt(shift.variance), np.log(shift.variance), z[:, counts - 1 :]]
    )
