"""Zero-concentrated DP (rho) and approximate DP (epsilon, delta), both ways.

rho-zCDP is what Gaussian noise and the exponential mechanism compose in: noise of standard deviation sigma on a query of
sensitivity 1 costs rho = 1/(2 sigma^2). `rho_from` turns a budget into the rho that a mechanism may spend.
"""

from __future__ import annotations

import math

import numpy as np

from unmask.errors import ParameterError
from unmask.stats._checks import check_nonnegative, check_share
from unmask.stats._search import last_true


def _log_delta(alpha: float, rho: float, epsilon: float) -> float:
    return (alpha - 1) * (alpha * rho - epsilon) - math.log(alpha - 1) + alpha * math.log1p(-1 / alpha)


def delta_from_rho(rho: float, epsilon: float) -> float:
    """Smallest delta that rho-zCDP is known to give at `epsilon` (Canonne, Kamath, Steinke 2020, proposition 12).

    delta = min over alpha > 1 of exp((alpha-1)(alpha rho - epsilon)) / (alpha-1) * (1 - 1/alpha)^alpha. The logarithm is
    convex in alpha, so its derivative 2 alpha rho - rho - epsilon + ln(1 - 1/alpha) rises and its zero is bisected.
    """
    check_nonnegative("rho", rho)
    check_nonnegative("epsilon", epsilon)
    if rho == 0:
        return 0.0
    last = (epsilon + rho + 1) / rho + 2  # the derivative is positive here
    best = last_true(lambda a: (2 * a - 1) * rho - epsilon + math.log1p(-1 / a) < 0, 1 + 1e-9, last)
    return min(1.0, math.exp(min(0.0, _log_delta(best, rho, epsilon))))


def epsilon_from_rho(rho: float, delta: float) -> float:
    """Smallest epsilon that rho-zCDP is known to give at `delta`: the inverse of `delta_from_rho`."""
    check_nonnegative("rho", rho)
    check_share("delta", delta)
    enough = epsilon_from_rho_simple(rho, delta)
    below = last_true(lambda epsilon: delta_from_rho(rho, epsilon) > delta, 0.0, enough)
    return float(np.nextafter(below, np.inf)) if below > 0 else 0.0


def rho_from(epsilon: float, delta: float) -> float:
    """Largest rho whose zCDP guarantee implies (epsilon, delta)-DP: the budget of MST and its kind."""
    check_nonnegative("epsilon", epsilon)
    if not 0 < delta < 1:
        raise ParameterError(
            f"delta = {delta!r} gives no zCDP budget: Gaussian noise is never (epsilon, 0)-DP. "
            "Give a delta between 0 and 1, well below 1/n; 1e-9 is a common choice."
        )
    too_much = 1.0
    while delta_from_rho(too_much, epsilon) <= delta:
        too_much *= 2
    return last_true(lambda rho: delta_from_rho(rho, epsilon) <= delta, 0.0, too_much)


def epsilon_from_rho_simple(rho: float, delta: float) -> float:
    """The textbook conversion rho + 2 sqrt(rho ln(1/delta)) (Bun and Steinke 2016): looser, still met in the wild."""
    check_nonnegative("rho", rho)
    check_share("delta", delta)
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def rho_from_simple(epsilon: float, delta: float) -> float:
    """Inverse of the textbook conversion: (sqrt(epsilon + ln(1/delta)) - sqrt(ln(1/delta)))^2."""
    check_nonnegative("epsilon", epsilon)
    check_share("delta", delta)
    log_term = math.log(1 / delta)
    return (epsilon / (math.sqrt(epsilon + log_term) + math.sqrt(log_term))) ** 2
