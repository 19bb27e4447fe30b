"""Evidence about everybody: learn on some runs, judge the later ones, never the other way round.

Runs are taken in their order. A first scorer learns from the first quarter and judges the second; another learns from the
first half and judges the rest. Coins of a run never reach the scorer that judges it, and bets of both parts multiply to one
e-value. Figures that need one scorer (AUC, rates, the pooled bound) come from the second half alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.attacks.everyone.features import Family
from unmask.attacks.everyone.scorer import Load, Scorer

TWO_PARTS = 16  # runs from which a first quarter is worth learning from


@dataclass(frozen=True, eq=False)
class Evidence:
    """Log-likelihood ratios of "in" against "out" (runs x units) and the coins they are judged by."""

    log_ratios: np.ndarray
    members: np.ndarray

    def of(self, units: np.ndarray) -> Evidence:
        return Evidence(self.log_ratios[:, units], self.members[:, units])


@dataclass(frozen=True, eq=False)
class Judged:
    """What the two scorers said. `early` chooses how many guesses to make, `late` is what figures are about."""

    early: Evidence | None
    late: Evidence
    learnt: int  # runs that the second scorer learnt from

    @property
    def all(self) -> Evidence:
        """Every judged run."""
        if self.early is None:
            return self.late
        return Evidence(
            np.concatenate([self.early.log_ratios, self.late.log_ratios]),
            np.concatenate([self.early.members, self.late.members]),
        )


def judge(load: Load, members: np.ndarray, *, families: tuple[Family, ...], scorer: Scorer) -> Judged:
    """Evidence about all units in all runs but the first ones."""
    runs = len(members)
    quarter, half = runs // 4, runs // 2
    early = None
    if runs >= TWO_PARTS:
        early = _part(load, members, families, scorer, quarter, half)
    return Judged(early, _part(load, members, families, scorer, half, runs), half)


def _part(
    load: Load, members: np.ndarray, families: tuple[Family, ...], scorer: Scorer, learnt: int, end: int
) -> Evidence:
    fitted = scorer.fit(load, range(learnt), members[:learnt], families)
    ratios = np.stack([fitted.score(load(run)) for run in range(learnt, end)])
    return Evidence(ratios, members[learnt:end])


def of_other_runs(members: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The coins of other runs: an analysis with these must find nobody, whatever the generator does.

    Never half way round: then runs would swap coins in pairs, and what one half taught by chance the other would confirm.
    """
    shifts = [shift for shift in range(1, len(members)) if 2 * shift != len(members)]
    return np.roll(members, int(rng.choice(shifts)), axis=0)
