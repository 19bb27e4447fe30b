"""Effective epsilon as TAPAS reports it (Houssiau et al. 2022, section 3.4; Jagielski, Ullman and Oprea 2020).

Of many attacks one, with its threshold, is chosen on a tenth of the releases; the others judge it. One contender is one attack on
one target, so that every release has one score and one coin: releases are independent, the targets of one release are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unmask.errors import ParameterError
from unmask.stats._checks import BoolArray, FloatArray, as_scores, check_delta, check_share
from unmask.stats.epsilon.clopper_pearson import ErrorCounts, epsilon_from_errors, log_ratio
from unmask.stats.intervals import clopper_pearson
from unmask.stats.results import Assumption, Bound, Estimate
from unmask.stats.thresholds import Split, promised

TENTH = Split(0.1)  # the share of the releases on which TAPAS chooses


@dataclass(frozen=True, eq=False)
class Contender:
    """One attack on one target: a score of each release, whether the target was in it, and whether the release chooses."""

    scores: FloatArray
    members: BoolArray
    chooses: BoolArray

    @classmethod
    def of(cls, scores: ArrayLike, members: ArrayLike, chooses: ArrayLike) -> Contender:
        """Checked: one coin, and one place in the split, for each score."""
        found = cls(as_scores("scores", scores), np.asarray(members, dtype=bool), np.asarray(chooses, dtype=bool))
        if found.members.shape != found.scores.shape or found.chooses.shape != found.scores.shape:
            raise ParameterError("There must be one coin, and one place in the split, for each score.")
        return found

    @property
    def whole(self) -> bool:
        """Whether either part has releases with the target and without."""
        parts = (self.members[self.chooses], self.members[~self.chooses])
        return all(part.any() and not part.all() for part in parts)


@dataclass(frozen=True)
class EffectiveEpsilon:
    """The contender that won, and what the other releases say about it.

    `bound` holds for the mechanism. `interval` is the paper's: it covers the epsilon of this attack at this threshold, so its
    upper end says nothing about the mechanism, which a better attack may show to be worse.
    """

    winner: int  # its place among the contenders
    threshold: float
    chosen_on: int  # releases
    bound: Bound
    interval: Estimate


def choosing(active: ArrayLike, *, split: Split = TENTH, rng: np.random.Generator) -> BoolArray:
    """Which releases choose: a share of those about each target (releases x targets), at random; the same ones for all attacks.

    At least one release, where there are two.
    """
    about = np.asarray(active, dtype=bool)
    order = rng.permutation(len(about))
    rank = np.cumsum(about[order], axis=0)
    total = rank[-1] if len(about) else np.zeros(about.shape[1], dtype=np.int64)
    taken = np.empty_like(about)
    taken[order] = about[order] & (rank <= np.maximum(np.rint(split.fraction * total), 1))
    return taken


def effective_epsilon(
    contenders: Sequence[Contender], *, confidence: float = 0.95, delta: float = 0.0, lost: int = 0
) -> EffectiveEpsilon | None:
    """Choose the contender and the threshold that promise the highest bound, and bound epsilon on the other releases.

    The promise is that of `Split`: the bound at the rates seen, with the error of choosing and judging. The first of equal
    ones wins. None if no contender has releases with the target and without it in both parts. `lost` releases were never
    scored: that they failed may hang on the target, so all of them are taken for misses.
    """
    check_share("confidence", confidence)
    check_delta(delta)
    best, best_promise, threshold = -1, -np.inf, np.inf
    for place, contender in enumerate(contenders):
        if not contender.whole:
            continue
        at, promise = _promise(contender, confidence, delta)
        if best < 0 or promise > best_promise:
            best, best_promise, threshold = place, promise, at
    if best < 0:
        return None
    won = contenders[best]
    errors = _errors(won, threshold, lost)
    bound = epsilon_from_errors(errors, confidence=confidence, delta=delta)
    interval = epsilon_of_attack(errors, confidence=confidence, delta=delta)
    return EffectiveEpsilon(best, threshold, int(won.chooses.sum()), bound, interval)


def epsilon_of_attack(errors: ErrorCounts, *, confidence: float = 0.95, delta: float = 0.0) -> Estimate:
    """The epsilon that one attack at one threshold shows, with the two-sided interval of its error rates.

    Both Clopper-Pearson intervals hold together, and epsilon falls as either error rate rises: the corners of their box are the
    ends. Infinite where an attack without errors cannot be told from a perfect one. No upper limit of the mechanism.
    """
    check_share("confidence", confidence)
    check_delta(delta)
    each = 0.5 + confidence / 2
    fpr = clopper_pearson(errors.false_positives, errors.n_out, confidence=each)
    fnr = clopper_pearson(errors.false_negatives, errors.n_in, confidence=each)
    value, low, high = (
        max(0.0, float(np.nan_to_num(log_ratio(x, y, delta), nan=0.0, posinf=np.inf, neginf=0.0)))
        for x, y in ((fpr.value, fnr.value), (fpr.high, fnr.high), (fpr.low, fnr.low))
    )
    n = errors.n_in + errors.n_out
    method = "Clopper-Pearson box of one attack"
    return Estimate(value, (low, max(high, value)), confidence, method, Assumption.EXACT, n)


def _promise(contender: Contender, confidence: float, delta: float) -> tuple[float, float]:
    here, members = contender.chooses, contender.members
    return promised(
        contender.scores[here & members],
        contender.scores[here & ~members],
        judged=(int((~here & members).sum()), int((~here & ~members).sum())),
        measure=lambda fpr, fnr: log_ratio(fpr, fnr, delta),
        confidence=confidence,
    )


def _errors(contender: Contender, threshold: float, lost: int) -> ErrorCounts:
    judged = ~contender.chooses
    inside, outside = (contender.scores[judged & side] for side in (contender.members, ~contender.members))
    alarms, misses = int(np.sum(outside >= threshold)), int(np.sum(inside < threshold))
    return ErrorCounts(alarms, outside.size, misses + lost, inside.size + lost)
