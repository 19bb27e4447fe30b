"""A differential-privacy claim as a test of one's own software.

from unmask.testing import assert_not_refuted

def test_my_generator_keeps_its_claim():
    assert_not_refuted(MyGenerator(epsilon=1), runs=500)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unmask.generators.claim import Claim
from unmask.results.policy import Severity

if TYPE_CHECKING:
    from unmask.results.result import Result


class ClaimRefutedError(AssertionError):
    """A claim fell: the message says after how many runs, by which attack, and what leaked."""


def assert_not_refuted(generator: Any, claim: Claim | None = None, runs: int = 500, **choices: Any) -> Result:
    """Fail if a claim is refuted; a true one fails in at most 1 of 20 seeds, and a seed decides which.

    Takes a generator, its text, or any function of (table, rng) that returns numbers; other choices are those of
    `unmask.audit_epsilon`. Passing proves nothing: the result that comes back says what would have been seen. Runs that fail
    raise too, since nothing was tested in them.
    """
    from unmask.audits.epsilon.audit import audit_epsilon  # here: the other contracts need no audit

    result = audit_epsilon(generator, claim=claim, runs=runs, **choices)
    worst = max(result.findings, key=lambda finding: finding.severity.rank)
    if worst.severity is not Severity.NONE:
        raise ClaimRefutedError(f"{worst.title}\n{worst.advice} Seed {result.seed}.")
    if result.failed_tasks:
        raise AssertionError(f"{result.failed_tasks} of {runs} runs failed. {result.notes[-1]}")
    return result
