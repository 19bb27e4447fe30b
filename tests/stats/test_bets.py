"""Bets on coins: the mean of the e-value is at most 1 whatever the evidence, and bounds are what the definition says."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from unmask.errors import ParameterError
from unmask.stats import epsilon_of_bets, largest_visible_of_bets, log_e_value_of_bets
from unmask.stats.bets import LARGEST, MOST, STAKE, STEP

EPSILONS = (0.0, 0.3, 1.0, 3.0)
RUNS = 6


def naive(evidence, coins, epsilon: float) -> float:
    """The product, bet by bet, as the docstring has it."""
    odds, wealth = math.exp(epsilon), 1.0
    for told, inside in zip(evidence, coins, strict=True):
        sure = 1 / (1 + math.exp(-abs(told)))
        stake = min(STAKE * (sure - (1 - sure) * odds), MOST) / odds
        if stake > 0:
            wealth *= 1 + stake if (told > 0) == bool(inside) else 1 - stake * odds
    return wealth


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_it_is_the_product_of_the_bets(epsilon, rng):
    evidence, coins = rng.normal(0, 3, (40, 30)), rng.random((40, 30)) < 0.5
    expected = [math.log(naive(evidence[:, i], coins[:, i], epsilon)) for i in range(30)]
    assert log_e_value_of_bets(evidence, coins, epsilon=epsilon) == pytest.approx(expected, abs=1e-9)


def learnt(earlier: tuple[bool, ...], seed: int) -> float:
    """Evidence about the next coin: anything at all, and it may hang on the coins that were seen before."""
    return float(np.random.default_rng([seed, len(earlier), *map(int, earlier)]).normal(0, 3))


def mean_e_value(epsilon: float, seed: int, chance_of_right: float) -> float:
    """Over all ways in which the coins can fall, if the side that the evidence favours is right with this probability."""
    total = 0.0
    for coins in product((False, True), repeat=RUNS):
        evidence = [learnt(coins[:run], seed) for run in range(RUNS)]
        weight = math.prod(
            chance_of_right if (told > 0) == coin else 1 - chance_of_right
            for told, coin in zip(evidence, coins, strict=True)
        )
        column = np.array(evidence)[:, None], np.array(coins)[:, None]
        total += weight * math.exp(log_e_value_of_bets(*column, epsilon=epsilon)[0])
    return total


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_its_mean_is_one_for_the_worst_mechanism_that_the_claim_allows(epsilon, seed):
    """Evidence as strong as the claim allows, in every run: the e-value is fair, exactly."""
    q = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert mean_e_value(epsilon, seed, q) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_its_mean_is_at_most_one_for_anything_weaker(epsilon, share):
    """From evidence that is always wrong by as much as allowed to evidence that is nearly as good as allowed."""
    q = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert mean_e_value(epsilon, 0, (1 - q) + share * (2 * q - 1)) <= 1 + 1e-12


def test_the_mean_exceeds_one_where_the_claim_is_false():
    """Else the two tests above could not fail."""
    assert mean_e_value(1.0, 0, 0.9) > 1.1


def test_no_evidence_no_bet():
    assert np.array_equal(log_e_value_of_bets(np.zeros((5, 3)), np.ones((5, 3), bool)), np.zeros(3))
    assert log_e_value_of_bets(np.zeros((0, 3)), np.zeros((0, 3), bool)).tolist() == [0, 0, 0]


def test_one_wrong_bet_never_costs_everything():
    certain = np.array([[np.inf], [-np.inf], [1e300]])
    for epsilon in EPSILONS:
        assert np.isfinite(log_e_value_of_bets(certain, np.array([[False], [True], [False]]), epsilon=epsilon)).all()


def evidence_of_some_strength(rng, people: int = 25) -> tuple[np.ndarray, np.ndarray]:
    coins = rng.random((60, people)) < 0.5
    return np.where(coins, 1, -1) * rng.normal(2.0, 1.5, coins.shape), coins


@pytest.mark.parametrize("threshold", [3.0, 8.0])
def test_a_bound_is_the_end_of_what_reaches_the_threshold(threshold, rng):
    evidence, coins = evidence_of_some_strength(rng)
    bounds = epsilon_of_bets(evidence, coins, log_threshold=threshold)
    grid = np.arange(0, LARGEST + STEP / 2, STEP)
    reached = np.array([log_e_value_of_bets(evidence, coins, epsilon=e) >= threshold for e in grid])
    unbroken = np.logical_and.accumulate(reached, axis=0)
    expected = [grid[np.flatnonzero(column)[-1]] if column.any() else 0.0 for column in unbroken.T]
    assert bounds == pytest.approx(expected)
    assert bounds.max() > 0.3


def test_bounds_fall_as_the_threshold_rises_and_rise_with_right_bets(rng):
    evidence, coins = evidence_of_some_strength(rng)
    bounds = [epsilon_of_bets(evidence, coins, log_threshold=t) for t in (1.0, 3.0, 6.0, 12.0)]
    assert np.all(np.diff(bounds, axis=0) <= 0)
    more = np.concatenate([evidence, np.full((20, 25), 9.0)]), np.concatenate([coins, np.ones((20, 25), bool)])
    assert np.all(epsilon_of_bets(*more, log_threshold=6.0) >= bounds[2])


def test_the_largest_visible_is_reached_by_certainty_alone():
    found = [largest_visible_of_bets(runs, people=1000, rate=0.1, listed=20) for runs in (8, 32, 96, 400)]
    assert np.all(np.diff(found) > 0)
    certain = np.full((96, 1), 40.0), np.ones((96, 1), bool)
    assert epsilon_of_bets(*certain, log_threshold=math.log(1000 / 2))[0] == pytest.approx(found[2])


@pytest.mark.parametrize("truth", [0.0, 1.0, 2.0])
def test_bounds_of_randomised_response_are_honest(truth, rng):
    """Each person's bound at threshold 20 exceeds their epsilon with probability at most 1/20 (99.9 % limit of 3,000)."""
    q = math.exp(truth) / (1 + math.exp(truth))
    coins = rng.random((96, 3000)) < 0.5
    told = np.where(rng.random(coins.shape) < q, coins, ~coins)
    sure = rng.choice([0.5, 1.0, 3.0], 3000) * max(truth, 0.5)  # some scorers know better than others what it is worth
    bounds = epsilon_of_bets(np.where(told, sure, -sure), coins, log_threshold=math.log(20))
    assert (bounds > truth + 1e-9).sum() <= binom.ppf(0.999, 3000, 0.05)
    assert truth == 0 or np.median(bounds) > 0.2 * truth


def test_what_makes_no_sense_is_refused(rng):
    coins = np.ones((4, 2), bool)
    with pytest.raises(ParameterError, match="runs x people"):
        log_e_value_of_bets(np.zeros((4, 3)), coins)
    with pytest.raises(ParameterError, match="no number"):
        log_e_value_of_bets(np.full((4, 2), np.nan), coins)
    with pytest.raises(ParameterError, match="epsilon"):
        log_e_value_of_bets(np.zeros((4, 2)), coins, epsilon=-1)
    with pytest.raises(ParameterError, match="threshold"):
        epsilon_of_bets(np.zeros((4, 2)), coins, log_threshold=0.0)


def test_thousands_of_certain_runs_pass_no_limit_of_a_float():
    """1.7^5000 is far beyond 1e308; the wealth is kept as a logarithm."""
    told = log_e_value_of_bets(np.full((5000, 1), 50.0), np.ones((5000, 1), bool))
    assert told[0] == pytest.approx(5000 * math.log(1 + STAKE))
