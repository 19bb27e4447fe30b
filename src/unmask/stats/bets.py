"""E-values from graded evidence: every run, a bet on a person's coin as high as the evidence is strong.

A count of right guesses (`evalues.log_e_value`) treats a hunch like a certainty. A bet does not: with the same runs it lists
up to half as many people again (docs/explanation/everyone.md), and it needs no threshold and no abstention.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unmask.errors import ParameterError
from unmask.stats._checks import FloatArray, check_nonnegative
from unmask.stats.evalues import average_log_e_values

STAKE = 0.7  # of Kelly's stake: the evidence was learnt from few runs, so it is a little too sure of itself
MOST = 0.98  # of what may be staked at all: one wrong bet never costs everything
STEP, LARGEST = 0.02, 10.0  # the grid of epsilons on which bounds lie


def log_e_value_of_bets(
    log_ratios: ArrayLike, members: ArrayLike, *, epsilon: float = 0.0, weights: ArrayLike | None = None
) -> FloatArray:
    """Log e-value of each person against "epsilon-DP for this person" (pure), over runs (rows) of people (columns).

    `log_ratios` is the evidence for "in" against "out" and `members` the fair coin. Evidence l holds "in" for right with
    probability p = 1/(1+e^-l). If the claim holds, whichever side has the better odds is right with probability at most
    q = e^eps/(1+e^eps), so a bet that wins x or loses x e^eps is unfavourable, and the product over runs of 1 + x or
    1 - x e^eps is an e-value, whatever the evidence is worth. It may come from anything but the coins of its own and later
    runs. epsilon = 0 tests "the output does not depend on this person". No evidence, no bet, E = 1. With `weights` the first
    axis of `log_ratios` is over attacks, and their e-values are averaged.
    """
    sure, right, shares = _checked(log_ratios, members, weights)
    check_nonnegative("epsilon", epsilon)
    return _log_e(sure, right, epsilon, shares)


def epsilon_of_bets(
    log_ratios: ArrayLike, members: ArrayLike, *, log_threshold: float, weights: ArrayLike | None = None
) -> FloatArray:
    """Lower bounds on the epsilon of people on the e-BH list: everything on the grid up to it reaches the threshold.

    As `evalues.epsilon_for_listed`: with the threshold of the list itself the expected share of listed people whose bound
    exceeds their true epsilon is at most the rate. Not valid for people who are not on the list.
    """
    sure, right, shares = _checked(log_ratios, members, weights)
    if log_threshold <= 0:
        raise ParameterError("The threshold must exceed 1 (log_threshold > 0): use that of the e-BH list.")
    bound = np.zeros(sure.shape[2])
    left = np.arange(sure.shape[2])
    for epsilon in np.arange(0, LARGEST + STEP / 2, STEP):
        reached = _log_e(sure, right, float(epsilon), shares) >= log_threshold
        if not reached.all():
            left, sure, right = left[reached], sure[:, :, reached], right[:, :, reached]
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


def _checked(
    log_ratios: ArrayLike, members: ArrayLike, weights: ArrayLike | None
) -> tuple[FloatArray, np.ndarray, FloatArray]:
    """How probable the likelier side is held and whether it was right (attacks x runs x people), and weights of attacks."""
    evidence, inside = np.asarray(log_ratios, dtype=np.float64), np.asarray(members, dtype=np.bool_)
    if weights is None:
        evidence, weights = evidence[None], (1.0,)
    if evidence.ndim != 3 or evidence.shape[1:] != inside.shape:
        raise ParameterError(f"Evidence {evidence.shape[1:]} and coins {inside.shape} must both be runs x people.")
    if np.isnan(evidence).any():
        raise ParameterError("Some evidence is no number. Use 0 where there is none.")
    return 1 / (1 + np.exp(-np.abs(evidence))), (evidence > 0) == inside, np.asarray(weights, dtype=np.float64)


def _log_e(sure: FloatArray, right: np.ndarray, epsilon: float, weights: FloatArray) -> FloatArray:
    from unmask.stats._bets_kernel import log_wealth  # numba is slow to import

    odds, attacks = float(np.exp(epsilon)), zip(sure, right, strict=True)
    each = np.stack([log_wealth(*attack, odds, STAKE, MOST) for attack in attacks])
    return each[0] if len(each) == 1 else average_log_e_values(each, weights=weights)
