"""What the scores of an attack are worth: rates, advantage, AUC, with intervals, per target and pooled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.stats import Estimate, OperatingPoint, tpr_at_fpr, wilson
from unmask.stats.cases import Cases, auc_over_draws

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
    certain_tpr: (
        float  # lower bound of the TPR where the FPR is at most .01 for certain; 0 if too few draws resolve that
    )


@dataclass(frozen=True)
class AttributeOutcome:
    """How well a secret is told with the person in the data, and without."""

    with_person: Estimate
    without_person: Estimate
    advantage: Estimate
    adjusted_low: float
    likelihood_gain: float  # numbers: mean density with minus without (Groundhog's measure); NaN for categories


@dataclass(frozen=True)
class LevelOutcome:
    """How well one value of a secret is told from all others by its score; None where there is nothing to compare."""

    with_person: Estimate | None  # AUC over releases that the person was in
    without_person: Estimate | None  # AUC over the others: what is known of the population


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
    prior: float = 0.5,
) -> MembershipOutcome | None:
    """Rates at a threshold fixed beforehand; None if a side is empty. `tests` attacks share the error of adjusted_low.

    `releases` says which scores come from one release (or one fit, where a fit made several): those are the independent draws,
    and intervals hold for releases that leak as a whole. Coins of probability `prior` made targets members. Without `releases`
    every score is a draw of its own.
    """
    inside, outside = scores[members], scores[~members]
    if not len(inside) or not len(outside):
        return None
    cases = Cases.of(releases, len(scores), prior)
    flagged = scores >= threshold
    adjusted = 1 - (1 - confidence) / max(tests, 1)
    stricter = 1 - (1 - adjusted) / 3  # the FPR, the TPR and the advantage each take a third of the error
    return MembershipOutcome(
        accuracy=_accuracy(cases, flagged == members, confidence),
        tpr=cases.rate(flagged, members, confidence=confidence),
        fpr=cases.rate(flagged, ~members, confidence=confidence),
        advantage=cases.gain(flagged, members, confidence=confidence),
        adjusted_low=cases.gain(flagged, members, confidence=adjusted).low,
        auc=auc_over_draws(scores, members, cases, confidence=confidence),
        tpr_at=tuple(_tpr_at(cases, scores, members, fpr, adjusted, releases is None) for fpr in FPR_GRID),
        precision=cases.precision(flagged, members, prior=RARE_PRIOR, confidence=confidence) if flagged.any() else None,
        epsilon=cases.epsilon(flagged, members, confidence=confidence),
        certain_tpr=cases.certain_tpr(scores, members, fpr=0.01, confidence=stricter),
    )


def _accuracy(cases: Cases, right: np.ndarray, confidence: float) -> Estimate:
    if cases.alone:
        return wilson(int(right.sum()), right.size, confidence=confidence)
    return cases.rate(right, np.ones(right.size, dtype=bool), confidence=confidence)


def _tpr_at(
    cases: Cases, scores: np.ndarray, members: np.ndarray, fpr: float, confidence: float, single: bool
) -> OperatingPoint:
    """With the interval at the threshold that was chosen, its own FPR beside it, or for the one whose FPR truly is that."""
    if single:
        return tpr_at_fpr(scores[members], scores[~members], fpr=fpr, confidence=confidence)
    return cases.tpr_at_fpr(scores, members, fpr=fpr, confidence=confidence)


def judge_attribute(
    right: np.ndarray,
    members: np.ndarray,
    density: np.ndarray | None,
    *,
    confidence: float,
    tests: float,
    releases: np.ndarray | None = None,
    prior: float = 0.5,
) -> AttributeOutcome | None:
    """Success with the person in the data minus success without; the difference is what the data adds about them."""
    if members.all() or not members.any():
        return None
    right, cases = right.astype(bool), Cases.of(releases, len(right), prior)
    adjusted = 1 - (1 - confidence) / max(tests, 1)
    gain = np.nan if density is None else float(density[members].mean() - density[~members].mean())
    return AttributeOutcome(
        with_person=cases.rate(right, members, confidence=confidence),
        without_person=cases.rate(right, ~members, confidence=confidence),
        advantage=cases.gain(right, members, confidence=confidence),
        adjusted_low=cases.gain(right, members, confidence=adjusted).low,
        likelihood_gain=gain,
    )


def judge_level(
    scores: np.ndarray, has: np.ndarray, members: np.ndarray, *, confidence: float, releases: np.ndarray
) -> LevelOutcome:
    """AUC of the score of one value: cases whose secret has it against those whose secret has another one.

    With the person in the data, and apart without. Intervals are over releases.
    """

    def among(chosen: np.ndarray) -> Estimate | None:
        truth = has[chosen]
        if not truth.any() or truth.all():
            return None
        cases = Cases.of(releases[chosen], truth.size)
        return auc_over_draws(scores[chosen], truth, cases, confidence=confidence)

    return LevelOutcome(among(members), among(~members))


def likelihood_of(mean: np.ndarray, scale: np.ndarray, truth: np.ndarray, *, certain: float) -> np.ndarray:
    """The likelihood that a prediction N(mean, scale^2) gives to the truth (Stadler 2022, 8.3), at most 1.

    It is a density in the unit of the secret, which the paper calls a probability of success; one above 1 is no such thing, so it
    is cut there. A scale of at most `certain` is no model but a number that was read off: then it is 1 or 0.
    """
    gap = mean - truth
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        density = np.exp(-0.5 * (gap / scale) ** 2) / (scale * np.sqrt(2 * np.pi))
    model = np.minimum(np.nan_to_num(density), 1.0)
    return np.asarray(np.where(scale <= certain, gap == 0, model), dtype=np.float64)


def judge_likelihood(
    chances: np.ndarray, members: np.ndarray, *, confidence: float, releases: np.ndarray, prior: float = 0.5
) -> Estimate | None:
    """Groundhog's advantage on numbers: mean likelihood with the person in the data minus without; over releases."""
    if members.all() or not members.any():
        return None
    return Cases.of(releases, len(chances), prior).mean_gain(chances, members, confidence=confidence)


def privacy_gain(raw: Estimate, found: Estimate) -> Estimate:
    """What an attacker of the real table gains less what one of the release gains; both intervals hold together.

    Each must have half of the error that the gain is to have.
    """
    confidence = raw.confidence + found.confidence - 1
    interval = (raw.low - found.high, raw.high - found.low)
    n = min(raw.n, found.n)
    return Estimate(raw.value - found.value, interval, confidence, f"box of two: {found.method}", found.assumption, n)


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
