import math

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

from tests.stats.mechanisms import most_failures
from unmask.errors import ParameterError
from unmask.stats import average_log_e_values, e_bh, epsilon_for_listed, largest_visible_listed, log_e_value


@pytest.mark.parametrize(("v", "r"), [(0, 0), (1, 1), (10, 12), (3, 20), (32, 64)])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_the_closed_form_equals_the_integral(v, r, epsilon):
    q = math.exp(epsilon) / (1 + math.exp(epsilon))
    value, _ = quad(lambda u: (u / q) ** v * ((1 - u) / (1 - q)) ** (r - v) / (1 - q), q, 1)
    assert float(log_e_value(v, r, epsilon=epsilon)) == pytest.approx(math.log(value), abs=1e-9)


@pytest.mark.parametrize(("v", "r", "epsilon"), [(0, 3000, 0.0), (400, 5000, 1.0), (0, 40, 9.0), (1500, 5000, 0.3)])
def test_logs_hold_where_the_integral_underflows(v, r, epsilon):
    """Against 60 digits: these tails are below the smallest float."""
    with mpmath.workdps(60):
        q = mpmath.exp(epsilon) / (1 + mpmath.exp(epsilon))
        tail = mpmath.betainc(r - v + 1, v + 1, 0, 1 - q)
        expected = mpmath.log(tail) - v * mpmath.log(q) - (r - v + 1) * mpmath.log(1 - q)
    assert float(log_e_value(v, r, epsilon=epsilon)) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("r", [1, 8, 40])
def test_the_mean_is_one_at_the_border_and_less_inside(epsilon, r):
    """What makes it an e-value, summed exactly over the binomial."""
    q = math.exp(epsilon) / (1 + math.exp(epsilon))
    e = np.exp(log_e_value(np.arange(r + 1), r, epsilon=epsilon))
    assert binom.pmf(np.arange(r + 1), r, q) @ e == pytest.approx(1.0)
    assert binom.pmf(np.arange(r + 1), r, 0.8 * q) @ e < 1.0


def test_no_guess_is_no_evidence():
    assert float(log_e_value(0, 0)) == pytest.approx(0.0, abs=1e-12)


def test_the_e_value_falls_with_epsilon_while_it_exceeds_one():
    """So the largest epsilon that reaches a threshold above 1 is well defined."""
    grid = np.linspace(0, 12, 600)
    for v, r in ((64, 64), (60, 64), (40, 64), (10, 10), (900, 1000)):
        values = log_e_value(v, r, epsilon=grid)
        above = values > 0
        assert np.all(np.diff(values)[above[:-1]] < 1e-12)
        assert not np.any(above[np.argmin(above) :]) or above.all()


def test_the_epsilon_of_listed_people_is_where_the_e_value_meets_the_threshold():
    v, r = np.array([64, 60, 33]), np.array([64, 64, 64])
    bounds = epsilon_for_listed(v, r, log_threshold=math.log(100))
    assert log_e_value(v[:2], r[:2], epsilon=bounds[:2]) == pytest.approx([math.log(100)] * 2, abs=1e-6)
    assert bounds[2] == 0.0
    assert largest_visible_listed(64, people=10, rate=0.1) == pytest.approx(bounds[0])
    with pytest.raises(ParameterError, match="exceed 1"):
        epsilon_for_listed(v, r, log_threshold=0.0)


def test_leaking_people_are_found_and_nobody_else():
    """20 of 1000 copied with probability .5, 128 coins: guessed in when seen, never wrong; the others guessed blindly."""
    rng, people, coins = np.random.default_rng(0), 1000, 128
    seen = rng.binomial(coins, 0.25, 20)
    blind = rng.binomial(coins, 0.5, people - 20)
    right = np.concatenate([seen, rng.binomial(blind, 0.5)])
    listing = e_bh(log_e_value(right, np.concatenate([seen, blind])), rate=0.1)
    assert listing.rejected[:20].all()
    assert not listing.rejected[20:].any()


def test_lists_of_nobody_are_empty_at_their_rate():
    """Coins guessed at random: any name on the list is false; the chance of one is at most 10 % (limit of 200)."""
    rng = np.random.default_rng(1)
    lists = sum(e_bh(log_e_value(rng.binomial(64, 0.5, 200), 64), rate=0.1).rejected.any() for _ in range(200))
    assert lists <= most_failures(200, level=0.1)


def test_bounds_of_listed_people_exceed_the_truth_for_a_small_share_only():
    """Everybody has epsilon 1; the expected share of false bounds among the listed is at most 10 %."""
    rng, shares = np.random.default_rng(2), []
    for _ in range(100):
        v = rng.binomial(64, math.e / (1 + math.e), 300)
        listing = e_bh(log_e_value(v, 64), rate=0.1)
        if listing.rejected.any():
            bounds = epsilon_for_listed(v[listing.rejected], 64, log_threshold=listing.log_threshold)
            shares.append(np.mean(bounds > 1.0))
    assert len(shares) > 90
    assert np.mean(shares) <= 0.1


def test_averages_of_e_values_are_taken_before_the_log():
    values = np.log([[1.0, 8.0], [3.0, 2.0]])
    assert average_log_e_values(values) == pytest.approx(np.log([2.0, 5.0]))
    assert average_log_e_values(np.array([[900.0], [-np.inf]])) == pytest.approx([900 - math.log(2)])


def test_impossible_counts_are_refused():
    with pytest.raises(ParameterError, match="between 0"):
        log_e_value([5], [4])
    with pytest.raises(ParameterError, match="negative"):
        log_e_value(1, 2, epsilon=-1.0)
