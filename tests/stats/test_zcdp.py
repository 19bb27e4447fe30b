import math

import numpy as np
import pytest

from unmask.errors import ParameterError
from unmask.stats import (
    delta_from_rho,
    epsilon_from_rho,
    epsilon_from_rho_simple,
    gaussian_epsilon,
    rho_from,
    rho_from_simple,
)


def naive_delta(rho, epsilon):
    """The formula of Canonne, Kamath and Steinke on a fine grid of alpha."""
    alpha = 1 + np.logspace(-4, 4, 400_000)
    log_delta = (alpha - 1) * (alpha * rho - epsilon) - np.log(alpha - 1) + alpha * np.log1p(-1 / alpha)
    return min(1.0, math.exp(log_delta.min()))


@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.5, 3.0])
@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.0, 5.0])
def test_delta_is_the_minimum_over_alpha(rho, epsilon):
    assert delta_from_rho(rho, epsilon) == pytest.approx(naive_delta(rho, epsilon), rel=1e-5)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-5, 0.01])
def test_rho_spends_the_budget_and_not_more(epsilon, delta):
    rho = rho_from(epsilon, delta)
    assert delta_from_rho(rho, epsilon) <= delta
    assert delta_from_rho(rho * (1 + 1e-9), epsilon) > delta
    assert epsilon_from_rho(rho, delta) == pytest.approx(epsilon, rel=1e-6)


def test_the_textbook_conversion_is_looser():
    for epsilon in (0.1, 1.0, 10.0):
        assert rho_from_simple(epsilon, 1e-6) < rho_from(epsilon, 1e-6)
        assert epsilon_from_rho_simple(rho_from_simple(epsilon, 1e-6), 1e-6) == pytest.approx(epsilon)


def test_a_gaussian_mechanism_is_tighter_than_its_zcdp():
    """Accounting slack: rho = mu^2/2 forgets that the noise is Gaussian."""
    for mu in (0.1, 1.0, 3.0):
        exact, through_rho = gaussian_epsilon(1e-5, mu), epsilon_from_rho(mu * mu / 2, 1e-5)
        assert exact < through_rho < 1.3 * exact


def test_the_conversion_agrees_with_dp_accounting():
    rdp = pytest.importorskip("dp_accounting.rdp", reason="dp-accounting is not installed")
    orders = 1 + np.logspace(-3, 3, 20_000)
    for rho in (0.001, 0.1, 2.0):
        theirs, _ = rdp.compute_epsilon(orders, rho * orders, 1e-6)
        assert epsilon_from_rho(rho, 1e-6) == pytest.approx(theirs, rel=1e-4)


def test_no_budget_is_no_rho_and_delta_zero_is_refused():
    assert delta_from_rho(0.0, 1.0) == 0.0
    assert epsilon_from_rho(0.0, 1e-6) == 0.0
    with pytest.raises(ParameterError, match="Gaussian noise is never"):
        rho_from(1.0, 0.0)
