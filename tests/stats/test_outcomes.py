"""From scores to rates: thresholds by a naive search, shares of the error by hand, and the same figures over whole draws."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import t as student

from unmask.stats import auc, clopper_pearson, difference, precision, tpr_at_fpr
from unmask.stats.cases import Cases, auc_over_draws
from unmask.stats.epsilon.clopper_pearson import log_ratio
from unmask.stats.outcomes import best_guess, best_threshold, judge_attribute, judge_membership, standardised
from unmask.stats.wealth import exceeds, log_wealth, lower_rate


def game(rng, draws=40, targets=3, told=0.5, prior=0.5):
    members = rng.random((draws, targets)) < prior
    scores = rng.random(members.shape) + (rng.random((draws, 1)) < told) * members
    return scores.ravel(), members.ravel(), np.repeat(np.arange(draws), targets)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_threshold_has_the_largest_advantage_and_lies_half_way(seed):
    rng = np.random.default_rng(seed)
    members = rng.random(30) < 0.4
    scores = np.round(rng.normal(size=30) + members, 1)
    found = best_threshold(scores, members)
    gains = {cut: (scores[members] >= cut).mean() - (scores[~members] >= cut).mean() for cut in scores}
    assert (scores[members] >= found).mean() - (scores[~members] >= found).mean() == pytest.approx(max(gains.values()))
    assert found == pytest.approx((min(scores[scores >= found]) + max(scores[scores < found])) / 2)


def test_where_nothing_can_be_learnt_half_or_nobody_is_guessed():
    assert best_threshold(np.array([1.0, 2.0, 4.0]), np.ones(3, bool)) == 2.0
    assert best_threshold(np.array([1.0, 2.0, 4.0]), np.zeros(3, bool)) == 2.0
    assert best_threshold(np.zeros(0), np.zeros(0, bool)) == math.inf
    one_score = best_threshold(np.full(4, 3.0), np.array([True, False, True, False]))
    assert 3.0 < one_score < 3.0 + 1e-9
    upside_down = best_threshold(np.array([1.0, 2.0, 3.0]), np.array([True, False, False]))
    assert 3.0 < upside_down < 3.0 + 1e-9, "members score lower: nobody is guessed"


def test_tests_share_the_error_of_the_adjusted_bounds(rng):
    """Four tests: each has a quarter of it; the certain TPR a third of that."""
    scores, members, _ = game(rng, draws=400, targets=1)
    found = judge_membership(scores, members, 0.9, confidence=0.9, tests=4)
    flagged = scores >= 0.9
    counts = [(int(side.sum()), side.size) for side in (flagged[members], flagged[~members])]
    assert found.adjusted_low == pytest.approx(difference(*counts, confidence=1 - 0.1 / 4).low)
    sure = tpr_at_fpr(scores[members], scores[~members], fpr=0.01, confidence=1 - 0.1 / 12, guarantee=True)
    assert found.certain_tpr == pytest.approx(sure.tpr.low if np.isfinite(sure.threshold) else 0.0)
    third = tpr_at_fpr(scores[members], scores[~members], fpr=0.1, confidence=1 - 0.1 / 4)
    assert found.tpr_at[2].tpr == third.tpr
    alone = judge_membership(scores, members, 0.9, confidence=0.9, tests=1)
    assert alone.adjusted_low == pytest.approx(alone.advantage.low)
    assert judge_membership(scores, members, 0.9, confidence=0.9, tests=0.5).adjusted_low == alone.adjusted_low


def test_a_side_without_cases_has_no_outcome(rng):
    for members in (np.ones(5, bool), np.zeros(5, bool)):
        assert judge_membership(rng.random(5), members, 0.5, confidence=0.9, tests=1) is None
        assert judge_attribute(members, members, None, confidence=0.9, tests=1) is None
    nobody = judge_membership(np.zeros(6), np.arange(6) < 3, 1.0, confidence=0.9, tests=1)
    assert nobody.precision is None


def test_attribute_outcomes_are_two_rates_their_difference_and_densities():
    right, members = np.array([1, 1, 0, 1, 0, 0, 0, 1]), np.arange(8) < 4
    density = np.arange(8.0)
    found = judge_attribute(right, members, density, confidence=0.9, tests=5)
    assert found.with_person == clopper_pearson(3, 4, confidence=0.9)
    assert found.without_person == clopper_pearson(1, 4, confidence=0.9)
    assert found.advantage == difference((3, 4), (1, 4), confidence=0.9)
    assert found.adjusted_low == pytest.approx(difference((3, 4), (1, 4), confidence=0.98).low)
    assert found.likelihood_gain == 1.5 - 5.5
    assert math.isnan(judge_attribute(right, members, None, confidence=0.9, tests=1).likelihood_gain)


def test_guesses_take_the_highest_and_break_ties_evenly():
    scores = np.array([[0.1, 0.9, 0.9], [2.0, -1.0, 0.0]])
    drawn = np.array([best_guess(scores, np.random.default_rng(seed)) for seed in range(200)])
    assert set(drawn[:, 0]) == {1, 2}
    assert set(drawn[:, 1]) == {0}
    assert 60 < (drawn[:, 0] == 1).sum() < 140


def test_scores_are_standardised_by_shadows_without_the_target():
    shadow, members = np.array([[1.0, 5.0], [3.0, 5.0], [100.0, 7.0]]), np.array([[0, 0], [0, 0], [1, 1]], bool)
    found = standardised(np.array([[4.0, 6.0]]), shadow, members)
    assert found.tolist() == [[2.0, 1.0]]  # (4 - 2)/1, and (6 - 5)/1 where the shadows have no spread
    assert standardised(np.array([[4.0]]), np.array([[9.0]]), np.array([[True]])).tolist() == [[4.0]]


@pytest.mark.parametrize("prior", [0.5, 0.2])
@pytest.mark.parametrize("gain", [-0.3, 0.0, 0.4])
def test_the_wealth_against_a_gain_is_fair_whoever_is_right(prior, gain):
    """Two draws of two cases, summed over all coins: right by chance among the others, more often by `gain` among members.

    What makes it an e-value against "at most this gain": its mean is 1 where the gain is exactly this.
    """
    cases, total = Cases.of(np.array([0, 0, 1, 1]), 4, prior), 0.0
    base = max(0.1, 0.1 - gain)
    for coins in product((False, True), repeat=4):
        for hits in product((False, True), repeat=4):
            weight = 1.0
            for coin, hit in zip(coins, hits, strict=True):
                rate = base + gain * coin
                weight *= (prior if coin else 1 - prior) * (rate if hit else 1 - rate)
            total += weight * math.exp(float(cases._log_wealth_of_gain(np.array(hits), np.array(coins), gain)))
    assert total == pytest.approx(1.0)


def test_the_wealth_against_a_gain_is_that_of_two_offsets_by_hand(rng):
    """Half on (right - 0), half on (right - (1 - p)), each times 1/p for members and -1/(1-p) for the others, as a rate."""
    scores, members, draws = game(rng, draws=15, prior=0.3)
    right, mean = scores > 0.6, 0.0
    for offset in (0.0, 0.7):
        least, most = (end((x - offset) * y for x in (0, 1) for y in (1 / 0.3, -1 / 0.7)) for end in (min, max))
        hits = np.zeros(15)
        for draw, hit, inside in zip(draws, right, members, strict=True):
            worth = (hit - offset) * (1 / 0.3 if inside else -1 / 0.7)
            hits[draw] += (worth - least) / (most - least)
        rate = (0.1 - least) / (most - least)
        mean += 0.5 * math.exp(float(log_wealth(hits, np.full(15, 3.0), size=3, rate=rate)))
    cases = Cases.of(draws, members.size, 0.3)
    assert float(cases._log_wealth_of_gain(right, members, 0.1)) == pytest.approx(math.log(mean))


def test_the_ends_of_a_gain_are_where_its_wealth_passes_the_level(rng):
    scores, members, draws = game(rng, draws=120, prior=0.3)
    cases, right = Cases.of(draws, members.size, 0.3), scores >= 1
    found = cases.gain(right, members, confidence=0.9)
    level = -math.log(0.05)
    assert float(cases._log_wealth_of_gain(right, members, found.low - 1e-6)) >= level
    assert float(cases._log_wealth_of_gain(right, members, found.low + 1e-6)) < level
    others = Cases.of(draws, members.size, 0.7)
    assert float(others._log_wealth_of_gain(right, ~members, -found.high - 1e-6)) >= level
    assert float(others._log_wealth_of_gain(right, ~members, -found.high + 1e-6)) < level


def test_rates_over_draws_have_one_sided_limits_at_half_of_the_error(rng):
    scores, members, draws = game(rng)
    cases, right = Cases.of(draws, scores.size), scores >= 0.7
    found = cases.rate(right, members, confidence=0.9)
    hits, misses, chances = (np.bincount(draws, part) for part in (right & members, ~right & members, members))
    assert found.low == lower_rate(hits, chances, size=3, confidence=0.95)
    assert found.high == 1 - lower_rate(misses, chances, size=3, confidence=0.95)
    assert cases.surely_above(right, members, rate=found.low - 1e-6, confidence=0.95)
    assert not cases.surely_above(right, members, rate=found.low + 1e-6, confidence=0.95)


def test_precision_and_epsilon_over_draws_are_those_of_the_limits_of_two_rates(rng):
    scores, members, draws = game(rng, draws=150, told=0.9)
    cases, flagged = Cases.of(draws, scores.size), scores >= 0.95
    found = cases.precision(flagged, members, prior=0.1, confidence=0.9)
    tpr, fpr = (cases.rate(flagged, side, confidence=0.95) for side in (members, ~members))
    assert found.value == precision(tpr.value, fpr.value, prior=0.1)
    assert found.low == precision(tpr.low, fpr.high, prior=0.1)
    assert found.high == precision(tpr.high, fpr.low, prior=0.1)
    bound = cases.epsilon(flagged, members, confidence=0.9)
    fnr, alarms = 1 - cases.lower(flagged, members, 0.95), 1 - cases.lower(~flagged, ~members, 0.95)
    assert bound.value == pytest.approx(float(log_ratio(alarms, fnr, 0.0)))
    every = np.ones(scores.size, bool)
    fnr, alarms = 1 - cases.lower(every, members, 0.95), 1 - cases.lower(every, ~members, 0.95)
    assert bound.largest_visible == pytest.approx(float(log_ratio(alarms, fnr, 0.0)))
    assert bound.value > 0
    nothing = cases.epsilon(rng.random(scores.size) < 0.5, members, confidence=0.9)
    assert nothing.value == 0.0


def test_sure_thresholds_equal_a_naive_scan(rng):
    scores, members, draws = game(rng, draws=90, targets=4)
    scores = np.round(scores, 2)
    cases = Cases.of(draws, scores.size)
    values = np.unique(scores[~members])
    chances = np.bincount(draws, ~members)
    strict, loose = [], []
    for value in values:
        quiet = np.bincount(draws, ~members & (scores <= value))
        if exceeds(quiet, chances, size=4, rate=1 - 0.4, confidence=0.95):
            strict.append(value)
        passing = np.bincount(draws, ~members & (scores >= value))
        if exceeds(passing, chances, size=4, rate=0.4, confidence=0.95):
            loose.append(value)
    found = cases.strict_threshold(scores, ~members, fpr=0.4, confidence=0.95)
    assert found == np.nextafter(min(strict), np.inf)
    assert cases.loose_threshold(scores, ~members, fpr=0.4, confidence=0.95) == max(loose)
    certain = cases.certain_tpr(scores, members, fpr=0.4, confidence=0.95)
    assert certain == cases.lower(scores >= found, members, 0.975) > 0


def test_the_tpr_over_draws_runs_from_a_strict_to_a_loose_threshold(rng):
    """Four errors of a quarter each."""
    scores, members, draws = game(rng, draws=200, targets=2)
    cases = Cases.of(draws, scores.size)
    point = cases.tpr_at_fpr(scores, members, fpr=0.3, confidence=0.9)
    strict = cases.strict_threshold(scores, ~members, fpr=0.3, confidence=0.975)
    loose = cases.loose_threshold(scores, ~members, fpr=0.3, confidence=0.975)
    assert np.isfinite([strict, loose]).all()
    assert point.tpr.low == cases.lower(scores >= strict, members, 0.975)
    assert point.tpr.high == 1 - cases.lower(scores < loose, members, 0.975)
    assert point.tpr.low < point.tpr.value < point.tpr.high < 1
    assert point.fpr.interval == (0.0, 1.0), "the threshold of the value is not surely strict enough"
    rare = cases.tpr_at_fpr(scores, members, fpr=1e-4, confidence=0.9)
    assert (rare.tpr.low, rare.tpr.high) == (0.0, 1.0) or rare.tpr.high < 1


def test_the_auc_over_draws_has_the_interval_of_the_jackknife(rng):
    """Where disjoint pairs allow more and DeLong's is narrower, it is the jackknife's to the last digit."""
    members = rng.random((60, 4)) < 0.5
    scores = (rng.normal(size=(60, 4)) + 1.2 * members * rng.choice([0, 2], (60, 1))).ravel()
    members, draws = members.ravel(), np.repeat(np.arange(60), 4)
    found = auc_over_draws(scores, members, Cases.of(draws, 240), confidence=0.9)
    value = auc(scores[members], scores[~members]).value
    without = np.array([auc(scores[(draws != k) & members], scores[(draws != k) & ~members]).value for k in range(60)])
    spread = student.ppf(0.95, 59) * math.sqrt(59 / 60 * ((without - without.mean()) ** 2).sum())
    single = auc(scores[members], scores[~members], confidence=0.9)
    assert found.low == pytest.approx(min(value - spread, single.low))
    assert found.high == pytest.approx(max(value + spread, single.high))
    assert value - spread < single.low, "draws that leak as a whole are fewer than their cases"


def test_the_auc_over_few_draws_reaches_as_far_as_pairs_of_draws_allow():
    """Six draws in perfect order are three disjoint pairs: .05^(1/3); all tied: half of that."""
    members, draws = np.tile([True, False], 6), np.repeat(np.arange(6), 2)
    cases, reach = Cases.of(draws, 12), 0.05 ** (1 / 3)
    found = auc_over_draws(members.astype(float), members, cases, confidence=0.9)
    assert found.value == 1.0
    assert found.low == pytest.approx(reach)
    tied = auc_over_draws(np.ones(12), members, cases, confidence=0.9)
    assert tied.interval == pytest.approx((0.5 * reach, 1 - 0.5 * reach))
    one_draw = auc_over_draws(np.arange(4.0), np.arange(4) > 1, Cases.of(np.zeros(4), 4), confidence=0.9)
    assert one_draw.interval == (0.0, 1.0)


def test_what_would_have_been_seen_is_where_the_simulated_games_pass_the_power():
    """Single cases of each draw, every member: seen as soon as the e-value against no gain passes 2/(1 - confidence)."""
    rng = np.random.default_rng(5)
    members = rng.random(160) < 0.5
    cases = Cases.of(np.repeat(np.arange(80), 2), 160)
    found = cases.visible_leak(members, power=0.7, confidence=0.9, rng=np.random.default_rng(6))
    luck = np.random.default_rng(6).random((200, 80))

    def seen(share: float) -> float:
        told = (luck < share)[:, cases.draw] & members
        return float(np.mean([float(cases._log_wealth_of_gain(row, members, 0.0)) >= math.log(20) for row in told]))

    assert seen(found) >= 0.7 > seen(found - 2e-3)
    assert math.exp(float(log_wealth([1, 1], [1, 1], size=1, rate=0.5))) > 1
