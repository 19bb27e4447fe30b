"""What mechanisms are compared by: a number for each with its interval, and the difference of every two, all holding together.

Differences are within draws: same people, same coins, same real tables. The error is shared evenly by all pairs on all axes
(Bonferroni), so that everything that is said of them holds together with the confidence of the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unmask.audits.compare.measures import LABEL, ONE_WAY, TWO_WAY, ReleaseMeasure
from unmask.audits.compare.published import Published
from unmask.audits.compare.target_games import GamePlayed
from unmask.audits.compare.whole_table import WholeTable
from unmask.stats.results import Assumption, Estimate
from unmask.threats.knowledge import Goal
from unmask.utility.comparison import student

PAIRED_T = "Student t over draws, paired"
PRIVACY, UTILITY = "privacy", "utility"

Between = Callable[[str, str, float], Estimate]  # of two mechanisms, at a confidence


@dataclass(frozen=True, eq=False)
class CompareAxis:
    """One thing by which mechanisms are compared; more is better."""

    name: str
    title: str  # in a sentence: "privacy gain (presence)"
    side: str  # privacy or utility
    of: Mapping[str, Estimate]  # by mechanism, each interval for itself
    between: Between


@dataclass(frozen=True, eq=False)
class Contrast:
    """One mechanism less another on one axis; the interval holds together with those of all contrasts."""

    axis: CompareAxis
    one: str
    other: str
    estimate: Estimate

    @property
    def sign(self) -> int:
        """1: the one is better, -1: the other is, 0: not told apart."""
        return int(self.estimate.low > 0) - int(self.estimate.high < 0)


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Every two mechanisms on every axis."""

    axes: tuple[CompareAxis, ...]
    names: tuple[str, ...]
    each: Mapping[tuple[str, str, str], Contrast]  # by axis, the earlier and the later mechanism
    confidence: float  # of all together
    count: int
    raw: frozenset[str] = frozenset()  # the real table published: it hides nothing, so it dominates nobody

    @classmethod
    def of(
        cls, axes: Sequence[CompareAxis], names: Sequence[str], confidence: float, raw: frozenset[str] = frozenset()
    ) -> Contrasts:
        pairs = list(combinations(names, 2))
        count = max(1, len(pairs) * len(axes))
        strict = 1 - (1 - confidence) / count
        each = {
            (axis.name, one, other): Contrast(axis, one, other, axis.between(one, other, strict))
            for axis in axes
            for one, other in pairs
        }
        return cls(tuple(axes), tuple(names), each, confidence, count, raw)

    def get(self, axis: CompareAxis, one: str, other: str) -> Contrast:
        """In either order."""
        if (axis.name, one, other) in self.each:
            return self.each[axis.name, one, other]
        turned = self.each[axis.name, other, one]
        return Contrast(axis, one, other, opposite(turned.estimate))

    def on(self, side: str) -> tuple[CompareAxis, ...]:
        return tuple(axis for axis in self.axes if axis.side == side)


def opposite(found: Estimate) -> Estimate:
    """The same difference the other way round."""
    return Estimate(-found.value, (-found.high, -found.low), found.confidence, found.method, found.assumption, found.n)


def game_axis(game: GamePlayed, confidence: float) -> CompareAxis:
    """Privacy gain, pooled over all targets."""
    by_name = {one.name: one for one in game.guessed}
    what = "presence" if game.goal is Goal.MEMBERSHIP else "secret"
    return CompareAxis(
        str(game.goal),
        f"privacy gain ({what})",
        PRIVACY,
        {name: game.gain(one, game.every, confidence) for name, one in by_name.items()},
        lambda one, other, sure: game.between(by_name[one], by_name[other], game.every, sure),
    )


def table_axis(table: WholeTable, confidence: float) -> CompareAxis:
    """One less the AUC about everybody, so that more is better: 0.5 = nothing is told about anybody."""
    found = {name: opposite(risk.estimate(confidence)) for name, risk in table.risks.items()}
    return CompareAxis(
        "everyone",
        "privacy of everybody (1 - AUC)",
        PRIVACY,
        {name: moved(each, 1.0) for name, each in found.items()},
        lambda one, other, sure: table.between(other, one, sure),
    )


def moved(found: Estimate, by: float) -> Estimate:
    """The same estimate, so much higher."""
    ends = found.low + by, found.high + by
    return Estimate(found.value + by, ends, found.confidence, found.method, found.assumption, found.n)


def measure_axis(published: Published, measure: ReleaseMeasure, title: str, confidence: float) -> CompareAxis:
    """A measure of releases, by Student's t over draws."""

    def between(one: str, other: str, sure: float) -> Estimate:
        return mean_of(published.of(one, measure) - published.of(other, measure), sure, PAIRED_T)

    found = {name: mean_of(published.of(name, measure), confidence) for name in published.values}
    return CompareAxis(measure.name, title, UTILITY, found, between)


def mean_of(values: np.ndarray, confidence: float, method: str = "Student t over draws") -> Estimate:
    """The mean over draws; draws without a value are left out."""
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return Estimate(
            float(known.mean()) if len(known) else np.nan,
            (-np.inf, np.inf),
            confidence,
            method,
            Assumption.MODEL_BASED,
            len(known),
        )
    return student(known, confidence=confidence, method=method)


def score_title(published: Published, label: str | None) -> str:
    """What a learner reaches with other people after training on a release."""
    return f"{'skill' if published.is_number else 'accuracy'} for {label}"


def axes_of(
    games: Sequence[GamePlayed], table: WholeTable | None, published: Published, label: str | None, confidence: float
) -> tuple[CompareAxis, ...]:
    """All that decides who is dominated: privacy first."""
    axes = [game_axis(game, confidence) for game in games]
    if table is not None:
        axes.append(table_axis(table, confidence))
    pairs = not np.isnan(published.fresh[:, published.measures.index(TWO_WAY)]).any()
    first = TWO_WAY if pairs else ONE_WAY  # a table of one column has no pairs
    axes.append(measure_axis(published, first, f"{first.title} kept", confidence))
    if published.has(LABEL):
        axes.append(measure_axis(published, LABEL, score_title(published, label), confidence))
    return tuple(axes)
