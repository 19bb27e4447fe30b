"""Means of per-record shares (numbers from 0 to 1) with intervals that need no resampling.

A mean of shares varies less than a rate with the same mean: Var <= m (1 - m) / n, with equality for zeros and ones. So it
is as good as a rate of n_eff = m (1 - m) / Var records, and the score intervals of rates apply to it (Wilson with the
effective sample size; Kott and Carr 1997, Dean and Pagano 2015, for survey data). For zeros and ones n_eff = n: the interval
is then Wilson's, and that of a difference Newcombe's (MOVER). Rows of one person are summed first, so that they count once.
"""

from __future__ import annotations

import numpy as np

from unmask.errors import ParameterError
from unmask.stats.intervals import difference_limits, wilson_limits
from unmask.stats.results import Assumption, Estimate


def mean_of_shares(shares: np.ndarray, units: np.ndarray | None = None, *, confidence: float = 0.95) -> Estimate:
    """The mean of shares of independent records, or of records that are independent between `units`."""
    mean, size = effective_size(shares, units)
    low, high = wilson_limits(mean * size, size, confidence=confidence)
    interval = (float(min(low, mean)), float(max(high, mean)))
    return Estimate(mean, interval, confidence, "Wilson, effective n", Assumption.MODEL_BASED, len(shares))


def difference_of_shares(
    attack: np.ndarray,
    control: np.ndarray,
    *,
    attack_units: np.ndarray | None = None,
    control_units: np.ndarray | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Mean of `attack` minus mean of `control`, two independent samples. Positive = the attack knows more."""
    (a, size_a), (c, size_c) = effective_size(attack, attack_units), effective_size(control, control_units)
    low, high = difference_limits(a * size_a, size_a, c=c * size_c, n_c=size_c, confidence=confidence)
    interval = (float(min(low, a - c)), float(max(high, a - c)))
    method = "Newcombe (MOVER, Wilson), effective n"
    return Estimate(a - c, interval, confidence, method, Assumption.MODEL_BASED, len(attack) + len(control))


def effective_size(shares: np.ndarray, units: np.ndarray | None = None) -> tuple[float, float]:
    """The mean, and how many zeros and ones would give a mean of the same precision.

    The spread counts one more unit, of average size and the largest spread there can be: equal shares do not make a
    mean certain. This changes nothing for zeros and ones.
    """
    shares = np.asarray(shares, dtype=np.float64)
    if shares.size == 0:
        raise ParameterError("There are no records to average over. Report the measure as undefined instead.")
    mean = min(1.0, max(0.0, float(shares.mean())))
    of_row = np.arange(shares.size) if units is None else np.unique(units, return_inverse=True)[1]
    count = int(of_row.max()) + 1
    largest = mean * (1 - mean)
    if largest <= 0:
        return mean, float(count)
    rows_per_unit = shares.size / count
    spread = np.square(np.bincount(of_row, weights=shares - mean)).sum() + rows_per_unit**2 * largest
    return mean, float(largest * shares.size**2 * (count + 1) / (count * spread))
