"""Renyi moments of discrete Laplace noise, which add up over votes whatever their outcome: the accountant of noisy votes.

A whole count that one person can move by 1, plus noise k with P(k) proportional to exp(-|k|/b), is between neighbours either
e^(1/b) or e^(-1/b) times as probable, the former with probability p = 1/(1 + e^(-1/b)). Hence a Renyi divergence of at most
log(p^a (1-p)^(1-a) + (1-p)^a p^(1-a)) / (a-1) at order a > 1, as of randomised response. Orders add up over votes; the sum
gives (epsilon, delta) by proposition 12 of Canonne, Kamath and Steinke (2020). Nothing here looks at data.
"""

from __future__ import annotations

import math

import numpy as np

from unmask.stats._checks import check_nonnegative, check_share
from unmask.stats._search import last_true

ORDERS = 1 + np.geomspace(1e-3, 1e5, 1601)


def divergence_of_vote(scale: float, orders: np.ndarray = ORDERS) -> np.ndarray:
    """Renyi divergence of one noisy count, at each order."""
    likely, unlikely = -np.log1p(np.exp(-1 / scale)), -np.log1p(np.exp(1 / scale))
    forth = orders * likely + (1 - orders) * unlikely
    back = orders * unlikely + (1 - orders) * likely
    return np.asarray(np.logaddexp(forth, back) / (orders - 1))


def epsilon_of_votes(scale: float, votes: int, delta: float) -> float:
    """Smallest epsilon that so many noisy counts are known to give at `delta`; never above votes / scale, which is pure."""
    check_nonnegative("scale", scale)
    check_share("delta", delta)
    if scale == 0:
        return math.inf if votes else 0.0
    found = votes * divergence_of_vote(scale) + _price(delta)
    return float(min(max(found.min(), 0.0), votes / scale))


def votes_for(scale: float, epsilon: float, delta: float) -> int:
    """How many noisy counts of this scale (epsilon, delta) pays for."""
    check_nonnegative("epsilon", epsilon)
    pure = math.floor(epsilon * scale * (1 + 1e-12))
    by_moments = np.max((epsilon - _price(delta)) / divergence_of_vote(scale))
    return max(pure, math.floor(float(by_moments)), 0)


def scale_of_votes(votes: int, epsilon: float, delta: float) -> float:
    """The least scale at which (epsilon, delta) pays for so many noisy counts."""
    enough = votes / epsilon  # by adding up the pure epsilons
    too_little = last_true(lambda scale: epsilon_of_votes(scale, votes, delta) > epsilon, enough * 1e-6, enough)
    return float(min(np.nextafter(too_little, math.inf), enough))


def _price(delta: float) -> np.ndarray:
    """What turning moments at each order into (epsilon, delta) adds."""
    return np.asarray(np.log1p(-1 / ORDERS) - (math.log(delta) + np.log(ORDERS)) / (ORDERS - 1))
