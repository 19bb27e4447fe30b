import numpy as np
import pytest

from unmask.errors import ParameterError
from unmask.stats import auc
from unmask.stats.auc import midranks, placements


def naive_delong(inside, outside):
    """All pairs: the AUC and DeLong's variance, straight from the definition."""
    pairs = (inside[:, None] > outside) + 0.5 * (inside[:, None] == outside)
    v_in, v_out = pairs.mean(axis=1), pairs.mean(axis=0)
    return pairs.mean(), v_in.var(ddof=1) / inside.size + v_out.var(ddof=1) / outside.size


@pytest.mark.parametrize("levels", [3, 20, 10**9])
def test_placements_equal_the_definition_with_and_without_ties(levels):
    rng = np.random.default_rng(levels)
    inside, outside = rng.integers(0, levels, 37) + levels // 4, rng.integers(0, levels, 53)
    of_in, of_out = placements(inside.astype(float), outside.astype(float))
    value, variance = naive_delong(inside, outside)
    assert of_in.mean() == pytest.approx(value)
    assert of_out.mean() == pytest.approx(value)
    assert of_in.var(ddof=1) / 37 + of_out.var(ddof=1) / 53 == pytest.approx(variance)


def test_the_interval_is_delongs_on_the_logit_scale():
    rng = np.random.default_rng(1)
    inside, outside = rng.normal(1, 1, 80), rng.normal(0, 1, 120)
    value, variance = naive_delong(inside, outside)
    half = 1.959964 * np.sqrt(variance) / (value * (1 - value))
    centre = np.log(value / (1 - value))
    expected = 1 / (1 + np.exp(-np.array([centre - half, centre + half])))
    estimate = auc(inside, outside)
    assert estimate.value == pytest.approx(value)
    assert estimate.interval == pytest.approx(tuple(expected), abs=1e-6)


def test_perfect_separation_is_not_certainty():
    """DeLong's variance is 0 here; 50 disjoint ordered pairs allow an AUC down to .025^(1/50)."""
    estimate = auc(np.arange(50) + 100.0, np.arange(80.0))
    assert estimate.value == 1.0
    assert estimate.interval == pytest.approx((0.025 ** (1 / 50), 1.0))
    assert auc(np.arange(80.0), np.arange(50) + 100.0).interval == pytest.approx((0.0, 1 - 0.025 ** (1 / 50)))


def test_one_swapped_pair_does_not_claim_more_than_a_perfect_order():
    inside, outside = np.arange(50) + 100.0, np.arange(50.0)
    perfect = auc(inside, outside)
    outside[-1] = 100.5
    assert auc(inside, outside).low <= perfect.low


def test_constant_scores_are_a_coin_toss_with_an_interval():
    estimate = auc(np.zeros(30), np.zeros(40))
    assert estimate.value == 0.5
    assert estimate.low < 0.5 < estimate.high
    assert estimate.high < 0.6


def test_one_score_on_a_side_says_nothing():
    assert auc([1.0], [0.0, 2.0, 3.0]).interval == (0.0, 1.0)


def test_the_copier_has_auc_one_plus_p_over_two():
    """A canary outside the support, copied with probability p: AUC = (1+p)/2."""
    rng = np.random.default_rng(2)
    copied = rng.random(4000) < 0.4
    estimate = auc(copied.astype(float), np.zeros(4000))
    assert estimate.value == pytest.approx(0.5 + copied.mean() / 2)
    assert estimate.low < 0.7 < estimate.high


def test_infinite_scores_are_ordered_and_missing_ones_refused():
    assert auc([np.inf, 2.0], [-np.inf, 1.0]).value == 1.0
    with pytest.raises(ParameterError, match="1 missing"):
        auc([np.nan, 1.0], [0.0])


def test_midranks_share_the_mean_rank():
    assert midranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1.0, 3.5, 2.0]
