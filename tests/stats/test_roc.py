import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import kstest

from tests.stats.mechanisms import most_failures
from unmask.errors import ParameterError
from unmask.stats import (
    LOG_GRID,
    advantage,
    auc,
    clopper_pearson,
    precision,
    precision_interval,
    roc_curve,
    roc_on_grid,
    tpr_at_fpr,
)


def test_the_curve_has_one_corner_per_distinct_score():
    curve = roc_curve([3, 2, 2, 1], [2, 1, 0, 0])
    assert curve.thresholds.tolist() == [np.inf, 3, 2, 1, 0]
    assert curve.tpr.tolist() == [0, 0.25, 0.75, 1, 1]
    assert curve.fpr.tolist() == [0, 0, 0.25, 0.5, 1]


@pytest.mark.parametrize("levels", [2, 7, 10**9])
def test_the_area_under_the_curve_is_the_auc_ties_included(levels):
    rng = np.random.default_rng(levels)
    inside, outside = rng.integers(0, levels, 200) + levels // 5, rng.integers(0, levels, 150)
    curve = roc_curve(inside, outside)
    assert trapezoid(curve.tpr, curve.fpr) == pytest.approx(auc(inside, outside).value)


def test_constant_scores_are_the_diagonal():
    assert roc_on_grid(roc_curve(np.zeros(5), np.zeros(9)), [0.0, 0.1, 0.5, 1.0]) == pytest.approx([0, 0.1, 0.5, 1])


def test_the_grid_takes_the_upper_end_of_a_vertical_step():
    curve = roc_curve([3.0, 2.0], [1.0, 0.0])
    assert roc_on_grid(curve, [0.0, 0.25, 1.0]).tolist() == [1.0, 1.0, 1.0]
    assert roc_on_grid(curve).shape == (len(LOG_GRID),)


def test_the_grid_equals_a_naive_interpolation():
    rng = np.random.default_rng(0)
    curve = roc_curve(rng.normal(1, 1, 300), rng.normal(0, 1, 300))
    for fpr in (0.0005, 0.01, 0.3333, 0.9):
        last = max(i for i in range(curve.fpr.size) if curve.fpr[i] <= fpr)
        x0, x1, y0, y1 = curve.fpr[last], curve.fpr[last + 1], curve.tpr[last], curve.tpr[last + 1]
        assert roc_on_grid(curve, [fpr])[0] == pytest.approx(y0 + (fpr - x0) / (x1 - x0) * (y1 - y0))


def test_the_copier_is_seen_at_fpr_zero():
    """Copied with probability p, canary outside the support: TPR = p at FPR 0."""
    rng = np.random.default_rng(1)
    copied = rng.random(1000) < 0.3
    point = tpr_at_fpr(np.where(copied, 2.0, rng.random(1000)), rng.random(1000), fpr=0.0)
    assert point.tpr.value == pytest.approx(copied.mean(), abs=0.01)
    assert point.tpr.low < 0.3 < point.tpr.high
    assert point.fpr.value == 0.0


def test_ties_count_against_the_attack():
    """Everybody has the same score: nobody may be flagged at FPR .5."""
    point = tpr_at_fpr(np.zeros(50), np.zeros(50), fpr=0.5)
    assert (point.tpr.value, point.fpr.value) == (0.0, 0.0)


def test_both_rates_cover_the_truth_at_the_chosen_threshold():
    """Uniform against squared scores: threshold t has FPR 1-t and TPR 1-t^2. At most 5 % misses of each (limit stated)."""
    rng, repetitions = np.random.default_rng(2), 1000
    missed_tpr = missed_fpr = 0
    for _ in range(repetitions):
        point = tpr_at_fpr(np.sqrt(rng.random(100)), rng.random(200), fpr=0.1)
        missed_tpr += not point.tpr.low <= 1 - point.threshold**2 <= point.tpr.high
        missed_fpr += not point.fpr.low <= 1 - point.threshold <= point.fpr.high
    assert missed_tpr <= most_failures(repetitions)
    assert missed_fpr <= most_failures(repetitions)


def test_the_fpr_of_a_rank_follows_its_beta_law():
    rng = np.random.default_rng(3)
    true_fpr = [1 - tpr_at_fpr([0.5], rng.random(50), fpr=0.1).threshold for _ in range(1000)]
    assert kstest(true_fpr, "beta", args=(6, 45)).pvalue > 0.001


def test_the_guarantee_keeps_the_true_fpr_below_its_target():
    rng, repetitions = np.random.default_rng(4), 1000
    above = sum(
        1 - tpr_at_fpr([0.5], rng.random(400), fpr=0.05, guarantee=True).threshold > 0.05 for _ in range(repetitions)
    )
    assert above <= most_failures(repetitions)
    assert above > 0  # a rule that never errs would flag nobody


def test_a_guarantee_beyond_the_data_flags_nobody():
    """FPR .01 at 95 % takes 299 non-members."""
    scores = np.arange(298.0)
    assert tpr_at_fpr([1e9], scores, fpr=0.01, guarantee=True).tpr.value == 0.0
    assert tpr_at_fpr([1e9], np.arange(299.0), fpr=0.01, guarantee=True).tpr.value == 1.0


def test_advantage_is_tpr_minus_fpr():
    assert advantage([1, 1, 0, 1], [0, 0, 1, 0], threshold=0.5).value == pytest.approx(0.5)


def test_precision_collapses_when_members_are_rare():
    """TPR .1 at FPR .01 looks like 91 % in a balanced game and is 9 % if one in a hundred is a member."""
    assert precision(0.1, 0.01, prior=0.5) == pytest.approx(0.1 / 0.11)
    assert precision(0.1, 0.01, prior=0.01) == pytest.approx(0.001 / (0.001 + 0.0099))
    with pytest.raises(ParameterError, match="flags nobody"):
        precision(0.0, 0.0, prior=0.5)


def test_the_precision_interval_is_a_box_of_exact_limits():
    estimate = precision_interval((30, 100), (2, 200), prior=0.1)
    tpr, fpr = clopper_pearson(30, 100, confidence=0.975), clopper_pearson(2, 200, confidence=0.975)
    assert estimate.low == pytest.approx(precision(tpr.low, fpr.high, prior=0.1))
    assert estimate.low < estimate.value < estimate.high
