"""Many questions asked at once: which answers survive, and what the list as a whole promises."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unmask.stats._checks import BoolArray, FloatArray, as_probabilities, as_scores, check_share

ROUNDING = 1e-12  # 1 - 0.9 is not quite 0.1: a p-value equal to its level is rejected all the same


@dataclass(frozen=True, eq=False)
class Listing:
    """Which hypotheses are rejected, and the smallest level at which each one would be (its adjusted p-value)."""

    rejected: BoolArray
    adjusted: FloatArray


@dataclass(frozen=True, eq=False)
class EListing:
    """Which hypotheses e-BH rejects, and the log e-value that it took (infinite if none is rejected)."""

    rejected: BoolArray
    log_threshold: float


def e_bh(log_e_values: ArrayLike, *, rate: float = 0.1) -> EListing:
    """List with false discovery rate at most `rate`, under any dependence (Wang and Ramdas 2022).

    Reject the k* largest, k* = max{k : E_(k) >= N/(rate k)}.
    """
    check_share("rate", rate)
    values = as_scores("log_e_values", log_e_values)
    needed = np.log(values.size) - math.log(rate) - np.log(np.arange(1, values.size + 1))
    enough = np.flatnonzero(np.sort(values)[::-1] >= needed)
    if enough.size == 0:
        return EListing(np.zeros(values.size, dtype=np.bool_), math.inf)
    threshold = float(needed[enough[-1]])
    return EListing(values >= threshold, threshold)


def benjamini_hochberg(p_values: ArrayLike, *, rate: float = 0.1) -> Listing:
    """List with false discovery rate at most `rate`, for independent or positively dependent p-values (1995)."""
    check_share("rate", rate)
    p = as_probabilities("p_values", p_values)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * (p.size / np.arange(1, p.size + 1))  # factors of at least 1, so no rounding below p
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return Listing(adjusted <= rate + ROUNDING, adjusted)


def holm(p_values: ArrayLike, *, confidence: float = 0.95) -> Listing:
    """Reject so that with probability `confidence` no rejection at all is false, under any dependence (Holm 1979)."""
    check_share("confidence", confidence)
    p = as_probabilities("p_values", p_values)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * (p.size - np.arange(p.size))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(scaled))
    return Listing(adjusted <= 1 - confidence + ROUNDING, adjusted)


def conformal_p_values(
    scores: ArrayLike, holdout_scores: ArrayLike, *, rng: np.random.Generator | None = None
) -> FloatArray:
    """P-value of "this target is exchangeable with the holdout": (1 + #{holdout >= score})/(n + 1).

    No model of the scores. Those of several targets share a holdout and are positively dependent, so `benjamini_hochberg` holds
    (Bates et al. 2023). The smallest possible value is 1/(n+1): a list of N targets needs about N/rate holdout records.
    Ties count in full against the target; with `rng` a random part of them does, which is exact instead of careful.
    """
    target, holdout = as_scores("scores", scores), np.sort(as_scores("holdout_scores", holdout_scores))
    above = holdout.size - np.searchsorted(holdout, target, side="right")
    at_least = holdout.size - np.searchsorted(holdout, target, side="left")
    if rng is None:
        return np.asarray((1 + at_least) / (holdout.size + 1), dtype=np.float64)
    ties = at_least - above + 1  # the target ties with itself
    return np.asarray((above + rng.random(target.size) * ties) / (holdout.size + 1), dtype=np.float64)
