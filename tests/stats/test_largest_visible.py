"""What could have been seen at all, for each method in closed form: sides of different sizes, deltas, too few runs."""

import math

import pytest
from scipy.stats import norm

from unmask.stats import (
    Betting,
    gaussian_epsilon,
    largest_visible_anytime,
    largest_visible_clopper_pearson,
    largest_visible_gaussian,
    largest_visible_hockey_stick,
    largest_visible_listed,
    largest_visible_of_bets,
    largest_visible_one_run,
    log_e_value,
)
from unmask.stats.bets import STAKE, STEP
from unmask.stats.epsilon.anytime import CAUTION, GRID


def never(n: int, error: float = 0.025) -> float:
    """The rate under which no success in n has this probability: (1 - rate)^n = error."""
    return 1 - error ** (1 / n)


@pytest.mark.parametrize(("n_in", "n_out", "delta"), [(100, 300, 0.0), (300, 100, 0.01), (50, 60, 0.2)])
def test_clopper_pearson(n_in, n_out, delta):
    fpr, fnr = never(n_out), never(n_in)
    expected = max(math.log((1 - delta - fpr) / fnr), math.log((1 - delta - fnr) / fpr))
    assert largest_visible_clopper_pearson(n_in, n_out, delta=delta) == pytest.approx(expected)


def test_clopper_pearson_is_zero_where_nothing_can_be_seen():
    assert largest_visible_clopper_pearson(1, 1) == 0.0


def test_gaussian():
    mu = -norm.ppf(never(400)) - norm.ppf(never(900))
    assert largest_visible_gaussian(400, 900, delta=1e-6) == pytest.approx(gaussian_epsilon(1e-6, mu))
    stricter = -norm.ppf(never(400, 0.005)) - norm.ppf(never(900, 0.005))
    assert largest_visible_gaussian(400, 900, delta=1e-6, confidence=0.99) == pytest.approx(
        gaussian_epsilon(1e-6, stricter)
    )


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_hockey_stick(delta):
    """1 - (1 + e^eps) R passes delta where e^eps = (1 - delta)/R - 1; one draw shows nothing."""
    expected = math.log((1 - delta) / never(500, 0.05) - 1)
    assert largest_visible_hockey_stick(500, delta=delta) == pytest.approx(expected)
    assert largest_visible_hockey_stick(1, delta=delta) == 0.0


@pytest.mark.parametrize("coins", [30, 400])
def test_one_run(coins):
    accuracy = 0.05 ** (1 / coins)
    assert largest_visible_one_run(coins) == pytest.approx(math.log(accuracy / (1 - accuracy)))
    assert largest_visible_one_run(coins, delta=1e-3) < largest_visible_one_run(coins)


def test_listed_people():
    """A list of 3 of 50 at rate .2 asks for e-values of 50/(.2 x 3)."""
    found = largest_visible_listed(40, people=50, rate=0.2, listed=3)
    assert float(log_e_value(40, 40, epsilon=found)) == pytest.approx(math.log(50 / 0.6), abs=1e-9)


@pytest.mark.parametrize(("runs", "listed"), [(32, 1), (96, 20)])
def test_bets(runs, listed):
    """Certain and right in every run: wealth (1 + s/e^eps)^runs meets people/(rate listed); bounds lie on the grid below."""
    needed = 1000 / (0.1 * listed)
    crossing = math.log(STAKE / (needed ** (1 / runs) - 1))
    found = largest_visible_of_bets(runs, people=1000, rate=0.1, listed=listed)
    assert crossing - STEP < found <= crossing


@pytest.mark.parametrize("delta", [0.0, 0.02])
@pytest.mark.parametrize("pairs", [20, 60])
def test_anytime(pairs, delta):
    """The event holds always with the target and never without: each pair gains 1 - delta, at a stake from earlier pairs."""
    best = 0.0
    for epsilon in GRID:
        wealth = 1.0
        for seen in range(pairs):
            total, square = seen * (1 - delta), seen * (1 - delta) ** 2
            stake = min(total / (1 + square), CAUTION / (math.exp(epsilon) + delta))
            wealth *= 1 + stake * (1 - delta)
        if wealth < 20:
            break
        best = epsilon
    assert largest_visible_anytime(pairs, delta=delta) == best > 0
    assert largest_visible_anytime(pairs) >= best


@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_betting_on_coins(delta):
    """One attack of four that is right about coins in turn: its region of the next coin was right in all of its bets so far.

    At delta = 0 the other three keep their wealth of 1, and the promise leaves that out.
    """
    state, runs = Betting.start(attacks=4, delta=delta), 50
    best = 0.0
    for epsilon in GRID:
        odds, wealth = math.exp(epsilon), 1.0
        q = odds / (1 + odds)
        for run in range(runs):
            right = run // 2
            pi = (right + 2 * q) / (right + 2)
            stake = min((pi - (1 - pi) * odds) / odds, 0.98 / (odds + delta))
            wealth *= 1 + max(stake, 0.0) * (1 - delta)
        if wealth / 4 < 20:
            break
        best = epsilon
    for run in range(runs):
        state = state.observe(run % 2 == 0, [int(run % 2 == 0), -1, -1, -1])
    assert state.bound().largest_visible == best > 0
