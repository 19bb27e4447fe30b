"""What an attack on a generator achieves: from the scores of a game to outcomes, for any choice of targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unmask.attacks._attack import tolerance_for
from unmask.audits.attack.plan import AttackPlan
from unmask.simulation.target import TargetSetting
from unmask.simulation.target_pool import Draws
from unmask.stats import Estimate
from unmask.stats.cases import Cases
from unmask.stats.outcomes import (
    AttributeOutcome,
    MembershipOutcome,
    best_guess,
    best_threshold,
    judge_attribute,
    judge_membership,
    standardised,
)
from unmask.stream import stream
from unmask.threats.knowledge import Goal
from unmask.threats.targets import Targets


@dataclass(frozen=True, eq=False)
class Played:
    """A game after it was played."""

    plan: AttackPlan
    setting: TargetSetting
    targets: Targets
    shadow: Draws
    test: Draws
    published: Draws  # the same game with the real table published
    confidence: float  # of every interval
    delta: float = 0.0  # at which epsilon is bounded

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of targets in the order in which they were asked for."""
        return tuple(dict.fromkeys(self.targets.groups))

    def in_group(self, group: str) -> np.ndarray:
        """Positions of the targets of a group."""
        return np.array([place for place, name in enumerate(self.targets.groups) if name == group])


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of one attack on the releases under attack, and on shadows if those set its threshold."""

    name: str
    test: np.ndarray
    shadow: np.ndarray | None


LINKAGE = "record-linkage"  # the attack on raw data, with which privacy gain is compared
LIKELIHOOD = "linked-or-linear"  # the paper's own attack on numbers in raw data
MATCH = 1.0  # record linkage scores a literal match with at least this

Outcome = MembershipOutcome | AttributeOutcome
Judge = Callable[[np.ndarray], Outcome | None]  # from a choice of targets to an outcome


def judge_of(played: Played, attack: Scored, tests: int) -> Judge:
    """What this attack achieves on a choice of targets."""
    if played.plan.goal == Goal.MEMBERSHIP:
        return _membership_judge(played, attack, tests)
    right, density = success_of(played, attack.test, played.test.secrets, attack.name)

    def attribute(positions: np.ndarray) -> Outcome | None:
        active = played.test.active[:, positions]
        members = played.test.members[:, positions][active]
        values = None if density is None else density[:, positions][active]
        return judge_attribute(
            right[:, positions][active],
            members,
            values,
            confidence=played.confidence,
            tests=tests,
            **_drawn(played, played.test, active),
        )

    return attribute


@dataclass(frozen=True, eq=False)
class Bench:
    """The judges of all attacks. `tests` findings, every attack on every group of targets, share the error."""

    played: Played
    scored: tuple[Scored, ...]
    tests: int
    judges: dict[str, Judge]
    strict: dict[str, Judge]  # with intervals that hold for all attacks and targets together
    raw: Judge  # record linkage on the published real table: what there is to lose

    @classmethod
    def of(cls, played: Played, scored: Sequence[Scored]) -> Bench:
        tests = max(1, len(scored) * len(played.groups))
        every = max(1, len(scored) * len(played.targets))
        sure = replace(played, confidence=1 - (1 - played.confidence) / every)
        return cls(
            played,
            tuple(scored),
            tests,
            {attack.name: judge_of(played, attack, tests) for attack in scored},
            {attack.name: judge_of(sure, attack, 1) for attack in scored},
            raw_judge_of(played),
        )


def advantages(judge: Judge, positions: np.ndarray) -> Iterator[Estimate]:
    """The advantage over each target that can be judged."""
    for place in positions:
        if (outcome := judge(np.array([place]))) is not None:
            yield outcome.advantage


def _membership_judge(played: Played, attack: Scored, tests: int) -> Judge:
    scores, thresholds, active = membership_guesses(played, attack)

    def membership(positions: np.ndarray) -> Outcome | None:
        chosen = active[:, positions]
        members = played.test.members[:, positions][chosen]
        # Scores are shifted so that each target's own threshold is at 0.
        shifted = (scores - thresholds[None, :])[:, positions][chosen]
        drawn = _drawn(played, played.test, chosen)
        found = judge_membership(shifted, members, 0.0, confidence=played.confidence, tests=tests, **drawn)
        if found is None or not played.delta:
            return found
        cases = Cases.of(drawn["releases"], members.size, drawn["prior"])
        bound = cases.epsilon(shifted >= 0.0, members, confidence=played.confidence, delta=played.delta)
        return replace(found, epsilon=bound)

    return membership


def _drawn(played: Played, draws: Draws, active: np.ndarray) -> dict[str, Any]:
    """The fit behind each judged score, which is the independent draw, and the coins of the game."""
    return {"releases": draws.fits[np.nonzero(active)[0]], "prior": played.setting.game.prior}


def membership_guesses(played: Played, attack: Scored) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores on a common scale, the threshold of each target, and which releases are judged.

    A shadow attack gives probabilities: it guesses "member" above one half. Other attacks learn a threshold per target on
    shadow releases or, where the attacker has none, on the first half of the fits, which is then not judged.
    """
    test, active = attack.test, played.test.active
    if attack.shadow is None and _is_probability(attack, played):
        return test, np.full(test.shape[1], 0.5), active
    if attack.shadow is not None and len(played.shadow):
        source, members, known = attack.shadow, played.shadow.members, played.shadow.active
        judged = active
    else:
        fits = active & played.test.firsts[:, None]
        early = np.cumsum(fits, axis=0) <= fits.sum(axis=0) // 2  # of each target's own fits
        source, members, known = test, played.test.members, active & early
        judged = active & ~early
    scores = standardised(test, source, members | ~known)
    source = standardised(source, source, members | ~known)
    thresholds = np.array(
        [best_threshold(source[known[:, t], t], members[known[:, t], t]) for t in range(test.shape[1])]
    )
    return scores, thresholds, judged


def _is_probability(attack: Scored, played: Played) -> bool:
    return attack.name not in (played.setting.attacks or {})


def success_of(
    played: Played, scores: np.ndarray, truth: np.ndarray, name: str
) -> tuple[np.ndarray, np.ndarray | None]:
    """Whether each guess of a secret is right, and for numbers the density given to the truth."""
    secret = played.setting.secret
    if secret is not None and secret.levels:
        return best_guess(scores, stream(played.plan.seed, "ties", name)) == truth, None
    mean, scale = (scores[..., 0], scores[..., 1]) if scores.ndim == 3 else (scores, np.full(scores.shape, np.nan))
    error = np.abs(mean - truth)
    density = np.exp(-0.5 * (error / scale) ** 2) / (scale * np.sqrt(2 * np.pi)) if scores.ndim == 3 else None
    return error <= tolerance_of(played), density


def tolerance_of(played: Played) -> float:
    """How near a guess of a number must be: as asked for, else a quarter of the reference's interquartile range."""
    if played.plan.tolerance is not None:
        return played.plan.tolerance
    secret = played.setting.secret
    reference = played.setting.ground.reference
    place = reference.schema.numeric.index(secret.position) if secret is not None else 0
    return tolerance_for(reference.numbers[:, place])


def raw_judge_of(played: Played) -> Judge:
    """Record linkage on the published real table: what there is to lose. Its own half of the draws sets no threshold:
    a match is a match (score of at least 1)."""
    scores = played.published.scores[LINKAGE]
    drawn, confidence = played.published, played.confidence

    def membership(positions: np.ndarray) -> Outcome | None:
        active = drawn.active[:, positions]
        members = drawn.members[:, positions][active]
        return judge_membership(
            scores[:, positions][active],
            members,
            MATCH,
            confidence=confidence,
            tests=1,
            **_drawn(played, drawn, active),
        )

    if played.plan.goal == Goal.MEMBERSHIP:
        return membership
    right, _ = success_of(played, scores, drawn.secrets, "raw")

    def attribute(positions: np.ndarray) -> Outcome | None:
        active = drawn.active[:, positions]
        members = drawn.members[:, positions][active]
        return judge_attribute(
            right[:, positions][active], members, None, confidence=confidence, tests=1, **_drawn(played, drawn, active)
        )

    return attribute
