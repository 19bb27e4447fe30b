"""How much better a secret is guessed for people who are in than for the same people left out, and about whom that is certain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.attacks.everyone.scorer import RatioScorer
from unmask.attacks.everyone.usual import Block
from unmask.audits.everyone.attribute.play import SecretGuesses
from unmask.audits.everyone.evidence import judge, of_other_runs
from unmask.audits.everyone.people import People, judge_people
from unmask.audits.everyone.plan import EveryonePlan
from unmask.stats import Estimate, jackknife
from unmask.stream import stream


@dataclass(frozen=True, eq=False)
class Gain:
    """Success over people, each of whom counts the same."""

    inside: Estimate
    outside: Estimate
    difference: Estimate
    of_unit: np.ndarray  # difference of each unit; nan where it was not asked, or in or out of fewer than two runs


@dataclass(frozen=True, eq=False)
class Outcome:
    """What was found out about one secret."""

    guesses: SecretGuesses
    gain: Gain
    certain: float  # lower bound of the difference that holds for all secrets at once
    people: People
    control: People  # the same with the coins of other runs


def judge_attribute(plan: EveryonePlan, guesses: SecretGuesses, *, tests: int) -> Outcome:
    """Success with and without everybody, and the list of people whose secret shows; `tests` questions share the error."""
    strict = 1 - (1 - plan.confidence) / max(tests, 1)
    other = of_other_runs(guesses.members, stream(plan.seed, "control", guesses.name))
    return Outcome(
        guesses,
        gain_of(guesses, plan.confidence),
        gain_of(guesses, strict).difference.low,
        _people(plan, guesses, guesses.members),
        _people(plan, guesses, other),
    )


def _people(plan: EveryonePlan, guesses: SecretGuesses, members: np.ndarray) -> People:
    """As for membership, with the fit of the true secret as the only features."""

    def load(run: int) -> Block:
        return np.empty((members.shape[1], 0), dtype=np.uint16), guesses.fit[run]

    judged = judge(load, members, groups=(), scorer=RatioScorer())
    return judge_people(judged, guesses.asked, rate=plan.rate, confidence=plan.confidence)


def gain_of(guesses: SecretGuesses, confidence: float) -> Gain:
    """Each person's share of right guesses with them minus that without, averaged; intervals by leaving out each run."""
    members, right = guesses.members, guesses.right.astype(np.float64)
    runs = len(members)
    inside, outside = members.sum(axis=0), (~members).sum(axis=0)
    # Two on either side, so that a difference is left when any run is taken out.
    chosen = guesses.asked & (inside >= 2) & (outside >= 2)
    hits, others = np.where(members, right, 0).sum(axis=0), np.where(members, 0, right).sum(axis=0)

    def shares(run: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        own = np.zeros(len(inside)) if run is None else members[run].astype(np.float64)
        rest = np.zeros(len(inside)) if run is None else 1 - own
        left = np.zeros(len(inside)) if run is None else right[run]
        return (
            ((hits - own * left) / np.maximum(inside - own, 1))[chosen],
            ((others - rest * left) / np.maximum(outside - rest, 1))[chosen],
        )

    def means(run: int | None = None) -> tuple[float, float, float]:
        share_in, share_out = (float(share.mean()) if share.size else 0.0 for share in shares(run))
        return share_in, share_out, share_in - share_out

    without = np.array([means(run) for run in range(runs)])
    values = means()

    def estimate(place: int, least: float) -> Estimate:
        n = runs * int(chosen.sum())
        return jackknife(values[place], without[:, place], n=n, confidence=confidence, limits=(least, 1.0))

    of_unit = np.full(len(inside), np.nan)
    with_them, without_them = shares()
    of_unit[chosen] = with_them - without_them
    return Gain(estimate(0, 0.0), estimate(1, 0.0), estimate(2, -1.0), of_unit)
