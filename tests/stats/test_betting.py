import json
import math

import numpy as np
import pytest

from tests.stats.mechanisms import Gaussian, Laplace, coin_game, most_failures
from unmask.errors import ParameterError
from unmask.stats import Betting, HalfLines, best_half_lines, stakes


def naive_wealth(coins, guesses, epsilon, delta):
    """The arithmetic of METHODS 3 for one attack, run by run (cap .98/(e^eps + delta), so that delta > 0 cannot ruin it)."""
    odds, q = math.exp(epsilon), math.exp(epsilon) / (1 + math.exp(epsilon))
    right, bets, wealth = [0, 0], [0, 0], 1.0
    for coin, guess in zip(coins, guesses, strict=True):
        pi = [(right[r] + 2 * q) / (bets[r] + 2) for r in (0, 1)]
        stake = [min(max((p - (1 - p) * odds) / odds, 0), 0.98 / (odds + delta)) for p in pi]
        factor = 1 - sum(stake) * delta / 2
        if guess >= 0:
            factor += stake[guess] if guess == coin else -stake[guess] * odds
            bets[guess] += 1
            right[guess] += guess == coin
        wealth *= factor
    return wealth


@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_wealth_equals_a_naive_loop_for_each_attack(delta):
    rng = np.random.default_rng(0)
    coins = rng.random(80) < 0.5
    guesses = np.stack([np.where(rng.random(80) < 0.9, coins, ~coins), rng.integers(-1, 2, 80)], axis=1).astype(int)
    state = Betting.start([0.5, 1.0], attacks=2, delta=delta)
    for coin, guess in zip(coins, guesses, strict=True):
        state = state.observe(bool(coin), guess)
    for attack in (0, 1):
        for column, epsilon in enumerate((0.5, 1.0)):
            expected = naive_wealth(coins, guesses[:, attack], epsilon, delta)
            assert state.log_wealth[attack, column] == pytest.approx(math.log(expected), abs=1e-9)
    assert state.leader(1.0) == 0
    assert state.bound().n == 80


def test_stakes_are_kellys_and_start_at_nothing():
    epsilons = np.array([0.0, 1.0])
    assert stakes(0, 0, epsilons=epsilons) == pytest.approx([0, 0], abs=1e-15)
    assert stakes(3, 10, epsilons=epsilons) == pytest.approx([0, 0])
    pi = (90 + 2 * 0.5) / 102
    grid = np.linspace(0, 0.98, 100_001)
    growth = pi * np.log1p(grid) + (1 - pi) * np.log1p(-grid)
    assert stakes(90, 100, epsilons=epsilons)[0] == pytest.approx(grid[np.argmax(growth)], abs=1e-4)


def test_the_mean_factor_of_a_tight_mechanism_is_one():
    """P_D(r) = e^eps P_D'(r) + delta in the region that guesses D: the bet is exactly fair."""
    epsilon, delta, out, stake = 1.0, 0.05, 0.2, 0.25
    inside = math.exp(epsilon) * out + delta
    mean = 1 - stake * delta / 2 + 0.5 * inside * stake - 0.5 * out * stake * math.exp(epsilon)
    assert mean == pytest.approx(1.0)


def test_the_state_carries_over_by_json_and_does_not_change():
    start = Betting.start(attacks=2, delta=1e-6)
    state = start
    for coin in (True, False, True, True, False):
        state = Betting.from_plain(json.loads(json.dumps(state.observe(coin, [int(coin), -1]).to_plain())))
    assert state.runs == 5
    assert state.right.tolist() == [[2, 3], [0, 0]]
    assert start.runs == 0
    assert not start.bets.any()


def test_a_perfect_attack_among_useless_ones_is_seen_as_far_as_can_be():
    state = Betting.start(attacks=5)
    for run in range(60):
        coin = run % 2 == 0
        state = state.observe(coin, [int(coin), -1, -1, -1, -1])
    bound = state.bound()
    assert bound.refutes(1.0)
    assert bound.value <= bound.largest_visible
    assert bound.largest_visible - bound.value <= 0.05  # the others keep wealth 1 here, at most a grid step or two


def test_a_gross_leak_is_refuted_in_a_dozen_runs_or_two():
    """Claim 1, target always recognised, three attacks of which two know nothing: METHODS says medians from 12 runs on."""
    rng, needed = np.random.default_rng(1), []
    for _ in range(21):
        state = Betting.start([1.0], attacks=3)
        while not state.refuted()[0]:
            coin = bool(rng.random() < 0.5)
            state = state.observe(coin, [int(coin), *rng.integers(0, 2, 2)])
        needed.append(state.runs)
    assert 10 <= np.median(needed) <= 30


@pytest.mark.parametrize("mechanism", [Laplace(1.0), Gaussian(1.0, delta=0.05)], ids=str)
def test_a_true_claim_is_hardly_ever_refuted(mechanism):
    """Regions refitted on past runs at 32 and 64, record carried over, looked at after every run: at most 5 % of 100."""
    rng, wrong = np.random.default_rng(2), 0
    for _ in range(100):
        coins, scores = coin_game(mechanism, 100, rng)
        state, lines = Betting.start([1.0], attacks=1, delta=mechanism.delta), HalfLines(-math.inf, math.inf)
        for run in range(100):
            if run in (32, 64):
                lines = best_half_lines(scores[:run], coins[:run], epsilon=1.0)
                past = np.array([lines.guess(score) for score in scores[:run]])
                bets = [int(np.sum(past == r)) for r in (0, 1)]
                right = [int(np.sum((past == r) & (coins[:run] == r))) for r in (0, 1)]
                state = state.with_record(0, right=right, bets=bets)
            state = state.observe(bool(coins[run]), [lines.guess(scores[run])])
        wrong += state.refuted()[0]
    assert wrong <= most_failures(100)


def test_half_lines_find_both_ends_and_leave_the_middle():
    rng = np.random.default_rng(3)
    coins, scores = coin_game(Laplace(3.0), 2000, rng)
    lines = best_half_lines(scores, coins, epsilon=1.0)
    assert 0.0 < lines.out_below < 0.5 < lines.in_above < 1.0  # outside (0, 1) the likelihood ratio is flat
    assert (lines.guess(-5.0), lines.guess(5.0)) == (0, 1)


def test_half_lines_equal_a_naive_search():
    rng = np.random.default_rng(4)
    scores, coins = np.round(rng.normal(size=60), 1), rng.random(60) < 0.5
    scores[coins] += 1.5
    q = math.e / (1 + math.e)

    def growth(chosen):
        n, k = chosen.sum(), coins[chosen].sum()
        pi = (k + 2 * q) / (n + 2)
        return n * (pi * math.log(pi / q) + (1 - pi) * math.log((1 - pi) / (1 - q))) if pi > q else 0.0

    best = max(np.unique(scores), key=lambda t: growth(scores >= t))
    assert best_half_lines(scores, coins, epsilon=1.0).in_above == best


def test_useless_scores_are_abstained_from():
    lines = best_half_lines(np.zeros(40), np.arange(40) % 2 == 0, epsilon=1.0)
    assert (lines.in_above, lines.out_below) == (math.inf, -math.inf)
    assert lines.guess(0.0) == -1


def test_arguments_without_meaning_are_refused():
    state = Betting.start([1.0], attacks=2)
    with pytest.raises(ParameterError, match="2 numbers"):
        state.observe(True, [1])
    with pytest.raises(ParameterError, match="impossible"):
        state.with_record(0, right=[3, 0], bets=[2, 0])
    with pytest.raises(ParameterError, match="go together"):
        best_half_lines([1.0, 2.0], [True], epsilon=1.0)
