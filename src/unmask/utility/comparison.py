"""A statistic of the real table beside that of the release: the gap, its interval, and what sampling alone makes of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.special import stdtrit

from unmask.errors import ParameterError
from unmask.stats.results import Assumption, Estimate
from unmask.tables.table import Table

DRAWS = 20  # of rows with replacement, where there is one set
PAIRS = 5  # of samples of the real table, for the noise

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Gaps:
    """Gaps between real table and release, the mean of their sizes last; NaN where the real table has no such statistic."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    noise: (
        np.ndarray
    )  # mean size of the gap between two samples of the real table, of the sizes of real table and release
    confidence: float
    method: str
    n: int  # sets, or synthetic rows

    def at(self, place: int) -> Estimate:
        """One gap."""
        interval = float(self.low[place]), float(self.high[place])
        value = float(self.value[place])
        return Estimate(value, interval, self.confidence, self.method, Assumption.MODEL_BASED, self.n)

    @property
    def mean(self) -> Estimate:
        """The mean size of all gaps."""
        return self.at(-1)

    @property
    def mean_noise(self) -> float:
        """The mean size of all gaps between two samples of the real table."""
        return float(self.noise[-1])


def gaps(
    statistic: Callable[[Table], S],
    gap: Callable[[S, S], np.ndarray],
    real: Table,
    sets: Sequence[Table],
    *,
    confidence: float = 0.95,
    rng: np.random.Generator,
) -> Gaps:
    """Compare a statistic of the real table with that of each set; `gap` takes the real one first.

    The real table stays as it is: the interval says what another release of the same generator may show. Over several sets
    Student's t; for one set the value with Student's t times the deviation over bootstrap samples of its rows (their mean is
    too large by the noise that they add, their deviation is not).
    """
    if not sets:
        raise ParameterError("There is no synthetic table to compare. Give at least one.")
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # variances of numbers near the largest: infinite, and told as unknown
        return _gaps(statistic, gap, real, sets, confidence, rng)


def _gaps(
    statistic: Callable[[Table], S],
    gap: Callable[[S, S], np.ndarray],
    real: Table,
    sets: Sequence[Table],
    confidence: float,
    rng: np.random.Generator,
) -> Gaps:
    truth = statistic(real)
    values = np.array([_with_mean(gap(truth, statistic(table))) for table in sets])
    value = values.mean(axis=0)
    if len(sets) > 1:
        reach = _quantile(len(sets), confidence) * values.std(axis=0, ddof=1) / math.sqrt(len(sets))
        method, n = "Student t over sets", len(sets)
    else:
        drawn = np.array([_with_mean(gap(truth, statistic(resampled(sets[0], rng=rng)))) for _ in range(DRAWS)])
        reach = _quantile(DRAWS, confidence) * drawn.std(axis=0, ddof=1)
        method, n = f"bootstrap of rows ({DRAWS}), Student t", len(sets[0])
    rows = round(float(np.mean([len(table) for table in sets])))
    noise = np.mean(
        [
            np.abs(_with_mean(gap(statistic(resampled(real, rng=rng)), statistic(resampled(real, rows, rng=rng)))))
            for _ in range(PAIRS)
        ],
        axis=0,
    )
    return Gaps(value, value - reach, value + reach, noise, confidence, method, n)


def resampled(table: Table, rows: int | None = None, *, rng: np.random.Generator) -> Table:
    """Rows drawn with replacement, as many as there are or as are asked for."""
    return table.take(rng.integers(len(table), size=len(table) if rows is None else rows))


def student(values: np.ndarray, *, confidence: float, method: str, inflation: float = 0.0) -> Estimate:
    """The mean of draws with Student's t; `inflation` is added to 1/draws where draws share rows (Nadeau and Bengio 2003)."""
    draws = len(values)
    value = float(values.mean())
    reach = math.nan
    if draws > 1:
        reach = _quantile(draws, confidence) * float(values.std(ddof=1)) * math.sqrt(1 / draws + inflation)
    return Estimate(value, (value - reach, value + reach), confidence, method, Assumption.MODEL_BASED, draws)


def _quantile(draws: int, confidence: float) -> float:
    return float(stdtrit(draws - 1, 0.5 + confidence / 2))


def _with_mean(found: np.ndarray) -> np.ndarray:
    """Entries, and the mean of their sizes behind them."""
    flat = np.asarray(found, dtype=np.float64).ravel()
    known = flat[~np.isnan(flat)]
    return np.append(flat, np.abs(known).mean() if len(known) else np.nan)
