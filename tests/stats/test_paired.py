"""Differences of two attacks on the same draws."""

import numpy as np
import pytest

from unmask.errors import ParameterError
from unmask.stats.cases import Cases
from unmask.stats.paired import paired_areas, paired_gain


def drawn(rng, releases=200, targets=10, advantages=(0.5, 0.2), shared=0.8):
    """Coins, and the guesses of two attacks of known advantage that share most of their luck."""
    members = rng.random((releases, targets)) < 0.5
    luck = rng.random((releases, targets))
    other = np.where(rng.random(luck.shape) < shared, luck, rng.random(luck.shape))
    guesses = [
        np.where(members, u < 0.5 + a / 2, u < 0.5 - a / 2) for u, a in zip((luck, other), advantages, strict=True)
    ]
    cases = Cases.of(np.arange(releases).repeat(targets), releases * targets)
    return *(each.ravel() for each in guesses), members.ravel(), cases


def test_the_difference_is_that_of_the_two_gains(rng):
    """A naive loop over cases gives the same value, and turning the two round turns the sign."""
    first, second, members, cases = drawn(rng)
    found = paired_gain(first, second, members, cases=cases)
    inside, outside = np.mean(members), np.mean(~members)
    naive = []
    for guesses in (first, second):
        told = list(zip(guesses, members, strict=True))
        naive.append(
            sum(g for g, m in told if m) / (inside * len(told))
            - sum(g for g, m in told if not m) / (outside * len(told))
        )
    assert found.value == pytest.approx(naive[0] - naive[1], abs=1e-12)
    turned = paired_gain(second, first, members, cases=cases)
    assert turned.value == pytest.approx(-found.value)
    assert turned.interval == pytest.approx((-found.high, -found.low), abs=1e-3)
    assert found.low <= 0.3 <= found.high
    assert found.low > 0  # power: .3 apart, 200 releases


def test_a_paired_interval_is_narrower_than_two(rng):
    """What both attacks share falls out: narrower than the difference of two separate ones, on every seed."""
    for _ in range(5):
        first, second, members, cases = drawn(rng, advantages=(0.3, 0.3))
        paired = paired_gain(first, second, members, cases=cases)
        alone = [cases.gain(each, members, confidence=0.95) for each in (first, second)]
        assert paired.high - paired.low < 0.85 * np.hypot(*(each.high - each.low for each in alone))


def test_an_attack_is_not_told_from_itself(rng):
    first, _, members, cases = drawn(rng)
    same = paired_gain(first, first, members, cases=cases)
    assert same.value == 0
    assert same.low < 0 < same.high


def test_areas_are_compared_run_by_run():
    """A jackknife of the difference: with the same spread in both there is none between them."""
    without = np.array([0.7, 0.72, 0.71, 0.69])
    found = paired_areas((0.705, without), (0.605, without - 0.1))
    assert found.value == pytest.approx(0.1)
    assert found.high - found.low < 1e-9


def test_cases_must_be_alike(rng):
    first, second, members, cases = drawn(rng, releases=10)
    with pytest.raises(ParameterError, match="must be alike"):
        paired_gain(first[:-1], second, members, cases=cases)
    with pytest.raises(ParameterError, match="without"):
        paired_gain(first, second, np.ones_like(members), cases=cases)
    with pytest.raises(ParameterError, match="must be alike"):
        paired_areas((0.5, np.ones(3)), (0.5, np.ones(4)))
