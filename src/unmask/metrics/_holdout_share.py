"""Are synthetic rows closer to the real table than to the holdout? The share, and a test of it that is honest.

If the synthetic table was made without looking, nothing distinguishes real rows from holdout rows: which of the pooled rows
are called real is a random draw. So each pooled row counts its *hits* (synthetic rows to which it is the closest; ties go to
the row that comes first in one random order of the pool), and the hits of the real rows are compared with those of random
draws of as many pooled rows. That is exact for every table size, and ties, duplicated synthetic rows and rows that are close to
everything are all accounted for.

The customary test counts synthetic rows as coins, Bin(n, 1/2) without the ties. Synthetic rows with the same closest row are one
coin, not many: five thousand copies of one row are enough to make it alarm every other time. It is given for comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from unmask.stats import Assumption, Estimate
from unmask.stats.intervals import wilson_limits
from unmask.tables.distance import Gower, Hamming, Metric, nearest, nearest_row
from unmask.tables.table import Table

DRAWS = 9_999
MANY_TIES = 0.5


@dataclass(frozen=True, eq=False)
class HoldoutShare:
    """P(closer to real) + 1/2 P(equally close) over synthetic rows, real and holdout of one size. 1/2 = no leak, 1 = copies."""

    share: Estimate  # median over the subsamples; limits from the effective number of independent rows
    closer: float  # share of synthetic rows closer to the real table
    tied: float
    farther: float
    p_value: (
        float  # chance of as many hits or more if nothing leaks: exact, one-sided (randomised draw of the real rows)
    )
    p_value_farther: (
        float  # the same for as few hits or fewer: small means that the holdout itself is close to the synthetic
    )
    p_binomial: float  # customary: untied rows as independent coins, one-sided; alarms too often
    hits_real: np.ndarray  # for each real row, how many synthetic rows are closest to it
    hits_holdout: np.ndarray
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Hits:
    """Distances of synthetic rows to both tables, and how many have each pooled row as their closest."""

    to_real: np.ndarray  # synthetic rows x at most two nearest
    to_holdout: np.ndarray  # synthetic rows
    real: np.ndarray
    holdout: np.ndarray

    @property
    def inflation(self) -> float:
        """Variance of the real rows' hits over that of independent coins, at least 1."""
        pooled = np.concatenate([self.real, self.holdout]).astype(np.float64)
        spread = ((pooled - pooled.mean()) ** 2).sum() / max(pooled.sum(), 1) * len(pooled) / max(len(pooled) - 1, 1)
        return max(1.0, float(spread))


def count_hits(
    real: Table, synthetic: Table, *, holdout: Table, metric: Metric, workers: int, rng: np.random.Generator
) -> Hits:
    """Search both tables in one random order of their rows, so that ties go to a random one of the tied rows."""
    place = rng.permutation(len(real) + len(holdout))
    order_real, order_holdout = np.argsort(place[: len(real)]), np.argsort(place[len(real) :])
    k = min(2, len(real))
    if isinstance(metric, Hamming | Gower):
        ks = range(1, k + 1)
        a = nearest_row(synthetic, real.take(order_real), ks=ks, metric=metric, workers=workers)
    else:
        a = nearest(synthetic, real.take(order_real), k=k, metric=metric, workers=workers)
    b = nearest(synthetic, holdout.take(order_holdout), metric=metric, workers=workers)
    row_a, row_b = order_real[a.rows[:, 0]], order_holdout[b.rows[:, 0]]
    near, far = a.distances[:, 0], b.distances[:, 0]
    earlier = place[row_a] < place[len(real) + row_b]
    to_real = (near < far) | ((near == far) & earlier)
    return Hits(
        a.distances,
        far,
        np.bincount(row_a[to_real], minlength=len(real)),
        np.bincount(row_b[~to_real], minlength=len(holdout)),
    )


def holdout_share(
    pairs: Sequence[tuple[np.ndarray, np.ndarray]], hits: Hits, *, confidence: float, rng: np.random.Generator
) -> HoldoutShare:
    """The share over pairs (distance to real, distance to holdout; one pair for each equal-sized subsample) and its tests."""
    parts = np.array([[np.mean(a < b), np.mean(a == b), np.mean(a > b)] for a, b in pairs])
    rows = len(pairs[0][0])
    values = parts[:, 0] + parts[:, 1] / 2
    value = float(np.median(values))
    effective = rows / hits.inflation
    low, high = wilson_limits(value * effective, effective, confidence=confidence)
    method = "Wilson on the effective number of rows" + (
        f", median of {len(pairs)} subsamples" if len(pairs) > 1 else ""
    )
    interval = (min(float(low), value), max(float(high), value))
    above, below = exchange_p_values(hits.real, hits.holdout, rng)
    closer, tied, farther = (float(np.median(parts[:, column])) for column in range(3))
    return HoldoutShare(
        Estimate(value, interval, confidence, method, Assumption.MODEL_BASED, rows),
        closer,
        tied,
        farther,
        above,
        below,
        float(np.median([binomial_p_value(a, b) for a, b in pairs])),
        hits.real,
        hits.holdout,
        _warnings(tied, rows, hits.inflation, below, 1 - confidence),
    )


def exchange_p_values(real: np.ndarray, holdout: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """Chance of as large (as small) a sum over the real rows, if they are any draw of as many from the pooled rows.

    Rows with equal counts are alike, so a draw is a multivariate hypergeometric one. With the observed draw counted among
    them, the p-values are exact at every level.
    """
    levels, index = np.unique(np.concatenate([real, holdout]), return_inverse=True)
    sizes = np.bincount(index)
    sums = rng.multivariate_hypergeometric(sizes, len(real), size=DRAWS, method="marginals") @ levels
    seen = real.sum()
    return (1 + int((sums >= seen).sum())) / (DRAWS + 1), (1 + int((sums <= seen).sum())) / (DRAWS + 1)


def binomial_p_value(to_real: np.ndarray, to_holdout: np.ndarray) -> float:
    """One-sided sign test: of the rows without a tie, how many are closer to the real table. All tied: 1."""
    closer, untied = int((to_real < to_holdout).sum()), int((to_real != to_holdout).sum())
    return float(betainc(closer, untied - closer + 1, 0.5)) if closer else 1.0  # the upper tail of a binomial law


def _warnings(tied: float, rows: int, inflation: float, below: float, level: float) -> tuple[str, ...]:
    found = [
        "A share of one half proves nothing: it is an average over the synthetic rows, and a few people can be copied "
        "while it stays there."
    ]
    if tied >= MANY_TIES:
        found.append(
            f"{100 * tied:.0f} in 100 synthetic rows are equally close to the real table and to the holdout, so the share is "
            "pulled towards one half whatever leaks. Look at identical rows instead, or compare numbers by value (gower)."
        )
    if inflation > 1.5:
        found.append(
            f"Many synthetic rows share their closest row: {rows:,} rows carry the evidence of about "
            f"{rows / inflation:,.0f}. The customary binomial test ignores that; the p-value here does not."
        )
    if below <= level / 2:
        found.append(
            "Synthetic rows are closer to the holdout than to the real table. Check that the holdout was not used for "
            "training and comes from the same population."
        )
    return tuple(found)
