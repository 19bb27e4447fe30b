"""The release audit on releases that cannot leak, and on releases that do, over many seeds."""

import numpy as np
import pytest

from benchmarks.release_leaks import case_of, findings, fresh, modal, shifted
from benchmarks.release_leaks import planted as planted_rows
from unmask.audits.release.audit import audit
from unmask.audits.release.case import Case
from unmask.audits.release.completion import FAMILY, completion_part
from unmask.audits.release.copies import copies_part
from unmask.audits.release.leading.crowd import Crowd
from unmask.audits.release.leading.judging import led
from unmask.audits.release.leading.naming import named
from unmask.audits.release.plan import ReleasePlan
from unmask.datasets import planted
from unmask.results.policy import Severity
from unmask.stats.labels import top_test


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


@pytest.mark.calibration
@pytest.mark.parametrize(("name", "size", "held"), [("adult", 200, 1.0), ("adult", 60, 20.0), ("adult-few", 300, 0.2)])
def test_fresh_people_of_adult_are_no_finding_whatever_the_holdout(name, size, held):
    """Holdouts of equal size, twenty times and a fifth of the real table: findings in at most 5 % of 60 releases (limit 9)."""
    found = [findings(fresh(name, size, held, seed), seed) for seed in range(60)]
    assert sum(bool(what) and not differs for what, differs, _ in found) <= 9
    assert sum(differs for _, differs, _ in found) <= 9
    assert sum(people > 0 and not differs for _, differs, people in found) <= 13, (
        "a list holds nobody wrongly, 9 of 10 times"
    )


@pytest.mark.calibration
@pytest.mark.parametrize(("columns", "least"), [(0, 5), (1, 5), (2, 5), (3, 4)])
def test_planted_rows_are_found_also_with_columns_changed(columns, least):
    """3 % of 1,000 rows are real ones with columns changed: 20 of 20 seeds are found for each (docs/explanation)."""
    seen = 0
    for seed in range(6):
        case = case_of(planted_rows(seed, 0.03, columns)[0], seed)
        seen += any(one.severity.rank for one in (*copies_part(case).findings, *led(case)))
    assert seen >= least


@pytest.mark.calibration
def test_people_are_named_rightly():
    """5 % planted with one column changed: nearly all named, false names at most 10 % on average (6 seeds: within .16)."""
    right, wrong = [], []
    for seed in range(6):
        release, who = planted_rows(seed, 0.05, 1)
        listed = named(Crowd.of(release, seed, 5_000), rate=0.10, seed=seed).rejected
        right.append(listed[who].mean())
        wrong.append((listed.sum() - listed[who].sum()) / max(1, listed.sum()))
    assert np.mean(right) >= 0.85
    assert np.mean(wrong) <= 0.16


@pytest.mark.calibration
@pytest.mark.parametrize("share", [0.05, 0.10, 0.9])
def test_a_shifted_holdout_is_no_leak(share):
    """People over 50 are missing from the holdout: findings at most at the level of 5 %, or confounded (30 seeds: limit 6)."""
    found = [findings(shifted(seed, share, size=500), seed) for seed in range(30)]
    assert sum(bool(what) and not differs for what, differs, _ in found) <= 6
    if share == 0.9:
        assert sum(differs for _, differs, _ in found) >= 24


@pytest.mark.calibration
@pytest.mark.parametrize("gap", [0.05, 0.07])
def test_completion_stays_below_medium_where_the_holdout_differs_a_little(gap):
    """Nothing leaks; people with the usual hidden values are fewer in the holdout: none above low, and low in 2 of 12 at most."""
    found = []
    for seed in range(12):
        part = completion_part(Case(modal(seed, gap), ReleasePlan(seed=seed), (FAMILY,)))
        found.append(max(one.severity.rank for one in part.findings))
    assert max(found) <= Severity.LOW.rank
    assert sum(rank > 0 for rank in found) <= 2


@pytest.mark.calibration
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_people_beside_the_crowd_are_no_finding_where_nothing_leaks(share):
    """100 of 1,500 people on either side are the crowd, linkage weights are taken of 500; some people over 50 are missing.

    At level 5 % in at most 13 of 100 releases, where real table and holdout are not told apart.
    """
    alarms = 0
    for seed in range(100):
        release, rng = shifted(seed, share, size=1_500), np.random.default_rng(seed)
        linked = Crowd.of(release, seed, 100).linked
        alarms += top_test(linked.links.weights, linked.members, strata=linked.strata, rng=rng).p_value <= 0.05
    assert alarms <= 13
