"""Epsilon from one run under a whole trade-off function (METHODS 3.5; Mahloujifar, Melis and Chaudhuri 2024)."""

from __future__ import annotations

import math
from enum import StrEnum

from unmask.errors import ParameterError
from unmask.stats._checks import check_count, check_delta, check_share
from unmask.stats._search import last_true
from unmask.stats.curves import gaussian_epsilon
from unmask.stats.results import Assumption, Bound, Estimate

LARGEST = 50.0


class TradeOff(StrEnum):
    """The family of trade-off functions that a mechanism is tested against."""

    GAUSSIAN = "gaussian"  # mu-GDP: the claim, or a declared Gaussian mechanism
    APPROXIMATE = "approximate"  # (epsilon, delta)-DP: assumes nothing


def mu_f_dp(correct: int, guesses: int, *, coins: int, confidence: float = 0.95) -> Estimate:
    """Lower bound on mu for a mechanism that is mu-GDP in each of `coins` independent fair coins.

    If more than `correct` of `guesses` were right with probability above 1 - confidence, the recursion would give the
    guesses more probability than there is; every mu for which it does is refuted.
    """
    _check(correct, guesses, coins, confidence)
    value = _largest_refuted(correct, guesses, coins, confidence, 0.0, gaussian=True)
    method = "one run (f-DP, Gaussian)"
    return Estimate(value, (value, math.inf), confidence, method, Assumption.EXACT, coins)


def epsilon_f_dp(
    correct: int,
    guesses: int,
    *,
    coins: int,
    family: TradeOff = TradeOff.APPROXIMATE,
    confidence: float = 0.95,
    delta: float = 0.0,
) -> Bound:
    """Lower bound on epsilon at `delta` from `correct` of `guesses` about `coins` independent fair coins.

    With `TradeOff.GAUSSIAN` the bound on mu is carried to epsilon by the Gaussian curve: much sharper, and wrong for any other
    mechanism, hence model-based; it needs delta > 0. With `TradeOff.APPROXIMATE` it is exact like `epsilon_one_run`: about
    half a percent looser at delta = 0, and far sharper once coins x delta is no longer small.
    """
    _check(correct, guesses, coins, confidence)
    check_delta(delta)
    gaussian = family is TradeOff.GAUSSIAN
    if gaussian and delta == 0:
        raise ParameterError("A Gaussian mechanism has no epsilon at delta = 0. Give the delta of the claim.")

    def epsilon(right: int, of: int) -> float:
        parameter = _largest_refuted(right, of, coins, confidence, delta, gaussian=gaussian)
        return gaussian_epsilon(delta, parameter) if gaussian else parameter

    value, largest = epsilon(correct, guesses), max(epsilon(guesses, guesses), epsilon(coins, coins))
    assumption = Assumption.MODEL_BASED if gaussian else Assumption.EXACT
    method = f"one run (f-DP, {family})"
    return Bound(value, (value, math.inf), confidence, method, assumption, coins, delta, largest)


def _largest_refuted(
    correct: int, guesses: int, coins: int, confidence: float, delta: float, *, gaussian: bool
) -> float:
    from unmask.stats.epsilon._f_dp_kernel import refuted  # numba is slow to import

    def holds(parameter: float) -> bool:
        return bool(refuted(correct, guesses, coins, 1 - confidence, parameter, delta, gaussian))

    return last_true(holds, 0.0, LARGEST, within=1e-10) if correct > 0 else 0.0


def _check(correct: int, guesses: int, coins: int, confidence: float) -> None:
    check_share("confidence", confidence)
    check_count("correct", correct, guesses)
    check_count("guesses", guesses, coins)
