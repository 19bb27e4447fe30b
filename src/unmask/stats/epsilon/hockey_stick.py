"""Delta at a claimed epsilon, from the errors of a classifier (METHODS 3.6): the hockey-stick divergence from below."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit

from unmask.stats._checks import check_count, check_nonnegative, check_share
from unmask.stats.epsilon.clopper_pearson import ErrorCounts
from unmask.stats.intervals import upper_limit
from unmask.stats.results import Assumption, Estimate


def hockey_stick_priors(epsilon: float) -> tuple[float, float]:
    """How often to draw a run with (in) and without (out) the target: 1/(1+e^eps) and e^eps/(1+e^eps)."""
    check_nonnegative("epsilon", epsilon)
    return float(expit(-epsilon)), float(expit(epsilon))


def delta_hockey_stick(wrong: int, draws: int, *, epsilon: float, confidence: float = 0.95) -> Estimate:
    """Lower bound on delta(epsilon) from a classifier that was wrong on `wrong` of `draws` runs drawn with those priors.

    P_in(A) - e^eps P_out(A) = 1 - (1 + e^eps) R for the classifier's error rate R, and delta(epsilon) is its maximum; so
    one exact upper limit of R bounds delta from below. A claim (epsilon, delta) is refuted if delta < low.
    """
    check_count("wrong", wrong, draws)
    check_share("confidence", confidence)
    check_nonnegative("epsilon", epsilon)
    factor = 1 + math.exp(epsilon)
    low = 1 - factor * float(upper_limit(wrong, draws, confidence=confidence))
    value = max(0.0, 1 - factor * wrong / draws)
    method = f"hockey-stick at epsilon {epsilon:g}, drawn with its priors"
    return Estimate(value, (max(0.0, low), 1.0), confidence, method, Assumption.EXACT, draws)


def delta_from_errors(errors: ErrorCounts, *, epsilon: float, confidence: float = 0.95) -> Estimate:
    """Lower bound on delta(epsilon) from error counts of balanced runs: both rates at half of the error each."""
    check_share("confidence", confidence)
    check_nonnegative("epsilon", epsilon)
    each, odds = 0.5 + confidence / 2, math.exp(epsilon)

    def larger(fpr: float, fnr: float) -> float:
        return max(0.0, 1 - fnr - odds * fpr, 1 - fpr - odds * fnr)

    low = larger(
        float(upper_limit(errors.false_positives, errors.n_out, confidence=each)),
        float(upper_limit(errors.false_negatives, errors.n_in, confidence=each)),
    )
    value = larger(errors.false_positives / errors.n_out, errors.false_negatives / errors.n_in)
    method = f"hockey-stick at epsilon {epsilon:g}, Clopper-Pearson"
    n = errors.n_in + errors.n_out
    return Estimate(value, (low, 1.0), confidence, method, Assumption.EXACT, n)


def largest_visible_hockey_stick(draws: int, *, delta: float = 0.0, confidence: float = 0.95) -> float:
    """The largest epsilon whose claim a classifier that is never wrong would refute with this many draws."""
    check_count("draws", draws, draws)
    never = float(upper_limit(0, draws, confidence=confidence))
    return max(0.0, float(np.log(max((1 - delta) / never - 1, 1.0))))
