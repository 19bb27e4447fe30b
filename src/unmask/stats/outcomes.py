"""What the scores of an attack are worth: rates, advantage, AUC, with intervals, per target and pooled."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from unmask.stats import (
    Estimate,
    Given,
    OperatingPoint,
    advantage,
    auc,
    clopper_pearson,
    difference,
    epsilon_clopper_pearson,
    precision_interval,
    tpr_at_fpr,
    wilson,
)

FPR_GRID = (0.001, 0.01, 0.1)
RARE_PRIOR = 0.01  # one person in a hundred is a member: what a true hit is worth then


@dataclass(frozen=True)
class MembershipOutcome:
    """How well members are told from others."""

    accuracy: Estimate
    tpr: Estimate
    fpr: Estimate
    advantage: Estimate
    adjusted_low: float  # lower bound of the advantage at the confidence that covers all attacks together
    auc: Estimate
    tpr_at: tuple[OperatingPoint, ...]  # at FPR_GRID
    precision: Estimate | None  # at RARE_PRIOR; None if nobody was flagged
    epsilon: Estimate
    certain_tpr: float  # lower bound of the TPR where the FPR is at most .01 for certain; 0 if that cannot be resolved


@dataclass(frozen=True)
class AttributeOutcome:
    """How well a secret is told with the person in the data, and without."""

    with_person: Estimate
    without_person: Estimate
    advantage: Estimate
    adjusted_low: float
    likelihood_gain: float  # numbers: mean density with minus without (Groundhog's measure); NaN for categories


def best_threshold(scores: np.ndarray, members: np.ndarray) -> float:
    """The threshold of the largest advantage on these releases, which must not be those that are judged.

    Half-way between neighbouring scores, so that it does not sit on the very score of a calibration release.
    """
    if not len(scores) or members.all() or not members.any():
        return float(np.median(scores)) if len(scores) else np.inf  # nothing to learn from: guess nobody, or half
    order = np.sort(np.unique(scores))
    if len(order) == 1:
        return float(np.nextafter(order[0], np.inf))  # one score for all: guess nobody
    inside, outside = np.sort(scores[members]), np.sort(scores[~members])
    cuts = np.append((order[:-1] + order[1:]) / 2, np.nextafter(order[-1], np.inf))
    hits = 1 - np.searchsorted(inside, cuts) / len(inside)
    alarms = 1 - np.searchsorted(outside, cuts) / len(outside)
    return float(cuts[np.argmax(hits - alarms)])


def judge_membership(
    scores: np.ndarray,
    members: np.ndarray,
    threshold: float,
    *,
    confidence: float,
    tests: float,
    releases: np.ndarray | None = None,
) -> MembershipOutcome | None:
    """Rates at a threshold fixed beforehand; None if a side is empty. `tests` attacks share the error of adjusted_low.

    `releases` says which scores come from one release: intervals are then wide enough for releases that leak as a whole.
    """
    inside, outside = scores[members], scores[~members]
    if not len(inside) or not len(outside):
        return None
    flagged = scores >= threshold
    hits, alarms = int(flagged[members].sum()), int(flagged[~members].sum())
    right = hits + len(outside) - alarms
    adjusted = 1 - (1 - confidence) / max(tests, 1)
    stricter = 1 - (1 - adjusted) / 3  # the FPR, the TPR and the advantage each take a third of the error
    spread = spread_over_releases(flagged, members, releases)
    found = advantage(inside, outside, threshold=threshold, confidence=confidence)
    strict = advantage(inside, outside, threshold=threshold, confidence=adjusted)
    certain = tpr_at_fpr(inside, outside, fpr=0.01, confidence=stricter, guarantee=True)
    area = auc(inside, outside, confidence=confidence)
    return MembershipOutcome(
        accuracy=wilson(right, len(scores), confidence=confidence),
        tpr=clopper_pearson(hits, len(inside), confidence=confidence),
        fpr=clopper_pearson(alarms, len(outside), confidence=confidence),
        advantage=widened(found, spread),
        adjusted_low=widened(strict, spread).low,
        auc=stretched(area, found, widened(found, spread)),
        tpr_at=tuple(tpr_at_fpr(inside, outside, fpr=fpr, confidence=adjusted) for fpr in FPR_GRID),
        precision=precision_interval(
            (hits, len(inside)), (alarms, len(outside)), prior=RARE_PRIOR, confidence=confidence
        )
        if hits or alarms
        else None,
        epsilon=epsilon_clopper_pearson(inside, outside, threshold=Given(threshold), confidence=confidence),
        certain_tpr=certain.tpr.low if np.isfinite(certain.threshold) else 0.0,
    )


def spread_over_releases(right: np.ndarray, members: np.ndarray, releases: np.ndarray | None) -> float:
    """Standard error of (share of `right` among members - among others), releases being the independent draws (jackknife)."""
    if releases is None or len(np.unique(releases)) < 3:
        return 0.0
    _, place = np.unique(releases, return_inverse=True)
    counts = [np.bincount(place, weights=weight) for weight in (right & members, members, right & ~members, ~members)]
    hits, inside, alarms, outside = (count.sum() - count for count in counts)  # without each release in turn
    kept = (inside > 0) & (outside > 0)
    if kept.sum() < 3:
        return 0.0
    without = hits[kept] / inside[kept] - alarms[kept] / outside[kept]
    return float(np.sqrt((kept.sum() - 1) / kept.sum() * ((without - without.mean()) ** 2).sum()))


def widened(found: Estimate, spread: float) -> Estimate:
    """An estimate whose interval is at least as wide as this standard error asks for."""
    reach = float(ndtri(0.5 + found.confidence / 2)) * spread
    low, high = max(-1.0, min(found.low, found.value - reach)), min(1.0, max(found.high, found.value + reach))
    return replace(found, interval=(low, high))


def stretched(area: Estimate, before: Estimate, after: Estimate) -> Estimate:
    """The AUC with its interval stretched as that of the advantage was."""
    lower = (after.value - after.low) / max(before.value - before.low, 1e-12)
    upper = (after.high - after.value) / max(before.high - before.value, 1e-12)
    low = max(0.0, area.value - max(1.0, lower) * (area.value - area.low))
    high = min(1.0, area.value + max(1.0, upper) * (area.high - area.value))
    return replace(area, interval=(low, high))


def judge_attribute(
    right: np.ndarray,
    members: np.ndarray,
    density: np.ndarray | None,
    *,
    confidence: float,
    tests: float,
    releases: np.ndarray | None = None,
) -> AttributeOutcome | None:
    """Success with the person in the data minus success without; the difference is what the data adds about them."""
    inside, outside = right[members], right[~members]
    if not len(inside) or not len(outside):
        return None
    counts = (int(inside.sum()), len(inside)), (int(outside.sum()), len(outside))
    adjusted = 1 - (1 - confidence) / max(tests, 1)
    gain = np.nan if density is None else float(density[members].mean() - density[~members].mean())
    spread = spread_over_releases(right.astype(bool), members, releases)
    return AttributeOutcome(
        with_person=clopper_pearson(*counts[0], confidence=confidence),
        without_person=clopper_pearson(*counts[1], confidence=confidence),
        advantage=widened(difference(*counts, confidence=confidence), spread),
        adjusted_low=widened(difference(*counts, confidence=adjusted), spread).low,
        likelihood_gain=gain,
    )


def best_guess(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The level with the highest score along the last axis; ties are broken at random."""
    top = scores == scores.max(axis=-1, keepdims=True)
    return np.asarray(np.argmax(np.where(top, rng.random(scores.shape), -1.0), axis=-1))


def standardised(scores: np.ndarray, shadow: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Scores on a common scale for pooling: minus mean over sd of the same target in shadow releases without it."""
    result = np.empty_like(scores)
    for target in range(scores.shape[1]):
        absent = shadow[~members[:, target], target]
        centre = absent.mean() if len(absent) else 0.0
        spread = absent.std() if len(absent) else 0.0
        result[:, target] = (scores[:, target] - centre) / (spread if spread > 0 else 1.0)
    return result
