"""Evidence from whole rows alone: is the person's row published more often when they are in?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.attacks.everyone.usual import Block, Load


@dataclass(frozen=True)
class CopyScorer:
    """How often each unit's row is published with and without it; the ratio of the two is the evidence.

    Rates are shrunk towards everybody's, as if `prior_runs` more runs had shown those: nobody is sure after a few runs.
    """

    prior_runs: float = 1.0

    def fit(self, load: Load, runs: Sequence[int], members: np.ndarray, groups: Sequence[str]) -> FittedCopies:
        shown = np.stack([published(load(run)) for run in runs])
        with_it = self._rate((shown & members).sum(axis=0), members.sum(axis=0), shown[members].mean())
        without = self._rate((shown & ~members).sum(axis=0), (~members).sum(axis=0), shown[~members].mean())
        return FittedCopies(np.log(with_it / without), np.log((1 - with_it) / (1 - without)))

    def _rate(self, shown: np.ndarray, runs: np.ndarray, everybody: float) -> np.ndarray:
        usual = np.clip(everybody, 1e-3, 1 - 1e-3)
        return np.asarray((shown + self.prior_runs * usual) / (runs + self.prior_runs))


@dataclass(frozen=True, eq=False)
class FittedCopies:
    """Evidence about each unit where its row is published, and where it is not."""

    if_shown: np.ndarray
    if_not: np.ndarray

    def score(self, block: Block) -> np.ndarray:
        return np.where(published(block), self.if_shown, self.if_not)


def published(block: Block) -> np.ndarray:
    """Whose whole row is in the release: the last count is that of all columns together."""
    return np.asarray(block[0][:, -1] > 0)
