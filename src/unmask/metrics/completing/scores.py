"""How much of what is hidden was completed: shares weighted by how rare the true values are, and their difference to a control.

A value counts -log of its share among the people attacked, members and others alike, so that weights know no labels. The share of
some people is the weight of what was right by the weight of all; a ratio of sums, whose interval is Student's on its linear part
(Cochran 1977). With few people, or few of what was right, it is that of as many equal weights (Kish 1965). Who is a member
is dealt anew for the p-value, within strata where there are any, which is exact for any number of independent people.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, stdtrit

from unmask.stats.intervals import difference_limits
from unmask.stats.labels import DRAWS, draws_for
from unmask.stats.results import Assumption, Estimate

CHUNK = 250
FEWEST_PEOPLE = 50  # on either side of an interval of Student's
FEWEST_HITS = 20  # by weight, and as many misses
METHOD = "share by rarity (Student)"
WIDE = "difference of shares by rarity (Clopper-Pearson, effective n)"


@dataclass(frozen=True, eq=False)
class Weighed:
    """Of each person the weight of what was completed, and the weight of all that was hidden."""

    right: np.ndarray
    whole: np.ndarray

    @property
    def value(self) -> float:
        """The share that was completed."""
        total = float(self.whole.sum())
        return float(self.right.sum()) / total if total > 0 else math.nan

    def take(self, people: np.ndarray | slice) -> Weighed:
        """Some of the people."""
        return Weighed(self.right[people], self.whole[people])

    @property
    def error(self) -> tuple[float, int]:
        """The squared standard error of the share, and its degrees of freedom."""
        size, mean = len(self.right), float(self.whole.mean())
        if size < 2 or mean <= 0:
            return math.inf, 1
        parts = (self.right - self.value * self.whole) / mean
        return float(np.square(parts).sum()) / (size * (size - 1)), size - 1

    def share(self, confidence: float) -> Estimate:
        """The share with its interval."""
        squared, freedom = self.error
        return _estimate(self.value, squared, freedom, confidence, len(self.right), least=0.0)

    @property
    def counts(self) -> tuple[float, float]:
        """Successes and attempts of as many people of equal weight (Kish)."""
        squares = float(np.square(self.whole).sum())
        size = float(self.whole.sum()) ** 2 / squares if squares > 0 else float(len(self.whole))
        return (self.value * size if squares > 0 else 0.0), size

    @property
    def is_large(self) -> bool:
        """Whether Student's interval can be relied on."""
        hits, size = self.counts
        return size >= FEWEST_PEOPLE and min(hits, size - hits) >= FEWEST_HITS

    def minus(self, control: Weighed, confidence: float) -> Estimate:
        """The share less that of the control, with Welch's interval; a wide exact one where either side is small."""
        if not (self.is_large and control.is_large):
            return self._widely_minus(control, confidence)
        (mine, free), (theirs, their_free) = self.error, control.error
        squared, size = mine + theirs, len(self.right) + len(control.right)
        freedom = float(min(free, their_free))
        if 0 < squared < math.inf:
            freedom = squared**2 / (mine**2 / free + theirs**2 / their_free)
        found = _estimate(self.value - control.value, squared, freedom, confidence, size, least=-1.0)
        return replace(found, method="difference of shares by rarity (Welch)")

    def _widely_minus(self, control: Weighed, confidence: float) -> Estimate:
        value = self.value - control.value
        low, high = -1.0, 1.0
        if math.isfinite(value):
            (hits, size), (theirs, their_size) = self.counts, control.counts
            found = difference_limits(hits, size, c=theirs, n_c=their_size, confidence=confidence)
            low, high = min(value, float(found[0])), max(value, float(found[1]))
        size_in_all = len(self.right) + len(control.right)
        return Estimate(value, (low, high), confidence, WIDE, Assumption.MODEL_BASED, size_in_all)


def near_p_value(people: Weighed, members: int) -> float:
    """What `dealt_p_value` is near to, without dealing: the normal limit of the linear part, with its variance over dealings."""
    size = len(people.right)
    if not 0 < members < size or people.whole.sum() <= 0:
        return 1.0
    parts = people.right - people.value * people.whole
    variance = members * (size - members) / size * float(np.var(parts, ddof=1))
    seen = float((parts[:members] - parts.mean()).sum())
    return float(ndtr(-seen / math.sqrt(variance))) if variance > 1e-18 else 1.0


def rarity(codes: np.ndarray) -> np.ndarray:
    """-log of the share of people who have each person's value (people x columns)."""
    found = np.empty(codes.shape)
    for place in range(codes.shape[1]):
        _, value, counts = np.unique(codes[:, place], return_inverse=True, return_counts=True)
        found[:, place] = -np.log(counts / len(codes))[value]
    return found


def dealt_p_value(
    people: Weighed, members: int, rng: np.random.Generator, *, strata: np.ndarray | None = None, level: float = 0.05
) -> float:
    """One-sided p-value of "members, who stand first, are completed no better than others", by dealing labels anew.

    Labels are dealt within strata. Where no dealing was as large as what was seen and `level` is stricter than that can show,
    more are dealt: a p-value that needs them is at most what the first ones gave, so it keeps its level.
    """
    size = len(people.right)
    if not 0 < members < size:
        return 1.0
    both = np.stack([people.right, people.whole])
    total = both.sum(axis=1)
    place = np.zeros(size, dtype=np.int64) if strata is None else strata
    groups = [np.flatnonzero(place == each) for each in np.unique(place)]

    def gain(inside: np.ndarray) -> np.ndarray:
        outside = total - inside
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(inside[..., 0] / inside[..., 1] - outside[..., 0] / outside[..., 1])

    def as_large(draws: int) -> int:
        found = 0
        for first in range(0, draws, CHUNK):
            count = min(CHUNK, draws - first)
            sums = sum(_dealt(both[:, group], int((group < members).sum()), count, rng) for group in groups)
            found += int((gain(np.asarray(sums)) >= seen - 1e-12).sum())
        return found

    seen = gain(both[:, :members].sum(axis=1))
    found, draws = as_large(DRAWS), DRAWS
    if not found and (more := draws_for(level) - DRAWS) > 0:
        found, draws = as_large(more), DRAWS + more
    return (1 + found) / (draws + 1)


def _dealt(both: np.ndarray, members: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Sums over the members of a group, who are dealt `count` times; the smaller side is dealt."""
    size = both.shape[1]
    fewer = min(members, size - members)
    dealt = rng.permuted(np.broadcast_to(np.arange(size, dtype=np.int32), (count, size)), axis=1)[:, :fewer]
    sums = both[:, dealt].sum(axis=2).T
    return np.asarray(sums if fewer == members else both.sum(axis=1) - sums)


def _estimate(value: float, squared: float, freedom: float, confidence: float, size: int, *, least: float) -> Estimate:
    reach = float(stdtrit(freedom, 0.5 + confidence / 2)) * math.sqrt(squared)
    interval = (max(least, value - reach), min(1.0, value + reach))
    return Estimate(value, interval, confidence, METHOD, Assumption.MODEL_BASED, size)
