"""Means of per-record gains, numbers without natural limits, with Student intervals; rows of one person are summed first."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtrit

from unmask.errors import ParameterError
from unmask.stats.results import Assumption, Estimate


def mean_of_gains(values: np.ndarray, units: np.ndarray | None = None, *, confidence: float = 0.95) -> Estimate:
    """The mean of independent records, or of records that are independent between `units`."""
    mean, variance, n = _moments(values, units)
    half = _quantile(confidence, n - 1) * math.sqrt(variance) if n > 1 else math.inf
    return Estimate(mean, (mean - half, mean + half), confidence, "Student", Assumption.MODEL_BASED, len(values))


def difference_of_gains(
    attack: np.ndarray,
    control: np.ndarray,
    *,
    attack_units: np.ndarray | None = None,
    control_units: np.ndarray | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Mean of `attack` minus mean of `control`, two independent samples (Welch). Positive = the attack knows more."""
    a, a_variance, a_n = _moments(attack, attack_units)
    c, c_variance, c_n = _moments(control, control_units)
    variance, size = a_variance + c_variance, len(attack) + len(control)
    if min(a_n, c_n) < 2:
        half = math.inf
    elif variance == 0:
        half = 0.0
    else:
        freedom = variance**2 / (a_variance**2 / (a_n - 1) + c_variance**2 / (c_n - 1))
        half = _quantile(confidence, freedom) * math.sqrt(variance)
    return Estimate(a - c, (a - c - half, a - c + half), confidence, "Welch", Assumption.MODEL_BASED, size)


def _quantile(confidence: float, freedom: float) -> float:
    return float(stdtrit(freedom, 0.5 + confidence / 2))


def _moments(values: np.ndarray, units: np.ndarray | None) -> tuple[float, float, int]:
    """The mean, its estimated variance, and the number of units."""
    values = np.asarray(values, dtype=np.float64)
    if values.size == 0:
        raise ParameterError("There are no records to average over. Report the measure as undefined instead.")
    of_row = np.arange(values.size) if units is None else np.unique(units, return_inverse=True)[1]
    n, mean = int(of_row.max()) + 1, float(values.mean())
    squares = float(np.square(np.bincount(of_row, weights=values - mean)).sum())
    return mean, squares / values.size**2 * (n / (n - 1) if n > 1 else 1.0), n
