"""Tests by dealt labels: worked answers, exact levels, and power at any depth."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, fisher_exact, hypergeom

from unmask.errors import ParameterError
from unmask.stats.labels import (
    DRAWS,
    MANY,
    MOST_DRAWS,
    Strata,
    _moments,
    _tail,
    advantage_bound,
    depths_of,
    draws_for,
    fisher,
    fisher_of,
    fisher_within,
    top_test,
)


@pytest.mark.parametrize(("a", "n", "c", "m"), [(10, 1000, 0, 1000), (3, 100, 20, 3000), (0, 5, 2, 9), (7, 7, 1, 9)])
def test_fisher_is_fishers(a, n, c, m):
    table = [[a, n - a], [c, m - c]]
    assert fisher((a, n), (c, m)) == pytest.approx(fisher_exact(table, alternative="greater")[1], rel=1e-9)


@pytest.mark.parametrize(("n", "m"), [(100, 3000), (3000, 100), (200, 200)])
@pytest.mark.parametrize("rate", [0.0005, 0.002, 0.01, 0.2])
def test_fisher_keeps_its_level_for_any_sizes(n, m, rate):
    """Summed exactly: 100 against 3,000 is where intervals alarm ten times too often."""
    for level in (0.05, 0.0075):
        chance = 0.0
        for a in range(int(binom.ppf(1 - 1e-9, n, rate)) + 1):
            for c in range(int(binom.ppf(1 - 1e-9, m, rate)) + 1):
                if binom.pmf(a, n, rate) * binom.pmf(c, m, rate) > 1e-10 and fisher((a, n), (c, m)) <= level:
                    chance += binom.pmf(a, n, rate) * binom.pmf(c, m, rate)
        assert chance <= level * (1 + 1e-6)


def test_one_depth_is_the_hypergeometric_test():
    """Ten people, five of them members, all five on top: 1 of 252 dealings."""
    found = top_test(np.arange(10.0), np.arange(10) >= 5, draws=20_000, rng=np.random.default_rng(1))
    assert depths_of(10).tolist() == [5]
    assert (found.depth, found.members, found.expected, found.beyond) == (5, 5, 2.5, 2.5)
    assert found.p_value == pytest.approx(hypergeom.pmf(5, 10, 5, 5), rel=0.35)


def test_depths_reach_from_a_handful_to_half():
    assert depths_of(2000)[0] == 5
    assert depths_of(2000)[-1] == 1000
    assert (np.diff(depths_of(2000)) > 0).all()
    assert depths_of(2).tolist() == [1]


def test_strata_take_away_what_they_explain():
    """A score that is the stratum itself, members more frequent in one: no evidence within strata, much without."""
    rng = np.random.default_rng(3)
    strata = np.repeat([0, 1], 300)
    members = rng.random(600) < np.where(strata == 1, 0.7, 0.3)
    scores = strata + 0.01 * rng.random(600)
    assert top_test(scores, members, rng=rng).p_value < 0.001
    assert top_test(scores, members, strata=strata, rng=rng).p_value > 0.05


@pytest.mark.parametrize("strata", [1, 4])
def test_the_level_is_kept_also_with_ties(strata):
    """Nothing to find, scores of three values: at most 5 % of 400 dealings are called (99.9 % limit: 35)."""
    rng = np.random.default_rng(strata)
    alarms = 0
    for _ in range(400):
        members = rng.permutation(120) < 40
        found = top_test(rng.integers(0, 3, 120), members, strata=np.arange(120) % strata, draws=199, rng=rng)
        alarms += found.p_value <= 0.05
    assert alarms <= 35
    assert alarms >= 5, "the test uses its level"


@pytest.mark.parametrize("leaked", [12, 400])
def test_few_and_many_leaking_people_are_seen(leaked):
    rng, seen = np.random.default_rng(9), 0
    for _ in range(20):
        scores = rng.normal(size=1000)
        scores[:leaked] += 6.0 if leaked < 50 else 0.7  # a few for certain, or many a little
        seen += top_test(scores, np.arange(1000) < 500, draws=999, rng=rng).p_value <= 0.01
    assert seen >= 18


def test_labels_and_scores_must_fit():
    with pytest.raises(ParameterError, match="one label"):
        top_test(np.arange(4.0), np.array([True, False]), rng=np.random.default_rng(0))


def test_the_bound_of_an_advantage_holds_and_is_near():
    """Members are shifted by one standard deviation: the best advantage is 2 Phi(.5) - 1 = .383 (300 audits, 5 %: limit 28)."""
    rng, wrong, bounds = np.random.default_rng(4), 0, []
    members = np.arange(800) < 400
    for _ in range(300):
        bound, _ = advantage_bound(rng.normal(size=800) + members, members, error=0.05, rng=rng)
        bounds.append(bound)
        wrong += bound > 0.3829
    assert wrong <= 28
    assert np.mean(bounds) > 0.28
    nothing = [advantage_bound(rng.normal(size=400), members[200:600], error=0.05, rng=rng)[0] for _ in range(300)]
    assert sum(bound > 0 for bound in nothing) <= 28


def test_the_bound_is_taken_where_it_is_largest():
    """20 of 640 people for certain: the top 10 (1/64) are all members, 10/320 = .031 less what chance leaves open."""
    scores = np.concatenate([np.ones(20), np.zeros(620)]) + 0.01 * np.random.default_rng(1).random(640)
    members = np.arange(640) < 320
    low, depth = advantage_bound(scores, members, error=0.05, rng=np.random.default_rng(0))
    assert depth in (10, 40)
    assert 0 < low < 0.0625


def test_fisher_within_strata_is_that_of_dealt_labels():
    """One stratum is Fisher's test; of two, all dealings are listed."""
    hit, inside = np.array([1, 1, 0, 1, 0, 0, 1, 0]), np.array([1, 1, 0, 0, 1, 1, 1, 0])
    alike = fisher((3, 5), (1, 3))
    assert fisher_within(hit, inside, np.zeros(8)) == pytest.approx(alike)
    strata = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    counts = [hypergeom(4, int(hit[strata == s].sum()), int(inside[strata == s].sum())).pmf(range(5)) for s in (0, 1)]
    total = np.convolve(*counts)
    assert fisher_within(hit, inside, strata) == pytest.approx(total[3:].sum())
    assert fisher_within(np.zeros(8), inside, strata) == 1
    with pytest.raises(ParameterError, match="one stratum"):
        fisher_within(hit, inside, strata[:4])
    with pytest.raises(ParameterError, match="nobody"):
        fisher_within([], [], [])


def test_many_successes_within_strata_are_judged_by_their_moments():
    """Beside the exact chance, far into the tail, for strata that are skewed each way."""
    rng = np.random.default_rng(8)
    people = rng.integers(300, 900, 12)
    for members, successes in ((0.8, 0.3), (0.2, 0.3), (0.8, 0.6), (0.5, 0.05)):
        marked, drawn = (people * members).astype(int), (people * successes).astype(int)
        mean, variance, third = _moments(drawn, marked, people)
        each = [hypergeom(*numbers) for numbers in zip(people, drawn, marked, strict=True)]
        assert mean == pytest.approx(sum(one.mean() for one in each))
        assert variance == pytest.approx(sum(one.var() for one in each))
        assert third == pytest.approx(sum(one.stats("s") * one.var() ** 1.5 for one in each))
        exact = _tail(drawn, marked, people)
        for far in (-1.0, 0.0, 1.5, 3.0, 4.0):
            hits = round(mean + far * np.sqrt(variance))
            strata = Strata(np.array([hits] + [0] * 11), drawn, marked, people)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("unmask.stats.labels.MANY", 0)
                assert fisher_of(strata) == pytest.approx(exact[hits], rel=0.06)
    some = Strata(np.zeros(12, dtype=int), (people * 0.9).astype(int), (people * 0.95).astype(int), people)
    chances = [fisher_of(replace(some, hits=np.array([hits]))) for hits in range(0, int(some.successes.sum()) + 1, 20)]
    assert np.all(np.diff(chances) <= 0), "more hits are never less certain"
    assert (chances[0], chances[-1]) == (1.0, pytest.approx(0.0, abs=1e-12))
    nothing = Strata(np.array([0]), np.array([MANY + 1]), np.array([0]), np.array([MANY + 5]))
    assert fisher_of(nothing) == 1


@pytest.mark.parametrize("level", [0.05, 0.00075, 0.00019, 0.00015, 1e-5])
def test_a_level_can_be_reached(level):
    assert 1 / (draws_for(level) + 1) <= level
    assert DRAWS <= draws_for(level) <= MOST_DRAWS
    assert draws_for(1e-7) == DRAWS, "out of reach"
