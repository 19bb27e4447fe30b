"""The check of the Gaussian model, piece by piece: counts by hand, the delta method in closed form, two ways to one Wald test."""

import math

import numpy as np
import pytest
from scipy.stats import chi2, norm

from tests.stats.mechanisms import most_failures
from unmask.errors import ParameterError
from unmask.stats import Refusal, auc, epsilon_gaussian, gaussian_epsilon
from unmask.stats.epsilon.gaussian import (
    FEWEST_RUNS,
    _check_thresholds,
    _covariance,
    _probits,
    mu_from_auc,
    mu_from_errors,
    probit_linearity_p_value,
    why_not_gaussian,
)


def test_probits_count_scores_at_or_above_and_lessen_the_bias_of_small_counts(rng):
    scores = rng.integers(0, 6, 25).astype(float)
    at = np.array([0.0, 1.0, 2.5, 5.0, 9.0])
    expected = [norm.ppf((sum(score >= t for score in scores) + 0.5) / 26) for t in at]
    assert _probits(scores, at) == pytest.approx(expected)


def test_the_variance_of_a_probit_at_one_half_is_pi_over_two_n():
    assert _covariance(np.zeros(1), 200)[0, 0] == pytest.approx(math.pi / 400)


def test_the_covariance_of_probits_is_that_of_shares_over_densities():
    z = np.array([-1.0, 0.2, 1.5])
    share, density = norm.cdf(z), norm.pdf(z)
    for i in range(3):
        for j in range(3):
            of_shares = (min(share[i], share[j]) - share[i] * share[j]) / 80
            assert _covariance(z, 80)[i, j] == pytest.approx(of_shares / (density[i] * density[j]))


def test_the_wald_test_is_what_a_trend_and_a_bend_explain(rng):
    """The same statistic in another way: how much the weighted squares fall when both join the constant."""
    inside, outside = rng.normal(0.8, 1.2, 900), rng.normal(0, 1, 1100)
    at = np.linspace(-1.2, 1.8, 7)
    z_in, z_out = _probits(inside, at), _probits(outside, at)
    middle, shift = (z_in + z_out) / 2, np.median(z_in - z_out)
    weight = np.linalg.inv(_covariance(middle + shift / 2, 900) + _covariance(middle - shift / 2, 1100))

    def squares(powers: int) -> float:
        design = np.stack([middle**power for power in range(powers)], axis=1)
        found = np.linalg.solve(design.T @ weight @ design, design.T @ weight @ (z_in - z_out))
        rest = z_in - z_out - design @ found
        return float(rest @ weight @ rest)

    expected = chi2.sf(squares(1) - squares(3), 2)
    assert 1e-8 < expected < 0.5
    assert probit_linearity_p_value(inside, outside, at=at) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("n_in", "n_out", "mu"), [(1000, 1000, 1.0), (800, 2000, 0.5), (3000, 900, 1.5)])
def test_thresholds_of_the_check_leave_ten_scores_of_each_side_on_either_side(n_in, n_out, mu):
    """Scores at the very quantiles of the model: the outermost thresholds leave about ten, none leaves fewer than nine."""
    inside = norm.ppf((np.arange(n_in) + 0.5) / n_in) + mu
    outside = norm.ppf((np.arange(n_out) + 0.5) / n_out)
    at = _check_thresholds(inside, outside, mu)
    beyond = [(int((side >= t).sum()), int((side < t).sum())) for t in at for side in (inside, outside)]
    assert len(at) == 15
    assert 9 <= min(map(min, beyond)) <= 11
    for t, side in ((at[0], "low"), (at[-1], "high")):
        counts = [int((s < t).sum() if side == "low" else (s >= t).sum()) for s in (inside, outside)]
        assert 9 <= min(counts) <= 11
    low = max(norm.ppf(10 / n_out), mu + norm.ppf(10 / n_in))
    high = min(-norm.ppf(10 / n_out), mu - norm.ppf(10 / n_in))
    assert at == pytest.approx(np.linspace(low, high, 15), abs=0.15)


def test_thresholds_are_told_only_where_both_sides_overlap_in_two_standard_deviations():
    """With 1,000 a side ten lie beyond 2.326: a stretch of 4.653 less the shift."""
    reach = -2 * norm.ppf(0.01)
    scores = norm.ppf((np.arange(1000) + 0.5) / 1000)
    for mu, fits in ((reach - 2.01, True), (reach - 1.99, False)):
        assert bool(_check_thresholds(scores + mu, scores, mu).size) is fits


def test_few_runs_are_refused_to_the_very_run(rng):
    inside, outside = rng.normal(1, 1, FEWEST_RUNS), rng.normal(0, 1, FEWEST_RUNS)
    assert why_not_gaussian(inside, outside) is None
    assert "749 runs on a side; 750" in why_not_gaussian(inside, outside[1:])
    assert "749 runs on a side; 750" in why_not_gaussian(inside[1:], outside)


def test_five_thresholds_are_enough_and_four_are_not(rng):
    """Six values have five thresholds between them."""
    inside, outside = np.round(rng.normal(1, 1, 4000)), np.round(rng.normal(0, 1, 4000))
    for lowest, fits in ((-2, True), (-1, False)):
        reason = why_not_gaussian(np.clip(inside, lowest, 3), np.clip(outside, lowest, 3)) or ""
        assert ("cannot be checked" not in reason) is fits


def test_a_true_shift_is_refused_as_often_as_the_level_says():
    """5 % of 300 audits: 5 at least, with 99.9 %, and at most the limit of honest tests."""
    rng = np.random.default_rng(8)
    refused = sum(why_not_gaussian(rng.normal(1, 1, 1000), rng.normal(0, 1, 1000)) is not None for _ in range(300))
    assert 5 <= refused <= most_failures(300)


def test_without_a_threshold_mu_comes_from_the_lower_limit_of_the_auc(rng):
    """Phi(mu/sqrt 2) is the AUC; .05^(1/n) is the limit of n pairs that are all in order."""
    inside, outside = rng.normal(1.5, 1, 800), rng.normal(0, 1, 1000)
    found = epsilon_gaussian(inside, outside, delta=1e-5, declared=True)
    low = auc(inside, outside, confidence=0.9).low
    assert found.value == gaussian_epsilon(1e-5, math.sqrt(2) * norm.ppf(low))
    assert found.largest_visible == pytest.approx(gaussian_epsilon(1e-5, math.sqrt(2) * norm.ppf(0.05 ** (1 / 800))))
    assert found.n == 1800
    assert mu_from_auc(norm.cdf(0.7 / math.sqrt(2))) == pytest.approx(0.7)
    assert mu_from_auc(0.3) == 0.0


def test_error_rates_of_a_gaussian_threshold_give_its_mu():
    """The threshold .4 between N(0, 1) and N(1.3, 1)."""
    assert float(mu_from_errors(norm.sf(0.4), norm.cdf(0.4 - 1.3))) == pytest.approx(1.3)


def test_a_confidence_of_a_coin_is_refused(rng):
    inside, outside = rng.normal(1, 1, 800), rng.normal(0, 1, 800)
    with pytest.raises(ParameterError, match="no better than a coin"):
        epsilon_gaussian(inside, outside, delta=1e-5, declared=True, confidence=0.5)
    assert not isinstance(epsilon_gaussian(inside, outside, delta=1e-5, declared=True, confidence=0.6), Refusal)
