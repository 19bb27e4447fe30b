"""What the scores of an attack are worth: rates, advantage, AUC, with intervals, per target and pooled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    if members.all() or not members.any():
        return float(np.median(scores))
    order = np.sort(np.unique(scores))
    if len(order) == 1:
        return float(np.nextafter(order[0], np.inf))  # one score for all: guess nobody
    inside, outside = np.sort(scores[members]), np.sort(scores[~members])
    cuts = np.append((order[:-1] + order[1:]) / 2, np.nextafter(order[-1], np.inf))
    hits = 1 - np.searchsorted(inside, cuts) / len(inside)
    alarms = 1 - np.searchsorted(outside, cuts) / len(outside)
    return float(cuts[np.argmax(hits - alarms)])


def judge_membership(
    scores: np.ndarray, members: np.ndarray, threshold: float, *, confidence: float, tests: int
) -> MembershipOutcome | None:
    """Rates at a threshold fixed beforehand; None if a side is empty. `tests` attacks share the error of adjusted_low."""
    inside, outside = scores[members], scores[~members]
    if not len(inside) or not len(outside):
        return None
    hits, alarms = int((inside >= threshold).sum()), int((outside >= threshold).sum())
    right = hits + len(outside) - alarms
    adjusted = 1 - (1 - confidence) / max(tests, 1)
    return MembershipOutcome(
        accuracy=wilson(right, len(scores), confidence=confidence),
        tpr=clopper_pearson(hits, len(inside), confidence=confidence),
        fpr=clopper_pearson(alarms, len(outside), confidence=confidence),
        advantage=advantage(inside, outside, threshold=threshold, confidence=confidence),
        adjusted_low=advantage(inside, outside, threshold=threshold, confidence=adjusted).low,
        auc=auc(inside, outside, confidence=confidence),
        tpr_at=tuple(tpr_at_fpr(inside, outside, fpr=fpr, confidence=adjusted) for fpr in FPR_GRID),
        precision=precision_interval(
            (hits, len(inside)), (alarms, len(outside)), prior=RARE_PRIOR, confidence=confidence
        )
        if hits or alarms
        else None,
        epsilon=epsilon_clopper_pearson(inside, outside, threshold=Given(threshold), confidence=confidence),
    )


def judge_attribute(
    right: np.ndarray, members: np.ndarray, density: np.ndarray | None, *, confidence: float, tests: int
) -> AttributeOutcome | None:
    """Success with the person in the data minus success without; the difference is what the data adds about them."""
    inside, outside = right[members], right[~members]
    if not len(inside) or not len(outside):
        return None
    counts = (int(inside.sum()), len(inside)), (int(outside.sum()), len(outside))
    adjusted = 1 - (1 - confidence) / max(tests, 1)
    gain = np.nan if density is None else float(density[members].mean() - density[~members].mean())
    return AttributeOutcome(
        with_person=clopper_pearson(*counts[0], confidence=confidence),
        without_person=clopper_pearson(*counts[1], confidence=confidence),
        advantage=difference(*counts, confidence=confidence),
        adjusted_low=difference(*counts, confidence=adjusted).low,
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
