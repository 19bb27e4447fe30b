"""E-values: evidence against "this person does not matter", which may be averaged and looked at at any time.

An e-value has mean at most 1 if the hypothesis is true, so 20 is reached with probability at most 1/20. All in logarithms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaln, log_expit, logsumexp

from unmask.errors import ParameterError
from unmask.stats._checks import FloatArray, check_nonnegative

LARGEST = 50.0
HALVINGS = 60


def log_e_value(correct: ArrayLike, guesses: ArrayLike, *, epsilon: ArrayLike = 0.0) -> FloatArray:
    """Log e-value of each person against "epsilon-DP for this person", from correct guesses of fair coins.

    If the claim holds, each guess is right with probability at most q = e^eps/(1+e^eps), whatever came before. The e-value is the
    likelihood ratio of accuracy u against q, averaged over u uniform in (q, 1):
    E = B(v+1, r-v+1) (1 - I_q(v+1, r-v+1)) / (q^v (1-q)^(r-v+1)). epsilon = 0 tests "the output does not depend on this
    person". No guess gives E = 1. Large positive = leaks.
    """
    v, r, epsilon = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (correct, guesses, epsilon)))
    if np.any(v < 0) or np.any(v > r):
        raise ParameterError("correct guesses must lie between 0 and the number of guesses, for every person.")
    if np.any(epsilon < 0):
        raise ParameterError("epsilon must not be negative.")
    log_q, log_rest = log_expit(epsilon), log_expit(-epsilon)
    tail = _log_beta_tail(r - v + 1, v + 1, log_rest, log_q)
    return np.asarray(tail - v * log_q - (r - v + 1) * log_rest, dtype=np.float64)


def _log_beta_tail(a: FloatArray, b: FloatArray, log_x: FloatArray, log_rest: FloatArray) -> FloatArray:
    """Log of the incomplete beta integral of t^(a-1) (1-t)^(b-1) over (0, x), also where it is below 1e-300."""
    with np.errstate(divide="ignore"):
        direct = betaln(a, b) + np.log(betainc(a, b, np.exp(log_x)))
    lost = betainc(a, b, np.exp(log_x)) < 1e-280
    if not lost.any():
        return np.asarray(direct, dtype=np.float64)
    # x^a (1-x)^b / a * (1 + x (a+b)/(a+1) + x^2 (a+b)(a+b+1)/((a+1)(a+2)) + ...): geometric when the integral is so small
    a_lost, b_lost, x = a[lost], b[lost], np.exp(log_x[lost])
    series, term, n = np.ones_like(a_lost), np.ones_like(a_lost), 0
    while np.any(term > 1e-17 * series) and n < 1_000_000:
        term = term * x * (a_lost + b_lost + n) / (a_lost + 1 + n)
        series, n = series + term, n + 1
    out = np.array(direct)
    out[lost] = a_lost * log_x[lost] + b_lost * log_rest[lost] - np.log(a_lost) + np.log(series)
    return out


def epsilon_for_listed(
    correct: ArrayLike, guesses: ArrayLike, *, log_threshold: float, weights: ArrayLike | None = None
) -> FloatArray:
    """Lower bounds on the epsilon of people on the e-BH list: the largest epsilon whose e-value still reaches the threshold.

    With `weights` the first axis is over attacks, and their e-values are averaged.

    With the threshold N/(rate k*) of the list itself, the expected share of listed people whose bound exceeds their
    true epsilon is at most the rate (e-BY: Xu, Wang and Ramdas 2022). Not valid for people who are not on the list.
    """
    v, r = np.broadcast_arrays(np.asarray(correct, dtype=np.float64), np.asarray(guesses, dtype=np.float64))
    if log_threshold <= 0:
        raise ParameterError("The threshold must exceed 1 (log_threshold > 0): use that of the e-BH list.")

    people = v.shape if weights is None else v.shape[1:]
    # People with the same counts have the same bound, and counts of a few dozen guesses are few.
    counts = np.stack([v, r]).reshape(2 if weights is None else 2 * len(v), -1)
    distinct, same = np.unique(counts, axis=1, return_inverse=True)
    v, r = distinct.reshape(2, *(() if weights is None else (len(v),)), -1)

    def log_e(epsilon: ArrayLike) -> FloatArray:
        each = log_e_value(v, r, epsilon=epsilon)
        return each if weights is None else average_log_e_values(each, weights=weights)

    low, high = np.zeros(distinct.shape[1]), np.full(distinct.shape[1], LARGEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        reaches = log_e(middle) >= log_threshold
        low, high = np.where(reaches, middle, low), np.where(reaches, high, middle)
    bound = np.where(log_e(0.0) >= log_threshold, low, 0.0)
    return np.asarray(bound[same.reshape(people)], dtype=np.float64)


def average_log_e_values(log_e_values: ArrayLike, *, weights: ArrayLike | None = None) -> FloatArray:
    """Log of the mean e-value over attacks or folds (first axis): a mean of e-values is an e-value; a maximum is not.

    `weights` are fixed beforehand and add up to 1; equal by default.
    """
    values = np.asarray(log_e_values, dtype=np.float64)
    if len(values) == 0:
        raise ParameterError("There is no e-value to average.")
    shares = np.full(len(values), 1 / len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    if shares.shape != (len(values),) or (shares < 0).any() or abs(shares.sum() - 1) > 1e-9:
        raise ParameterError("weights must be one share for each attack, and add up to 1.")
    return np.asarray(logsumexp(values, axis=0, b=shares.reshape(-1, *[1] * (values.ndim - 1))), dtype=np.float64)


def largest_visible_listed(guesses: int, *, people: int, rate: float, listed: int = 1) -> float:
    """The epsilon bound of a person guessed right every time, if `listed` of `people` are on the list."""
    check_nonnegative("guesses", guesses)
    log_threshold = float(np.log(people / (rate * listed)))
    return float(epsilon_for_listed(guesses, guesses, log_threshold=log_threshold))
