import math

import numpy as np
import pytest
from scipy.stats import beta, norm

from tests.stats.mechanisms import MECHANISMS, Gaussian, Laplace, RandomisedResponse, most_failures
from unmask.errors import ParameterError
from unmask.stats import (
    Assumption,
    Bound,
    ErrorCounts,
    Given,
    Refusal,
    delta_from_errors,
    delta_hockey_stick,
    epsilon_bayesian,
    epsilon_clopper_pearson,
    epsilon_from_errors,
    epsilon_gaussian,
    gaussian_epsilon,
    hockey_stick_priors,
    largest_visible_clopper_pearson,
    largest_visible_gaussian,
    largest_visible_hockey_stick,
)

PERFECT = ErrorCounts(0, 250, 0, 250)


def test_a_perfect_attack_with_250_runs_a_side_shows_4_209():
    bound = epsilon_from_errors(PERFECT)
    assert bound.value == pytest.approx(4.209, abs=5e-4)
    assert bound.value == bound.largest_visible
    assert bound.assumption is Assumption.EXACT


@pytest.mark.parametrize(("n", "visible"), [(100, 3.3), (1000, 5.6), (10_000, 7.9)])
def test_the_largest_visible_epsilon(n, visible):
    assert largest_visible_clopper_pearson(n, n) == pytest.approx(visible, abs=0.05)


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_the_bound_is_its_formula(delta):
    fpr, fnr = beta.ppf(0.975, 4, 97), beta.ppf(0.975, 21, 60)
    expected = max(0, math.log((1 - delta - fpr) / fnr), math.log((1 - delta - fnr) / fpr))
    assert epsilon_from_errors(ErrorCounts(3, 100, 20, 80), delta=delta).value == pytest.approx(expected)


@pytest.mark.parametrize(
    "errors", [ErrorCounts(100, 100, 0, 100), ErrorCounts(50, 100, 50, 100), ErrorCounts(1, 1, 1, 1)]
)
def test_an_attack_that_knows_nothing_shows_nothing(errors):
    assert epsilon_from_errors(errors).value == 0.0
    assert epsilon_bayesian(errors).value == 0.0


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_the_bound_stays_below_the_truth(mechanism):
    """At most the 99.9 % limit of 5 % of 100; the long version is in calibration."""
    rng = np.random.default_rng(0)
    wrong = sum(
        epsilon_clopper_pearson(
            *mechanism.draw(200, rng), threshold=Given(mechanism.threshold), delta=mechanism.delta
        ).refutes(mechanism.epsilon, mechanism.delta)
        for _ in range(100)
    )
    assert wrong <= most_failures(100)


def test_the_posterior_quantile_equals_one_from_random_draws():
    errors = ErrorCounts(20, 200, 50, 150)
    rng = np.random.default_rng(1)
    fpr, fnr = rng.beta(20.5, 180.5, 400_000), rng.beta(50.5, 100.5, 400_000)
    drawn = np.maximum(0, np.maximum(np.log((1 - fpr) / fnr), np.log((1 - fnr) / fpr)))
    assert epsilon_bayesian(errors).value == pytest.approx(np.quantile(drawn, 0.05), abs=0.005)


def test_the_bayesian_estimate_is_sharper_credible_and_no_verdict():
    bound = epsilon_bayesian(PERFECT)
    assert bound.value > epsilon_from_errors(PERFECT).value
    assert bound.assumption is Assumption.CREDIBLE
    assert not bound.refutes(0.0)


def test_a_classifier_drawn_with_the_priors_bounds_delta():
    """Randomised response, truth 2, judged at epsilon 1: delta = (e^2 - e)/(1 + e^2)."""
    truth = (math.e**2 - math.e) / (1 + math.e**2)
    rng, draws = np.random.default_rng(2), 4000
    inside, outside = RandomisedResponse(2.0).draw(draws, rng)
    is_in = rng.random(draws) < hockey_stick_priors(1.0)[0]
    wrong = int(np.sum(np.where(is_in, inside < 0.5, outside >= 0.5)))
    estimate = delta_hockey_stick(wrong, draws, epsilon=1.0)
    assert truth - 0.1 < estimate.low < truth
    both = delta_from_errors(ErrorCounts(int(outside.sum()), draws, int(draws - inside.sum()), draws), epsilon=1.0)
    assert truth - 0.1 < both.low < truth


def test_the_copier_is_zero_p_dp():
    """It gives (0, p): delta at epsilon 0 is p and stays p at any epsilon."""
    copied = int(np.sum(np.random.default_rng(3).random(5000) < 0.2))
    for epsilon in (0.0, 2.0):
        low = delta_from_errors(ErrorCounts(0, 5000, 5000 - copied, 5000), epsilon=epsilon).low
        assert 0.17 < low < 0.2


def test_the_two_ways_to_delta_agree_with_the_bound_on_epsilon():
    errors = ErrorCounts(10, 500, 100, 500)
    epsilon = epsilon_from_errors(errors, delta=0.01).value
    assert delta_from_errors(errors, epsilon=epsilon).low == pytest.approx(0.01)


def test_the_largest_visible_epsilon_of_a_perfect_classifier():
    epsilon = largest_visible_hockey_stick(1000)
    assert delta_hockey_stick(0, 1000, epsilon=epsilon * 0.999).low > 0
    assert delta_hockey_stick(0, 1000, epsilon=epsilon * 1.001).low == 0


def test_the_largest_visible_epsilon_under_the_gaussian_model():
    """1 - .025^(1/1000) is the limit of both error rates if there is no error in 1,000 runs."""
    rng = np.random.default_rng(5)
    never = 1 - 0.025 ** (1 / 1000)
    assert largest_visible_gaussian(1000, 1000, delta=1e-5) == pytest.approx(
        gaussian_epsilon(1e-5, -2 * norm.ppf(never)), rel=1e-9
    )
    answer = epsilon_gaussian(
        rng.normal(2, 1, 1000), rng.normal(0, 1, 1000), delta=1e-5, declared=True, threshold=Given(1.0)
    )
    assert answer.largest_visible == largest_visible_gaussian(1000, 1000, delta=1e-5)


def test_the_gaussian_method_refuses_without_a_declaration():
    inside, outside = Gaussian(1.0).draw(1000, np.random.default_rng(4))
    answer = epsilon_gaussian(inside, outside, delta=1e-5, declared=False)
    assert isinstance(answer, Refusal)
    assert "not declared" in answer.reason


@pytest.mark.parametrize("mechanism", [Laplace(1.0), Laplace(2.0), Laplace(4.0), RandomisedResponse(2.0)], ids=str)
def test_the_gaussian_method_refuses_off_its_model(mechanism):
    rng = np.random.default_rng(5)
    answers = [epsilon_gaussian(*mechanism.draw(1500, rng), delta=1e-5, declared=True) for _ in range(20)]
    assert all(isinstance(answer, Refusal) for answer in answers)


def test_the_gaussian_method_refuses_what_it_cannot_check():
    rng = np.random.default_rng(6)
    few = epsilon_gaussian(rng.normal(1, 1, 100), rng.normal(0, 1, 100), delta=1e-5, declared=True)
    apart = epsilon_gaussian(rng.normal(9, 1, 1000), rng.normal(0, 1, 1000), delta=1e-5, declared=True)
    constant = epsilon_gaussian(np.zeros(1000), np.zeros(1000), delta=1e-5, declared=True)
    assert [type(answer) for answer in (few, apart, constant)] == [Refusal] * 3


def test_the_gaussian_method_is_sharper_than_clopper_pearson_on_its_model():
    """mu = 1, delta = 1e-5, truth 4.377: METHODS has 3.35 against 1.19."""
    rng = np.random.default_rng(7)
    inside, outside = rng.normal(1, 1, 2000), rng.normal(0, 1, 2000)
    answer = epsilon_gaussian(inside, outside, delta=1e-5, declared=True)
    assert isinstance(answer, Bound)
    assert answer.assumption is Assumption.MODEL_BASED
    plain = epsilon_clopper_pearson(inside, outside, delta=1e-5).value
    assert 2 * plain < answer.value < gaussian_epsilon(1e-5, 1.0) <= answer.largest_visible


def test_impossible_arguments_are_refused():
    with pytest.raises(ParameterError, match="300 out of 250"):
        ErrorCounts(300, 250, 0, 250)
    with pytest.raises(ParameterError, match="delta"):
        epsilon_from_errors(PERFECT, delta=1.0)
    with pytest.raises(ParameterError, match="flat, non-empty"):
        epsilon_clopper_pearson([], [1.0])
