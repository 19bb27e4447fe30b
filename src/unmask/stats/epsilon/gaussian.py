"""Epsilon of a declared Gaussian mechanism (METHODS 3.3; Nasr et al. 2023): one more assumption, a far sharper bound."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from unmask.errors import ParameterError
from unmask.stats._checks import FloatArray, as_scores, check_share
from unmask.stats.auc import auc, placements
from unmask.stats.curves import gaussian_epsilon
from unmask.stats.intervals import upper_limit
from unmask.stats.results import Assumption, Bound, Refusal
from unmask.stats.thresholds import Threshold, judge

METHOD = "Gaussian DP"
FEWEST_BEYOND = 10  # scores of each side beyond each threshold of the check, so that the normal limit may be used
FEWEST_RUNS = 750  # per side; with 500, the check misses a quarter of Laplace mechanisms of epsilon 0.5
FEWEST_THRESHOLDS = 5
SHORTEST_STRETCH = 2.0  # standard deviations of noise that the thresholds of the check must span
MOST_THRESHOLDS = 15
SIGNIFICANCE = 0.05


def mu_from_errors(fpr: FloatArray, fnr: FloatArray) -> FloatArray:
    """The mu of a Gaussian mechanism that error rates imply: Phi^-1(1-FPR) - Phi^-1(FNR)."""
    return np.asarray(-ndtri(fpr) - ndtri(fnr), dtype=np.float64)


def mu_from_auc(value: float) -> float:
    """The mu of a Gaussian mechanism whose best score has this AUC: sqrt(2) Phi^-1(AUC), 0 below one half."""
    return max(0.0, math.sqrt(2) * float(ndtri(value)))


def epsilon_gaussian(
    scores_in: ArrayLike,
    scores_out: ArrayLike,
    *,
    delta: float,
    declared: bool,
    threshold: Threshold | None = None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Bound | Refusal:
    """Lower bound on epsilon at `delta` if the mechanism adds Gaussian noise, or the reason why none is given.

    Without a threshold mu comes from the AUC of all scores: no score of a mu-GDP mechanism has an AUC above Phi(mu/sqrt 2), so
    the lower limit of the AUC (DeLong) bounds mu, with no threshold to choose and no level to share. With a threshold mu
    comes from two exact error rates (Nasr's way): the level then rests on no normal limit, at a price in sharpness.

    Refuses unless the caller declares a Gaussian mechanism *and* the ROC is a line of slope 1 on probit axes; off the model the
    bound is wrong almost always, and the second guard catches only what the number of runs can show.
    """
    inside, outside = as_scores("scores_in", scores_in), as_scores("scores_out", scores_out)
    check_share("confidence", confidence)
    check_share("delta", delta)
    if confidence <= 0.5:
        raise ParameterError(f"confidence = {confidence} is no better than a coin. Give a number above 0.5.")
    if not declared:
        return Refusal(METHOD, "the mechanism was not declared to be Gaussian; declare it only if its noise is")
    reason = why_not_gaussian(inside, outside)
    if reason is not None:
        return Refusal(METHOD, reason)
    if threshold is None:
        judged, how = (inside.size, outside.size), "AUC"
        mu = mu_from_auc(auc(inside, outside, confidence=2 * confidence - 1).low)
        largest = gaussian_epsilon(delta, mu_from_auc((1 - confidence) ** (1 / min(judged))))
    else:
        how = type(threshold).__name__
        mu, judged = judge(inside, outside, threshold=threshold, measure=mu_from_errors, confidence=confidence, rng=rng)
        largest = largest_visible_gaussian(*judged, confidence=confidence, delta=delta)
    value = gaussian_epsilon(delta, max(0.0, mu))
    return Bound(
        value, (value, math.inf), confidence, f"{METHOD}, {how}", Assumption.MODEL_BASED, sum(judged), delta, largest
    )


def largest_visible_gaussian(n_in: int, n_out: int, *, delta: float, confidence: float = 0.95) -> float:
    """The bound of a perfect attack under the Gaussian model."""
    each = 0.5 + confidence / 2
    fpr, fnr = upper_limit(0, n_out, confidence=each), upper_limit(0, n_in, confidence=each)
    return gaussian_epsilon(delta, max(0.0, float(mu_from_errors(fpr, fnr))))


def why_not_gaussian(scores_in: FloatArray, scores_out: FloatArray) -> str | None:
    """Why the scores cannot come from a shift in Gaussian noise, or None if nothing speaks against it.

    For a shift by mu, Phi^-1(TPR) - Phi^-1(FPR) = mu at every threshold. It is measured at thresholds spread over the pooled
    scores, and a trend or a bend along them is tested (generalised least squares, Wald test with two degrees of freedom).
    """
    fewest = min(scores_in.size, scores_out.size)
    if fewest < FEWEST_RUNS:
        return f"the probit ROC cannot be checked with {fewest} runs on a side; {FEWEST_RUNS} are needed"
    mu = math.sqrt(2) * float(ndtri(float(np.mean(placements(scores_in, scores_out)[0]))))
    at = _check_thresholds(scores_in, scores_out, mu) if math.isfinite(mu) else np.empty(0)
    if at.size < FEWEST_THRESHOLDS:
        return (
            "the probit ROC cannot be checked: the scores of both sides overlap in too short a stretch or take too few values; "
            "it needs more runs, or a score that is a continuum"
        )
    p_value = probit_linearity_p_value(scores_in, scores_out, at=at)
    if p_value < SIGNIFICANCE:
        return f"the probit ROC is not a line of slope 1 (p = {p_value:.2g}), as it is for Gaussian noise"
    return None


def probit_linearity_p_value(scores_in: FloatArray, scores_out: FloatArray, *, at: FloatArray) -> float:
    """P-value of "Phi^-1(TPR) - Phi^-1(FPR) is the same at all thresholds `at`" against a quadratic.

    The covariance is that of the fitted shift, not of the observed rates: weights that follow the noise of what they
    weigh would reject a true shift too often.
    """
    z_in, z_out = _probits(scores_in, at), _probits(scores_out, at)
    centre, shift = (z_in + z_out) / 2, float(np.median(z_in - z_out))
    covariance = _covariance(centre + shift / 2, scores_in.size) + _covariance(centre - shift / 2, scores_out.size)
    position = centre - centre.mean()
    design = np.stack([np.ones_like(position), position, position**2], axis=1)
    root = np.linalg.cholesky(covariance)
    white = np.linalg.solve(root, design)
    information = white.T @ white
    fitted = np.linalg.solve(information, white.T @ np.linalg.solve(root, z_in - z_out))
    spread = np.linalg.inv(information)[1:, 1:]
    wald = float(fitted[1:] @ np.linalg.solve(spread, fitted[1:]))
    return math.exp(-wald / 2)  # the tail of a chi-square with two degrees of freedom


def _check_thresholds(scores_in: FloatArray, scores_out: FloatArray, mu: float) -> FloatArray:
    """Thresholds at the ranks between which a shift by `mu` leaves enough scores of each side above and below."""
    n_in, n_out = scores_in.size, scores_out.size
    reach_in, reach_out = -float(ndtri(FEWEST_BEYOND / n_in)), -float(ndtri(FEWEST_BEYOND / n_out))
    low, high = max(-reach_out, mu - reach_in), min(reach_out, mu + reach_in)
    if high - low < SHORTEST_STRETCH:
        return np.empty(0)
    points = np.linspace(low, high, MOST_THRESHOLDS)
    share = (n_out * ndtr(points) + n_in * ndtr(points - mu)) / (n_in + n_out)
    at = np.unique(np.quantile(np.concatenate([scores_in, scores_out]), share, method="higher"))
    rates = [1 - np.searchsorted(np.sort(scores), at, side="left") / scores.size for scores in (scores_in, scores_out)]
    inner = [(rate > 0) & (rate < 1) for rate in rates]
    return np.asarray(at[inner[0] & inner[1]], dtype=np.float64)


def _probits(scores: FloatArray, at: FloatArray) -> FloatArray:
    """Phi^-1 of the share at or above each threshold, (count + 1/2)/(n + 1) to lessen the bias of small counts."""
    beyond = scores.size - np.searchsorted(np.sort(scores), at, side="left")
    return np.asarray(ndtri((beyond + 0.5) / (scores.size + 1)), dtype=np.float64)


def _covariance(z: FloatArray, n: int) -> FloatArray:
    """Covariance of probits of the shares of `n` scores above thresholds (delta method)."""
    share = np.asarray(ndtr(z), dtype=np.float64)
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    covariance = (np.minimum.outer(share, share) - np.outer(share, share)) / n
    return np.asarray(covariance / np.outer(density, density), dtype=np.float64)
