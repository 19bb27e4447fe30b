"""Epsilon from two exact error rates (METHODS 3.1; Jagielski, Ullman and Oprea 2020; TAPAS)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unmask.stats._checks import FloatArray, as_scores, check_count, check_delta, check_share
from unmask.stats.intervals import upper_limit
from unmask.stats.results import Assumption, Bound
from unmask.stats.thresholds import Bonferroni, Threshold, judge


@dataclass(frozen=True)
class ErrorCounts:
    """False alarms among `n_out` runs without the target, misses among `n_in` runs with it."""

    false_positives: int
    n_out: int
    false_negatives: int
    n_in: int

    def __post_init__(self) -> None:
        """Counts must be possible."""
        check_count("false_positives", self.false_positives, self.n_out)
        check_count("false_negatives", self.false_negatives, self.n_in)


def log_ratio(fpr: ArrayLike, fnr: ArrayLike, delta: float) -> FloatArray:
    """The epsilon that error rates imply, before it is cut at 0: the larger of both directions of the DP inequality.

    ln((1-delta-FPR)/FNR) and ln((1-delta-FNR)/FPR); minus infinity where neither ratio is positive.
    """
    x, y = np.asarray(fpr, dtype=np.float64), np.asarray(fnr, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.log(np.maximum(1 - delta - x, 0)) - np.log(y)
        two = np.log(np.maximum(1 - delta - y, 0)) - np.log(x)
    return np.asarray(np.fmax(one, two), dtype=np.float64)


def epsilon_from_errors(errors: ErrorCounts, *, confidence: float = 0.95, delta: float = 0.0) -> Bound:
    """Lower bound on epsilon from counts of a threshold that these runs did not choose.

    Both Clopper-Pearson upper limits hold together at `confidence` (half the error each), and both directions of the
    inequality use the same pair, so taking the better direction costs nothing.
    """
    check_share("confidence", confidence)
    check_delta(delta)
    each = 0.5 + confidence / 2
    fpr = upper_limit(errors.false_positives, errors.n_out, confidence=each)
    fnr = upper_limit(errors.false_negatives, errors.n_in, confidence=each)
    value = max(0.0, float(log_ratio(fpr, fnr, delta)))
    return _bound(value, (errors.n_in, errors.n_out), confidence, delta, "Clopper-Pearson")


def epsilon_clopper_pearson(
    scores_in: ArrayLike,
    scores_out: ArrayLike,
    *,
    threshold: Threshold = Bonferroni(),
    confidence: float = 0.95,
    delta: float = 0.0,
    rng: np.random.Generator | None = None,
) -> Bound:
    """Lower bound on epsilon from scores of independent runs with (in) and without (out) the target."""
    inside, outside = as_scores("scores_in", scores_in), as_scores("scores_out", scores_out)
    check_share("confidence", confidence)
    check_delta(delta)
    value, judged = judge(
        inside,
        outside,
        threshold=threshold,
        measure=lambda fpr, fnr: log_ratio(fpr, fnr, delta),
        confidence=confidence,
        rng=rng,
    )
    method = f"Clopper-Pearson, {type(threshold).__name__}"
    return _bound(max(0.0, value), judged, confidence, delta, method)


def largest_visible_clopper_pearson(n_in: int, n_out: int, *, confidence: float = 0.95, delta: float = 0.0) -> float:
    """The bound of a perfect attack: ln((1-delta-c)/c) with c = 1-(a/2)^(1/n) for equal sides.

    3.3, 5.6 and 7.9 at 95 % for 100, 1000 and 10000 runs per side.
    """
    each = 0.5 + confidence / 2
    fpr, fnr = upper_limit(0, n_out, confidence=each), upper_limit(0, n_in, confidence=each)
    return max(0.0, float(log_ratio(fpr, fnr, delta)))


def _bound(value: float, judged: tuple[int, int], confidence: float, delta: float, method: str) -> Bound:
    largest = largest_visible_clopper_pearson(*judged, confidence=confidence, delta=delta)
    interval = (value, np.inf)
    return Bound(value, interval, confidence, method, Assumption.EXACT, sum(judged), delta, largest)
