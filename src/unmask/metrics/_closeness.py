"""From distances to numbers: the scores of IMS, DCR and NNDR, their estimates, and what a chart needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from unmask.stats import Assumption, Estimate, clopper_pearson
from unmask.tables.distance import Metric, kth_distances
from unmask.tables.table import Table

MOST_POINTS = 60


@dataclass(frozen=True, eq=False)
class Closeness:
    """How close each row of one table comes to the rows of another."""

    identical: np.ndarray  # bool: an equal row exists
    distance: np.ndarray  # to the nearest row
    ratio: np.ndarray  # nearest / second nearest; 0/0 = 1, and 1 where there is no second row

    def take(self, rows: np.ndarray) -> Closeness:
        """The same for some of the rows."""
        return Closeness(self.identical[rows], self.distance[rows], self.ratio[rows])


@dataclass(frozen=True)
class ClosenessScores:
    """IMS, and DCR and NNDR summarised in both ways of the literature."""

    ims: float  # share of rows identical to a real row: higher = closer
    dcr: float  # percentile of the distance to the closest real row: lower = closer
    nndr: float  # percentile of the ratio nearest / second nearest: lower = closer
    dcr_mean: float
    nndr_mean: float


def search(queries: Table, candidates: Table, metric: Metric, *, neighbours: int = 2, workers: int = 1) -> np.ndarray:
    """Distances to the nearest rows (queries x at most `neighbours`)."""
    k = min(neighbours, len(candidates))
    return kth_distances(queries, candidates, ks=range(1, k + 1), metric=metric, workers=workers)


def closeness(distances: np.ndarray, identical: np.ndarray) -> Closeness:
    """Nearest distance and ratio from the distances to the two nearest rows."""
    return Closeness(identical, np.ascontiguousarray(distances[:, 0]), ratios(distances))


def ratios(distances: np.ndarray) -> np.ndarray:
    """Nearest over second nearest, 0 to 1. Two equal nearest rows at distance 0 (0/0) give 1, and so does a lone row."""
    if distances.shape[1] < 2:
        return np.ones(len(distances))
    first, second = distances[:, 0], distances[:, 1]
    return np.divide(first, second, out=np.ones(len(first)), where=second > 0)


def scores(found: Closeness, percentile: float) -> ClosenessScores:
    """The five numbers; sums run over sorted values, so that the order of the rows does not matter."""
    distance, ratio = np.sort(found.distance), np.sort(found.ratio)
    return ClosenessScores(
        float(found.identical.mean()),
        float(np.percentile(distance, percentile)),
        float(np.percentile(ratio, percentile)),
        float(distance.mean()),
        float(ratio.mean()),
    )


def share_estimate(samples: Sequence[np.ndarray], confidence: float) -> Estimate:
    """Median over the repeats of a share and of its exact limits."""
    return _median([clopper_pearson(int(s.sum()), len(s), confidence=confidence) for s in samples])


def percentile_estimate(samples: Sequence[np.ndarray], percentile: float, confidence: float) -> Estimate:
    """Median over the repeats of a percentile and of its limits (Woodruff 1952: percentiles at the limits of its share)."""
    found = []
    for sample in samples:
        rows = len(sample)
        level = clopper_pearson(round(percentile / 100 * rows), rows, confidence=confidence)
        low, value, high = np.quantile(
            sample, [min(level.low, percentile / 100), percentile / 100, max(level.high, percentile / 100)]
        )
        interval = (float(low), float(high))
        found.append(Estimate(float(value), interval, confidence, "Woodruff", Assumption.MODEL_BASED, rows))
    return _median(found)


def mean_estimate(samples: Sequence[np.ndarray], confidence: float) -> Estimate:
    """Median over the repeats of a mean (of values of 0 or more) and of its normal limits; one row has no upper limit."""
    found = []
    for sample in samples:
        ordered = np.sort(sample)
        value, rows = float(ordered.mean()), len(ordered)
        half = float(ndtri(0.5 + confidence / 2)) * float(ordered.std(ddof=1)) / rows**0.5 if rows > 1 else np.inf
        interval = (max(0.0, value - half), value + half)
        found.append(Estimate(value, interval, confidence, "normal limit", Assumption.MODEL_BASED, rows))
    return _median(found)


def _median(found: Sequence[Estimate]) -> Estimate:
    first = found[0]
    value, low, high = (float(np.median([getattr(e, name) for e in found])) for name in ("value", "low", "high"))
    method = first.method if len(found) == 1 else f"{first.method}, median of {len(found)} subsamples"
    return Estimate(value, (low, high), first.confidence, method, first.assumption, first.n)


@dataclass(frozen=True, eq=False)
class Curves:
    """Empirical distribution functions on one grid, for a chart: the share of rows at most `grid` away."""

    grid: np.ndarray
    synthetic_to_real: np.ndarray
    synthetic_to_holdout: np.ndarray | None
    holdout_to_real: np.ndarray | None


def curves(to_real: np.ndarray, to_holdout: np.ndarray | None, holdout_to_real: np.ndarray | None) -> Curves:
    """Three distribution functions on at most 60 points from 0 to the largest value; every count where values are counts."""
    present = [values for values in (to_real, to_holdout, holdout_to_real) if values is not None]
    top = max(float(values.max()) for values in present)
    whole = all(np.array_equal(values, np.floor(values)) for values in present)
    points = int(top) + 1 if whole and top < MOST_POINTS else MOST_POINTS
    grid = np.linspace(0.0, top, points)
    grid[-1] = top

    def at_most(values: np.ndarray) -> np.ndarray:
        return np.searchsorted(np.sort(values), grid, side="right") / len(values)

    return Curves(
        grid,
        at_most(to_real),
        None if to_holdout is None else at_most(to_holdout),
        None if holdout_to_real is None else at_most(holdout_to_real),
    )
