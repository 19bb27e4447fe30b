"""Coverage of the intervals that rest on a normal limit, and error rates of the lists of people."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from tests.stats.mechanisms import most_failures
from unmask.stats import auc, benjamini_hochberg, conformal_p_values, e_bh, epsilon_for_listed, log_e_value, tpr_at_fpr

pytestmark = pytest.mark.calibration


@pytest.mark.parametrize("truth", [0.5, 0.7, 0.9, 0.99, 0.999])
@pytest.mark.parametrize(("n_in", "n_out"), [(20, 20), (30, 200), (500, 500)])
def test_the_auc_interval_covers_its_level(truth, n_in, n_out):
    """Gaussian scores, 1000 samples. Model-based, so one point of grace: 6 % misses at most (99.9 % limit of 1000: 84)."""
    rng, shift, missed = np.random.default_rng([1, n_in, n_out]), np.sqrt(2) * norm.ppf(truth), 0
    for _ in range(1000):
        low, high = auc(rng.normal(shift, 1, n_in), rng.normal(0, 1, n_out)).interval
        missed += not low <= truth <= high
    assert missed <= most_failures(1000, level=0.06)


@pytest.mark.parametrize("p", [0.0, 0.01, 0.3, 0.95])
def test_the_auc_interval_covers_a_copier(p):
    """Scores with two values, AUC (1+p)/2, down to a copier that never copies: same limit."""
    rng, missed = np.random.default_rng(2), 0
    for _ in range(1000):
        low, high = auc((rng.random(100) < p).astype(float), np.zeros(100)).interval
        missed += not low <= (1 + p) / 2 <= high
    assert missed <= most_failures(1000, level=0.06)


@pytest.mark.parametrize("fpr", [0.001, 0.01, 0.1])
def test_tpr_and_fpr_cover_the_truth_at_the_threshold(fpr):
    """Gaussian scores: at most 5 % misses of each, 99.9 % limit of 1000 (73)."""
    rng, missed_tpr, missed_fpr = np.random.default_rng(3), 0, 0
    for _ in range(1000):
        point = tpr_at_fpr(rng.normal(1.5, 1, 300), rng.normal(0, 1, 1000), fpr=fpr)
        missed_tpr += not point.tpr.low <= norm.sf(point.threshold - 1.5) <= point.tpr.high
        missed_fpr += not point.fpr.low <= norm.sf(point.threshold) <= point.fpr.high
    assert missed_tpr <= most_failures(1000)
    assert missed_fpr <= most_failures(1000)


def test_e_bh_keeps_its_rate_when_people_leak_together():
    """One shared coin sequence for everyone is the worst dependence: a family is listed together or not at all.

    100 families of 10; 5 families leak. The mean share of false names is at most 10 % (three standard errors of grace).
    """
    rng, shares = np.random.default_rng(4), []
    for _ in range(400):
        accuracy = np.where(np.arange(100) < 5, 0.85, 0.5)
        right = np.repeat(rng.binomial(64, accuracy), 10)
        rejected = e_bh(log_e_value(right, 64), rate=0.1).rejected
        shares.append(rejected[50:].sum() / max(1, rejected.sum()))
    assert np.mean(shares) <= 0.1 + 3 * np.std(shares) / 20


def test_bounds_of_listed_people_are_false_at_most_at_the_rate():
    """Epsilons 0, 1 and 2 mixed, 64 coins: mean share of listed people whose bound exceeds their truth <= 10 %."""
    rng, shares = np.random.default_rng(5), []
    truth = np.repeat([0.0, 1.0, 2.0], 100)
    for _ in range(300):
        right = rng.binomial(64, 1 / (1 + np.exp(-truth)))
        listing = e_bh(log_e_value(right, 64), rate=0.1)
        if listing.rejected.any():
            bounds = epsilon_for_listed(right[listing.rejected], 64, log_threshold=listing.log_threshold)
            shares.append(np.mean(bounds > truth[listing.rejected]))
        else:
            shares.append(0.0)
    assert np.mean(shares) <= 0.1


@pytest.mark.parametrize("levels", [5, 10**9])
def test_conformal_lists_keep_their_rate(levels):
    """Nobody leaks, 300 targets against 600 holdout records: any list is false, at most 10 % (99.9 % limit of 500: 72)."""
    rng = np.random.default_rng(6)
    lists = sum(
        benjamini_hochberg(
            conformal_p_values(rng.integers(0, levels, 300), rng.integers(0, levels, 600)), rate=0.1
        ).rejected.any()
        for _ in range(500)
    )
    assert lists <= most_failures(500, level=0.1)
