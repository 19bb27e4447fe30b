"""The four states of a verdict, and the exit code that follows from them.

*Looked and found nothing* and *could not look* are two states. `docs/reference/severity.md` has the rule of every verb.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from unmask.results.grid import SeriesKind
from unmask.results.policy import Severity
from unmask.stats import clopper_pearson

if TYPE_CHECKING:
    from unmask.results.result import Finding, Result

DOUBT = "holdout"  # the finding that throws doubt on the others: real table and holdout differ by themselves
LEAK = 0.10  # share of the people: who could not have seen a leak of this size has not looked
EVEN = 0.5  # the least chance that such a leak is seen, by the lower end of what is known about that chance
COPIES, NAMES = "verbatim copies", "any leak that names people"  # planted leaks, one of which must be seen

NO_HOLDOUT = (
    "There is no holdout, so that what the release adds cannot be told from what the population teaches anyway."
)
NO_CONTROL = "Nothing here had a control to be compared with."
NOT_MEASURED = "How large a leak would have been seen was not measured."
NOT_ATTACKED = "Nothing was attacked."
UNSEEN = (
    "Neither verbatim copies of 10 in 100 people nor a leak that names 10 in 100 of them would have been seen for certain: "
    "too few of the trials in which one was planted showed it."
)

_NOBODY_ATTACKED = (
    "check",
    "compare",
    "describe",
    "reverse-map",
    "utility",
)  # audits that have no verdict, unless they find something
_OF_TABLES = ("release", "demo")  # audits that compare with a holdout
_PLANTED = 20  # trials of each planted leak
_RECOGNISED = re.compile(r"recognises (\d+) in 100 releases")
_BLIND = ("too few", "too small", "not even a leak", "No leak of any size")  # visible: nothing


class State(StrEnum):
    """What an audit comes to, the weightiest first."""

    LEAK = "leak found"
    CONFOUNDED = "confounded"
    INCONCLUSIVE = "inconclusive"
    NONE = "no leak found"


class FailOn(StrEnum):
    """From what on a verb ends with an exit code of its own, the most patient first."""

    NONE = "none"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INCONCLUSIVE = "inconclusive"  # any leak, and whatever is no answer

    @property
    def severity(self) -> Severity:
        """The lowest severity that counts; none: nothing does."""
        return Severity.LOW if self is FailOn.INCONCLUSIVE else Severity(self)

    def on_finding(self, finding: Finding) -> bool:
        """Whether a finding counts. What throws doubt on the others is a state, and no leak."""
        return finding.name != DOUBT and 0 < self.severity.rank <= finding.severity.rank

    def on_state(self, state: State | None) -> bool:
        """Whether a verdict that is no answer counts."""
        return self is FailOn.INCONCLUSIVE and state in (State.INCONCLUSIVE, State.CONFOUNDED)

    def exit_code(self, result: Result) -> int:
        """4 if tasks failed, 1 if a leak counts, 5 if that the verdict is no answer does; else 0."""
        if result.failed_tasks:
            return 4
        if any(self.on_finding(finding) for finding in result.findings):
            return 1
        return 5 if self.on_state(result.state) else 0


def is_seen(seen: int, trials: int) -> bool:
    """Whether a leak that was seen in so many trials is seen more often than not, at 95 %.

    The lower end and not the share itself: twenty trials say little about a chance. One half, since a reader of "no leak found"
    must be right more often than wrong if there is one.
    """
    return clopper_pearson(seen, trials, confidence=0.9).low >= EVEN


def silence_of(result: Result) -> State | None:
    """What it means here that something showed no leak; None if nobody was to be attacked."""
    if any(finding.name == DOUBT for finding in result.findings):
        return State.CONFOUNDED
    if result.audit in _NOBODY_ATTACKED:
        return State.INCONCLUSIVE if result.facts.inconclusive else None
    return State.INCONCLUSIVE if reasons_of(result) else State.NONE


def reasons_of(result: Result) -> tuple[str, ...]:
    """Why a leak of 10 % of the people could not have been seen; empty if it could.

    Audits say so since format 4. For older results it is read from what they hold: what was not measured is never taken for zero.
    """
    return result.facts.inconclusive or tuple(_derived(result))


def _derived(result: Result) -> list[str]:
    if not result.findings:
        return [NOT_ATTACKED]
    if result.audit in _OF_TABLES and all(item.role != "holdout" for item in result.inputs):
        return [NO_HOLDOUT]
    if all(one.control is None and one.criterion != "dp claim" for one in result.findings):
        return [NO_CONTROL]
    visible = result.facts.visible
    if not visible:
        return [NOT_MEASURED]
    if all(any(word in line for word in _BLIND) for line in visible):
        return list(visible)
    if any(int(found[1]) > 100 * LEAK for line in visible for found in _RECOGNISED.finditer(line)):
        return list(visible)
    planted = [
        one for one in result.series if one.kind is SeriesKind.POWER and one.name.partition("/")[2] in (COPIES, NAMES)
    ]
    found = [[y for x, y in zip(one.x, one.y, strict=False) if x <= LEAK] for one in planted]
    seen = any(is_seen(round(_PLANTED * min(1.0, max(0.0, shares[-1]))), _PLANTED) for shares in found if shares)
    return [UNSEEN] if planted and not seen else []
