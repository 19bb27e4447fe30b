"""Searches of numbers in boxes and by matrix products: bit by bit what loops over all pairs find."""

import numpy as np
import pytest

from tests.tables.test_distance import mixed
from unmask.tables.distance import (
    Euclid,
    RankCriterion,
    Ranks,
    all_nearest,
    all_nearest_in_parts,
    kth_distances,
    nearest,
)
from unmask.tables.ranks import ranks
from unmask.tables.search import _boxes, _list_search, _products

SUMS = [RankCriterion.SUM, RankCriterion.MAX, RankCriterion.EUCLID]
LENGTH = Ranks(RankCriterion.EUCLID)


@pytest.fixture
def by(monkeypatch):
    """Have all searches run one way."""

    def choose(way):
        fewest = 10**9 if way == "loops" else 1
        monkeypatch.setattr(_list_search, "FEWEST_QUERIES", fewest)
        monkeypatch.setattr(_list_search, "FEWEST_CANDIDATES", 1)
        for share in ("WORTH", "HOPELESS"):
            monkeypatch.setattr(_boxes, share, 1.0 if way == "boxes" else -1.0)

    return choose


def _all_ways(by, search, ways=("boxes", "products")):
    by("loops")
    expected = search()
    for way in ways:
        by(way)
        for found, wanted in zip(search(), expected, strict=True):
            np.testing.assert_array_equal(found, wanted, err_msg=way)
    return expected


def _everything(queries, candidates, metric, *, k=3, same=False, workers=1):
    """Lists, k-th distances and ties as arrays."""
    how = {"metric": metric, "exclude_same_row": same, "workers": workers}
    lists, tied = nearest(queries, candidates, k=k, **how), all_nearest(queries, candidates, **how)
    kth = kth_distances(queries, candidates, ks=(1, k), **how)
    return lists.distances, lists.rows, kth, tied.distances, tied.starts, tied.rows


@pytest.mark.parametrize("few_values", [True, False])
@pytest.mark.parametrize("sizes", [(40, 30), (300, 1100)])
def test_euclid_with_missing_unlisted_and_tied_values(by, few_values, sizes):
    queries, candidates = mixed(sizes[0], 1, few_values), mixed(sizes[1], 2, few_values)
    _all_ways(by, lambda: _everything(queries, candidates, Euclid.fitted_to(candidates)))


def test_euclid_leaves_the_same_row_out(by):
    table = mixed(400, 3)
    _all_ways(by, lambda: _everything(table, table, Euclid.fitted_to(table), same=True))


@pytest.mark.parametrize("criterion", SUMS)
def test_ranks_with_many_ties(by, criterion):
    own, other = ranks(mixed(250, 4)), ranks(mixed(900, 5))
    _all_ways(by, lambda: _everything(own, other, Ranks(criterion), k=20))
    _all_ways(by, lambda: _everything(own, own, Ranks(criterion), same=True))


@pytest.mark.parametrize("columns", [1, 2, 10, 50])
def test_gaussian_numbers(by, rng, columns):
    """Also those that matrix products round most: far from 0, with outliers, nearly equal."""
    queries, candidates = rng.normal(size=(200, columns)), rng.normal(size=(700, columns))
    candidates[:50] = queries[:50] + 1e-9 * rng.normal(size=(50, columns))
    for moved, scale in ((0.0, 1.0), (1e9, 1.0), (0.0, 1e-12), (3.0, 1e5)):
        a, b = moved + scale * queries, moved + scale * candidates
        b[-3:] *= 1e4
        _all_ways(by, lambda a=a, b=b: _everything(a, b, LENGTH))


def test_rows_that_are_all_equal(by):
    queries, candidates = np.zeros((10, 3)), np.zeros((1000, 3))
    *_, starts, rows = _all_ways(by, lambda: _everything(queries, candidates, LENGTH))
    np.testing.assert_array_equal(rows[: starts[1]], np.arange(1000))


def test_fewer_candidates_than_neighbours(by, rng):
    queries, candidates = rng.normal(size=(5, 2)), rng.normal(size=(4, 2))
    (found,) = _all_ways(by, lambda: (kth_distances(queries, candidates, ks=(1, 4, 9), metric=LENGTH),))
    assert np.isinf(found[:, 2]).all()
    assert np.isfinite(found[:, :2]).all()


def test_threads_change_nothing(by, rng):
    queries, candidates = rng.normal(size=(1300, 3)), rng.normal(size=(500, 3))
    for way in ("boxes", "products"):
        by(way)
        one, three = (_everything(queries, candidates, LENGTH, workers=workers) for workers in (1, 3))
        for a, b in zip(one, three, strict=True):
            np.testing.assert_array_equal(a, b)


def test_parts_are_the_whole(rng):
    own, other = np.round(rng.random((700, 2)) * 30), np.round(rng.random((1500, 2)) * 30)
    whole = all_nearest(own, other, metric=LENGTH)
    parts = list(all_nearest_in_parts(own, other, at_once=200, metric=LENGTH))
    assert [len(part.counts) for part in parts] == [200, 200, 200, 100]
    np.testing.assert_array_equal(np.concatenate([part.rows for part in parts]), whole.rows)
    np.testing.assert_array_equal(np.concatenate([part.counts for part in parts]), whole.counts)


def test_numbers_too_large_for_products_are_left_to_loops(rng):
    huge = rng.normal(size=(6, 2)) * 1e200
    assert _products.products_of(huge, huge.T, np.ones(2)) is None


def test_boxes_hold_every_row_once_and_pass_over_most(rng):
    columns = rng.normal(size=(3, 5000))
    boxes = _boxes.boxes_of(columns, np.ones(3))
    assert sorted(boxes.order) == list(range(5000))
    assert boxes.widest <= _boxes.ROWS
    for box, (begin, end) in enumerate(zip(boxes.starts[:-1], boxes.starts[1:], strict=True)):
        inside = columns[:, boxes.order[begin:end]]
        np.testing.assert_array_equal(boxes.low[:, box], inside.min(axis=1))
        np.testing.assert_array_equal(boxes.high[:, box], inside.max(axis=1))
    queries, best, rows = columns[:, :100].T.copy(), np.full((100, 1), np.inf), np.full((100, 1), -1)
    measured = _boxes.nearest(boxes, queries, np.ones(3), _list_search.SQUARED, _list_search.NOWHERE, best, rows)
    assert (rows[:, 0] == np.arange(100)).all()
    assert measured < 0.1 * 100 * 5000
