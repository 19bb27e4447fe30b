"""The release audit on releases that cannot leak, and on releases that do, over many seeds."""

import pytest

from unmask.audits.release.audit import audit
from unmask.datasets import planted
from unmask.results.policy import Severity


@pytest.mark.calibration
def test_fresh_people_are_called_a_leak_at_most_at_the_level():
    """300 real, 300 synthetic, 300 holdout rows of one population: a finding (low or above) in at most 5 % of releases.

    99.9 % limit of 100 seeds: 13. All attacks and criteria share the error, so one count covers them.
    """
    alarms = 0
    for seed in range(100):
        release = planted(300, leaked=0, columns=8, seed=seed)
        alarms += (
            audit(release.real, release.synthetic, holdout=release.holdout, attempts=200, seed=seed).severity
            is not Severity.NONE
        )
    assert alarms <= 13


@pytest.mark.calibration
def test_planted_copies_are_found_and_the_people_named_are_right():
    """40 of 400 people copied verbatim: high in every one of 10 seeds, and false names at most at the stated 10 %."""
    wrong = named = 0
    for seed in range(10):
        release = planted(400, leaked=40, columns=10, seed=seed)
        result = audit(release.real, release.synthetic, holdout=release.holdout, attempts=100, seed=seed)
        assert result.severity is Severity.HIGH
        listed = {row[0] for row in result.records.rows if row[2]}
        named += len(listed)
        wrong += len(listed - set(release.leaked.tolist()))
    assert named > 200
    assert wrong / named < 0.2, "the rate holds on average; 99.9 % slack for 10 small lists"
