"""A part that was left out for lack of time is not a part that found nothing."""

from dataclasses import dataclass

import numpy as np
import pytest

import unmask
from unmask.audits.release.audit import CHECKS, ReleaseAudit
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.runner import Runner
from unmask.results.policy import Severity
from unmask.results.state import State


@dataclass(frozen=True)
class Late(Runner):
    """Time is up after so many parts."""

    parts: int = 0

    @property
    def is_late(self) -> bool:
        asked.append(1)
        return len(asked) > self.parts


asked: list[int] = []


@pytest.fixture(scope="module")
def shifted():
    """A release that leaks nothing: other people of the younger half, held against the older half as holdout."""
    table = unmask.datasets.adult().take(np.arange(2400))
    age = table.numbers[:, table.schema.numeric.index(table.schema.position("age"))]
    order = np.argsort(age, kind="stable")
    young = np.random.default_rng(1).permutation(order[:1200])
    real, synthetic, holdout = (table.take(rows) for rows in (young[:600], young[600:], order[1200:1800]))
    return ReleaseAudit.of(ReleasePlan(attempts=200), real=real, synthetic=synthetic, holdout=holdout)


def audited(audit, parts):
    asked.clear()
    return audit.run(Late(parts=parts))


def test_a_shifted_holdout_is_confounded_and_no_leak(shifted):
    result = audited(shifted, len(CHECKS))
    assert result.findings[0].name == "holdout"
    assert (result.severity, result.state) == (Severity.NONE, State.CONFOUNDED)


@pytest.mark.parametrize("parts", [3, 4])
def test_time_that_runs_out_makes_no_high_of_a_shifted_holdout(shifted, parts):
    """What was not measured is not zero: without the blind check nothing is certain, and that is said."""
    result = audited(shifted, parts)
    left_out = [check.name for check in CHECKS[parts:]]
    assert [item.name for item in result.not_tested] == [*left_out, "people at risk"]
    assert result.severity is Severity.LOW
    capped = [finding for finding in result.findings if finding.severity is Severity.LOW]
    assert capped
    assert "controls and instrument check" in result.facts.inconclusive[0], "a reader of the JSON is told too"
    assert all("it was not tested whether real table and holdout differ by themselves" in one.advice for one in capped)
    assert "named at risk" not in result.records.columns
    assert not any("named" in note for note in result.facts.at_risk)


def test_that_nobody_could_be_named_is_said(shifted):
    """Membership was scored, but whether real and holdout are alike was not tested."""
    result = audited(shifted, 3)
    assert [item.name for item in result.not_tested][-1] == "people at risk"
