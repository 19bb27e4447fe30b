"""How a threshold is chosen without spoiling the confidence of what is then measured with it.

A threshold picked on the scores that it is judged on finds luck, not leakage. Four ways out, as frozen types:
`Given` (it came from elsewhere), `Split` (chosen on one part, judged on the other), `MultiSplit` (several splits, combined)
and `Bonferroni` (many ranks, all judged, the level shared). The rule is always "in iff score >= threshold".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import expit

from unmask.errors import ParameterError
from unmask.stats._checks import FloatArray, check_share
from unmask.stats.intervals import upper_limit

Measure: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]  # upper limits of FPR and FNR -> lower bound
MOST_CANDIDATES = 400


@dataclass(frozen=True)
class Given:
    """A threshold fixed before the scores were seen: by a paper, a plan or another run."""

    threshold: float


@dataclass(frozen=True)
class Split:
    """Choose on a random share `fraction` of each side, judge on the rest."""

    fraction: float = 0.2

    def __post_init__(self) -> None:
        """Both parts must exist."""
        check_share("fraction", self.fraction)


@dataclass(frozen=True)
class MultiSplit:
    """Choose and judge on `times` random splits; take the largest running median of their bounds.

    Each split is judged at half the error, a/2. The splits are exchangeable, so by the exchangeable Markov inequality
    (Ramdas and Manole 2023) the chance that among the first t splits, for any t, half or more are wrong is at most 2 (a/2) = a;
    and a running (lower) median is wrong only if half or more of its splits are. Free of the luck of one split.
    """

    times: int = 11
    fraction: float = 0.2

    def __post_init__(self) -> None:
        """At least one split, both parts must exist."""
        check_share("fraction", self.fraction)
        if self.times < 1:
            raise ParameterError(f"times = {self.times} has no meaning. Give the number of splits, 1 or more.")


@dataclass(frozen=True)
class Bonferroni:
    """Judge `count` thresholds on all scores, each at a share 1/count of the error.

    The thresholds sit at ranks of the out-scores that are fixed beforehand (spread evenly in the logit of FPR). The true FPR
    above the (k+1)-th largest of n out-scores is Beta(k+1, n-k), whose upper quantile is the Clopper-Pearson limit of k in
    n; and given the out-scores, the in-scores below are binomial. So no split is needed.
    """

    count: int = 16

    def __post_init__(self) -> None:
        """At least one threshold."""
        if self.count < 1:
            raise ParameterError(f"count = {self.count} has no meaning. Give the number of thresholds, 1 or more.")


Threshold: TypeAlias = Given | Split | MultiSplit | Bonferroni


def judge(
    scores_in: FloatArray,
    scores_out: FloatArray,
    *,
    threshold: Threshold,
    measure: Measure,
    confidence: float,
    rng: np.random.Generator | None,
) -> tuple[float, tuple[int, int]]:
    """Lower bound of `measure` at `confidence`, and how many scores (in, out) judged it.

    `measure` must fall as either error rate rises; it gets upper limits that hold jointly.
    """
    match threshold:
        case Given(threshold=value):
            bound = _bound_at(value, scores_in, scores_out, measure=measure, confidence=confidence)
            return bound, (scores_in.size, scores_out.size)
        case Bonferroni(count=count):
            bound = _bound_at_ranks(count, scores_in, scores_out, measure=measure, confidence=confidence)
            return bound, (scores_in.size, scores_out.size)
        case Split(fraction=fraction):
            return _split_once(scores_in, scores_out, fraction, measure, confidence, _needed(rng))
        case MultiSplit(times=times, fraction=fraction):
            rng, half = _needed(rng), 0.5 + confidence / 2
            parts = [_split_once(scores_in, scores_out, fraction, measure, half, rng) for _ in range(times)]
            bounds = [bound for bound, _ in parts]
            medians = [sorted(bounds[: t + 1])[t // 2] for t in range(times)]
            return max(medians), parts[0][1]


def _needed(rng: np.random.Generator | None) -> np.random.Generator:
    if rng is None:
        raise ParameterError("Splitting the scores needs a random generator. Give rng=numpy.random.default_rng(seed).")
    return rng


def _bound_at(
    value: float, scores_in: FloatArray, scores_out: FloatArray, *, measure: Measure, confidence: float
) -> float:
    each = 0.5 + confidence / 2  # both limits hold together at `confidence`
    fpr = upper_limit(np.sum(scores_out >= value), scores_out.size, confidence=each)
    fnr = upper_limit(np.sum(scores_in < value), scores_in.size, confidence=each)
    return float(measure(fpr, fnr))


def _bound_at_ranks(
    count: int, scores_in: FloatArray, scores_out: FloatArray, *, measure: Measure, confidence: float
) -> float:
    n = scores_out.size
    ranks = np.rint(n * expit(np.linspace(-1, 1, count) * np.log(3 * n))).astype(np.int64)
    ranks = np.unique(np.clip(ranks, 0, n - 1)) if count > 1 else np.array([n // 2])
    each = 1 - (1 - confidence) / (2 * ranks.size)
    at = np.sort(scores_out)[n - 1 - ranks]
    below = np.searchsorted(np.sort(scores_in), at, side="right")  # in-scores equal to `at` count as missed
    fpr = upper_limit(ranks, n, confidence=each)
    fnr = upper_limit(below, scores_in.size, confidence=each)
    return float(np.max(measure(fpr, fnr)))


def _split_once(
    scores_in: FloatArray,
    scores_out: FloatArray,
    fraction: float,
    measure: Measure,
    confidence: float,
    rng: np.random.Generator,
) -> tuple[float, tuple[int, int]]:
    n_in, n_out = round(fraction * scores_in.size), round(fraction * scores_out.size)
    if min(n_in, n_out, scores_in.size - n_in, scores_out.size - n_out) < 1:
        raise ParameterError(
            f"A split of {fraction:g} leaves a part of {scores_in.size} + {scores_out.size} scores empty. "
            "Play more runs or choose another fraction."
        )
    mixed_in, mixed_out = rng.permutation(scores_in), rng.permutation(scores_out)
    judged_in, judged_out = mixed_in[n_in:], mixed_out[n_out:]
    chosen = choose(
        mixed_in[:n_in],
        mixed_out[:n_out],
        judged=(judged_in.size, judged_out.size),
        measure=measure,
        confidence=confidence,
    )
    bound = _bound_at(chosen, judged_in, judged_out, measure=measure, confidence=confidence)
    return bound, (judged_in.size, judged_out.size)


def choose(
    scores_in: FloatArray,
    scores_out: FloatArray,
    *,
    judged: tuple[int, int],
    measure: Measure,
    confidence: float,
) -> float:
    """The threshold that promises the highest bound on `judged` further scores.

    The promise is the bound at the rates seen here, with the standard error of choosing *and* judging: the limits are those of
    n = 1/(1/n_here + 1/n_judged) scores at the same rates. Without it the choice chases tails in which a handful of
    scores looks like an infinite ratio.
    """
    return promised(scores_in, scores_out, judged=judged, measure=measure, confidence=confidence)[0]


def promised(
    scores_in: FloatArray,
    scores_out: FloatArray,
    *,
    judged: tuple[int, int],
    measure: Measure,
    confidence: float,
) -> tuple[float, float]:
    """The threshold of `choose`, and the bound that it promises."""
    every, times = np.unique(np.concatenate([scores_in, scores_out]), return_counts=True)
    candidates = np.unique(np.linspace(0, every.size - 1, MOST_CANDIDATES).astype(np.int64))
    values = every[candidates]
    each = 0.5 + confidence / 2
    shrink_in = judged[0] / (judged[0] + scores_in.size)
    shrink_out = judged[1] / (judged[1] + scores_out.size)
    missed = np.searchsorted(np.sort(scores_in), values, side="left")
    alarms = scores_out.size - np.searchsorted(np.sort(scores_out), values, side="left")
    fpr = upper_limit(alarms * shrink_out, scores_out.size * shrink_out, confidence=each)
    fnr = upper_limit(missed * shrink_in, scores_in.size * shrink_in, confidence=each)
    promises = measure(fpr, fnr)
    best, promise = int(candidates[np.argmax(promises)]), float(np.max(promises))
    if best == 0 or times[best] > 1 or not np.isfinite(every[best - 1 : best + 1]).all():
        return float(every[best]), promise  # an atom is taken whole and alone
    return float((every[best - 1] + every[best]) / 2), promise  # in a gap, new scores may fall on either side
