"""Summary statistics of numbers: mean, median, variance, and quantiles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unmask.tables.table import Table

STATISTICS = ("mean", "median", "variance")
SHARES = np.linspace(0.01, 0.99, 99)


def moments(table: Table) -> np.ndarray:
    """Mean, median and variance (n - 1) of the values present in each numeric column: columns x 3, NaN where there are none."""
    return np.array([_of(numbers, _moments, len(STATISTICS)) for numbers in table.numbers.T]).reshape(-1, 3)


def quantiles(table: Table) -> np.ndarray:
    """The percentiles of each numeric column, and its standard deviation last: columns x 100."""
    return np.array([_of(numbers, _quantiles, len(SHARES) + 1) for numbers in table.numbers.T]).reshape(-1, 100)


def moment_errors(real: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """How much larger the statistics of the release are, in the unit of each."""
    return synthetic - real


def quantile_errors(real: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """Mean absolute difference of the percentiles, in standard deviations of the real column: 0 = the same distribution.

    A column that is constant in the real table has an error of 0 if the release has the same constant, else none is defined.
    """
    gap = np.abs(synthetic - real)[:, :-1].mean(axis=1)
    deviation = real[:, -1]
    safe = np.where(deviation > 0, deviation, 1.0)
    return np.where(deviation > 0, gap / safe, np.where(gap == 0, 0.0, np.nan))


def _of(numbers: np.ndarray, statistics: Callable[[np.ndarray], np.ndarray], size: int) -> np.ndarray:
    present = numbers[~np.isnan(numbers)]
    return statistics(present) if len(present) else np.full(size, np.nan)


def _moments(present: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers near the largest: infinite
        variance = float(present.var(ddof=1)) if len(present) > 1 else 0.0
        return np.array([present.mean(), np.median(present), variance])


def _quantiles(present: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.append(np.quantile(present, SHARES), present.std())
