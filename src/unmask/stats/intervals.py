"""Intervals for rates and for what is built from two rates."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri

from unmask.errors import ParameterError
from unmask.stats._checks import FloatArray, check_count, check_share
from unmask.stats.results import Assumption, Estimate


def upper_limit(successes: ArrayLike, total: ArrayLike, *, confidence: float) -> FloatArray:
    """One-sided Clopper-Pearson upper limits of rates, over arrays of counts.

    The largest rate under which as few successes as these have probability 1 - confidence. Counts may be fractional
    (the threshold choice uses that to plan with a smaller n).
    """
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(total, dtype=np.float64)
    limit = betaincinv(k + 1.0, np.maximum(n - k, 1e-300), confidence)
    return np.asarray(np.where(k >= n, 1.0, limit), dtype=np.float64)


def lower_limit(successes: ArrayLike, total: ArrayLike, *, confidence: float) -> FloatArray:
    """One-sided Clopper-Pearson lower limits of rates, over arrays of counts."""
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(total, dtype=np.float64)
    limit = betaincinv(np.maximum(k, 1e-300), n - k + 1.0, 1.0 - confidence)
    return np.asarray(np.where(k <= 0, 0.0, limit), dtype=np.float64)


def clopper_pearson(successes: int, total: int, *, confidence: float = 0.95) -> Estimate:
    """A rate with its exact two-sided interval (Clopper and Pearson 1934): covers at least `confidence`, always.

    Either end alone is a one-sided limit at (1 + confidence)/2: ask for 0.9 where one limit at 95 % is wanted.
    """
    check_count("clopper_pearson", successes, total)
    check_share("confidence", confidence)
    each = 0.5 + confidence / 2
    low = float(lower_limit(successes, total, confidence=each))
    high = float(upper_limit(successes, total, confidence=each))
    return Estimate(successes / total, (low, high), confidence, "Clopper-Pearson", Assumption.EXACT, total)


def wilson_limits(successes: ArrayLike, total: ArrayLike, *, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Both Wilson limits over arrays of counts."""
    n = np.asarray(total, dtype=np.float64)
    p = np.asarray(successes, dtype=np.float64) / n
    z = float(ndtri(0.5 + confidence / 2))
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return np.where(p == 0, 0.0, centre - half), np.where(p == 1, 1.0, centre + half)


def wilson(successes: int, total: int, *, confidence: float = 0.95) -> Estimate:
    """A rate with the score interval of Wilson (1927): close to its level on average, for reading, not for verdicts."""
    check_count("wilson", successes, total)
    check_share("confidence", confidence)
    low, high = wilson_limits(successes, total, confidence=confidence)
    interval = (float(low), float(high))
    return Estimate(successes / total, interval, confidence, "Wilson", Assumption.MODEL_BASED, total)


def difference_limits(
    a: ArrayLike, n_a: ArrayLike, *, c: ArrayLike, n_c: ArrayLike, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Both limits of a/n_a - c/n_c over arrays of counts; see `difference`."""
    p = np.asarray(a, dtype=np.float64) / np.asarray(n_a, dtype=np.float64)
    q = np.asarray(c, dtype=np.float64) / np.asarray(n_c, dtype=np.float64)
    each = 0.5 + confidence / 2
    p_low, p_high = lower_limit(a, n_a, confidence=each), upper_limit(a, n_a, confidence=each)
    q_low, q_high = lower_limit(c, n_c, confidence=each), upper_limit(c, n_c, confidence=each)
    low = p - q - np.hypot(p - p_low, q_high - q)
    high = p - q + np.hypot(p_high - p, q - q_low)
    return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)


def difference(attack: tuple[int, int], control: tuple[int, int], *, confidence: float = 0.95) -> Estimate:
    """Success rate of an attack minus that of its control, each given as (successes, attempts).

    MOVER (Newcombe 1998) with Clopper-Pearson limits: the limits of both rates are combined as vectors, so the interval
    stays inside [-1, 1] and is not zero-width at rates of 0 or 1. Positive = the attack knows more than the control.
    The two samples are independent. With Wilson limits, as in Newcombe's method 10, a lower end at 99.95 % is too high up to 30
    times too often for 100 against 3,000; with these it is not, by exact sums over sizes and rates (at most 1.1 times).
    """
    check_count("attack", *attack)
    check_count("control", *control)
    check_share("confidence", confidence)
    (a, n_a), (c, n_c) = attack, control
    low, high = difference_limits(a, n_a, c=c, n_c=n_c, confidence=confidence)
    interval = (float(low), float(high))
    return Estimate(
        a / n_a - c / n_c, interval, confidence, "MOVER (Clopper-Pearson)", Assumption.MODEL_BASED, n_a + n_c
    )


def excess_risk(attack: tuple[int, int], control: tuple[int, int], *, confidence: float = 0.95) -> Estimate:
    """Risk R = (a - c)/(1 - c): the share of what the control misses that the attack gets (anonymeter's risk).

    The error is propagated to first order: se^2 = (se_a/(1-c))^2 + ((1-a) se_c/(1-c)^2)^2, with Wilson centres and
    half-widths in place of the raw rates, so that neither term vanishes at 0 or 1. For reading beside `difference`, which is
    what a verdict uses. Undefined when the control always succeeds.
    """
    check_count("attack", *attack)
    check_count("control", *control)
    check_share("confidence", confidence)
    (a, n_a), (c, n_c) = attack, control
    if c == n_c:
        raise ParameterError(
            f"The risk (a - c)/(1 - c) is undefined: the control already succeeds always ({c} of {n_c}). "
            "Report the difference of the two rates instead."
        )
    a_low, a_high = (float(limit) for limit in wilson_limits(a, n_a, confidence=confidence))
    c_low, c_high = (float(limit) for limit in wilson_limits(c, n_c, confidence=confidence))
    a_mid, c_mid = (a_low + a_high) / 2, (c_low + c_high) / 2
    spread = math.hypot((a_high - a_low) / 2 / (1 - c_mid), (1 - a_mid) * (c_high - c_low) / 2 / (1 - c_mid) ** 2)
    centre = (a_mid - c_mid) / (1 - c_mid)
    value = (a / n_a - c / n_c) / (1 - c / n_c)
    interval = (min(value, centre - spread), min(1.0, max(value, centre + spread)))
    return Estimate(value, interval, confidence, "propagated Wilson", Assumption.MODEL_BASED, n_a + n_c)
