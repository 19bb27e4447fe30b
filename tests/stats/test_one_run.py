import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from tests.stats.mechanisms import Gaussian, Laplace, RandomisedResponse, coin_game, most_failures
from unmask.errors import ParameterError
from unmask.stats import (
    Assumption,
    TradeOff,
    epsilon_f_dp,
    epsilon_one_run,
    gaussian_epsilon,
    largest_visible_one_run,
    mu_f_dp,
    one_run_p_value,
)
from unmask.stats.epsilon._f_dp_kernel import normal_quantile


def naive_p_value(m, r, v, epsilon, delta):
    """The loop of Steinke, Nasr and Jagielski (2023), appendix D."""
    q = 1 / (1 + math.exp(-epsilon))
    tail, total, best = binom.sf(v - 1, r, q), 0.0, 0.0
    for i in range(1, v + 1):
        total += binom.pmf(v - i, r, q)
        best = max(best, total / i)
    return min(1.0, tail + 2 * m * delta * best)


@pytest.mark.parametrize(
    ("m", "r", "v"), [(1000, 1000, 560), (1000, 200, 174), (1000, 50, 50), (300, 300, 3), (50, 1, 1)]
)
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 1e-3])
def test_the_p_value_equals_a_naive_loop(m, r, v, epsilon, delta):
    ours = one_run_p_value(v, r, coins=m, epsilon=epsilon, delta=delta)
    assert ours == pytest.approx(naive_p_value(m, r, v, epsilon, delta), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("m", "r", "v"), [(1000, 200, 174), (400, 400, 300), (100, 20, 20)])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 1e-4])
def test_the_bound_is_where_the_naive_p_value_crosses_the_level(m, r, v, delta):
    bound = epsilon_one_run(v, r, coins=m, delta=delta).value
    assert bound > 0.5
    assert naive_p_value(m, r, v, bound - 1e-6, delta) < 0.05 <= naive_p_value(m, r, v, bound + 1e-6, delta)


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-4, 1e-2])
def test_the_p_value_rises_with_epsilon(delta):
    """Otherwise "the largest refuted epsilon" would not be a valid bound."""
    for r, v in ((200, 174), (1000, 600), (10, 10), (500, 20)):
        p = [one_run_p_value(v, r, coins=1000, epsilon=e, delta=delta) for e in np.linspace(0, 6, 121)]
        assert np.all(np.diff(p) >= -1e-12)


@pytest.mark.parametrize("mechanism", [RandomisedResponse(1.0), RandomisedResponse(2.0), Laplace(1.0)], ids=str)
def test_the_bound_stays_below_the_truth_and_comes_near_it(mechanism):
    rng, values = np.random.default_rng(0), []
    for _ in range(300):
        coins, scores = coin_game(mechanism, 500, rng)
        guessed = (scores >= mechanism.threshold) | (scores <= 1 - mechanism.threshold)
        right = guessed & (coins == (scores >= mechanism.threshold))
        values.append(epsilon_one_run(int(right.sum()), int(guessed.sum()), coins=500).value)
    assert np.sum(np.array(values) > mechanism.epsilon) <= most_failures(300)
    assert np.median(values) > 0.75 * mechanism.epsilon


def test_one_coin_per_run_is_sharper_than_two_error_rates():
    """1000 runs of Laplace, epsilon 1: both tails and no shared level."""
    from unmask.stats import Given, epsilon_clopper_pearson

    rng, one, two = np.random.default_rng(1), [], []
    for _ in range(40):
        coins, scores = coin_game(Laplace(1.0), 1000, rng)
        guessed = (scores >= 1) | (scores <= 0)
        one.append(
            epsilon_one_run(int((guessed & (coins == (scores >= 1))).sum()), int(guessed.sum()), coins=1000).value
        )
        two.append(epsilon_clopper_pearson(scores[coins], scores[~coins], threshold=Given(1.0)).value)
    assert np.median(one) > 1.1 * np.median(two)


def test_largest_visible_one_run():
    assert largest_visible_one_run(1000) == pytest.approx(math.log(0.05**0.001 / (1 - 0.05**0.001)))
    assert epsilon_one_run(10, 10, coins=1000, delta=1e-6).largest_visible >= largest_visible_one_run(1000, delta=1e-6)


def test_an_attack_that_abstains_or_errs_shows_nothing():
    assert epsilon_one_run(0, 0, coins=10).value == 0.0
    assert epsilon_one_run(0, 10, coins=10).value == 0.0
    assert epsilon_one_run(5, 10, coins=10, delta=1e-3).value == 0.0
    with pytest.raises(ParameterError, match="11 out of 10"):
        epsilon_one_run(11, 10, coins=20)
    with pytest.raises(ParameterError, match="30 out of 20"):
        epsilon_one_run(11, 30, coins=20)


def naive_refuted(c, g, m, mu, level=0.05):
    """Algorithm 3 of Mahloujifar, Melis and Chaudhuri (2024) for a Gaussian trade-off."""
    r, h = level * c / m, level * (g - c) / m
    for i in range(c - 1, -1, -1):
        more = max(h, ndtr(ndtri(r) - mu))
        r += i / (g - i) * (more - h)
        h = more
    return r + h > g / m


@pytest.mark.parametrize(
    ("m", "g", "c"), [(1000, 1000, 691), (1000, 200, 174), (1000, 80, 73), (300, 30, 30), (50, 50, 26)]
)
def test_the_f_dp_bound_is_where_a_naive_recursion_changes_its_mind(m, g, c):
    mu = mu_f_dp(c, g, coins=m).value
    assert naive_refuted(c, g, m, mu - 1e-6) or mu == 0
    assert not naive_refuted(c, g, m, mu + 1e-6)


def test_f_dp_against_one_run_at_mu_one():
    """m = 1000, delta = 1e-5: METHODS' 2.60 against 1.72 is 91 right of 100 guesses, one more than mu = 1 gives on average."""
    sharp = epsilon_f_dp(91, 100, coins=1000, family=TradeOff.GAUSSIAN, delta=1e-5)
    plain = epsilon_one_run(91, 100, coins=1000, delta=1e-5)
    assert sharp.value == pytest.approx(2.60, abs=0.005)
    assert plain.value == pytest.approx(1.72, abs=0.005)
    assert sharp.value < gaussian_epsilon(1e-5, 1.0)
    assert sharp.assumption is Assumption.MODEL_BASED


def test_the_approximate_family_agrees_with_one_run_and_is_exact():
    """Same statement by another proof: within 2 % of each other at a small delta, and never needs a Gaussian."""
    sharp = epsilon_f_dp(174, 200, coins=1000, delta=1e-6)
    assert sharp.assumption is Assumption.EXACT
    assert sharp.value == pytest.approx(epsilon_one_run(174, 200, coins=1000, delta=1e-6).value, rel=0.02)


def test_f_dp_pays_less_for_delta_when_there_are_many_coins():
    """Without delta it is a little looser than the one-run theorem; at m delta = 10 it keeps what the other loses."""
    pure = epsilon_f_dp(1700, 2000, coins=100_000).value
    assert 0.99 < pure / epsilon_one_run(1700, 2000, coins=100_000).value < 1.0
    assert epsilon_one_run(1700, 2000, coins=100_000, delta=1e-4).value == pytest.approx(0.732, abs=0.001)
    assert epsilon_f_dp(1700, 2000, coins=100_000, delta=1e-4).value == pytest.approx(1.583, abs=0.001)


def test_f_dp_stays_below_the_truth():
    rng, wrong, truth = np.random.default_rng(2), 0, 1.0
    for _ in range(300):
        coins = rng.random(300) < 0.5
        scores = rng.normal(size=300) + coins * truth
        order = np.argsort(scores)
        right = int(coins[order[-40:]].sum() + (~coins[order[:40]]).sum())
        wrong += mu_f_dp(right, 80, coins=300).value > truth
    assert wrong <= most_failures(300)


def test_f_dp_in_a_case_that_is_tight():
    """Gaussian with a large delta against the approximate family, best threshold."""
    mechanism, rng, wrong = Gaussian(1.0, delta=0.01), np.random.default_rng(3), 0
    for _ in range(200):
        coins, scores = coin_game(mechanism, 300, rng)
        guessed = scores >= mechanism.threshold
        wrong += epsilon_f_dp(int(coins[guessed].sum()), max(1, int(guessed.sum())), coins=300, delta=0.01).value > 1.0
    assert wrong <= most_failures(200)


def test_a_gaussian_family_needs_a_delta():
    with pytest.raises(ParameterError, match="delta = 0"):
        epsilon_f_dp(9, 10, coins=10, family=TradeOff.GAUSSIAN)


def test_the_compiled_normal_quantile_equals_scipys():
    p = np.concatenate([np.logspace(-300, -1, 500), np.linspace(0.1, 0.9, 200), 1 - np.logspace(-15, -1, 200)])
    assert [normal_quantile(x) for x in p] == pytest.approx(ndtri(p), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize(("v", "at"), [(10_183, 256), (10_184, 257), (10_185, 258)])
def test_the_p_value_looks_beyond_its_first_window(v, at):
    """The maximum lies at the end of the first window of 256, and at the begin of the second: nothing between is left out."""
    ours = one_run_p_value(v, 20_000, coins=20_000, epsilon=0.0, delta=1e-7)
    below = binom.cdf(v - 1, 20_000, 0.5) - binom.cdf(v - 1 - np.arange(1, v + 1), 20_000, 0.5)
    best = float(np.max(below / np.arange(1, v + 1)))
    assert int(np.argmax(below / np.arange(1, v + 1))) + 1 == at
    assert ours == pytest.approx(binom.sf(v - 1, 20_000, 0.5) + 2 * 20_000 * 1e-7 * best, rel=1e-12)


def test_one_coin_is_a_run_and_none_is_not():
    assert epsilon_one_run(1, 1, coins=1).value == 0.0
    assert epsilon_one_run(1, 1, coins=1, confidence=0.3).value == pytest.approx(math.log(0.7 / 0.3))
    with pytest.raises(ParameterError, match="0 coins"):
        epsilon_one_run(0, 0, coins=0)
