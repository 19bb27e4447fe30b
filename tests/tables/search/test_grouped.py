"""Nearest rows by groups of categories: the results of the kernels that look at everybody, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest

from tests.tables.test_kth_distances import table_of
from unmask.tables import narrow
from unmask.tables.distance import nearest, nearest_in_order
from unmask.tables.metric import Gower, Hamming
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.search import _grouped, _kth_search
from unmask.tables.search._kth_search import KthQuestion

KS = np.array([1, 2, 7])


def schema_of(sizes, numbers):
    categories = [
        Column(f"c{place}", Kind.CATEGORICAL, values=tuple(f"v{value}" for value in range(size)), missing=("",))
        for place, size in enumerate(sizes)
    ]
    measured = [
        Column(f"n{place}", Kind.CONTINUOUS, lower=0.0, upper=[10.0, 1.0, 0.0][place % 3], bins=4, missing=("",))
        for place in range(numbers)
    ]
    return Schema((*categories, *measured))


def drawn(schema, rows, rng):
    """Codes with missing and unlisted ones; numbers with gaps, ties and some outside their range."""
    categories = [column for column in schema.columns if not column.is_numeric]
    codes = np.column_stack([rng.integers(0, column.code_count, rows) for column in categories])
    codes[rng.random(codes.shape) < 0.5] = 0
    numbers = np.round(rng.uniform(-1, 12, (rows, len(schema.numeric))), 1)
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    return table_of(schema, codes, numbers)


@pytest.fixture
def small(monkeypatch):
    """Groups of tables that are too small for them otherwise."""
    monkeypatch.setattr(_grouped, "FEWEST_ROWS", 1)
    monkeypatch.setattr(_grouped, "FEWEST_QUERIES", 1)
    monkeypatch.setattr(_grouped, "USUAL_SHARE", 1.0)
    monkeypatch.setattr(_kth_search, "MOST_READ", 1.0)


@pytest.mark.parametrize("seed", range(12))
def test_the_same_as_row_by_row(small, seed):
    rng = np.random.default_rng(seed)
    schema = schema_of(rng.integers(1, 6, rng.integers(1, 5)), int(rng.integers(0, 4)))
    queries, candidates = drawn(schema, 60, rng), drawn(schema, int(rng.integers(300, 900)), rng)
    order = rng.permutation(len(candidates)) if seed % 2 else None
    some = schema.names if seed % 3 else schema.names[: 1 + len(schema.names) // 2]
    asked = KthQuestion(queries, candidates, Gower(), some, False, order)
    best, rows = asked.distances_and_rows(KS, 1)
    first = np.full(len(queries), -1)
    expected = asked._by_rows(KS, first, 1)
    assert np.array_equal(best, expected)
    assert np.array_equal(rows, first)
    assert np.array_equal(asked.distances(KS, 2), expected)


@pytest.mark.parametrize("decimals", [0, 1])
def test_large_tables_keep_numbers_in_few_bytes_and_give_the_same(small, monkeypatch, decimals):
    """Numbers that a large table keeps in few bytes are the same to the loop."""
    rng = np.random.default_rng(decimals)
    schema = schema_of([4, 4, 3], 3)
    queries, plain = drawn(schema, 60, rng), drawn(schema, 3_000, rng)
    plain = replace(plain, numbers=np.asfortranarray(np.round(plain.numbers, decimals)))
    monkeypatch.setattr(narrow, "FROM_ROWS", 0)
    large = replace(plain, numbers=narrow.together([narrow.narrow(column) for column in plain.numbers.T], len(plain)))
    one, other = (KthQuestion(queries, table, Gower(), None, False) for table in (plain, large))
    for mine, theirs in zip(one.distances_and_rows(KS, 1), other.distances_and_rows(KS, 1), strict=True):
        assert mine.tobytes() == theirs.tobytes()


def test_some_queries_are_answered_by_groups_and_some_are_not(small):
    """Else the comparison above says nothing."""
    rng = np.random.default_rng(1)
    schema = schema_of([5, 5, 5, 5], 2)
    queries, candidates = drawn(schema, 60, rng), drawn(schema, 5_000, rng)
    asked = KthQuestion(queries, candidates, Gower(), None, False)
    done = asked._by_groups(KS, np.full((60, 3), np.inf), np.full(60, -1), 1)
    assert 0 < done.sum() < 60


def test_columns_without_a_group_are_compared_row_by_row(small):
    """Rows that share all categories with nobody are grouped by those of few values."""
    rng = np.random.default_rng(2)
    schema = schema_of([3, 3, 60, 60], 1)
    queries, candidates = drawn(schema, 40, rng), drawn(schema, 2_000, rng)
    grouped = _grouped.GroupedRows.of(candidates)
    assert grouped.shared == (0, 1)
    asked, rows = KthQuestion(queries, candidates, Gower(), None, False), np.full(40, -1)
    best = asked._by_rows(KS, rows, 1)
    found, first = asked.distances_and_rows(KS, 1)
    assert np.array_equal(found, best)
    assert np.array_equal(first, rows)


def test_small_tables_few_queries_and_tables_without_categories_are_left_alone():
    rng = np.random.default_rng(3)
    schema = schema_of([4, 4], 1)
    assert _grouped.grouped_rows(drawn(schema, 100, rng), 1_000) is None
    large = drawn(schema, _grouped.FEWEST_ROWS, rng)
    assert _grouped.grouped_rows(large, 10) is None
    assert _grouped.grouped_rows(large, 1_000) is not None
    assert _grouped.grouped_rows(large, 10) is _grouped.grouped_rows(large, 1_000)  # made once


def test_an_order_of_the_candidates(small):
    """The same as asking the table in that order, for one neighbour and for several."""
    rng = np.random.default_rng(4)
    schema = schema_of([4, 4, 4], 1)
    queries, candidates = drawn(schema, 50, rng), drawn(schema, 800, rng)
    order = rng.permutation(800)
    for k in (1, 3):
        plain = nearest(queries, candidates.take(order), k=k, metric=Gower()).rows
        assert np.array_equal(nearest_in_order(queries, candidates, order, k=k), order[plain])


def test_where_most_rows_would_be_read_nobody_is_asked_by_groups(monkeypatch):
    """Some queries tell."""
    rng = np.random.default_rng(5)
    schema = schema_of([5, 5, 5, 5], 2)
    queries, candidates = drawn(schema, 250, rng), drawn(schema, 21_000, rng)
    monkeypatch.setattr(_grouped, "USUAL_SHARE", 1.0)
    question = KthQuestion(queries, candidates, Gower(), None, False)
    assert question._by_groups(KS, np.full((250, 3), np.inf), np.full(250, -1), 1) is None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("metric", [Gower(), Hamming()])
def test_candidates_that_are_copied_in_parts_give_the_same(monkeypatch, seed, metric):
    rng = np.random.default_rng(seed)
    schema = schema_of([4, 3, 5], 2)
    queries, candidates = drawn(schema, 40, rng), drawn(schema, 700, rng)
    order = rng.permutation(700) if seed % 2 else None
    asked, first, again = KthQuestion(queries, candidates, metric, None, False, order), np.full(40, -1), np.full(40, -1)
    whole = asked._by_rows(KS, first, 1)
    monkeypatch.setattr(_kth_search, "AT_ONCE", 90)
    assert np.array_equal(asked._by_rows(KS, again, 1), whole)
    assert np.array_equal(first, again)


def test_numbers_in_four_bytes_give_the_same_and_only_where_they_can(small, monkeypatch):
    """Halves come back from four bytes as they were, tenths do not."""
    rng = np.random.default_rng(5)
    schema = schema_of([5, 5, 5], 2)
    queries, candidates = drawn(schema, 60, rng), drawn(schema, 900, rng)
    for table, kind in (
        (candidates, np.float64),
        (replace(candidates, numbers=np.rint(candidates.numbers)), np.float32),
    ):
        expected = KthQuestion(queries, table, Gower(), None, False)._by_rows(KS, np.full(60, -1), 1)
        monkeypatch.setattr(_grouped, "NARROW_FROM", 1)
        monkeypatch.setattr(_grouped, "AT_ONCE", 100)
        assert _grouped.GroupedRows.of(table).groups.numbers.dtype == kind
        assert np.array_equal(KthQuestion(queries, table, Gower(), None, False).distances(KS, 1), expected)
        _grouped.forget(table)
