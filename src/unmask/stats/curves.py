"""Privacy curves delta(epsilon) that are known exactly: Gaussian, Laplace, randomised response. The truths of every test."""

from __future__ import annotations

import math

from scipy.special import log_ndtr

from unmask.errors import ParameterError
from unmask.stats._checks import check_delta, check_nonnegative, check_share
from unmask.stats._search import last_true


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Delta of the Gaussian mechanism, mu = sensitivity / sigma (Balle and Wang 2018; Dong, Roth and Su 2022).

    Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), in logs so that small deltas keep their digits.
    """
    check_nonnegative("epsilon", epsilon)
    check_nonnegative("mu", mu)
    if mu == 0:
        return 0.0
    log_first = float(log_ndtr(mu / 2 - epsilon / mu))
    log_second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    return math.exp(log_first) * -math.expm1(min(0.0, log_second - log_first))


def gaussian_epsilon(delta: float, mu: float) -> float:
    """Epsilon of the Gaussian mechanism at `delta`: the inverse of `gaussian_delta` (mu=1, delta=1e-5 -> 4.3772)."""
    check_share("delta", delta)
    check_nonnegative("mu", mu)
    if gaussian_delta(0.0, mu) <= delta:
        return 0.0
    # At epsilon = mu^2/2 + mu z the first term alone is Phi(-z), so z = sqrt(2 ln(1/delta)) is surely enough.
    enough = mu * mu / 2 + mu * math.sqrt(2 * math.log(1 / delta)) + 1
    return last_true(lambda epsilon: gaussian_delta(epsilon, mu) > delta, 0.0, enough)


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The mu at which the Gaussian mechanism is exactly (epsilon, delta)-DP; its noise is sensitivity / mu."""
    check_nonnegative("epsilon", epsilon)
    check_share("delta", delta)
    enough = 1.0
    while gaussian_delta(epsilon, enough) <= delta:
        enough *= 2
    return last_true(lambda mu: gaussian_delta(epsilon, mu) <= delta, 0.0, enough)


def laplace_delta(epsilon: float, pure_epsilon: float) -> float:
    """Delta of the Laplace mechanism of scale sensitivity / pure_epsilon: max(0, 1 - exp((epsilon - pure_epsilon)/2))."""
    check_nonnegative("epsilon", epsilon)
    check_nonnegative("pure_epsilon", pure_epsilon)
    return max(0.0, -math.expm1((epsilon - pure_epsilon) / 2))


def laplace_epsilon(delta: float, pure_epsilon: float) -> float:
    """Epsilon of the Laplace mechanism at `delta`."""
    check_delta(delta)
    check_nonnegative("pure_epsilon", pure_epsilon)
    return max(0.0, pure_epsilon + 2 * math.log1p(-delta))


def randomised_response_epsilon(keep: float) -> float:
    """Epsilon of a bit that is kept with probability `keep` and flipped otherwise."""
    if not 0.5 <= keep < 1:
        raise ParameterError(f"keep = {keep!r} has no meaning. Give a probability from 0.5 up to, not including, 1.")
    return math.log(keep) - math.log1p(-keep)
