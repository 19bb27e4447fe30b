"""What this audit would have seen: the smallest true epsilon that refutes the claim with a given probability."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import expit

from unmask.attacks.claim.wager import Wager
from unmask.stats import stakes

REPEATS = 200
FACTORS = (1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0)
MOST_RUNS = 4000  # simulated; beyond it what is seen hardly changes


def power_curve(
    claim: float, *, delta: float, runs: int, share: float, confidence: float, rng: np.random.Generator
) -> list[tuple[float, float]]:
    """For several true epsilons, how often the claim is refuted within `runs` runs by the best attack on them.

    Randomised response is the mechanism that shows its epsilon best. The attack holds `share` of the first wealth and starts
    without a record. At best: other mechanisms with the same epsilon are harder to tell.
    """
    truths = np.array([max(claim, 0.1) * factor for factor in FACTORS])
    wanted = -math.log1p(-confidence) - math.log(share)
    accuracy = expit(truths)[:, None]
    right = np.zeros((len(truths), REPEATS, 2))
    bets = np.zeros_like(right)
    wealth = np.zeros((len(truths), REPEATS))
    peak = wealth.copy()
    grid, odds = np.array([claim]), math.exp(claim)
    for _ in range(min(runs, MOST_RUNS)):
        stake = stakes(right, bets, epsilons=grid, delta=delta)[..., 0]
        side = (rng.random(wealth.shape) < 0.5).astype(np.int64)[..., None]
        hit = rng.random(wealth.shape) < accuracy
        mine = np.take_along_axis(stake, side, axis=2)[..., 0]
        wealth += np.log1p(np.where(hit, mine, -mine * odds) - stake.sum(axis=2) * delta / 2)
        np.maximum(peak, wealth, out=peak)
        np.put_along_axis(bets, side, np.take_along_axis(bets, side, 2) + 1, 2)
        np.put_along_axis(right, side, np.take_along_axis(right, side, 2) + hit[..., None], 2)
    return [(float(truth), float(np.mean(row >= wanted))) for truth, row in zip(truths, peak, strict=True)]


def smallest_seen(curve: list[tuple[float, float]], power: float) -> float:
    """The smallest epsilon of the curve from which on the power is reached; infinite if none is."""
    found = math.inf
    for truth, chance in reversed(curve):
        if chance < power:
            break
        found = truth
    return found


def too_few_runs(wager: Wager) -> tuple[str, ...]:
    """Why a claim that stands could not have fallen: not even a perfect attack on the runs that worked would have refuted it."""
    worked = wager.runs - len(wager.failed)
    visible = replace(wager.betting, runs=worked).bound().largest_visible
    if visible >= wager.claim.epsilon:
        return ()
    which = f"{worked:,} of {wager.runs:,} runs that did not fail" if wager.failed else f"{wager.runs:,} runs"
    return (
        f"The claim could not have been refuted: the most that {which} can show is an epsilon of {visible:.3g}. "
        "Play more --runs.",
    )
