"""The coins of the whole-table audit are fair and independent; pairs differ, and whoever is left over is in."""

import numpy as np
import pytest
from scipy.stats import chi2

from unmask.errors import ParameterError
from unmask.generators.claim import Claim, Neighbours
from unmask.threats.coins import NOBODY, CoinGame, coins_for
from unmask.threats.knowledge import Coins

DEALS = 8000


def deals(game: CoinGame, rng: np.random.Generator, count: int = DEALS) -> np.ndarray:
    return np.stack([game.deal(rng) for _ in range(count)])


def surprise(patterns: np.ndarray, cells: int) -> float:
    """Chi-squared statistic of "all patterns are equally likely"."""
    seen = np.bincount(patterns, minlength=cells)
    return float(((seen - len(patterns) / cells) ** 2).sum() / (len(patterns) / cells))


def test_independent_coins_are_fair_and_independent(rng):
    """All 32 ways in which five coins can fall are equally likely (99.99 % limit)."""
    dealt = deals(CoinGame.of(Coins.INDEPENDENT, 5, rng), rng)
    assert surprise(dealt @ (1 << np.arange(5)), 32) < chi2.ppf(0.9999, 31)


def test_coins_of_successive_runs_are_independent(rng):
    dealt = deals(CoinGame.of(Coins.INDEPENDENT, 4, rng), rng)
    assert surprise(2 * dealt[1::2, 0] + dealt[::2, 0], 4) < chi2.ppf(0.9999, 3)


def test_the_number_of_members_is_not_fixed(rng):
    """Fixed halves would make coins depend on each other: the size has the variance of a binomial."""
    sizes = deals(CoinGame.of(Coins.INDEPENDENT, 40, rng), rng).sum(axis=1)
    assert sizes.var() == pytest.approx(10, rel=0.1)


@pytest.mark.parametrize("units", [4, 7, 20, 21])
def test_of_a_pair_exactly_one_is_in_and_the_odd_unit_always(units, rng):
    game = CoinGame.of(Coins.PAIRED, units, rng)
    dealt = deals(game, rng, 300)
    paired = np.flatnonzero(game.partners != NOBODY)
    assert len(paired) == units - units % 2
    assert np.array_equal(game.partners[game.partners[paired]], paired)
    assert np.all(game.partners[paired] != paired)
    assert np.all(dealt[:, paired] != dealt[:, game.partners[paired]])
    assert dealt[:, ~game.coined].all()
    assert set(dealt.sum(axis=1)) == {units // 2 + units % 2}  # n is public, so it must say nothing


def test_coins_of_pairs_are_fair_and_independent(rng):
    game = CoinGame.of(Coins.PAIRED, 9, rng)
    assert len(game.firsts) == 4
    assert surprise(deals(game, rng)[:, game.firsts] @ (1 << np.arange(4)), 16) < chi2.ppf(0.9999, 15)


def test_one_of_each_pair_stands_for_its_coin(rng):
    game = CoinGame.of(Coins.PAIRED, 31, rng)
    both = np.concatenate([game.firsts, game.partners[game.firsts]])
    assert np.array_equal(np.sort(both), np.flatnonzero(game.coined))
    single = CoinGame.of(Coins.INDEPENDENT, 31, rng)
    assert np.array_equal(single.firsts, np.arange(31))
    assert single.coined.all()


def test_pairs_are_drawn_at_random():
    """Every other unit is the partner of unit 0 equally often (99.99 % limit)."""
    partner = [CoinGame.of(Coins.PAIRED, 6, np.random.default_rng(seed)).partners[0] for seed in range(3000)]
    assert surprise(np.array(partner) - 1, 5) < chi2.ppf(0.9999, 4)


def test_tables_of_three_are_refused(rng):
    with pytest.raises(ParameterError, match="at least 4"):
        CoinGame.of(Coins.INDEPENDENT, 3, rng)


def test_the_claim_decides_on_the_kind_of_coins():
    assert coins_for(None) is Coins.INDEPENDENT
    assert coins_for(Claim(1.0)) is Coins.INDEPENDENT
    assert coins_for(Claim(1.0, neighbours=Neighbours.REPLACE)) is Coins.PAIRED
