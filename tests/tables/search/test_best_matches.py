"""The best few matches, value by value, against the definition written out: all rows in order, the best and then the first."""

import numpy as np
import pytest

from tests.tables.search.test_best_match import drawn
from unmask.tables.search import best_matches
from unmask.tables.search.best_matches import BestMatches


def naive(people, weights, rows, own, k):
    """Single precision, in the order of the columns; people x k row numbers and what they are worth, best first."""
    found, worth = np.empty((len(people), k), dtype=np.int64), np.empty((len(people), k), dtype=np.float32)
    for i, person in enumerate(people):
        totals = []
        for j, row in enumerate(rows):
            total = np.float32(0.0)
            for column in range(people.shape[1]):
                if person[column] >= 0 and person[column] == row[column]:
                    total += weights[i, column]
            if own[i] != j:
                totals.append((-total, j))
        for place, (total, j) in enumerate(sorted(totals)[:k]):
            found[i, place], worth[i, place] = j, -total
    return found, worth


def by_lists(people, weights, rows, own, k, begun, blocks=1):
    """The same: the first rows by the definition, the others in so many blocks by lists of values."""
    found, worth = naive(people, weights, rows[:begun], own, k)
    lists = BestMatches(people, weights)
    for part in np.array_split(np.arange(begun, len(rows)), blocks):
        lists.keep(rows[part], int(part[0]) if len(part) else begun, own, found, worth)
    return found, worth


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("columns", [1, 2, 5, 15])
@pytest.mark.parametrize("more", [0, 1, 3, 127, 128, 300])
def test_equals_naive_loops(columns, more, monkeypatch):
    """Missing codes on both sides, values that the other side lacks, own rows among the first ones and among the others."""
    monkeypatch.setattr(best_matches, "ROWS", 128)
    rng = np.random.default_rng(more + columns)
    for values, k in ((1, 3), (3, 5), (40, 1)):
        people, weights, rows = drawn(rng, 25, 12 + more, columns, values)
        for own in (np.full(25, -1), rng.integers(-1, len(rows), 25)):
            expected = naive(people, weights, rows, own, k)
            for blocks in (1, 2):
                assert_equal(by_lists(people, weights, rows, own, k, 12, blocks), expected)


@pytest.mark.parametrize("values", [1, 3])
def test_of_equal_matches_the_first_rows_are_kept(values):
    """Columns of one weight: equal sums of other columns, so that a lower row number may be found after a higher one."""
    rng = np.random.default_rng(3)
    people, rows = (rng.integers(0, values + 1, (count, 6)).astype(np.int32) for count in (40, 300))
    weights = np.ones(people.shape, dtype=np.float32)
    own = np.full(40, -1)
    found, worth = by_lists(people, weights, rows, own, 6, 6)
    assert_equal((found, worth), naive(people, weights, rows, own, 6))
    tied = worth[:, 1:] == worth[:, :-1]
    assert tied.mean() > 0.5
    assert (np.diff(found, axis=1)[tied] > 0).all()


def test_nobody_no_columns_and_values_that_no_row_has():
    rng = np.random.default_rng(4)
    people, weights, rows = drawn(rng, 5, 40, 3, 3)
    own = np.full(5, -1)
    absent = np.full_like(people, 1000)
    assert_equal(by_lists(absent, weights, rows, own, 2, 4), naive(absent, weights, rows, own, 2))
    unknown = np.full_like(people, -2)
    assert_equal(by_lists(unknown, weights, rows, own, 2, 4), naive(unknown, weights, rows, own, 2))
    for some in (people[:0], weights[:0]), (people[:, :0], weights[:, :0]):
        one = own[: len(some[0])]
        offered = rows[:, : some[0].shape[1]]
        assert_equal(by_lists(*some, offered, one, 2, 4), naive(*some, offered, one, 2))


def test_equals_naive_loops_where_sums_round():
    """Weights of every size: what rounding does to a sum never lets a better row be passed over."""
    rng = np.random.default_rng(5)
    people, _, rows = drawn(rng, 40, 1500, 12, 6)
    weights = np.exp(rng.normal(0, 4, people.shape)).astype(np.float32)
    own = rng.integers(0, 1500, 40)
    assert_equal(by_lists(people, weights, rows, own, 7, 8, 3), naive(people, weights, rows, own, 7))


def test_it_pays_among_many_rows_of_few_columns():
    people = np.zeros((10, 3), dtype=np.int32)
    assert not BestMatches.pays(people, best_matches.FEWEST_ROWS - 1)
    assert BestMatches.pays(people, best_matches.FEWEST_ROWS)
    assert not BestMatches.pays(np.zeros((10, best_matches.MOST_COLUMNS + 1), dtype=np.int32), best_matches.FEWEST_ROWS)
