"""The six counter-examples of ganev2023, reduced; full sizes in tests/calibration/test_metrics_similarity.py."""

import numpy as np
import pytest
from scipy.stats import binom

from examples.counter_examples import (
    discretised,
    fresh_draws,
    holdout_released,
    holes,
    outliers_filtered,
    outliers_released,
    split_again,
)


@pytest.mark.parametrize("seed", range(5))
def test_the_holdout_itself_passes(seed):
    verdict = holdout_released(np.random.default_rng(seed))
    assert verdict.private
    assert verdict.synthetic == verdict.holdout


def test_all_outliers_pass():
    """For nine real tables in ten (.89 over 600): the others have a real row beside (0, 0)."""
    rng = np.random.default_rng(1)
    leaks = [outliers_released(rng) for _ in range(100)]
    assert min(leak.outliers for leak in leaks) > 60
    assert max(leak.moved for leak in leaks) < 2e-6
    passed = sum(leak.verdict.private for leak in leaks)
    assert binom.ppf(0.0005, 100, 0.89) <= passed <= binom.ppf(0.9995, 100, 0.89)


def test_fresh_rows_fail_and_the_split_decides():
    rates = fresh_draws(np.random.default_rng(1), splits=12, draws=25)
    private = [rate.private for rate in rates]
    assert all(rate.ims == 1 for rate in rates)
    assert 0.15 < np.mean(private) < 0.7  # the truth is "cannot leak", 1
    assert max(private) - min(private) > 0.4


def test_splitting_again_changes_the_verdict():
    rates = split_again(np.random.default_rng(2), splits=80)
    assert 0.02 < rates.private < 0.98


def test_the_outlier_filter_flips_verdicts_both_ways():
    flips = outliers_filtered(np.random.default_rng(3), tables=150)
    assert flips.to_fail > 0
    assert flips.dcr_to_fail > 0
    assert flips.nndr_to_fail > 0
    assert flips.nndr_to_pass > 0


def test_the_similarity_filter_shows_whom_it_protects():
    found = holes(np.random.default_rng(4), seen=400_000, farthest=2.7)
    assert found.passed == 1
    assert found.outliers > 30
    assert found.found / found.outliers > 0.95
    assert found.true_holes / found.holes > 0.95


def test_bins_overstate_privacy():
    rates = discretised(np.random.default_rng(5), bins=(2, 50, 500), splits=6, draws=5)
    exact = rates.pop("exact numbers")
    binned = np.mean([rate.dcr for rate in rates.values()])
    assert binned > 0.9
    assert exact.dcr < binned
