"""E-values from graded evidence: every run, a bet on a person's coin as high as the evidence is strong.

A count of right guesses (`evalues.log_e_value`) treats a hunch like a certainty. A bet does not: with the same runs it lists
up to half as many people again (docs/explanation/everyone.md), and it needs no threshold and no abstention.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unmask.errors import ParameterError
from unmask.stats._checks import FloatArray, check_nonnegative

STEP, LARGEST = 0.02, 10.0  # the grid of epsilons on which bounds lie


def log_e_value_of_bets(log_ratios: ArrayLike, members: ArrayLike, *, epsilon: float = 0.0) -> FloatArray:
    """Log e-value of each person against "epsilon-DP for this person" (pure), over the runs (rows) of both arrays.

    `log_ratios` is the evidence for "in" against "out" and `members` the fair coin. Evidence l holds "in" for right with
    probability p = 1/(1+e^-l). If the claim holds, whichever side has the better odds is right with probability at most
    q = e^eps/(1+e^eps), so a bet that wins x or loses x e^eps is unfavourable, and the product over runs of 1 + x or
    1 - x e^eps is an e-value, whatever the evidence is worth. It may come from anything but the coins of its own and later
    runs. epsilon = 0 tests "the output does not depend on this person". No evidence, no bet, E = 1.
    """
    evidence, inside = _checked(log_ratios, members)
    check_nonnegative("epsilon", epsilon)
    return _log_wealth(evidence, inside, float(np.exp(epsilon)))


def epsilon_of_bets(log_ratios: ArrayLike, members: ArrayLike, *, log_threshold: float) -> FloatArray:
    """Lower bounds on the epsilon of people on the e-BH list: everything on the grid up to it reaches the threshold.

    As `evalues.epsilon_for_listed`: with the threshold of the list itself the expected share of listed people whose bound
    exceeds their true epsilon is at most the rate. Not valid for people who are not on the list.
    """
    evidence, inside = _checked(log_ratios, members)
    if log_threshold <= 0:
        raise ParameterError("The threshold must exceed 1 (log_threshold > 0): use that of the e-BH list.")
    bound = np.zeros(evidence.shape[1])
    left = np.arange(evidence.shape[1])
    for epsilon in np.arange(0, LARGEST + STEP / 2, STEP):
        reached = _log_wealth(evidence[:, left], inside[:, left], float(np.exp(epsilon))) >= log_threshold
        left = left[reached]
        if not left.size:
            break
        bound[left] = epsilon
    return bound


def largest_visible_of_bets(runs: int, *, people: int, rate: float, listed: int = 1) -> float:
    """The bound of a person about whom all of these runs were certain and right, if `listed` of `people` are listed."""
    check_nonnegative("runs", runs)
    certain = np.full((runs, 1), 50.0)
    return float(
        epsilon_of_bets(certain, np.ones((runs, 1), bool), log_threshold=float(np.log(people / (rate * listed))))[0]
    )


def _checked(log_ratios: ArrayLike, members: ArrayLike) -> tuple[FloatArray, np.ndarray]:
    evidence, inside = np.asarray(log_ratios, dtype=np.float64), np.asarray(members, dtype=np.bool_)
    if evidence.ndim != 2 or evidence.shape != inside.shape:
        raise ParameterError(f"Evidence {evidence.shape} and coins {inside.shape} must both be runs x people.")
    if np.isnan(evidence).any():
        raise ParameterError("Some evidence is no number. Use 0 where there is none.")
    return evidence, inside


def _log_wealth(evidence: FloatArray, inside: np.ndarray, odds: float) -> FloatArray:
    from unmask.stats._bets_kernel import log_wealth  # numba is slow to import

    return np.asarray(log_wealth(evidence, inside, odds), dtype=np.float64)
