import math
import sys

import numpy as np
import pytest
from scipy import stats

from unmask.errors import MissingExtraError, ParameterError
from unmask.generators._noise import Hardened, Seeded, noise_for

RARE = 1e-6  # how often a right sampler may fail a test that cannot be seeded


def laplace_probabilities(scale, reach):
    weights = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    ratio = math.exp(-1 / scale)
    return weights * (1 - ratio) / (1 + ratio)


def gaussian_probabilities(sigma, reach):
    support = np.arange(-int(40 * sigma) - 40, int(40 * sigma) + 41)
    weights = np.exp(-(support**2) / (2 * sigma**2))
    return (weights / weights.sum())[np.abs(support) <= reach]


def p_value(draws, probabilities):
    """Chi-square of the draws against probabilities of -reach .. reach, the rest pooled."""
    reach = len(probabilities) // 2
    inside = draws[np.abs(draws) <= reach]
    observed = np.append(np.bincount(inside + reach, minlength=2 * reach + 1), len(draws) - len(inside))
    expected = np.append(probabilities, 1 - probabilities.sum()) * len(draws)
    keep = expected > 5
    observed = np.append(observed[keep], observed[~keep].sum())
    expected = np.append(expected[keep], expected[~keep].sum())
    if expected[-1] < 5:  # too few to test on their own
        observed, expected = observed[:-1], expected[:-1] * observed[:-1].sum() / expected[:-1].sum()
    return stats.chisquare(observed, expected).pvalue


@pytest.mark.parametrize("scale", [0.2, 1.0, 6.5, 56.0])
def test_laplace_noise_has_the_discrete_laplace_distribution(scale, rng):
    reach = int(8 * scale) + 2
    draws = Seeded(rng).laplace(np.zeros(200_000, dtype=np.int64), scale)
    assert draws.dtype == np.int64
    assert p_value(draws, laplace_probabilities(scale, reach)) > 1e-4
    hardened = Hardened().laplace(np.zeros(10_000, dtype=np.int64), scale)
    assert p_value(hardened, laplace_probabilities(scale, reach)) > RARE


@pytest.mark.parametrize("sigma", [0.3, 1.0, 7.3, 40.0])
def test_gaussian_noise_has_the_discrete_gaussian_distribution(sigma, rng):
    reach = int(4 * sigma) + 2
    draws = Seeded(rng).gaussian(np.zeros(200_000, dtype=np.int64), sigma)
    assert draws.dtype == np.int64
    assert p_value(draws, gaussian_probabilities(sigma, reach)) > 1e-4
    hardened = Hardened().gaussian(np.zeros(5_000, dtype=np.int64), sigma)
    assert p_value(hardened, gaussian_probabilities(sigma, reach)) > RARE


@pytest.mark.parametrize("wrong", [0.93, 1.07])
def test_the_distribution_test_sees_a_scale_that_is_off_by_seven_percent(wrong, rng):
    draws = Seeded(rng).laplace(np.zeros(200_000, dtype=np.int64), 6.5 * wrong)
    assert p_value(draws, laplace_probabilities(6.5, 54)) < RARE


@pytest.mark.parametrize("source", ["seeded", "hardened"])
def test_choices_follow_the_weights_of_the_exponential_mechanism(source, rng):
    noise, draws = (Seeded(rng), 50_000) if source == "seeded" else (Hardened(), 4_000)
    scores, epsilon, sensitivity = np.array([0.0, 0.1, 0.35, 0.3, -0.2]), 1.4, 0.15
    weights = np.exp(epsilon * scores / (2 * sensitivity))
    chosen = np.bincount([noise.choose(scores, epsilon, sensitivity) for _ in range(draws)], minlength=5)
    assert stats.chisquare(chosen, draws * weights / weights.sum()).pvalue > RARE
    picked = np.bincount([noise.pick(4) for _ in range(1_000)], minlength=4)
    assert stats.chisquare(picked).pvalue > RARE


@pytest.mark.parametrize("make", [lambda rng: Seeded(rng), lambda rng: Hardened()], ids=["seeded", "hardened"])
def test_no_noise_at_infinite_epsilon_and_shapes_are_kept(make, rng):
    noise = make(rng)
    counts = np.arange(6).reshape(2, 3)
    for noisy in (noise.laplace(counts, 0.0), noise.gaussian(counts, 0.0)):
        np.testing.assert_array_equal(noisy, counts)
        assert noisy is not counts
    assert noise.choose(np.array([1.0, 3.0, 2.0]), math.inf, 1.0) == 1
    assert noise.choose(np.array([0.0, 0.0]), 1.0, 0.0) == 0
    assert noise.laplace(counts, 2.0).shape == noise.gaussian(counts, 2.0).shape == (2, 3)


@pytest.mark.parametrize("scale", [-1.0, math.inf, math.nan, 1e300])
def test_scales_without_meaning_are_refused(scale, rng):
    for noise in (Seeded(rng), Hardened()):
        for method in (noise.laplace, noise.gaussian):
            with pytest.raises(ParameterError, match="larger epsilon"):
                method(np.zeros(3, dtype=np.int64), scale)
    with pytest.raises(ParameterError, match="epsilon > 0"):
        Seeded(rng).choose(np.zeros(2), 0.0, 1.0)


def test_the_widest_noise_still_fits():
    noisy = Seeded(np.random.default_rng(1)).laplace(np.zeros(100_000, dtype=np.int64), 2.0**40)
    assert np.abs(noisy).mean() == pytest.approx(2.0**40, rel=0.02)


def test_a_release_takes_no_seed_and_an_experiment_needs_one(rng):
    assert isinstance(noise_for(True, None), Hardened)
    assert isinstance(noise_for(False, rng), Seeded)
    with pytest.raises(ParameterError, match="rng=None"):
        noise_for(True, rng)
    with pytest.raises(ParameterError, match="needs an rng"):
        noise_for(False, None)


def test_release_without_opendp_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(MissingExtraError, match="unmask\\[opendp\\]"):
        Hardened().laplace(np.zeros(3, dtype=np.int64), 1.0)
