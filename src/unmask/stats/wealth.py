"""Limits of a rate whose cases come several at a time: bets on whole draws, valid however the cases of one draw hang together.

A release that publishes its whole table gives all of its targets away at once. Forty of them are then one piece of evidence,
not forty, and an interval that counts forty is wrong far more often than it says. What is independent is the draw.

With h_j hits among c_j chances in draw j, and never more than `size` chances, E[h_j - r c_j] <= 0 if the rate E[h]/E[c] is at
most r. So 1 + s (h_j - r c_j)/(r size) has mean at most 1 and is never negative for a stake s in (0, 1), the product over
draws is an e-value, and so is a mixture over stakes that were fixed beforehand; it reaches 1/alpha with probability at most
alpha (Waudby-Smith and Ramdas 2024, with constant stakes). No normal limit, no number of draws from which on it holds, and draws
need not be alike (by the inequality of means the product is largest if they are). Stakes do not depend on the order of draws,
and the e-value never falls when a hit is added: a limit at a threshold that is surely too strict is a limit at the right one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from unmask.stats._checks import FloatArray, check_share

STAKES = np.array([0.98, *(0.5**k for k in range(1, 10))])  # large ones for rates near 1, small ones for rare events
WEIGHTS = np.array([0.28, *[0.08] * 9])
HALVINGS = 32


def log_wealth(hits: ArrayLike, chances: ArrayLike, *, size: float, rate: ArrayLike) -> FloatArray:
    """Log e-value against "the rate is at most `rate`" (above 0); draws along the last axis of hits and chances."""
    h, c = np.asarray(hits, dtype=np.float64), np.asarray(chances, dtype=np.float64)
    r = np.asarray(rate, dtype=np.float64)
    gain = np.maximum((h / r - c) / size, -1.0)  # rounding must not pass what can be lost
    total: FloatArray = np.log1p(STAKES[:, None] * gain[..., None, :]).sum(axis=-1)
    return np.asarray(np.logaddexp.reduce(total + np.log(WEIGHTS), axis=-1), dtype=np.float64)


def exceeds(hits: ArrayLike, chances: ArrayLike, *, size: float, rate: float, confidence: float) -> bool:
    """Whether "the rate is at most `rate`" is refuted at this confidence."""
    if rate <= 0:
        return bool(np.any(np.asarray(hits) > 0))
    return rate < 1 and bool(log_wealth(hits, chances, size=size, rate=rate) >= -math.log1p(-confidence))


def lower_rate(hits: ArrayLike, chances: ArrayLike, *, size: float, confidence: float) -> float:
    """One-sided lower limit of E[hits]/E[chances] over independent draws; `size` is the most chances that a draw can have."""
    check_share("confidence", confidence)
    h, c = np.asarray(hits, dtype=np.float64), np.asarray(chances, dtype=np.float64)
    if h.sum() <= 0:
        return 0.0
    low, high = 0.0, float(h.sum() / c.sum())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle <= 0:
            break
        low, high = (middle, high) if exceeds(h, c, size=size, rate=middle, confidence=confidence) else (low, middle)
    return low
