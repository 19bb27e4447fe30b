"""Coins of a run never reach what judges it: neither the scorer, nor the thresholds, nor the order of the guesses."""

import numpy as np
import pytest

from unmask.attacks.everyone.boosted import BoostedScorer
from unmask.attacks.everyone.scorer import RatioScorer
from unmask.audits.everyone.evidence import TWO_PARTS, judge, of_other_runs

RUNS, UNITS = 40, 30
GROUPS = ("a", "a", "b", "all")
SCORERS = [RatioScorer(), BoostedScorer(trees=3, smallest_leaf=20)]


@pytest.fixture
def pool(rng):
    """Members and features of runs in which being in shows."""
    members = rng.random((RUNS, UNITS)) < 0.5
    known = [
        (
            rng.poisson(4 + 3 * inside[:, None], (UNITS, 4)).astype(np.uint16),
            rng.normal(size=(UNITS, 2)).astype(np.float32),
        )
        for inside in members
    ]
    return members, known


def judged(pool, scorer):
    members, known = pool
    return judge(known.__getitem__, members, groups=GROUPS, scorer=scorer)


@pytest.mark.parametrize("scorer", SCORERS, ids=["ratio", "boosted"])
def test_coins_that_are_judged_later_change_no_evidence(pool, scorer, rng):
    """Whatever the coins of the late runs are, the evidence is the same; so it is for the early ones."""
    members, known = pool
    before = judged(pool, scorer)
    late = members.copy()
    late[RUNS // 2 :] = rng.random(late[RUNS // 2 :].shape) < 0.5
    after = judged((late, known), scorer)
    assert np.array_equal(after.late.log_ratios, before.late.log_ratios)
    assert np.array_equal(after.early.log_ratios, before.early.log_ratios)
    early = members.copy()
    early[RUNS // 4 : RUNS // 2] = ~early[RUNS // 4 : RUNS // 2]
    after = judged((early, known), scorer)
    assert np.array_equal(after.early.log_ratios, before.early.log_ratios)
    assert not np.array_equal(after.late.log_ratios, before.late.log_ratios)  # the second scorer learns from them


@pytest.mark.parametrize("scorer", SCORERS, ids=["ratio", "boosted"])
def test_a_release_changes_the_evidence_of_its_own_run_alone(pool, scorer):
    members, known = pool
    before = judged(pool, scorer).late.log_ratios
    other = list(known)
    other[-1] = known[0]
    after = judged((members, other), scorer).late.log_ratios
    assert np.array_equal(after[:-1], before[:-1])
    assert not np.array_equal(after[-1], before[-1])


def test_parts_are_judged_once_in_order_and_by_what_came_before(pool):
    members, known = pool
    asked = []

    class Watches:
        def fit(self, load, runs, taught, groups):
            asked.append((list(runs), taught.copy()))
            return RatioScorer().fit(load, runs, taught, groups)

    found = judge(known.__getitem__, members, groups=GROUPS, scorer=Watches())
    assert [runs for runs, _ in asked] == [list(range(RUNS // 4)), list(range(RUNS // 2))]
    assert all(np.array_equal(taught, members[: len(taught)]) for _, taught in asked)
    assert np.array_equal(found.all.members, members[RUNS // 4 :])
    assert np.array_equal(found.late.members, members[RUNS // 2 :])
    assert found.learnt == RUNS // 2


def test_few_runs_have_one_part(pool):
    members, known = pool
    few = TWO_PARTS - 1
    found = judge(known.__getitem__, members[:few], groups=GROUPS, scorer=RatioScorer())
    assert found.early is None
    assert found.all is found.late
    assert len(found.late.members) == few - few // 2


def test_the_control_gives_no_run_its_own_coins(rng):
    for runs in (8, 9, 32):
        members = np.arange(runs)[:, None] * np.ones((1, 3), dtype=np.int64)
        for seed in range(40):
            other = of_other_runs(members, np.random.default_rng(seed))
            assert np.all(other != members)


@pytest.mark.parametrize("runs", [8, 32])
def test_the_control_never_swaps_two_runs(runs):
    """Else chance agreement between the coins of both would be learnt from one and confirmed by the other."""
    members = np.arange(runs)[:, None]
    for seed in range(200):
        other = of_other_runs(members, np.random.default_rng(seed))[:, 0]
        assert not np.any(other[other] == np.arange(runs))
