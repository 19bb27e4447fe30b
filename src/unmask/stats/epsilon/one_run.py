"""Epsilon from many independent coins of one run (METHODS 3.4; Steinke, Nasr and Jagielski 2023)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, expit, logit

from unmask.errors import ParameterError
from unmask.stats._checks import FloatArray, check_count, check_delta, check_nonnegative, check_share
from unmask.stats._search import last_true
from unmask.stats.results import Assumption, Bound


def _at_least(v: ArrayLike, r: int, q: float) -> FloatArray:
    """P[Bin(r, q) >= v] over an array of v."""
    k = np.asarray(v, dtype=np.float64)
    tail = betainc(np.maximum(k, 1e-300), r - k + 1, q)
    return np.asarray(np.where(k <= 0, 1.0, tail), dtype=np.float64)


def one_run_p_value(correct: int, guesses: int, *, coins: int, epsilon: float, delta: float = 0.0) -> float:
    """P-value of "(epsilon, delta)-DP in each coin" after `correct` of `guesses`, out of `coins` independent fair coins.

    With f(v) = P[Bin(r, q) >= v] and q = e^eps/(1+e^eps): f(v) + 2 m delta max_{1<=i<=v} (f(v-i) - f(v))/i (their
    theorem 5.2). Abstaining is free, but delta is paid for every coin, guessed or not. The maximum is looked for in a window
    that doubles until no later i can win: f <= 1, so later terms are below (1 - f(v))/i.
    """
    _check(correct, guesses, coins, delta)
    check_nonnegative("epsilon", epsilon)
    q = float(expit(epsilon))
    tail = float(_at_least(correct, guesses, q))
    if delta == 0 or correct == 0:
        return min(1.0, tail)
    best, start, stop = 0.0, 1, min(correct, 256)
    while True:
        i = np.arange(start, stop + 1)
        best = max(best, float(np.max((_at_least(correct - i, guesses, q) - tail) / i)))
        if stop == correct or (1 - tail) / (stop + 1) <= best:
            return min(1.0, tail + 2 * coins * delta * best)
        start, stop = stop + 1, min(correct, 2 * stop)


def epsilon_one_run(correct: int, guesses: int, *, coins: int, confidence: float = 0.95, delta: float = 0.0) -> Bound:
    """Lower bound on epsilon from `correct` of `guesses` about `coins` independent fair coins.

    Every coin decides whether one unit is in; coins of several independent runs are pooled as one mechanism. Guesses, and
    what is abstained from, come from the outputs and never from the coins. With one target and one coin per run it
    replaces the two error rates of Clopper-Pearson by one accuracy, and is sharper for it: no level is shared between FPR and
    FNR, and both tails of the score count. For delta = 0 it is the logit of the lower limit of the accuracy.
    """
    _check(correct, guesses, coins, delta)
    check_share("confidence", confidence)
    value = _largest_refuted(correct, guesses, coins, confidence, delta)
    largest = max(_largest_refuted(r, r, coins, confidence, delta) for r in (guesses, coins))
    method = "one run (Steinke)"
    return Bound(value, (value, math.inf), confidence, method, Assumption.EXACT, coins, delta, largest)


def largest_visible_one_run(coins: int, *, confidence: float = 0.95, delta: float = 0.0) -> float:
    """The bound if every coin is guessed and every guess is right."""
    _check(coins, coins, coins, delta)
    return _largest_refuted(coins, coins, coins, confidence, delta)


def _largest_refuted(correct: int, guesses: int, coins: int, confidence: float, delta: float) -> float:
    if correct == 0:
        return 0.0
    accuracy = float(betaincinv(float(correct), float(guesses - correct + 1), 1 - confidence))
    pure = max(0.0, float(logit(accuracy)))
    if delta == 0:
        return pure

    def refuted(epsilon: float) -> bool:
        p = one_run_p_value(correct, guesses, coins=coins, epsilon=epsilon, delta=delta)
        return p < 1 - confidence

    return last_true(refuted, 0.0, pure, within=1e-10)  # a positive delta only raises the p-value


def _check(correct: int, guesses: int, coins: int, delta: float) -> None:
    check_delta(delta)
    if coins < 1:
        raise ParameterError(f"There are {coins} coins. At least one is needed.")
    if guesses == 0 and correct == 0:
        return  # an attack that always abstains has shown nothing: the bound is 0
    check_count("correct", correct, guesses)
    check_count("guesses", guesses, coins)
