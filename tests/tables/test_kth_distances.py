"""k-th distances against `nearest` and against naive loops: bit for bit, for every metric, size and odd value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables.test_distance import by_metric, coded, mixed, naive
from unmask.errors import ParameterError, SchemaError
from unmask.tables.distance import (
    MOST_NEIGHBOURS,
    Gower,
    Hamming,
    RankCriterion,
    Ranks,
    kth_distances,
    nearest,
    nearest_row,
)
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.search._chunks import CHUNK
from unmask.tables.search._kth_kernels import BLOCK, GROUP, LANES, ROOM, TILE
from unmask.tables.table import Table

FAST = [Hamming(), Gower()]
by_fast_metric = pytest.mark.parametrize("metric", FAST, ids=lambda metric: type(metric).__name__)


def kth_of(matrix, ks):
    """Column k - 1 of the sorted distances; infinity where there are fewer."""
    short = np.full((len(matrix), max(ks)), np.inf)
    return np.sort(np.hstack([matrix, short]), axis=1)[:, np.array(ks) - 1]


def check(queries, candidates, ks, **options):
    """Equal to `nearest` for each k that it can answer, infinite for the others."""
    found = kth_distances(queries, candidates, ks=ks, **options)
    assert found.shape == (len(queries), len(ks))
    assert found.dtype == np.float64
    available = len(candidates) - options.get("exclude_same_row", False)
    most = min(max(ks), available)
    expected = np.full((len(queries), max(ks)), np.inf)
    if most > 0:
        expected[:, :most] = nearest(queries, candidates, k=most, **options).distances
    assert np.array_equal(found, expected[:, np.array(ks) - 1])


def table_of(schema, codes, numbers):
    """Rows from the codes of categories and from numbers (NaN = missing; outside the range = unlisted)."""
    whole = np.empty((len(codes), len(schema.columns)), dtype=schema.code_type, order="F")
    whole[:, : codes.shape[1]] = codes
    for place, position in enumerate(schema.numeric):
        column, values = schema.columns[position], numbers[:, place]
        outside = (values < column.lower) | (values > column.upper)
        bins = np.where(outside, column.unlisted_code, column.bin_of(values))
        whole[:, position] = np.where(np.isnan(values), column.missing_code, bins)
    return Table(schema, whole, np.asfortranarray(numbers))


@st.composite
def pairs_of_tables(draw):
    """Two tables of one schema: categories only, numbers only or both; ties, missing and unlisted values, single rows."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 5, 300]), max_size=6))
    bound = st.one_of(st.integers(-5, 5).map(float), st.floats(-1e9, 1e9))
    least = 0 if sizes else 1
    ranges = draw(st.lists(st.tuples(bound, bound).map(sorted), min_size=least, max_size=5))
    schema = Schema(
        tuple(
            Column(f"c{i}", Kind.CATEGORICAL, values=tuple(f"v{j}" for j in range(size)), missing=("",))
            for i, size in enumerate(sizes)
        )
        + tuple(
            Column(f"x{i}", Kind.CONTINUOUS, lower=lower, upper=upper, bins=3, missing=("",))
            for i, (lower, upper) in enumerate(ranges)
        )
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    coarse, beyond = draw(st.sampled_from([0, 1, 4])), draw(st.sampled_from([0.0, 0.2, 3.0]))
    tables = []
    for rows in draw(st.tuples(*[st.sampled_from([1, 2, 7, 40, 150, 300])] * 2)):
        codes = np.empty((rows, len(sizes)), dtype=np.int64)
        for i, size in enumerate(sizes):
            codes[:, i] = (rng.random(rows) ** 3 * (size + 2)).astype(int)  # the last two: missing, unlisted
        shares = rng.random((rows, len(ranges))) * (1 + 2 * beyond) - beyond
        shares = np.round(shares * coarse) / coarse if coarse else shares
        numbers = np.array([low + share * (high - low) for share, (low, high) in zip(shares.T, ranges, strict=True)])
        numbers = numbers.reshape(len(ranges), rows).T.copy()
        numbers[rng.random(numbers.shape) < 0.1] = np.nan
        tables.append(table_of(schema, codes, numbers))
    return tables


@given(pairs_of_tables(), st.lists(st.integers(1, MOST_NEIGHBOURS), min_size=1, max_size=4), st.booleans())
@settings(max_examples=150, deadline=None)
def test_equals_nearest_on_any_tables(tables, ks, exclude_same_row):
    queries, candidates = tables
    for metric in FAST:
        check(queries, candidates, ks, metric=metric)
        if exclude_same_row:
            check(candidates, candidates, ks, metric=metric, exclude_same_row=True)


@by_metric
@pytest.mark.parametrize("few_values", [True, False])
@pytest.mark.parametrize("candidate_rows", [1, 4, 130])
def test_equals_naive_loops(metric, few_values, candidate_rows):
    queries, candidates = mixed(40, 1, few_values), mixed(candidate_rows, 2, few_values)
    ks = (1, 5, 20, 64)
    found = kth_distances(queries, candidates, ks=ks, metric=metric)
    assert np.array_equal(found, kth_of(naive(metric, queries, candidates), ks))


@by_metric
def test_equals_naive_loops_on_some_columns(metric):
    queries, candidates = mixed(30, 3), mixed(50, 4)
    for names in (["many"], ["few", "age"], ["height", "edge", "fixed"]):
        found = kth_distances(queries, candidates, ks=(1, 3), metric=metric, columns=names)
        matrix = naive(metric, queries, candidates, [name for name in queries.schema.names if name in names])
        assert np.array_equal(found, kth_of(matrix, (1, 3)))


@by_metric
def test_leaves_the_same_row_out(metric):
    table = mixed(60, 5)
    found = kth_distances(table, table, ks=(1, 59, 60), metric=metric, exclude_same_row=True)
    matrix = naive(metric, table, table, exclude_same_row=True)
    assert np.array_equal(found, kth_of(matrix, (1, 59, 60)))
    assert np.isfinite(found[:, 1]).all()
    assert np.isinf(found[:, 2]).all()


@by_fast_metric
@pytest.mark.parametrize("rows", [LANES - 1, LANES, LANES + 1, BLOCK, BLOCK + 1, 2 * BLOCK + 65, TILE, TILE + 1])
def test_block_limits(metric, rows):
    candidates = mixed(rows, rows, few_values=False)
    check(mixed(GROUP + 3, 1), candidates, (1, 5, 20, 64), metric=metric)
    some = candidates.take(range(min(rows, 2 * LANES + 1)))
    check(some, some, (1, 2, 64), metric=metric, exclude_same_row=True)


@by_fast_metric
def test_counts_beyond_sixteen_bits(metric):
    """65,536 equal rows: ties at distance 0 far beyond what is sorted at a time, and a count that must not wrap round."""
    table = mixed(1, 3)
    found = kth_distances(table, table.take(np.zeros(2**16, dtype=int)), ks=(1, 64), metric=metric)
    assert found.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("columns", [254, 255, 256, 300])
@by_fast_metric
def test_more_columns_than_a_byte_counts(columns, metric):
    codes = np.random.default_rng(columns).integers(0, 2, (30, columns))
    codes[0], codes[1] = 0, 1
    check(coded(codes), coded(codes), (1, 29, 30, 31), metric=metric)


def test_many_columns_of_numbers_leave_few_steps():
    """400 columns share sixteen bits, so that steps are coarse and many rows are measured in full."""
    rng = np.random.default_rng(4)
    schema = Schema(tuple(Column(f"x{i}", Kind.CONTINUOUS, lower=0.0, upper=1.0, bins=2) for i in range(400)))
    tables = [table_of(schema, np.empty((rows, 0)), rng.random((rows, 400))) for rows in (20, 500)]
    check(*tables, (1, 5, 20), metric=Gower())


def test_a_crowd_within_one_step():
    """More candidates than are sorted at a time differ by less than a step, the nearest of them last."""
    column = Column("x", Kind.CONTINUOUS, lower=0.0, upper=1.0, bins=2)
    gaps = np.linspace(1e-6, 1e-9, 3 * ROOM + 5)
    queries, candidates = (table_of(Schema((column,)), np.empty((len(x), 0)), x[:, None]) for x in (np.zeros(1), gaps))
    found = kth_distances(queries, candidates, ks=(1, 20, 64), metric=Gower())
    assert found.tolist() == [np.sort(gaps)[[0, 19, 63]].tolist()]


def test_numbers_outside_their_range_are_not_overlooked():
    """Far outside all numbers have the same steps, though their true gap is 1: the nearest rows look no nearer."""
    columns = tuple(Column(f"x{i}", Kind.CONTINUOUS, lower=0.0, upper=1.0, bins=2) for i in range(2))
    numbers = np.column_stack([np.arange(10.0, 310.0), np.linspace(0, 0.4, 300)])
    numbers[-1] = 9.0, 0.5  # steps prefer all others
    queries = table_of(Schema(columns), np.empty((1, 0)), np.array([[9.0, 0.0]]))
    candidates = table_of(Schema(columns), np.empty((300, 0)), numbers)
    assert kth_distances(queries, candidates, ks=(1,), metric=Gower()).tolist() == [[0.25]]
    check(queries, candidates, (1, 2, 20), metric=Gower())


@pytest.mark.parametrize("criterion", list(RankCriterion))
def test_ranks(criterion):
    rng = np.random.default_rng(7)
    queries, candidates = rng.integers(1, 20, (40, 4)) / 2, rng.integers(1, 20, (12, 4)) / 2
    check(queries, candidates, (1, 5, 20), metric=Ranks(criterion))


@by_metric
def test_threads_and_the_order_of_ks_change_nothing(metric):
    queries, candidates = mixed(2 * CHUNK + 37, 6), mixed(700, 8)
    one, two = (kth_distances(queries, candidates, metric=metric, workers=workers) for workers in (1, 2))
    assert np.array_equal(one, two)
    turned = kth_distances(queries, candidates, ks=[20, 1, 5, 1], metric=metric)
    assert np.array_equal(turned, one[:, [2, 0, 1, 0]])


@by_metric
def test_no_rows(metric):
    none, some = mixed(3).take([]), mixed(3)
    assert kth_distances(none, some, metric=metric).shape == (0, 3)
    assert np.isinf(kth_distances(some, none, metric=metric)).all()
    assert np.isinf(kth_distances(some.take([0]), some.take([0]), metric=metric, exclude_same_row=True)).all()


def test_sizes_fit_the_most_neighbours():
    """What the kernels rely on."""
    assert LANES >= MOST_NEIGHBOURS
    assert ROOM >= 2 * MOST_NEIGHBOURS
    assert ROOM % 16 == 0
    assert BLOCK % LANES == 0


def test_errors_say_what_to_do():
    table, ranks = mixed(5), np.ones((5, 2))
    cases = [
        (lambda: kth_distances(table, table, ks=()), "one or more"),
        (lambda: kth_distances(table, table, ks=(0, 1)), "1 to 64"),
        (lambda: kth_distances(table, table, ks=(1, 65)), "1 to 64"),
        (lambda: kth_distances(table, table, ks=3), "one or more"),
        (lambda: kth_distances(table, mixed(6), exclude_same_row=True), "same table twice"),
        (lambda: kth_distances(table, table, workers=0), "workers is 0"),
        (lambda: kth_distances(table, table, columns=[]), "columns is empty"),
        (lambda: kth_distances(table, table.select(["age"])), "'few'"),
        (lambda: kth_distances(ranks, ranks), "metric=Ranks"),
        (lambda: kth_distances(table, table, metric=Ranks()), "not tables"),
    ]
    for call, message in cases:
        with pytest.raises((ParameterError, SchemaError), match=message):
            call()


@pytest.mark.parametrize("metric", [Hamming(), Gower()])
def test_nearest_row_is_the_first_of_the_lists(metric):
    """The row that `nearest` lists first among several, and the k-th distances, in one pass: also where many rows tie."""
    queries, candidates = (mixed(rows, seed) for rows, seed in ((60, 1), (700, 2)))
    lists = nearest(queries, candidates, k=4, metric=metric)
    found = nearest_row(queries, candidates, ks=(1, 4), metric=metric, workers=2)
    np.testing.assert_array_equal(found.rows[:, 0], lists.rows[:, 0])
    np.testing.assert_array_equal(found.distances, lists.distances[:, [0, 3]])
    same = nearest_row(candidates, candidates, ks=(1,), metric=metric, exclude_same_row=True)
    assert (same.rows[:, 0] != np.arange(700)).all()
    np.testing.assert_array_equal(
        same.rows, nearest(candidates, candidates, k=2, metric=metric, exclude_same_row=True).rows[:, :1]
    )
