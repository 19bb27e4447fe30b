import math

import numpy as np
import pytest
from scipy.integrate import quad, trapezoid
from scipy.stats import laplace, norm

from unmask.errors import ParameterError
from unmask.stats import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    group_claim,
    laplace_delta,
    laplace_epsilon,
    largest_advantage,
    largest_advantage_yeom,
    largest_auc,
    largest_auc_gaussian,
    randomised_response_epsilon,
    replacement_claim,
)


def test_the_worked_answer_of_the_gaussian_curve():
    assert gaussian_epsilon(1e-5, 1.0) == pytest.approx(4.3772, abs=5e-5)
    assert gaussian_mu(4.3772, 1e-5) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0])
def test_both_curves_are_the_hockey_stick_integral(epsilon):
    """delta = integral of max(0, p - e^eps q), by numerical integration."""
    for law, curve in ((norm, gaussian_delta), (laplace, laplace_delta)):
        gap = lambda x, law=law: max(0.0, law.pdf(x, 1.3) - math.exp(epsilon) * law.pdf(x))  # noqa: E731
        # Laplace of scale 1 shifted by 1.3 is the mechanism with pure epsilon 1.3.
        value, _ = quad(gap, -10, 30, points=[0, 1.3, 0.65 + epsilon / 2, 0.65 + epsilon / 1.3], limit=400)
        assert curve(epsilon, 1.3) == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("mu", [0.05, 0.3, 1.0, 4.0, 10.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2])
def test_gaussian_inverses_go_there_and_back(mu, delta):
    epsilon = gaussian_epsilon(delta, mu)
    if epsilon > 0:
        assert gaussian_delta(epsilon, mu) == pytest.approx(delta, rel=1e-8)
        assert gaussian_mu(epsilon, delta) == pytest.approx(mu, rel=1e-8)


def test_the_gaussian_curve_agrees_with_dp_accounting():
    dp_accounting = pytest.importorskip("dp_accounting", reason="dp-accounting is not installed")
    for mu in (0.2, 1.0, 3.0):
        assert gaussian_epsilon(1e-6, mu) == pytest.approx(dp_accounting.get_epsilon_gaussian(1 / mu, 1e-6), rel=1e-6)


def test_laplace_inverses_go_there_and_back():
    assert laplace_epsilon(laplace_delta(0.7, 2.0), 2.0) == pytest.approx(0.7)
    assert laplace_delta(2.0, 2.0) == 0.0
    assert laplace_epsilon(0.0, 2.0) == 2.0


def test_randomised_response_keeps_with_its_log_odds():
    assert randomised_response_epsilon(math.e / (1 + math.e)) == pytest.approx(1.0)
    with pytest.raises(ParameterError):
        randomised_response_epsilon(1.0)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_advantage_and_auc_limits_are_those_of_the_region(epsilon, delta):
    """The largest TPR at each FPR, on a fine grid, gives both limits."""
    fpr = np.linspace(0, 1, 200_001)
    tpr = np.minimum.reduce(
        [np.ones_like(fpr), delta + math.exp(epsilon) * fpr, 1 - math.exp(-epsilon) * (1 - delta - fpr)]
    )
    assert largest_advantage(epsilon, delta) == pytest.approx(np.max(tpr - fpr), abs=1e-5)
    assert largest_auc(epsilon, delta) == pytest.approx(trapezoid(tpr, fpr), abs=1e-5)


def test_pure_and_gaussian_auc_limits():
    assert largest_auc(1.0) == pytest.approx(math.e / (1 + math.e))
    x, y = np.random.default_rng(0).normal(size=(2, 200_000))
    assert largest_auc_gaussian(1.0) == pytest.approx(np.mean(x + 1 > y), abs=0.004)


def test_yeoms_limit_is_never_the_smaller_one():
    for epsilon in (0.0, 0.1, 0.5, 1.0, 5.0, 800.0):
        assert largest_advantage_yeom(epsilon) >= largest_advantage(epsilon)
    assert largest_advantage(800.0) == 1.0


def test_an_add_remove_claim_under_replacement():
    epsilon, delta = replacement_claim(1.0, 1e-6)
    assert (epsilon, delta) == pytest.approx((2.0, (1 + math.e) * 1e-6))
    assert replacement_claim(3.0) == (6.0, 0.0)


def test_three_rows_of_one_person():
    epsilon, delta = group_claim(0.5, 1e-6, size=3)
    assert (epsilon, delta) == pytest.approx((1.5, 1e-6 * (math.exp(1.5) - 1) / (math.exp(0.5) - 1)))
    assert group_claim(0.0, 1e-6, size=3) == pytest.approx((0.0, 3e-6))
    with pytest.raises(ParameterError):
        group_claim(1.0, size=0)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_curves_refuse_what_is_no_epsilon(bad):
    with pytest.raises(ParameterError):
        gaussian_delta(bad, 1.0)
