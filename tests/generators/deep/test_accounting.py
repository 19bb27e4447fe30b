"""Noise for a budget: against closed forms, the inverse, and other people's accountants."""

import math

import numpy as np
import pytest

from unmask.errors import MissingExtraError, ParameterError
from unmask.generators import _accounting
from unmask.generators._accounting import SampledGaussian, sampled_gaussian
from unmask.stats import gaussian_epsilon

pytest.importorskip("dp_accounting")


@pytest.mark.parametrize(("noise", "steps"), [(10.0, 20), (3.0, 1)])
def test_without_sampling_it_is_the_gaussian_mechanism(noise, steps):
    """Rate 1: steps of noise s are one Gaussian with mu = sqrt(steps)/s, whose curve is closed."""
    exact = gaussian_epsilon(1e-5, math.sqrt(steps) / noise)
    found = SampledGaussian(1.0, steps, noise).epsilon(1e-5)
    assert exact <= found <= exact * 1.001  # an upper bound, and sharp


def test_one_sampled_step_is_the_integral():
    """One step at rate q: delta is the larger hockey-stick divergence of N(0, s) and (1-q) N(0, s) + q N(1, s)."""
    rate, noise, delta = 0.1, 1.0, 1e-4
    epsilon = SampledGaussian(rate, 1, noise).epsilon(delta)
    x = np.linspace(-12, 13, 400_001)
    width = x[1] - x[0]
    without = np.exp(-(x**2) / 2 / noise**2) / math.sqrt(2 * math.pi) / noise
    inside = (1 - rate) * without + rate * np.exp(-((x - 1) ** 2) / 2 / noise**2) / math.sqrt(2 * math.pi) / noise

    def exact(e: float) -> float:
        forth, back = inside - math.exp(e) * without, without - math.exp(e) * inside
        return max(np.maximum(forth, 0).sum(), np.maximum(back, 0).sum()) * width

    assert exact(epsilon) <= delta <= exact(epsilon - 0.002)


@pytest.mark.parametrize(
    ("epsilon", "steps", "rate"), [(1.0, 300, 0.02), (10.0, 100, 0.1), (0.1, 50, 0.01), (1.0, 20, 1.0)]
)
def test_the_noise_spends_the_budget_and_no_more(epsilon, steps, rate):
    found = sampled_gaussian(epsilon, 1e-5, steps=steps, rate=rate)
    assert 0.99 * epsilon <= found.epsilon(1e-5) <= epsilon
    assert found.epsilon_by_moments(1e-5) >= found.epsilon(1e-5)


# Epsilons of opacus 1.6.0 (`PRVAccountant`, delta 1e-5, eps_error 1e-3) for (noise, rate, steps), in an environment of its own.
OPACUS = {
    (1.6, 0.02, 300): 0.96114, (0.85, 0.1, 100): 9.69114, (4.35, 0.05, 500): 0.98788, (2.4, 0.01, 1000): 0.49650,
}  # fmt: skip


@pytest.mark.parametrize("settings", OPACUS, ids=str)
def test_epsilon_is_that_of_opacus(settings):
    noise, rate, steps = settings
    assert SampledGaussian(rate, steps, noise).epsilon(1e-5) == pytest.approx(OPACUS[settings], rel=0.01)


def test_more_of_anything_asks_for_more_noise():
    base = sampled_gaussian(1.0, 1e-5, steps=300, rate=0.02).noise
    assert sampled_gaussian(1.0, 1e-5, steps=600, rate=0.02).noise > base
    assert sampled_gaussian(1.0, 1e-5, steps=300, rate=0.04).noise > base
    assert sampled_gaussian(0.5, 1e-5, steps=300, rate=0.02).noise > base
    assert sampled_gaussian(math.inf, 1e-5, steps=300, rate=0.02).noise == 0


def test_the_words_carry_both_accountants():
    found = sampled_gaussian(1.0, 1e-5, steps=300, rate=0.02)
    words = found.in_words(1e-5)
    for part in (
        "300 steps",
        f"multiplier {found.noise:.4g}",
        "rate 0.02",
        "privacy loss distributions",
        "Renyi moments",
    ):
        assert part in words


@pytest.mark.parametrize(
    ("epsilon", "delta", "steps", "rate"),
    [(0.0, 1e-5, 10, 0.1), (1.0, 0.0, 10, 0.1), (1.0, 1e-5, 0, 0.1), (1.0, 1e-5, 10, 1.5)],
)
def test_a_budget_without_meaning_is_refused(epsilon, delta, steps, rate):
    with pytest.raises(ParameterError, match="accounting"):
        sampled_gaussian(epsilon, delta, steps=steps, rate=rate)


def test_without_the_extra_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "dp_accounting", None)
    with pytest.raises(MissingExtraError, match=r'pip install "unmask\[accounting\]"'):
        _accounting.accounting("dpgan")
