"""Distances by rows of bits against those by codes and against naive loops: bit for bit, on tables of every shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables.test_distance import mixed, naive
from tests.tables.test_kth_distances import kth_of, pairs_of_tables, table_of
from unmask.tables.distance import Gower, Hamming, kth_distances, nearest, nearest_row
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.search import _bit_search, _kth_search
from unmask.tables.search._packing import compared

METRICS = [Hamming(), Gower()]
by_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: type(metric).__name__)


@pytest.fixture
def always(monkeypatch):
    """However small the tables, and however many pairs have to be measured."""
    for name, value in (("ENOUGH_QUERIES", 1), ("ENOUGH_PAIRS", 1), ("MOST_MEASURED", np.inf)):
        monkeypatch.setattr(_bit_search, name, value)


def by_bits(queries, candidates, ks, metric, exclude_same_row=False, rows=None):
    """What bits say; the tables must be such that they are asked."""
    tables = compared(queries, candidates, metric, None, exclude_same_row)
    found = _bit_search.kth_by_bits(
        tables, np.array(ks), np.empty(0, np.int64) if rows is None else rows, lambda run, count: run(0, count)
    )
    assert found is not None
    return found / tables.divisor


def by_codes(queries, candidates, ks, metric, exclude_same_row=False, rows=None):
    tables = compared(queries, candidates, metric, None, exclude_same_row)
    rows = np.empty(0, np.int64) if rows is None else rows
    return _kth_search.by_codes(tables, np.array(ks), rows, 1) / tables.divisor


def counted(table, metric):
    """How many columns have mismatches to count."""
    return len(table.schema.columns) - (len(table.schema.numeric) if isinstance(metric, Gower) else 0)


@given(pairs_of_tables(), st.sets(st.integers(1, 64), min_size=1, max_size=4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_equals_codes_on_any_tables(tables, ks, exclude_same_row):
    """Missing and unlisted values, ties, duplicates, one column, one row, fewer candidates than are asked for."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("ENOUGH_QUERIES", 1), ("ENOUGH_PAIRS", 1), ("MOST_MEASURED", np.inf), ("BLOCK", 128)):
            patch.setattr(_bit_search, name, value)
        queries, candidates = (tables[1], tables[1]) if exclude_same_row else tables
        for metric in METRICS:
            if not counted(queries, metric):
                continue
            rows = [np.full(len(queries), -1) for _ in range(2)]
            found = by_bits(queries, candidates, sorted(ks), metric, exclude_same_row, rows[0])
            expected = by_codes(queries, candidates, sorted(ks), metric, exclude_same_row, rows[1])
            assert np.array_equal(found, expected)
            assert np.array_equal(*rows)


@by_metric
@pytest.mark.parametrize("rows", [1, 63, 64, 65, 300])
def test_equals_naive_loops(metric, rows, always):
    queries, candidates = mixed(40, 1), mixed(rows, 2)
    expected = kth_of(naive(metric, queries, candidates), (1, 5, 20, 64))
    assert np.array_equal(by_bits(queries, candidates, (1, 5, 20, 64), metric), expected)


@by_metric
@pytest.mark.parametrize("columns", [1, 2, 7, 14, 15, 16, 29, 30])
def test_any_number_of_columns(metric, columns, always):
    """Numbers of mismatches need one to five bits; more than fifteen columns are added in two parts."""
    rng = np.random.default_rng(columns)
    categories = (Column(f"c{i}", Kind.CATEGORICAL, values=("a", "b", "c"), missing=("",)) for i in range(columns))
    schema = Schema((*categories, Column("x", Kind.CONTINUOUS, lower=0.0, upper=1.0, bins=3, missing=("",))))
    queries, candidates = (
        table_of(schema, rng.integers(0, 5, (rows, columns)), rng.random((rows, 1))) for rows in (50, 200)
    )
    queries.codes[:5, :-1], candidates.codes[:5, :-1] = 0, 1  # as far apart as can be
    if columns == 30 and isinstance(metric, Hamming):
        tables = compared(queries, candidates, metric, None, False)
        assert _bit_search.kth_by_bits(tables, np.array([1]), np.empty(0, np.int64), lambda run, count: None) is None
        queries, candidates = (table.select([f"c{i}" for i in range(30)]) for table in (queries, candidates))
    assert np.array_equal(
        by_bits(queries, candidates, (1, 20, 64), metric), by_codes(queries, candidates, (1, 20, 64), metric)
    )


@by_metric
def test_large_enough_tables_are_searched_by_bits_block_by_block(metric, monkeypatch):
    """As a user asks: several blocks and chunks, two threads, the same row left out, the nearest row."""
    monkeypatch.setattr(_bit_search, "BLOCK", 512)
    asked = []
    monkeypatch.setattr(
        "unmask.tables.search._kth_search.kth_by_bits",
        lambda *given: asked.append(_bit_search.kth_by_bits(*given)) or asked[-1],
    )
    table = mixed(1500, 9)
    found = nearest_row(table, table, ks=(1, 3), metric=metric, exclude_same_row=True, workers=2)
    assert asked[0] is not None or isinstance(
        metric, Gower
    )  # three columns of categories do not tell much about numbers
    lists = nearest(table, table, k=3, metric=metric, exclude_same_row=True)
    assert np.array_equal(found.distances, lists.distances[:, [0, 2]])
    assert np.array_equal(found.rows[:, 0], lists.rows[:, 0])


def test_a_crowd_of_equal_rows(always):
    """More copies than are sorted at a time; the first of them is the nearest row."""
    table = mixed(1, 3)
    crowd = table.take(np.zeros(3 * 128 + 5, dtype=int))
    for metric in METRICS:
        rows = np.full(1, -1)
        assert by_bits(table, crowd, (1, 64), metric, rows=rows).tolist() == [[0.0, 0.0]]
        assert rows.tolist() == [0]


def test_where_bits_do_not_pay_codes_are_compared():
    few, many = mixed(20, 1), mixed(3000, 2)
    share, none = (lambda run, count: run(0, count)), np.empty(0, np.int64)
    for queries, metric in ((few, Hamming()), (many, Gower())):  # few queries; numbers that mismatches say little about
        assert (
            _bit_search.kth_by_bits(compared(queries, many, metric, None, False), np.array([20]), none, share) is None
        )
    assert np.array_equal(kth_distances(few, many, metric=Gower()), by_codes(few, many, (1, 5, 20), Gower()))


def test_crowds_at_several_distances(always):
    """More equal sums than are sorted at a time, below and above the k-th one."""
    queries = mixed(30, 3)
    crowd = queries.take(np.repeat(np.arange(6), [2, 150, 1, 200, 3, 140]))
    for ks in ((1, 2, 3, 64), (5,)):
        assert np.array_equal(by_bits(queries, crowd, ks, Gower()), by_codes(queries, crowd, ks, Gower()))
