"""Tests that hold because labels could have been dealt otherwise: members against others, whatever a score looks like.

If being a member changes nothing, who is called a member is a random choice among all that were scored (within strata, where
people of different strata differ by themselves). Counts of members among any people chosen without looking at the labels are
then hypergeometric, exactly, for any number of people.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaincc, gammaln, ndtr

from unmask.errors import ParameterError
from unmask.stats._checks import BoolArray, FloatArray, IntArray, as_scores, check_count
from unmask.stats.intervals import difference_limits

DRAWS = 4_999  # dealings of the labels: p-values down to 1 in 5,000
MOST_DRAWS = 199_999  # for the strictest levels
MANY = 2_000  # successes: their chances are no longer added up one by one
SYMMETRIC = 1e-4  # a skew below it is none
SHALLOWEST = 5  # people at the top
DEEPER = 1.6  # from one depth to the next
DEPTHS = (1 / 64, 1 / 16, 1 / 4, 1 / 2)  # of the thresholds at which an advantage is bounded


def fisher(attack: tuple[int, int], control: tuple[int, int]) -> float:
    """One-sided p-value of "the attack succeeds no more often than its control", each given as (successes, attempts).

    Fisher's conditional test: given how many succeeded in all, those of the attack are hypergeometric. It keeps its level for
    any sizes, also for 100 against 3,000, where intervals from normal approximations do not.
    """
    check_count("attack", *attack)
    check_count("control", *control)
    (a, n_a), (c, n_c) = attack, control
    return float(_survival(_hypergeometric(a + c, n_a, n_a + n_c))[a])


def draws_for(level: float) -> int:
    """Dealings with which a p-value can be at most `level`; the usual number where `MOST_DRAWS` would not do."""
    if level * (MOST_DRAWS + 1) < 1:
        return DRAWS
    return max(DRAWS, min(MOST_DRAWS, math.ceil(3 / level)))  # also if two of them are as large


@dataclass(frozen=True, eq=False)
class Strata:
    """How often an attack succeeds among people who are alike: numbers for each stratum."""

    hits: IntArray  # members on whom it succeeded
    successes: IntArray  # people on whom it succeeded
    members: IntArray
    people: IntArray

    @classmethod
    def of(cls, successes: ArrayLike, members: ArrayLike, strata: ArrayLike) -> Strata:
        hit, inside = np.asarray(successes, dtype=bool), np.asarray(members, dtype=bool)
        place = np.unique(strata, return_inverse=True)[1]
        if not hit.shape == inside.shape == place.shape:
            raise ParameterError("There must be one label, and one stratum, for each person.")
        count = int(place.max(initial=-1)) + 1
        kinds = (hit & inside, hit, inside, np.ones(hit.shape, dtype=bool))
        return cls(*(np.bincount(place[kind], minlength=count) for kind in kinds))

    def and_of(self, others: Strata) -> Strata:
        """Those of others behind these."""
        return Strata(
            *(np.concatenate([getattr(self, each.name), getattr(others, each.name)]) for each in fields(self))
        )


def fisher_within(successes: ArrayLike, members: ArrayLike, strata: ArrayLike) -> float:
    """`fisher` with labels dealt within strata: the attack's successes are a sum of hypergeometric numbers."""
    found = Strata.of(successes, members, strata)
    if not len(found.people):
        raise ParameterError("There is nobody to judge.")
    return fisher_of(found)


def fisher_of(strata: Strata) -> float:
    """`fisher_within` from counts. Exact up to MANY successes; beyond, by a gamma distribution with the moments of that sum."""
    hits, drawn, marked = int(strata.hits.sum()), strata.successes, strata.members
    if drawn.sum() <= MANY:
        return float(min(1.0, _tail(drawn, marked, strata.people)[hits]))
    mean, variance, third = _moments(drawn, marked, strata.people)
    if variance == 0:
        return 1.0
    far, skew = (hits - 0.5 - mean) / math.sqrt(variance), third / variance**1.5
    if abs(skew) < SYMMETRIC:
        return float(ndtr(-far))
    shape = 4 / skew**2  # Pearson's type III, mirrored where the skew is negative
    place = max(0.0, shape + math.copysign(math.sqrt(shape), skew) * far)
    return float(gammaincc(shape, place) if skew > 0 else gammainc(shape, place))


def _moments(drawn: IntArray, marked: IntArray, people: IntArray) -> tuple[float, float, float]:
    """Mean, variance and third central moment of a sum of hypergeometric numbers."""
    some = people > 2  # smaller ones hardly matter among so many, and are taken at their mean
    n, k, size = (each.astype(np.float64) for each in (drawn, marked, people))
    mean = float((n * k / np.maximum(size, 1.0)).sum())
    n, k, size = n[some], k[some], size[some]
    variance = n * k * (size - k) * (size - n) / (size**2 * (size - 1))
    third = variance * (size - 2 * k) * (size - 2 * n) / (size * (size - 2))
    return mean, float(variance.sum()), float(third.sum())


@dataclass(frozen=True)
class TopTest:
    """Whether members stand out among the highest scores, at any depth."""

    p_value: float
    depth: int  # people at the top, where members stood out most
    members: int  # of them
    expected: float  # of them, if being a member changed nothing

    @property
    def beyond(self) -> float:
        """Members at the top beyond those expected."""
        return self.members - self.expected


def top_test(
    scores: ArrayLike,
    members: ArrayLike,
    *,
    strata: ArrayLike | None = None,
    draws: int = DRAWS,
    rng: np.random.Generator,
) -> TopTest:
    """Are there more members among the highest scores than dealt labels would give? Looks at many depths at once.

    A leak may concern ten people or everybody, and nobody knows beforehand: so members are counted among the 5, 8, 13, ..
    highest scores down to half of them all, and the least p-value over these depths is compared with what it is when labels
    are dealt anew (within strata). The level is exact for any score that was made without looking at these labels.
    """
    score, inside = as_scores("scores", scores), np.asarray(members, dtype=bool)
    place = np.zeros(score.size, dtype=np.int64) if strata is None else np.unique(strata, return_inverse=True)[1]
    if inside.shape != score.shape or place.shape != score.shape:
        raise ParameterError("There must be one label, and one stratum, for each score.")
    order = np.lexsort((rng.random(score.size), -score))  # ties in random order
    depths = depths_of(score.size)
    counts = np.stack([np.cumsum(place[order] == stratum)[depths - 1] for stratum in range(place.max() + 1)])
    dealt = DealtTop.of(counts, np.bincount(place), np.bincount(place, weights=inside).astype(np.int64), draws, rng)
    return dealt.judged(np.cumsum(inside[order])[depths - 1], depths)


@dataclass(frozen=True, eq=False)
class DealtTop:
    """What the top looks like when labels are dealt: computed once for all scores that have the same strata at each depth."""

    tails: tuple[FloatArray, ...]  # of each depth: P(at least k members)
    expected: FloatArray  # members at each depth
    least: FloatArray  # the least p-value over the depths, in each dealing; in order

    @classmethod
    def of(cls, counts: IntArray, sizes: IntArray, members: IntArray, draws: int, rng: np.random.Generator) -> DealtTop:
        """`counts` says how many people of each stratum stand above each depth (strata x depths)."""
        dealt = np.zeros((draws, counts.shape[1]), dtype=np.int64)
        for count, size, many in zip(counts, sizes, members, strict=True):
            dealt += _dealt(count, int(size), int(many), draws, rng)
        tails = tuple(_tail(count, members, sizes) for count in counts.T)
        least = np.min([tail[seen] for tail, seen in zip(tails, dealt.T, strict=True)], axis=0)
        return cls(tails, counts.T @ (members / sizes), np.sort(least))

    @classmethod
    def alike(cls, size: int, members: int, draws: int, rng: np.random.Generator) -> DealtTop:
        """Without strata."""
        return cls.of(depths_of(size)[None, :], np.array([size]), np.array([members]), draws, rng)

    def judged(self, seen: IntArray, depths: IntArray) -> TopTest:
        """The test, from the number of members seen at each depth."""
        observed = np.array([tail[count] for tail, count in zip(self.tails, seen, strict=True)])
        best = int(np.argmin(observed))
        as_low = np.searchsorted(self.least, observed[best] * (1 + 1e-9), side="right")
        p_value = (1 + as_low) / (len(self.least) + 1)
        return TopTest(float(p_value), int(depths[best]), int(seen[best]), float(self.expected[best]))


def advantage_bound(
    scores: ArrayLike, members: ArrayLike, *, error: float, rng: np.random.Generator
) -> tuple[float, int]:
    """A lower bound of the best advantage (hits less false alarms) that a threshold on the score has; wrong in `error` of cases.

    Four thresholds, fixed by how many people stand above them (1/64 to 1/2 of all) and not by who they are, share the error.
    Returns the largest of their bounds (negative if none is above 0), and how many people stand above that threshold.
    """
    score, inside = as_scores("scores", scores), np.asarray(members, dtype=bool)
    order = np.lexsort((rng.random(score.size), -score))
    depths = np.unique([max(1, round(share * score.size)) for share in DEPTHS])
    hits = np.cumsum(inside[order])[depths - 1]
    many = int(inside.sum())
    low, _ = difference_limits(
        hits, many, c=depths - hits, n_c=score.size - many, confidence=1 - 2 * error / len(DEPTHS)
    )
    best = int(np.argmax(low))
    return float(low[best]), int(depths[best])


def depths_of(people: int) -> IntArray:
    """How deep the top is looked at: 5, 8, 13, .. people, up to half of them."""
    half = max(1, people // 2)
    grown = SHALLOWEST * DEEPER ** np.arange(60)
    return np.unique(np.append(np.rint(grown[grown < half]), half).astype(np.int64))


def _dealt(depths: IntArray, size: int, members: int, draws: int, rng: np.random.Generator) -> IntArray:
    """Members among the first `depths` of `size` people of a stratum when labels are dealt (draws x depths)."""
    steps = np.diff(np.concatenate([[0], depths, [size]]))
    found = rng.multivariate_hypergeometric(steps, members, size=draws, method="marginals")
    return np.asarray(np.cumsum(found, axis=1)[:, :-1], dtype=np.int64)


def _tail(drawn: IntArray, members: IntArray, sizes: IntArray) -> FloatArray:
    """P(at least k members) for k = 0, 1, .. when so many people are drawn from each stratum."""
    chance = np.ones(1)
    for count, many, size in zip(drawn, members, sizes, strict=True):
        if count:
            chance = np.convolve(chance, _hypergeometric(int(count), int(many), int(size)))
    return _survival(chance)


def _hypergeometric(drawn: int, marked: int, total: int) -> FloatArray:
    """P(k marked ones among `drawn` out of `total`), k = 0 .. drawn."""
    k = np.arange(drawn + 1, dtype=np.float64)
    possible: BoolArray = (k <= marked) & (drawn - k <= total - marked)
    with np.errstate(invalid="ignore"):
        log = _log_choose(marked, k) + _log_choose(total - marked, drawn - k) - _log_choose(total, np.float64(drawn))
    return np.asarray(np.exp(np.where(possible, log, -np.inf)), dtype=np.float64)


def _log_choose(n: int, k: FloatArray | np.float64) -> FloatArray:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0), dtype=np.float64)


def _survival(chance: FloatArray) -> FloatArray:
    """P(at least k), the last one 0 beyond what can happen."""
    return np.append(np.cumsum(chance[::-1])[::-1], 0.0)
