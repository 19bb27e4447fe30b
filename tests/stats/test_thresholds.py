from statistics import median_low

import numpy as np
import pytest
from scipy.stats import beta

from tests.stats.mechanisms import Laplace, RandomisedResponse, most_failures
from unmask.errors import ParameterError
from unmask.stats import (
    Bonferroni,
    ErrorCounts,
    Given,
    MultiSplit,
    Split,
    epsilon_clopper_pearson,
    epsilon_from_errors,
    roc_curve,
)
from unmask.stats.epsilon.clopper_pearson import log_ratio
from unmask.stats.thresholds import choose

CHOICES = [Split(), MultiSplit(5), Bonferroni()]


def test_a_given_threshold_counts_scores_at_or_above_it():
    bound = epsilon_clopper_pearson([1.0, 2.0, 3.0, 0.5], [0.0, 0.2, 1.0, 0.1], threshold=Given(1.0))
    assert bound.value == epsilon_from_errors(ErrorCounts(1, 4, 1, 4)).value


@pytest.mark.parametrize("threshold", CHOICES)
def test_every_choice_sees_a_plain_leak(threshold):
    """Scores 6 sd apart, 500 runs a side: more than 3 of the largest visible 4.5 to 4.9."""
    rng = np.random.default_rng(0)
    bound = epsilon_clopper_pearson(rng.normal(6, 1, 500), rng.normal(0, 1, 500), threshold=threshold, rng=rng)
    assert 3.0 < bound.value <= bound.largest_visible


@pytest.mark.parametrize("threshold", CHOICES)
@pytest.mark.parametrize("levels", [2, 10**6])
def test_no_choice_sees_a_leak_where_there_is_none(threshold, levels):
    """Same law on both sides: at most the 99.9 % limit of 5 % of 200 may look leaky."""
    rng = np.random.default_rng(1)
    alarms = sum(
        epsilon_clopper_pearson(
            rng.integers(0, levels, 100), rng.integers(0, levels, 100), threshold=threshold, rng=rng
        ).value
        > 0
        for _ in range(200)
    )
    assert alarms <= most_failures(200)


def test_the_peers_point_estimate_is_dishonest_and_ours_is_not():
    """TAPAS takes the best ratio over all thresholds of the same scores: above the truth nearly always, often infinite.

    Also the proof that our honesty tests can fail.
    """
    rng, theirs, ours = np.random.default_rng(2), 0, 0
    for _ in range(200):
        inside, outside = Laplace(1.0).draw(100, rng)
        curve = roc_curve(inside, outside)
        theirs += np.max(log_ratio(curve.fpr[1:-1], 1 - curve.tpr[1:-1], 0.0)) > 1.0
        ours += epsilon_clopper_pearson(inside, outside, threshold=Bonferroni()).value > 1.0
    assert theirs > 180
    assert ours <= most_failures(200)


def test_the_choice_does_not_chase_tiny_tails():
    """One member far out makes an infinite ratio; the rates with their standard error prefer the body."""
    rng = np.random.default_rng(3)
    inside, outside = rng.normal(1.5, 1, 100), rng.normal(0, 1, 100)
    chosen = choose(
        np.append(inside, 50.0),
        outside,
        judged=(400, 400),
        measure=lambda fpr, fnr: log_ratio(fpr, fnr, 0.0),
        confidence=0.95,
    )
    assert -1.5 < chosen < 3.0


def test_an_atom_is_taken_whole_and_a_gap_is_halved():
    measure = lambda fpr, fnr: log_ratio(fpr, fnr, 0.0)  # noqa: E731
    atoms = choose(np.ones(50), np.zeros(50), judged=(50, 50), measure=measure, confidence=0.95)
    assert atoms == 1.0
    gap = choose(np.arange(10.0, 60), -np.arange(50.0), judged=(50, 50), measure=measure, confidence=0.95)
    assert gap == 5.0


def test_several_splits_are_less_a_matter_of_luck_than_one():
    inside, outside = RandomisedResponse(2.0).draw(200, np.random.default_rng(4))
    inside, outside = inside + np.linspace(0, 0.4, 200), outside + np.linspace(0, 0.4, 200)
    spread = {}
    for threshold in (Split(), MultiSplit(15)):
        values = [
            epsilon_clopper_pearson(inside, outside, threshold=threshold, rng=np.random.default_rng(seed)).value
            for seed in range(60)
        ]
        spread[type(threshold)] = np.std(values)
    assert spread[MultiSplit] < 0.7 * spread[Split]


def test_one_split_of_many_is_the_same_split_at_half_the_error():
    inside, outside = Laplace(2.0).draw(300, np.random.default_rng(5))
    one = epsilon_clopper_pearson(inside, outside, threshold=MultiSplit(1), rng=np.random.default_rng(6))
    other = epsilon_clopper_pearson(inside, outside, threshold=Split(), confidence=0.975, rng=np.random.default_rng(6))
    assert one.value == other.value


@pytest.mark.parametrize("times", [2, 5, 8])
def test_several_splits_give_the_largest_running_lower_median(times):
    inside, outside = Laplace(2.0).draw(120, np.random.default_rng(9))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        single = [
            epsilon_clopper_pearson(inside, outside, threshold=Split(), confidence=0.975, rng=rng).value
            for _ in range(times)
        ]
        expected = max(median_low(single[: t + 1]) for t in range(times))
        many = MultiSplit(times)
        found = epsilon_clopper_pearson(inside, outside, threshold=many, rng=np.random.default_rng(seed))
        assert found.value == expected
        assert found.n == 2 * (120 - 24)


@pytest.mark.parametrize("count", [1, 2, 7, 16])
def test_ranks_share_the_level_and_each_is_judged_exactly(count, rng):
    """Beside each rank k of the out-scores (k of n above it): Beta limits of k in n, and of the in-scores at or below."""
    inside, outside = np.round(rng.normal(1.5, 1, 90), 1), np.round(rng.normal(0, 1, 70), 1)
    odds = [(3 * 70) ** share for share in np.linspace(-1, 1, count)]  # from 1/(3n) to 3n
    ranks = {min(round(70 * x / (1 + x)), 69) for x in odds} if count > 1 else {35}
    level = 1 - 0.05 / (2 * len(ranks))
    bounds = []
    for k in ranks:
        at = sorted(outside, reverse=True)[k]
        missed = int(sum(inside <= at))
        fpr, fnr = beta.ppf(level, k + 1, 70 - k), beta.ppf(level, missed + 1, 90 - missed) if missed < 90 else 1.0
        bounds.append(float(log_ratio(fpr, fnr, 0.0)))
    found = epsilon_clopper_pearson(inside, outside, threshold=Bonferroni(count)).value
    assert found == pytest.approx(max(0.0, *bounds))


def test_the_choice_equals_a_naive_search(rng):
    """Limits of n = 1/(1/n_here + 1/n_judged) scores at the rates seen here, at every score."""
    inside, outside = rng.normal(1.5, 1, 40), rng.normal(0, 1, 30)
    measure = lambda fpr, fnr: log_ratio(fpr, fnr, 0.0)  # noqa: E731
    chosen = choose(inside, outside, judged=(160, 90), measure=measure, confidence=0.95)
    n, m = 1 / (1 / 40 + 1 / 160), 1 / (1 / 30 + 1 / 90)
    promised = {}
    every = np.sort(np.concatenate([inside, outside]))
    for value in every:
        fnr, fpr = (inside < value).mean(), (outside >= value).mean()
        limits = [
            1.0 if rate == 1 else beta.ppf(0.975, rate * size + 1, size - rate * size)
            for rate, size in ((fpr, m), (fnr, n))
        ]
        promised[value] = float(measure(*limits))
    best = max(promised, key=promised.get)
    below = every[np.searchsorted(every, best) - 1]
    assert chosen == pytest.approx((best + below) / 2)


def test_the_least_numbers_of_splits_and_thresholds_are_one():
    assert (MultiSplit(1).times, Bonferroni(1).count) == (1, 1)


def test_a_split_may_leave_a_single_score():
    """Six a side, a fifth is one: chosen on one, judged on five."""
    found = epsilon_clopper_pearson(np.arange(6.0), -np.arange(6.0), threshold=Split(), rng=np.random.default_rng(0))
    assert found.n == 10


def test_splits_repeat_for_a_seed_and_need_one():
    inside, outside = Laplace(2.0).draw(100, np.random.default_rng(7))
    first, second = (
        epsilon_clopper_pearson(inside, outside, threshold=MultiSplit(3), rng=np.random.default_rng(8))
        for _ in range(2)
    )
    assert first == second
    with pytest.raises(ParameterError, match="random generator"):
        epsilon_clopper_pearson(inside, outside, threshold=Split())


@pytest.mark.parametrize("make", [lambda: Split(0.0), lambda: MultiSplit(0), lambda: Bonferroni(0), lambda: Split(1.0)])
def test_choices_without_meaning_are_refused(make):
    with pytest.raises(ParameterError):
        make()


def test_a_split_that_leaves_nothing_is_refused():
    with pytest.raises(ParameterError, match="empty"):
        epsilon_clopper_pearson([1.0, 2.0], [0.0, 1.0], threshold=Split(0.1), rng=np.random.default_rng(0))


def test_the_lowest_score_is_a_threshold_and_the_second_lies_half_way():
    """Where only misses cost, everybody is guessed; where one other person is below all members, the cut is above them."""
    inside, outside = np.arange(2.0, 12), np.array([0.0, 20.0, 21.0])
    how = {"judged": (10, 3), "confidence": 0.95}
    assert choose(inside, outside, measure=lambda fpr, fnr: -fnr, **how) == 0.0
    assert choose(inside, outside, measure=lambda fpr, fnr: -fnr - 0.1 * fpr, **how) == 1.0
