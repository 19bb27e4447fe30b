"""Receiver operating characteristic: what a score separates, at every price in false alarms."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from unmask.errors import ParameterError
from unmask.stats._checks import FloatArray, as_probabilities, as_scores, check_count, check_share
from unmask.stats.intervals import clopper_pearson, difference, lower_limit, upper_limit
from unmask.stats.results import Assumption, Estimate

LOG_GRID: tuple[float, ...] = tuple(float(f"{x:.6g}") for x in np.logspace(-4, 0, 81))  # for charts on log axes


@dataclass(frozen=True)
class Roc:
    """Corners of an empirical ROC curve, from (0, 0) to (1, 1); a block of tied scores is one straight step.

    `thresholds[i]` is the score at and above which targets are called members to reach corner i; the first is infinite.
    """

    fpr: FloatArray
    tpr: FloatArray
    thresholds: FloatArray


@dataclass(frozen=True)
class OperatingPoint:
    """TPR and FPR of the rule "member iff score >= threshold", each with its interval."""

    tpr: Estimate
    fpr: Estimate
    threshold: float
    target_fpr: float


def roc_curve(scores_in: ArrayLike, scores_out: ArrayLike) -> Roc:
    """Empirical ROC of members (in) against non-members (out), one corner per distinct score.

    Members and non-members that share a score cannot be told apart by it, so they enter together, as one diagonal.
    """
    inside, outside = as_scores("scores_in", scores_in), as_scores("scores_out", scores_out)
    values = np.unique(np.concatenate([inside, outside]))[::-1]
    flagged_in = inside.size - np.searchsorted(np.sort(inside), values, side="left")
    flagged_out = outside.size - np.searchsorted(np.sort(outside), values, side="left")
    return Roc(
        fpr=np.concatenate([[0.0], flagged_out / outside.size]),
        tpr=np.concatenate([[0.0], flagged_in / inside.size]),
        thresholds=np.concatenate([[np.inf], values]),
    )


def roc_on_grid(curve: Roc, fpr: ArrayLike = LOG_GRID) -> FloatArray:
    """TPR at the given FPRs, along straight lines between corners (a randomised threshold reaches every point).

    At a vertical step the upper end counts. Gives every curve the same, small number of points whatever n was.
    """
    at = as_probabilities("fpr", fpr)
    last = np.searchsorted(curve.fpr, at, side="right") - 1
    following = np.minimum(last + 1, curve.fpr.size - 1)
    run = curve.fpr[following] - curve.fpr[last]
    share = np.divide(at - curve.fpr[last], run, out=np.zeros_like(at), where=run > 0)
    return np.asarray(curve.tpr[last] + share * (curve.tpr[following] - curve.tpr[last]), dtype=np.float64)


def tpr_at_fpr(
    scores_in: ArrayLike,
    scores_out: ArrayLike,
    *,
    fpr: float = 0.01,
    confidence: float = 0.95,
    guarantee: bool = False,
) -> OperatingPoint:
    """TPR where at most a share `fpr` of the non-members is called a member.

    The threshold lies just above the (k+1)-th largest non-member score, k = floor(fpr n_out): it is chosen on the same
    non-members, but on no member, so given the threshold the number of members above it is binomial and the
    Clopper-Pearson interval of TPR is exact *for this threshold*. What the choice leaves uncertain is the true FPR of the
    threshold: it follows Beta(k+1, n_out-k), the law of an order statistic, and its interval is given beside it.
    With `guarantee`, k is lowered until the upper limit of that law is at most `fpr`, so that "TPR >= low at a true FPR of at
    most fpr" holds with both confidences; with too few non-members the threshold is then infinite and TPR is 0.
    Ties count against the attack. Exact if the scores of different targets are independent.
    """
    inside, outside = as_scores("scores_in", scores_in), as_scores("scores_out", scores_out)
    check_share("fpr", fpr, closed=True)
    check_share("confidence", confidence)
    allowed = math.floor(fpr * outside.size + 1e-9)
    if guarantee:
        ranks = np.arange(allowed + 1)
        allowed = int(np.sum(upper_limit(ranks, outside.size, confidence=confidence) <= fpr)) - 1
    threshold = _above_rank(outside, allowed)
    tpr = clopper_pearson(int(np.sum(inside >= threshold)), inside.size, confidence=confidence)
    return OperatingPoint(tpr, _fpr_of_rank(outside, threshold, allowed, confidence), threshold, fpr)


def _above_rank(outside: FloatArray, allowed: int) -> float:
    """The lowest threshold that lets at most `allowed` of the non-members pass; infinite for a negative number."""
    if allowed < 0:
        return math.inf
    if allowed >= outside.size:
        return -math.inf
    kth = np.partition(outside, outside.size - 1 - allowed)[outside.size - 1 - allowed]
    return float(np.nextafter(kth, np.inf))


def _fpr_of_rank(outside: FloatArray, threshold: float, allowed: int, confidence: float) -> Estimate:
    n, passed = outside.size, int(np.sum(outside >= threshold))
    each = 0.5 + confidence / 2
    if allowed < 0:
        low, high = 0.0, 0.0
    elif allowed >= n:
        low, high = 1.0, 1.0
    else:
        # With ties fewer than `allowed` pass; the law of the rank then bounds FPR from above only.
        high = float(upper_limit(allowed, n, confidence=each))
        rank_low = float(betaincinv(allowed + 1.0, float(n - allowed), 1 - each))
        low = rank_low if passed == allowed else min(rank_low, float(lower_limit(passed, n, confidence=each)))
    return Estimate(passed / n, (low, high), confidence, "Beta law of a rank", Assumption.EXACT, n)


def advantage(scores_in: ArrayLike, scores_out: ArrayLike, *, threshold: float, confidence: float = 0.95) -> Estimate:
    """TPR - FPR of the rule "member iff score >= threshold", for a threshold that these scores did not choose."""
    inside, outside = as_scores("scores_in", scores_in), as_scores("scores_out", scores_out)
    hits, alarms = int(np.sum(inside >= threshold)), int(np.sum(outside >= threshold))
    return difference((hits, inside.size), (alarms, outside.size), confidence=confidence)


def precision(tpr: float, fpr: float, *, prior: float) -> float:
    """Share of flagged people who are members if a share `prior` of the targets is: TPR pi / (TPR pi + FPR (1-pi)).

    An attack that is right in balanced games can be wrong about almost everyone when members are rare.
    """
    check_share("tpr", tpr, closed=True)
    check_share("fpr", fpr, closed=True)
    check_share("prior", prior)
    if tpr == 0 and fpr == 0:
        raise ParameterError("The precision of a rule that flags nobody is undefined. Lower the threshold.")
    return tpr * prior / (tpr * prior + fpr * (1 - prior))


def precision_interval(
    hits: tuple[int, int], alarms: tuple[int, int], *, prior: float, confidence: float = 0.95
) -> Estimate:
    """Precision at a prior from (flagged members, members) and (flagged non-members, non-members), with its interval.

    Precision rises with TPR and falls with FPR, so the corners of a box of two exact intervals, each with half of the error,
    bound it exactly.
    """
    check_count("hits", *hits)
    check_count("alarms", *alarms)
    value = precision(hits[0] / hits[1], alarms[0] / alarms[1], prior=prior)
    each = 0.5 + confidence / 2
    tpr, fpr = clopper_pearson(*hits, confidence=each), clopper_pearson(*alarms, confidence=each)
    low = precision(tpr.low, fpr.high, prior=prior)
    high = precision(tpr.high, fpr.low, prior=prior)
    method = f"Clopper-Pearson box at prior {prior:g}"
    return Estimate(value, (low, high), confidence, method, Assumption.EXACT, hits[1] + alarms[1])
