"""Bounds at the planned number of runs: what is chosen on the first fifth, and judged on the rest, by hand."""

import math

import numpy as np
import pytest

from unmask.attacks.claim._attack import History
from unmask.attacks.claim.learnt import growth
from unmask.audits.epsilon.fixed import RATIO, _accuracy, _promise, fixed_bounds
from unmask.generators.claim import Claim
from unmask.stats import HalfLines, Refusal, best_half_lines, epsilon_one_run


def told(rng, runs=400, lie=0.1):
    """Coins, and a ratio that tells them with a lie now and then."""
    coins = rng.random(runs) < 0.5
    return coins, np.where((rng.random(runs) < lie) ^ coins, 1.0, -1.0)


def bounds(names, values, coins, **changes):
    how = {"white_box": True, "confidence": 0.95, "gaussian": False, "rng": np.random.default_rng(0)} | changes
    return fixed_bounds(History(names, values, coins), Claim(1.0), **how)


def test_fewer_than_a_hundred_runs_have_no_such_bound(rng):
    coins, ratio = told(rng, 100)
    assert len(bounds((RATIO,), ratio[:, None], coins)) == 2
    assert bounds((RATIO,), ratio[:99, None], coins[:99]) == []


def test_coins_that_all_fell_alike_teach_nothing(rng):
    coins, ratio = told(rng)
    coins[:80] = True
    assert bounds((RATIO,), ratio[:, None], coins) == []
    coins[79] = False
    assert len(bounds((RATIO,), ratio[:, None], coins)) == 2


def test_what_is_judged_is_not_what_was_learnt_from(rng):
    """Four fifths of the runs, to the very run: their coins are counted, those of the first fifth are not."""
    coins, ratio = told(rng)
    clopper_pearson, one_run = (one.bound for one in bounds((RATIO,), ratio[:, None], coins))
    assert (clopper_pearson.n, one_run.n) == (320, 320)
    right = int(((ratio > 0) == coins)[80:].sum())
    assert one_run.value == pytest.approx(epsilon_one_run(right, 320, coins=320).value)


def test_without_the_ratio_the_best_statistic_is_found_whichever_way_it_points(rng):
    coins, ratio = told(rng, lie=0.05)
    noise = rng.normal(size=(400, 2))
    found = bounds(("rows", "count a=b", "count c=d"), np.column_stack([noise[:, 0], -ratio, noise[:, 1]]), coins)
    assert found[0].attack in ("minus count a=b", "a learnt score of all statistics")
    assert found[0].bound.value > 1


@pytest.mark.parametrize("white_box", [True, False])
def test_the_ratio_is_for_white_boxes(rng, white_box):
    coins, ratio = told(rng)
    values = np.column_stack([ratio, rng.normal(size=400)])
    found = bounds((RATIO, "rows"), values, coins, white_box=white_box)
    assert (found[0].attack == RATIO) is white_box


def test_gaussian_noise_is_asked_about_where_it_was_declared(rng):
    coins = rng.random(2000) < 0.5
    ratio = rng.normal(size=2000) + coins
    found = bounds((RATIO,), ratio[:, None], coins, gaussian=True)
    assert [one.attack for one in found] == [RATIO] * 3
    assert not isinstance(found[2].bound, Refusal)
    assert found[2].bound.n == 2000
    assert found[2].bound.delta == 1e-12
    assert len(bounds(("rows",), ratio[:, None], coins, gaussian=True)) == 2
    assert len(bounds((RATIO,), ratio[:, None], coins)) == 2


def test_the_promise_of_a_score_is_what_each_half_earns_by_the_other(rng):
    coins, ratio = told(rng, 60, lie=0.3)
    scores = ratio + rng.normal(size=60)
    total = 0.0
    for here, there in ((slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2))):
        above = best_half_lines(scores[there], coins[there], epsilon=0.5).in_above
        total += growth(scores[here], coins[here], HalfLines(-math.inf, above), 0.5)
    assert total > 0
    assert _promise(scores, coins, 0.5) == pytest.approx(total)


def test_half_lines_promise_their_accuracy_less_one_sided_errors():
    """Eight guesses of twelve runs, seven right: (7 + 1)/(8 + 2), with the errors of these and of 8 in 12 of 30 more."""
    scores = np.array([1.0, 1, 1, 1, -1, -1, -1, -1, 0, 0, 0, 0])
    coins = np.array([True, True, True, False, False, False, False, False, True, False, True, False])
    share, later = 0.8, 8 * 30 / 12
    expected = share - 1.645 * math.sqrt(share * (1 - share) * (1 / 8 + 1 / later))
    assert _accuracy(HalfLines(-1.0, 1.0), (scores, coins), 30) == pytest.approx(expected)
    assert _accuracy(HalfLines(-9.0, 9.0), (scores, coins), 30) == 0.0
