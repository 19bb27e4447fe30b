"""What no attack can exceed if a DP claim is true; drawn on charts beside what the attacks reached."""

from __future__ import annotations

import math

from scipy.special import expit, ndtr

from unmask.errors import ParameterError
from unmask.stats._checks import check_delta, check_nonnegative


def largest_advantage(epsilon: float, delta: float = 0.0) -> float:
    """Largest TPR - FPR under (epsilon, delta)-DP: (e^eps - 1 + 2 delta)/(e^eps + 1) (Humphries et al. 2023; tight)."""
    check_nonnegative("epsilon", epsilon)
    check_delta(delta)
    return math.tanh(epsilon / 2) + 2 * delta * float(expit(-epsilon))


def largest_advantage_yeom(epsilon: float) -> float:
    """The older limit e^eps - 1 (Yeom et al. 2018), at most 1: says nothing from epsilon = ln 2 on."""
    check_nonnegative("epsilon", epsilon)
    return 1.0 if epsilon > 1 else min(1.0, math.expm1(epsilon))


def largest_auc(epsilon: float, delta: float = 0.0) -> float:
    """Largest AUC under (epsilon, delta)-DP: the area under the polygon of all its (FPR, TPR) pairs.

    Corners (0, delta), (a, 1-a), (1-delta, 1) with a = (1-delta)/(1+e^eps); for delta = 0 the area is e^eps/(1+e^eps).
    """
    check_nonnegative("epsilon", epsilon)
    check_delta(delta)
    a = (1 - delta) * float(expit(-epsilon))
    return a * (delta + 1 - a) / 2 + (1 - delta - a) * (2 - a) / 2 + delta


def largest_auc_gaussian(mu: float) -> float:
    """Largest AUC under mu-Gaussian DP: Phi(mu / sqrt 2)."""
    check_nonnegative("mu", mu)
    return float(ndtr(mu / math.sqrt(2)))


def group_claim(epsilon: float, delta: float = 0.0, *, size: int) -> tuple[float, float]:
    """What an (epsilon, delta) claim for one unit says about `size` units: (k eps, delta (e^{k eps}-1)/(e^eps-1)).

    Judges a row-level claim on persons with several rows. The delta may reach 1, and then the claim promises nothing.
    """
    check_nonnegative("epsilon", epsilon)
    check_delta(delta)
    if size < 1:
        raise ParameterError(f"size = {size} has no meaning. Give the number of rows of one unit, 1 or more.")
    exponents = [step * epsilon for step in range(size)]
    if delta == 0:
        return size * epsilon, 0.0
    factor = sum(math.exp(min(exponent, 700.0)) for exponent in exponents)
    return size * epsilon, min(1.0, delta * factor)


def replacement_claim(epsilon: float, delta: float = 0.0) -> tuple[float, float]:
    """What an add/remove claim says when one record replaces another: (2 eps, (1 + e^eps) delta), two steps of one."""
    return group_claim(epsilon, delta, size=2)
