"""Histograms of scores: they add up, leave outliers out, and show nobody's score."""

import numpy as np
import pytest

from unmask.audits.release.audit import audit
from unmask.audits.score_charts import joined, round_edges, score_histograms
from unmask.datasets import planted


@pytest.mark.parametrize("seed", range(20))
def test_no_bin_holds_one_to_nine_people_and_no_edge_is_a_score(seed):
    rng = np.random.default_rng(seed)
    sides = {"in": rng.standard_t(2, 700), "out": rng.normal(0.3, 1, 150)}
    made = list(score_histograms("a", sides))
    assert [one.name for one in made] == ["histogram/a/in", "histogram/a/out"]
    every = np.concatenate(list(sides.values()))
    for one, scores in zip(made, sides.values(), strict=True):
        held = np.histogram(np.clip(scores, one.x[0], one.x[-1]), one.x)[0]
        assert held.sum() == len(scores)
        assert not ((held > 0) & (held < 10)).any()
        assert not np.isin(np.array(one.x), every).any()
        assert one.y[-1] == 0
        step = round_edges(every)[1] - round_edges(every)[0]
        assert np.allclose(np.array(one.y[:-1]) * np.diff(one.x) / step * len(scores), held, rtol=1e-3)


def test_twenty_to_thirty_bins_before_they_are_joined():
    rng = np.random.default_rng(1)
    for scores in (rng.normal(size=500), rng.random(500), 1e-6 * rng.normal(size=500), rng.exponential(1e5, 500)):
        assert 20 <= len(round_edges(scores)) - 1 <= 30


def test_a_dozen_far_out_stay_far_out():
    """Few people with high scores are the leak: they are not averaged into the many."""
    counts = np.array([3, 40, 200, 90, 20, 4, 0, 0, 0, 0, 8, 6])
    kept, edges = joined(counts, np.arange(13.0), 10)
    assert kept.tolist() == [3 + 40, 200, 90, 20 + 4, 0, 0, 0, 0, 8 + 6]
    assert edges.tolist() == [0, 2, 3, 4, 6, 7, 8, 9, 10, 12]


def test_scores_of_another_scale_do_not_squeeze_the_others():
    """One in twenty scores is a hundred million: the others still fill the bins, and those stand in the last one."""
    rng = np.random.default_rng(1)
    scores = np.r_[rng.normal(size=950), np.full(50, 1e8)]
    edges = round_edges(scores)
    assert edges[-1] < 20
    (made,) = score_histograms("a", {"in": scores})
    assert made.y[-2] >= 50 / 1000 / (len(edges) - 1)
    assert np.histogram(np.clip(scores, made.x[0], made.x[-1]), made.x)[0][-1] >= 50


def test_few_or_equal_scores_have_no_histogram():
    rng = np.random.default_rng(0)
    assert list(score_histograms("a", {"in": rng.normal(size=9), "out": rng.normal(size=500)})) == []
    assert list(score_histograms("a", {"in": np.ones(50), "out": np.ones(50)})) == []
    odd = np.r_[np.full(20, np.inf), np.full(20, np.nan), rng.normal(size=50)]
    assert all(np.isfinite(one.y).all() for one in score_histograms("a", {"in": odd, "out": rng.normal(size=50)}))


def test_the_release_audit_shows_both_sides_of_every_attack():
    leaky = planted(300, leaked=100, columns=9, seed=2)
    result = audit(leaky.real, leaky.synthetic, holdout=leaky.holdout, attempts=50)
    names = {series.name for series in result.series if series.name.startswith("histogram/")}
    attacks = {finding.name for finding in result.findings if finding.criterion == "membership"}
    assert {name.split("/")[1] for name in names} <= attacks
    assert {"histogram/closest-record/in the data", "histogram/closest-record/holdout"} <= names


def test_scores_that_differ_by_rounding_only_have_no_histogram(rng):
    scores = 0.5 + 1e-16 * rng.integers(0, 5, 80)
    assert list(score_histograms("any", {"in": scores[:40], "out": scores[40:]})) == []
