"""What leads the audit: the learnt auditor, and linkage weights beside it.

Both look at the crowd (`crowd.py`) without knowing who is a member, so their tests deal labels anew and hold their level;
among people who look alike to the blind twin, so that a difference between real table and holdout explains little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from unmask.audits.release.case import KNOWS_RELEASE, REDO, Case, Family, words
from unmask.errors import ParameterError
from unmask.results.figures import figure
from unmask.results.policy import Severity
from unmask.results.result import Finding
from unmask.stats import tpr_at_fpr
from unmask.stats.labels import DEPTHS, TopTest, advantage_bound, draws_for, top_test
from unmask.stats.outcomes import FPR_GRID, MembershipOutcome, judge_membership
from unmask.stats.results import Estimate
from unmask.stream import stream

LEARNT = Family("the learnt auditor", 0.15)
LINKAGE = Family("linkage weights", 0.15)

LEARNT_NAME, LINKAGE_NAME = "learnt-auditor", "linkage-weights"
AUDITOR = (
    "An auditor who learns from half of the real people and half of the holdout how members stand out. No attacker has members "
    "to learn from: this bounds what is in the release."
)


@dataclass(frozen=True, eq=False)
class Led:
    """An attack on the crowd, judged."""

    name: str
    scores: np.ndarray
    members: np.ndarray
    outcome: MembershipOutcome  # for reading
    p_value: float  # of "the release says nothing about who is a member"
    test: TopTest  # the more telling one, where there are two
    severity: Severity

    def finding(self, case: Case) -> Finding:
        """In words."""
        point = self.outcome.tpr_at[FPR_GRID.index(0.01)]
        estimate = figure(self.outcome.advantage)
        where = f"{words(self.outcome.tpr.value)} at {words(self.outcome.fpr.value)}"
        title = f"{self.name}: {words(point.tpr.value)} members are recognised at 1 in 100 false alarms ({where})"
        if self.severity.rank and self.test.depth < len(self.scores) // 4:
            title += (
                f"; of the {self.test.depth:,} people who look most like members {self.test.members:,} are, where chance gives "
                f"{self.test.expected:,.0f}"
            )
        threat = AUDITOR if self.name == LEARNT_NAME else f"{KNOWS_RELEASE}, and other people of the population."
        advice = REDO if self.severity.rank else case.unproven(estimate)
        return Finding(
            self.name, title, threat, "membership", self.severity, estimate, None, figure(self.outcome.fpr), advice
        )


def led(case: Case) -> Iterator[Led]:
    """The learnt auditor first."""
    if (crowd := case.crowd) is None:
        return
    learnt = ScoredPeople(crowd.learnt, crowd.members, crowd.strata, crowd.halves)
    yield _judged(case, LEARNT_NAME, learnt, LEARNT)
    linked = crowd.linked
    yield _judged(case, LINKAGE_NAME, ScoredPeople(linked.links.weights, linked.members, linked.strata), LINKAGE)


@dataclass(frozen=True, eq=False)
class ScoredPeople:
    """People with their scores. A learnt score comes in halves that taught each other, a fixed one does not."""

    scores: np.ndarray
    members: np.ndarray
    strata: np.ndarray
    halves: np.ndarray | None = None

    @property
    def parts(self) -> list[np.ndarray]:
        """Masks of those who are judged together."""
        if self.halves is None:
            return [np.ones(len(self.scores), dtype=bool)]
        return [self.halves == half for half in range(2)]


def _judged(case: Case, name: str, people: ScoredPeople, family: Family) -> Led:
    """A fixed score is judged on everybody at once; a learnt one half by half, each with half of the error.

    The halves teach each other, so what they show is not independent: their p-values are not combined in any other way, and
    intervals for reading are widened by the square root of two, as if one half only had been seen.
    """
    rng, error, parts = stream(case.plan.seed, "leading", name), case.error(family), people.parts
    scores, members = people.scores, people.members
    draws = draws_for(error / len(parts))
    tests = [top_test(scores[part], members[part], strata=people.strata[part], draws=draws, rng=rng) for part in parts]
    test = min(tests, key=lambda one: one.p_value)
    p_value = min(1.0, len(parts) * test.p_value)
    severity = Severity.NONE
    if p_value <= error:
        # Half of the error for the advantage, half for the TPR at a false positive rate that is certain.
        each = error / (2 * len(parts))
        gain = max(advantage_bound(scores[part], members[part], error=each, rng=rng)[0] for part in parts)
        certain = max(_certain_tpr(scores[part], members[part], each) for part in parts)
        severity = case.plan.policy.severity(max(0.0, gain), tpr_at_1_percent=certain)
        severity = severity if severity.rank else Severity.LOW
    outcome = _outcome(case, scores, members, wider=1.0 if people.halves is None else np.sqrt(2))
    return Led(name, scores, members, outcome, p_value, test, severity)


def _certain_tpr(scores: np.ndarray, members: np.ndarray, error: float) -> float:
    # One-sided for the false alarms, one side of two for the hits: one and a half times what is given.
    point = tpr_at_fpr(scores[members], scores[~members], fpr=0.01, confidence=1 - error / 1.5, guarantee=True)
    return point.tpr.low if np.isfinite(point.threshold) else 0.0


def _outcome(case: Case, scores: np.ndarray, members: np.ndarray, *, wider: float) -> MembershipOutcome:
    """Rates at the most telling of the four depths at which advantages are bounded; intervals hold for all four."""
    error = 1 - case.plan.confidence
    _, depth = advantage_bound(scores, members, error=error / 2, rng=stream(case.plan.seed, "depth"))
    threshold = float(np.sort(scores)[::-1][depth - 1])
    found = judge_membership(scores, members, threshold, confidence=1 - error / len(DEPTHS), tests=1)
    if found is None:
        raise ParameterError("There must be people on both sides to judge an attack on them.")
    return replace(found, advantage=_wider(found.advantage, wider, -1.0), auc=_wider(found.auc, wider, 0.0))


def _wider(found: Estimate, by: float, least: float) -> Estimate:
    low, high = found.value - by * (found.value - found.low), found.value + by * (found.high - found.value)
    return replace(found, interval=(max(least, low), min(1.0, high)))
