"""What the pool taught about one person, carried over to the game at full size.

Which way a release moves when the person is in is much the same at both sizes; where it lies and how much it scatters is not, and
is learnt anew from the first runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from unmask.attacks.claim._attack import ABSTAIN, IN, OUT, History, Record, Seen
from unmask.attacks.everyone.features import Features
from unmask.attacks.everyone.scorer import FittedRatio
from unmask.attacks.everyone.usual import LEAST_VARIANCE, log_of_count
from unmask.attacks.everyone.white_box import LIKELIHOOD, MEASURED

SCORE = "scorer of the pool"
FIRST_BET = 8  # runs from which the scorer's number has a centre and a spread
SUREST = 3.0  # log-likelihood ratio: a bell curve is trusted no further
OPEN = 0.25  # standard deviations by which a shift may differ from the pool's, where the pool saw none
FAR = 16.0  # standard deviations of the pool: twice its own limit, since means move a little with the size
WHITE_BOX = (LIKELIHOOD, MEASURED)  # of the pool: read from the pair here


@dataclass(frozen=True, eq=False)
class PoolLesson:
    """What the pool taught about one unit: where its features lie without it, how they scatter, and what weighs how much."""

    mean: np.ndarray
    inverse: np.ndarray
    weights: np.ndarray
    groups: tuple[str, ...]  # of each of those: parts of the score that may be weighed anew
    counts: int  # how many features are counts
    growth: float  # how many times more rows are published than in the pool
    shift: float  # of the score, in standard deviations

    @classmethod
    def of(cls, features: Features, fitted: FittedRatio, unit: int, *, growth: float) -> PoolLesson:
        """What the scorer of the pool says of this unit."""
        usual, counts = fitted.usual, len(features.groups)
        absences, weights = usual.absences, fitted.weights.astype(np.float64)
        # Sums of rare counts are counts with a weight that hangs on the unit.
        of_sums = np.repeat(weights[counts : counts + usual.sums], np.diff(usual.starts))
        of_counts = weights[:counts] + usual.rare[unit] * of_sums
        variance = absences.scatter[unit] / (absences.runs[unit] + absences.prior_runs)
        shift = fitted.odds.shift.shift[unit] / math.sqrt(fitted.odds.shift.variance[unit])
        kept = np.array([name not in WHITE_BOX for name in features.names])
        names = [*features.groups, *(name.partition(":")[0] for name in features.value_names)]
        return cls(
            mean=np.concatenate([usual.logs[unit], absences.mean[unit]])[kept],
            inverse=np.concatenate([np.ones(counts), 1 / np.sqrt(np.maximum(variance, LEAST_VARIANCE))])[kept],
            weights=np.concatenate([of_counts, weights[counts + usual.sums :]])[kept],
            groups=tuple(name for name, keep in zip(names, kept, strict=True) if keep),
            counts=counts,
            growth=growth,
            shift=float(shift),
        )

    def read(self, features: np.ndarray) -> dict[str, float]:
        """The score and its parts, counts as if no more rows were published than in the pool. Rounded, so that equal releases
        get equal scores."""
        seen = np.concatenate([log_of_count(features[: self.counts] / self.growth), features[self.counts :]])
        parts = np.clip((seen - self.mean) * self.inverse, -FAR, FAR) * self.weights
        names, place = self._parts
        sums = np.bincount(place, parts, minlength=len(names))
        found = {f"part of the scorer: {name}": float(value) for name, value in zip(names, sums, strict=True)}
        return {name: round(value, 6) for name, value in (found | {SCORE: float(parts.sum())}).items()}

    @cached_property
    def _parts(self) -> tuple[list[str], np.ndarray]:
        """The names of the parts, and to which one each feature belongs."""
        names = list(dict.fromkeys(self.groups))
        return names, np.array([names.index(group) for group in self.groups])


@dataclass
class PoolScore:
    """A bell curve with and one without the person for the scorer's number, centred and scaled on earlier runs.

    The shift starts as the pool's and moves to what the runs show. `evidence` is the log-likelihood ratio of the last run.
    """

    shift: float  # in standard deviations
    name: str = SCORE
    words: str = "the scorer of the pool"
    weight: float = 1.0
    evidence: float = 0.0
    last: float = 0.0
    scores: list[float] = field(default_factory=list)
    coins: list[bool] = field(default_factory=list)

    def guess(self, seen: Seen, prints: tuple[str, str]) -> int:
        self.last = seen[SCORE]
        self.evidence = self._log_ratio(self.last)
        return ABSTAIN if self.evidence == 0 else IN if self.evidence > 0 else OUT

    def _log_ratio(self, score: float) -> float:
        scores, inside = np.array(self.scores), np.array(self.coins, dtype=bool)
        runs, with_it = len(scores), int(inside.sum())
        if runs < FIRST_BET or min(with_it, runs - with_it) < 2:
            return 0.0
        seen = scores[inside].mean() - scores[~inside].mean()
        within = scores - np.where(inside, scores[inside].mean(), scores[~inside].mean())
        variance = float((within**2).sum() / (runs - 2))
        if variance < 1e-12:
            return 0.0
        expected = self.shift * math.sqrt(variance)
        open_to = max(self.shift, OPEN) ** 2 * variance
        noise = variance * (1 / with_it + 1 / (runs - with_it))
        shift = max((seen * open_to + expected * noise) / (open_to + noise), 0.0)
        centre = float((scores - shift * (inside - 0.5)).mean())
        # What the shift may be off by adds to the scatter of the next run.
        ratio = shift * (score - centre) / (variance + open_to * noise / (open_to + noise) / 4)
        return float(np.clip(ratio, -SUREST, SUREST))

    def learn(self, past: History) -> Record | None:
        return None

    def prior(self) -> Record | None:
        return None

    def watch(self, prints: tuple[str, str], coin: bool) -> None:
        self.scores.append(self.last)
        self.coins.append(coin)
