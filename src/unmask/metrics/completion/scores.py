"""How much of what is hidden was completed: shares weighted by how rare the true values are, and their difference to a control.

A value counts -log of its share among the people attacked, members and others alike, so that weights know no labels. The share of
some people is the weight of what was right by the weight of all; a ratio of sums, whose interval is Student's on its linear part
(Cochran 1977). Who is a member is dealt anew for the p-value, which is exact for any number of people.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import t as student

from unmask.stats.results import Assumption, Estimate

DRAWS = 4_999  # dealings of the labels: p-values down to 1 in 5,000
CHUNK = 250
METHOD = "share by rarity (Student)"


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

    def minus(self, control: Weighed, confidence: float) -> Estimate:
        """The share less that of the control, with Welch's interval."""
        (mine, free), (theirs, their_free) = self.error, control.error
        squared, size = mine + theirs, len(self.right) + len(control.right)
        freedom = float(min(free, their_free))
        if 0 < squared < math.inf:
            freedom = squared**2 / (mine**2 / free + theirs**2 / their_free)
        found = _estimate(self.value - control.value, squared, freedom, confidence, size, least=-1.0)
        return replace(found, method="difference of shares by rarity (Welch)")


def rarity(codes: np.ndarray) -> np.ndarray:
    """-log of the share of people who have each person's value (people x columns)."""
    found = np.empty(codes.shape)
    for place in range(codes.shape[1]):
        _, value, counts = np.unique(codes[:, place], return_inverse=True, return_counts=True)
        found[:, place] = -np.log(counts / len(codes))[value]
    return found


def dealt_p_value(people: Weighed, members: int, rng: np.random.Generator) -> float:
    """One-sided p-value of "members, who stand first, are completed no better than others", by dealing labels anew."""
    size = len(people.right)
    if not 0 < members < size:
        return 1.0
    both = np.stack([people.right, people.whole])
    total = both.sum(axis=1)

    def gain(inside: np.ndarray) -> np.ndarray:
        outside = total - inside
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(inside[..., 0] / inside[..., 1] - outside[..., 0] / outside[..., 1])

    seen = gain(both[:, :members].sum(axis=1))
    fewer = min(members, size - members)  # the smaller side is dealt
    as_large = 0
    for first in range(0, DRAWS, CHUNK):
        count = min(CHUNK, DRAWS - first)
        dealt = rng.permuted(np.broadcast_to(np.arange(size, dtype=np.int32), (count, size)), axis=1)[:, :fewer]
        sums = both[:, dealt].sum(axis=2).T
        as_large += int((gain(sums if fewer == members else total - sums) >= seen - 1e-12).sum())
    return (1 + as_large) / (DRAWS + 1)


def _estimate(value: float, squared: float, freedom: float, confidence: float, size: int, *, least: float) -> Estimate:
    reach = float(student.ppf(0.5 + confidence / 2, freedom)) * math.sqrt(squared)
    interval = (max(least, value - reach), min(1.0, value + reach))
    return Estimate(value, interval, confidence, METHOD, Assumption.MODEL_BASED, size)
