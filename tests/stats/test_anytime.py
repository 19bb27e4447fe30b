import json
import math

import numpy as np
import pytest

from tests.stats.mechanisms import RandomisedResponse, most_failures
from unmask.errors import ParameterError
from unmask.stats import Anytime, Direction, epsilon_anytime, largest_visible_anytime


def naive_wealth(first, second, epsilon, delta):
    """The process of METHODS 3.7, pair by pair: all values of W."""
    wealth, total, square, path = 1.0, 0.0, 0.0, []
    for x, y in zip(first, second, strict=True):
        stake = min(max(total / (1 + square), 0.0), 0.9 / (math.exp(epsilon) + delta))
        gain = x - math.exp(epsilon) * y - delta
        wealth *= 1 + stake * gain
        total, square = total + gain, square + gain * gain
        path.append(wealth)
    return path


def pairs(n, tpr, fpr, rng):
    return rng.random(n) < tpr, rng.random(n) < fpr


@pytest.mark.parametrize("delta", [0.0, 0.03])
def test_wealth_equals_a_naive_loop(delta):
    first, second = pairs(60, 0.8, 0.2, np.random.default_rng(0))
    state = Anytime.start([0.0, 1.0, 2.5], delta=delta).observe(first, second)
    for column, epsilon in enumerate(state.epsilons):
        path = naive_wealth(first, second, epsilon, delta)
        assert state.log_wealth[0, column] == pytest.approx(math.log(path[-1]), abs=1e-9)
        assert state.peak[column] == pytest.approx(max(0.0, math.log(max(path))), abs=1e-9)


def test_one_by_one_all_at_once_and_carried_over_by_json_are_the_same(monkeypatch):
    first, second = pairs(40, 0.7, 0.2, np.random.default_rng(1))
    start = Anytime.start(delta=1e-3, bettors=2)
    both, swapped = np.stack([first, ~second], axis=1), np.stack([second, ~first], axis=1)
    at_once = start.observe(both, swapped)
    by_one = start
    for x, y in zip(both, swapped, strict=True):
        by_one = Anytime.from_plain(json.loads(json.dumps(by_one.observe(x, y).to_plain())))
    monkeypatch.setattr("unmask.stats.epsilon.anytime.CELLS", 1000)
    in_pieces = start.observe(both, swapped)
    for other in (by_one, in_pieces):
        assert other.pairs == at_once.pairs == 40
        np.testing.assert_allclose(other.log_wealth, at_once.log_wealth, atol=1e-9)
        np.testing.assert_allclose(other.peak, at_once.peak, atol=1e-9)
        assert other.bound() == at_once.bound()
    assert start.pairs == 0
    assert not start.peak.any()  # the state that was updated has not changed


def test_the_mean_factor_of_a_tight_mechanism_is_one():
    """P(A) = e^eps Q(A) + delta: every stake is fair, so wealth is a martingale."""
    epsilon, delta, fpr = 1.0, 0.05, 0.2
    tpr = math.exp(epsilon) * fpr + delta
    for stake in (0.1, 0.3):
        mean = sum(
            (tpr if x else 1 - tpr) * (fpr if y else 1 - fpr) * (1 + stake * (x - math.exp(epsilon) * y - delta))
            for x in (0, 1)
            for y in (0, 1)
        )
        assert mean == pytest.approx(1.0)


def test_a_true_claim_is_hardly_ever_refuted_however_often_one_looks():
    """Randomised response at its true epsilon, 500 pairs, the largest wealth of all times: at most 5 % of 300."""
    rng = np.random.default_rng(2)
    keep = 1 / (1 + math.exp(-1))
    wrong = sum(Anytime.start([1.0]).observe(*pairs(500, keep, 1 - keep, rng)).refuted()[0] for _ in range(300))
    assert wrong <= most_failures(300)


def test_both_directions_find_a_leak_that_only_one_can_see():
    """The target's absence shows (an exact zero), its presence does not: only the backward direction is large."""
    rng = np.random.default_rng(3)
    events_in, events_out = np.ones(200, dtype=bool), rng.random(200) < 0.5
    values = {d: epsilon_anytime(events_in, events_out, direction=d).value for d in Direction}
    assert values[Direction.FORWARD] < 0.8
    assert values[Direction.BACKWARD] > 2.0
    assert values[Direction.BOTH] > 2.0


def test_the_bound_is_the_last_grid_value_before_the_first_that_stands():
    perfect = np.ones(50, dtype=bool)
    state = Anytime.start([0.5, 1.0, 1.5, 9.0]).observe(perfect, ~perfect)
    assert state.refuted().tolist() == [True, True, True, False]
    bound = state.bound()
    assert (bound.value, bound.largest_visible, bound.n) == (1.5, 1.5, 50)
    assert largest_visible_anytime(50, epsilons=[0.5, 1.0, 1.5, 9.0]) == 1.5
    assert Anytime.start([0.5]).bound().value == 0.0
    assert largest_visible_anytime(10) < largest_visible_anytime(100) < largest_visible_anytime(1000)


def test_a_leak_is_bounded_near_the_truth():
    inside, outside = RandomisedResponse(2.0).draw(3000, np.random.default_rng(4))
    bound = epsilon_anytime(inside > 0.5, outside > 0.5)
    assert 1.6 < bound.value < 2.0


def test_arguments_without_meaning_are_refused():
    with pytest.raises(ParameterError, match="rising"):
        Anytime.start([1.0, 0.5])
    with pytest.raises(ParameterError, match="one shape"):
        Anytime.start([1.0]).observe([True], [True, False])
    with pytest.raises(ParameterError, match="pair by pair"):
        epsilon_anytime([True], [True, False])
