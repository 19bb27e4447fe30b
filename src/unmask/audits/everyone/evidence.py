"""Evidence about everybody: learn on some runs, judge the later ones, never the other way round.

Runs are taken in their order. A first scorer learns from the first quarter and judges the second; another learns from the
first half and judges the rest. Coins of a run never reach the scorer that judges it, and bets of both parts multiply to one
e-value. Figures that need one scorer (AUC, rates, the pooled bound) come from the second half alone.

Which part a run belongs to is settled by its number among all that were planned. Runs that failed published nothing: they
teach nothing, and nothing is said about their coins, but their coins count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.attacks.everyone.scorer import Scorer
from unmask.attacks.everyone.usual import Load
from unmask.errors import GeneratorError

TWO_PARTS = 16  # runs from which a first quarter is worth learning from


@dataclass(frozen=True, eq=False)
class Evidence:
    """Log-likelihood ratios of "in" against "out" (runs x units) and the coins they are judged by."""

    log_ratios: np.ndarray
    members: np.ndarray

    def of(self, units: np.ndarray) -> Evidence:
        return Evidence(self.log_ratios[:, units], self.members[:, units])


@dataclass(frozen=True, eq=False)
class RunOrder:
    """The place of every run among all that were planned, and the coins of those that failed (runs x units)."""

    places: np.ndarray
    failed_places: np.ndarray
    failed: np.ndarray

    @classmethod
    def all_published(cls, members: np.ndarray) -> RunOrder:
        return cls(np.arange(len(members)), np.arange(0), members[:0])

    @property
    def runs(self) -> int:
        return len(self.places) + len(self.failed_places)

    def coins_between(self, start: int, end: int) -> np.ndarray:
        """Of failed runs."""
        return self.failed[(self.failed_places >= start) & (self.failed_places < end)]


@dataclass(frozen=True, eq=False)
class Judged:
    """What the two scorers said. `early` chooses how many guesses to make, `late` is what figures are about."""

    early: Evidence | None
    late: Evidence
    learnt: int  # runs that the second scorer learnt from
    failed_early: np.ndarray | None = None  # coins of judged runs that failed (runs x units)
    failed_late: np.ndarray | None = None

    @property
    def all(self) -> Evidence:
        """Every judged run that published something."""
        if self.early is None:
            return self.late
        return Evidence(
            np.concatenate([self.early.log_ratios, self.late.log_ratios]),
            np.concatenate([self.early.members, self.late.members]),
        )

    @property
    def silent(self) -> np.ndarray:
        """Coins of every judged run that failed: nothing was published, so nothing was guessed."""
        parts = (self.failed_early, self.failed_late)
        return np.concatenate([self.late.members[:0], *(part for part in parts if part is not None)])


def judge(
    load: Load, members: np.ndarray, *, groups: Sequence[str], scorer: Scorer, planned: RunOrder | None = None
) -> Judged:
    """Evidence about all units in all runs but the first ones. Without `planned`, no run failed."""
    plan = planned or RunOrder.all_published(members)
    runs = plan.runs
    quarter, half = (int(np.searchsorted(plan.places, end)) for end in (runs // 4, runs // 2))
    if half < 2 or half == len(members):
        raise GeneratorError(
            f"Of {runs} runs {len(plan.failed)} failed, and {half} of the first half were left to learn from, "
            f"{len(members) - half} of the second to judge: too few. Use more runs, or a generator that fails less often."
        )

    def part(learnt: int, end: int) -> Evidence:
        fitted = scorer.fit(load, range(learnt), members[:learnt], groups)
        return Evidence(np.stack([fitted.score(load(run)) for run in range(learnt, end)]), members[learnt:end])

    two = runs >= TWO_PARTS
    early = part(quarter, half) if two and 2 <= quarter < half else None
    failed_early = plan.coins_between(runs // 4, runs // 2) if two else None
    return Judged(early, part(half, len(members)), half, failed_early, plan.coins_between(runs // 2, runs))


def of_other_runs(members: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The coins of other runs: an analysis with these must find nobody, whatever the generator does.

    Never half way round: then runs would swap coins in pairs, and what one half taught by chance the other would confirm.
    """
    shifts = [shift for shift in range(1, len(members)) if 2 * shift != len(members)]
    return np.roll(members, int(rng.choice(shifts)), axis=0)
