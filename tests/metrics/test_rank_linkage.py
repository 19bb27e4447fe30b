"""Rank linkage against a naive loop, its exact null and a release that is the real table."""

import sys
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import poisson

from unmask import datasets
from unmask.errors import InputError, ParameterError
from unmask.metrics.rank_linkage import common_ranks, difference, links, rank_linkage
from unmask.tables.distance import RankCriterion
from unmask.tables.table import Table


def small(rows, seed):
    """Few values, so that ranks tie everywhere; some missing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 5, rows),
            "b": rng.choice(["x", "y", None], rows),
            "c": np.where(rng.random(rows) < 0.2, np.nan, rng.integers(0, 30, rows)),
        }
    )
    return Table.from_pandas(frame, FULL.schema) if seed else Table.from_pandas(frame)


FULL = small(400, 0)


def naive(own, other, criterion):
    """Every record against every row with numpy, ties collected by comparison."""
    combine = {
        RankCriterion.SUM: np.sum,
        RankCriterion.MAX: np.max,
        RankCriterion.MIN: np.min,
        RankCriterion.EUCLID: lambda gaps, axis: np.sqrt(np.square(gaps).sum(axis=axis)),
    }[criterion]
    found = []
    for record in own:
        far = combine(np.abs(other - record), axis=1)
        found.append(np.flatnonzero(far == far.min()))
    return found


@pytest.mark.parametrize("criterion", RankCriterion)
@pytest.mark.parametrize("rows", [60, 45])
def test_links_are_all_ties_of_a_naive_loop(criterion, rows, monkeypatch):
    real, release = small(60, 1), small(rows, 2)
    expected = naive(*common_ranks(real, release, None), criterion)
    monkeypatch.setattr(sys.modules[links.__module__], "MOST_TIES", 7 * rows)
    found = [tied for part in links(real, release, criterion=criterion) for tied in part]
    assert len(found) == 60
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert max(len(tied) for tied in found) > 1


@pytest.mark.parametrize("criterion", RankCriterion)
def test_correct_links_of_a_naive_loop(criterion, rng):
    real, release = small(80, 3), small(80, 3)
    release = release.take(rng.permutation(80))
    result = rank_linkage(real, [release], criterion=criterion, permutations=19, rng=rng).releases[0]
    tied = naive(*common_ranks(real, release, None), criterion)
    np.testing.assert_allclose(result.correct, [(i in rows) / len(rows) for i, rows in enumerate(tied)])
    np.testing.assert_array_equal(result.ties, [len(rows) for rows in tied])


@pytest.mark.parametrize("criterion", [RankCriterion.SUM, RankCriterion.MAX, RankCriterion.EUCLID])
def test_identity_links_everybody(criterion, rng):
    """A release equal to the real table: 100 % of unique records, in whatever order the rows are published."""
    real = datasets.gaussian(4, 300, seed=1)
    result = rank_linkage(real, [real], criterion=criterion, permutations=199, rng=rng)
    assert (result.releases[0].correct == 1).all()
    assert result.releases[0].p_value == 1 / 200
    order = rng.permutation(300)
    shuffled = rank_linkage(real, [real.take(order)], origins=[order], criterion=criterion, permutations=0, rng=rng)
    assert (shuffled.releases[0].correct == 1).all()


def test_equal_rows_share_the_link(rng):
    real = Table.from_pandas(pd.DataFrame({"a": [1, 1, 2, 3], "b": ["x", "x", "y", "y"]}))
    found = rank_linkage(real, [real], permutations=0, rng=rng).releases[0]
    np.testing.assert_array_equal(found.correct, [0.5, 0.5, 1, 1])
    np.testing.assert_array_equal(found.ties, [2, 2, 1, 1])


@pytest.mark.parametrize("criterion", RankCriterion)
def test_the_order_of_rows_says_nothing(criterion):
    """On tied columns, ranks in order of appearance would link row i to row i; mid-ranks link to the whole tie."""
    real = Table.from_pandas(pd.DataFrame({"a": ["x"] * 6, "b": [None] * 6}, dtype=object))
    (tied,) = links(real, real, criterion=criterion)
    assert (tied.counts == 6).all()


@pytest.mark.parametrize("criterion", RankCriterion)
def test_expected_number_of_correct_links_is_exactly_one(criterion, rng):
    """The mean over all 120 assignments of five rows to five people, for any two tables, and with a row withheld."""
    real, release = small(5, 4), small(5, 5)
    for kept in (range(5), range(4)):
        part = release.take(list(kept))
        totals = [
            rank_linkage(
                real, [part], origins=[np.array(order)[list(kept)]], criterion=criterion, permutations=0, rng=rng
            )
            .releases[0]
            .correct.sum()
            for order in permutations(range(5))
        ]
        assert np.mean(totals) == pytest.approx(1, abs=1e-12)


def test_correct_links_of_independent_data_are_poisson(rng):
    """Continuous columns, nothing in common: counts of 0, 1, 2 and more near Poisson(1), p-values not too small too often."""
    counts, small_p = [], 0
    for seed in range(400):
        real, release = datasets.gaussian(3, 60, seed=2 * seed), datasets.gaussian(3, 60, seed=2 * seed + 1)
        found = rank_linkage(real, [release], permutations=19, rng=rng).releases[0]
        counts.append(found.correct.sum())
        small_p += found.p_value <= 0.05
    assert np.mean(counts) == pytest.approx(1, abs=4 / 20)  # four standard errors
    shares = np.bincount(np.round(counts).astype(int).clip(max=3), minlength=4) / 400
    expected = [*poisson.pmf(range(3), 1), poisson.sf(2, 1)]
    np.testing.assert_allclose(shares, expected, atol=0.1)
    assert small_p <= 34  # 99.9 % limit of 5 % in 400


def test_noise_is_linked_and_the_p_value_says_so(rng):
    real = datasets.gaussian(4, 200, seed=5)
    noisy = Table(real.schema, real.codes, np.asfortranarray(real.numbers + rng.normal(0, 0.1, real.numbers.shape)))
    found = rank_linkage(real, [noisy], permutations=199, rng=rng).releases[0]
    assert found.rate.low > 0.3
    assert found.p_value == 1 / 200
    assert found.deviation == pytest.approx(1, abs=0.4)


def test_risk_grows_with_the_number_of_releases(rng):
    real = datasets.gaussian(3, 200, seed=6)
    sets = [
        Table(real.schema, real.codes, np.asfortranarray(real.numbers + rng.normal(0, 0.4, real.numbers.shape)))
        for _ in range(4)
    ]
    result = rank_linkage(real, sets, permutations=0, rng=rng)
    values = [estimate.value for estimate in result.at_least_once]
    assert values == sorted(values)
    assert values[0] == pytest.approx(result.releases[0].correct.mean())
    assert values[-1] > 1.5 * values[0]


def test_suppressed_rows_keep_their_origin(rng):
    real = datasets.gaussian(4, 200, seed=7)
    kept = np.sort(rng.choice(200, 150, replace=False))
    found = rank_linkage(real, [real.take(kept)], origins=[kept], permutations=99, rng=rng).releases[0]
    assert found.correct[np.setdiff1d(np.arange(200), kept)].sum() == 0
    assert found.correct[kept].mean() > 0.5
    assert found.p_value == 0.01


@pytest.mark.parametrize("criterion", RankCriterion)
def test_difference_agrees_with_the_search_bit_by_bit(criterion):
    """Scaled ranks are no multiples of one half, so the sums must run in the same order as the compiled ones."""
    own, other = common_ranks(datasets.gaussian(7, 90, seed=1), datasets.gaussian(7, 77, seed=2), None)
    search = links(datasets.gaussian(7, 90, seed=1), datasets.gaussian(7, 77, seed=2), criterion=criterion)
    for tied in search:
        first = tied.rows[tied.starts[:-1]]
        np.testing.assert_array_equal(difference(own, other[first], criterion), tied.distances)


def test_refusals(rng):
    real = small(20, 1)
    with pytest.raises(ParameterError, match="no release"):
        rank_linkage(real, [], rng=rng)
    with pytest.raises(ParameterError, match="attribute_scenario"):
        rank_linkage(real, [real.take(range(19))], rng=rng)
    with pytest.raises(ParameterError, match="one array for each"):
        rank_linkage(real, [real], origins=[], rng=rng)
    with pytest.raises(ParameterError, match="one row number"):
        rank_linkage(real, [real], origins=[np.arange(20) + 1], rng=rng)
    with pytest.raises(ParameterError, match="twice"):
        rank_linkage(real, [real], origins=[np.zeros(20)], rng=rng)
    with pytest.raises(InputError, match="at least one row"):
        list(links(real, real.take([])))


@pytest.mark.parametrize("criterion", RankCriterion)
def test_mean_and_deviation_over_assignments_are_exact(criterion, rng):
    """All 120 assignments of five people, with ties, suppressed rows, and some people only."""
    both = Table.from_pandas(pd.DataFrame(rng.integers(0, 3, (10, 3)), columns=["a", "b", "c"]))
    real, release = both.take(range(5)), both.take(range(5, 10))
    for kept, only in (([0, 1, 2, 3, 4], None), ([0, 2, 3], None), ([0, 1, 2, 3, 4], [1, 3]), ([1, 4], [0, 1, 2])):
        part = release.take(kept)
        totals, told = [], None
        for order in permutations(range(5)):
            linked = rank_linkage(
                real, [part], origins=[np.array(order)[kept]], criterion=criterion, permutations=0, only=only, rng=rng
            )
            told = linked.releases[0]
            totals.append(told.correct.sum())
        assert told.expected == pytest.approx(np.mean(totals))
        assert told.deviation == pytest.approx(np.std(totals))


def test_the_bound_on_chance_holds_and_poisson_is_near_it(rng):
    """Independent tables: the bound is at most 5 % in at most 5 % of 200 seeds (21 at the 99.9 % limit), far fewer in fact."""
    small = sum(
        rank_linkage(
            datasets.gaussian(3, 60, seed=seed), [datasets.gaussian(3, 60, seed=10_000 + seed)], permutations=0, rng=rng
        )
        .releases[0]
        .chance
        <= 0.05
        for seed in range(200)
    )
    assert small <= 21


def test_some_records_are_linked_as_all_are(rng):
    real = datasets.gaussian(3, 80, seed=1)
    noisy = datasets.gaussian(3, 80, seed=2)
    chosen = np.array([3, 17, 40, 79])
    some = rank_linkage(real, [noisy], only=chosen, permutations=0, rng=rng).releases[0]
    whole = rank_linkage(real, [noisy], permutations=0, rng=rng).releases[0]
    np.testing.assert_array_equal(some.correct, whole.correct[chosen])
    np.testing.assert_array_equal(some.ties, whole.ties[chosen])
    assert some.expected == 4 / 80
    assert np.isnan(some.p_value)
