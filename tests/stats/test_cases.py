"""Rates over draws against plain loops, exact limits and closed forms; how honest they are: tests/calibration."""

import math

import numpy as np
import pytest
from scipy.stats import t

from unmask.stats import (
    Given,
    auc,
    clopper_pearson,
    difference,
    epsilon_clopper_pearson,
    precision_interval,
    tpr_at_fpr,
    wilson,
)
from unmask.stats.cases import METHOD, Cases, auc_over_draws
from unmask.stats.outcomes import FPR_GRID, RARE_PRIOR, judge_membership
from unmask.stats.wealth import STAKES, WEIGHTS, exceeds, log_wealth, lower_rate


def game(rng, draws=60, targets=5, told=0.5):
    members = rng.random((draws, targets)) < 0.5
    scores = rng.random(members.shape) + (rng.random((draws, 1)) < told) * members
    return scores.ravel(), members.ravel(), np.repeat(np.arange(draws), targets)


def test_wealth_equals_a_loop(rng):
    hits, chances, total = rng.integers(0, 3, 20), rng.integers(3, 6, 20), 0.0
    for stake, weight in zip(STAKES, WEIGHTS, strict=True):
        product = 1.0
        for h, c in zip(hits, chances, strict=True):
            product *= 1 + stake * (h - 0.2 * c) / (0.2 * 5)
        total += weight * product
    assert WEIGHTS.sum() == pytest.approx(1)
    assert float(log_wealth(hits, chances, size=5, rate=0.2)) == pytest.approx(math.log(total))


def test_wealth_has_mean_one_at_the_rate_itself(rng):
    """All hits of a draw together, a third of the draws."""
    chances = rng.binomial(4, 0.5, (20_000, 8))
    hits = np.where(rng.random(chances.shape) < 1 / 3, chances, 0)
    wealth = np.exp(log_wealth(hits, chances, size=4, rate=1 / 3))
    assert wealth.mean() == pytest.approx(1, abs=4 * wealth.std() / math.sqrt(len(wealth)))


def test_the_limit_is_where_the_wealth_passes_the_level(rng):
    hits, chances = rng.binomial(5, 0.6, 40), np.full(40, 5)
    low = lower_rate(hits, chances, size=5, confidence=0.975)
    assert 0.3 < low < hits.mean() / 5
    assert exceeds(hits, chances, size=5, rate=low * 0.999, confidence=0.975)
    assert not exceeds(hits, chances, size=5, rate=low * 1.001, confidence=0.975)
    order = rng.permutation(40)
    assert lower_rate(hits[order], chances, size=5, confidence=0.975) == pytest.approx(low)
    more = hits + (np.arange(40) == np.argmin(hits))
    assert lower_rate(more, chances, size=5, confidence=0.975) >= low


def test_without_hits_nothing_is_shown_and_with_few_draws_little():
    assert lower_rate([0, 0, 0], [3, 3, 3], size=3, confidence=0.9) == 0
    assert lower_rate([40], [40], size=40, confidence=0.975) < 0.03
    assert not exceeds([1, 1], [1, 1], size=1, rate=1.0, confidence=0.5)
    assert exceeds([1, 0], [1, 1], size=1, rate=0.0, confidence=0.99)


def test_forty_targets_of_one_release_are_one_piece_of_evidence():
    """Five of eighty releases give forty targets away: no limit may be above that of five in eighty, for all their scores."""
    right = np.repeat(np.arange(80) < 5, 40)
    cases, everybody = Cases.of(np.repeat(np.arange(80), 40), right.size), np.ones(right.size, dtype=bool)
    assert cases.lower(right, everybody, 0.975) <= clopper_pearson(5, 80).low
    assert cases.rate(right, everybody, confidence=0.95).value == 5 / 80
    assert clopper_pearson(200, 3200).low > 2 * clopper_pearson(5, 80).low  # what counting scores would have said


def test_single_scores_have_the_exact_limits_that_they_had(rng):
    """Without releases, and with one score for each: the numbers of independent scores, whoever asks."""
    scores, members, _ = game(rng, draws=300, targets=1)
    flagged, inside, outside = scores >= 0.8, scores[members], scores[~members]
    hits, alarms = (int((side >= 0.8).sum()) for side in (inside, outside))
    for releases in (None, rng.permutation(300)):
        found = judge_membership(scores, members, 0.8, confidence=0.95, tests=3, releases=releases)
        assert found.tpr == clopper_pearson(hits, len(inside))
        assert found.fpr == clopper_pearson(alarms, len(outside))
        assert found.accuracy == wilson(int((flagged == members).sum()), 300)
        assert found.advantage == difference((hits, len(inside)), (alarms, len(outside)))
        assert found.auc == auc(inside, outside)
        assert found.precision == precision_interval((hits, len(inside)), (alarms, len(outside)), prior=RARE_PRIOR)
        assert found.epsilon.value == epsilon_clopper_pearson(inside, outside, threshold=Given(0.8)).value
        sure = tpr_at_fpr(inside, outside, fpr=0.01, confidence=1 - 0.05 / 9, guarantee=True)
        assert found.certain_tpr == (sure.tpr.low if np.isfinite(sure.threshold) else 0.0)
        assert [point.tpr.value for point in found.tpr_at] == [
            tpr_at_fpr(inside, outside, fpr=fpr).tpr.value for fpr in FPR_GRID
        ]


def test_intervals_hold_their_values_and_name_their_draws(rng):
    scores, members, draws = game(rng)
    found = judge_membership(scores, members, 1.0, confidence=0.9, tests=2, releases=draws)
    for estimate in (found.tpr, found.fpr, found.accuracy, found.advantage, found.precision, found.auc):
        assert estimate.low <= estimate.value <= estimate.high
        assert estimate.n == 60
    assert found.tpr.method == METHOD
    assert found.adjusted_low <= found.advantage.low
    assert found.epsilon.value <= found.epsilon.largest_visible


def test_the_gain_does_not_ask_for_fair_coins(rng):
    """Coins of .2: the lower end finds a gain of .6, and not one where there is none."""
    members = rng.random((400, 4)) < 0.2
    draws = np.repeat(np.arange(400), 4)
    told = (rng.random((400, 1)) < 0.6) & members
    cases = Cases.of(draws, members.size, prior=0.2)
    found = cases.gain(told.ravel(), members.ravel(), confidence=0.95)
    assert 0.4 < found.low < 0.6 < found.high
    nothing = np.repeat(rng.random(400) < 0.5, 4)
    assert cases.gain(nothing, members.ravel(), confidence=0.95).low < 0


def test_the_auc_over_draws_is_a_jackknife_by_hand(rng):
    scores, members, draws = game(rng, draws=12)
    found = auc_over_draws(scores, members, Cases.of(draws, scores.size), confidence=0.95)
    without = [auc(scores[(draws != k) & members], scores[(draws != k) & ~members]).value for k in range(12)]
    spread = math.sqrt(11 / 12 * np.sum((np.array(without) - np.mean(without)) ** 2))

    assert found.value == auc(scores[members], scores[~members]).value
    assert found.low <= found.value - t.ppf(0.975, 11) * spread + 1e-9
    tied = auc_over_draws(np.ones(60), members, Cases.of(draws, 60), confidence=0.95)
    assert tied.low < 0.5 < tied.high


def test_thresholds_are_surely_strict_or_surely_loose(rng):
    scores, members, draws = game(rng, draws=2000, targets=2)
    cases = Cases.of(draws, scores.size)
    strict = cases.strict_threshold(scores, ~members, fpr=0.1, confidence=0.95)
    loose = cases.loose_threshold(scores, ~members, fpr=0.1, confidence=0.95)
    assert loose < 0.9 < strict < 1
    few = cases.strict_threshold(scores, ~members, fpr=1e-4, confidence=0.95)
    assert few == math.inf
    assert cases.loose_threshold(scores, ~members, fpr=1.0, confidence=0.95) == -math.inf
    point = cases.tpr_at_fpr(scores, members, fpr=0.1, confidence=0.95)
    assert point.tpr.low < 0.5 + 0.5 * 0.1 < point.tpr.high
    assert cases.tpr_at_fpr(scores, members, fpr=1e-4, confidence=0.95).fpr.high == 1


def test_what_would_have_been_seen_is_seen_so_often(rng):
    members = rng.random((150, 5)) < 0.5
    cases = Cases.of(np.repeat(np.arange(150), 5), members.size)
    share = cases.visible_leak(members.ravel(), power=0.8, confidence=0.95, rng=rng)
    seen = 0
    for _ in range(150):
        told = ((rng.random((150, 1)) < share) & members).ravel()
        seen += cases.gain(told, members.ravel(), confidence=0.95).low > 0
    assert 0.68 < seen / 150 < 0.92
    tiny = Cases.of(np.repeat(np.arange(3), 5), 15)
    assert tiny.visible_leak(members.ravel()[:15], power=0.8, confidence=0.95, rng=rng) == math.inf
