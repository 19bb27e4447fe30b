"""Distances against naive loops: every metric, ties, missing and unlisted values, block and chunk limits, threads."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from unmask.errors import ParameterError, SchemaError
from unmask.tables.distance import (
    Euclid,
    Gower,
    Hamming,
    RankCriterion,
    Ranks,
    all_nearest,
    count_within,
    nearest,
)
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.search._chunks import CHUNK
from unmask.tables.search._kernels import BLOCK
from unmask.tables.table import Table


def categories(name, size, **more):
    return Column(name, Kind.CATEGORICAL, values=tuple(f"v{i}" for i in range(size)), **more)


MIXED = Schema(
    (
        categories("few", 3, missing=("",)),
        Column("age", Kind.INTEGER, lower=17.0, upper=66.0, bins=5, missing=("",)),
        categories("many", 300, missing=("?",), groups=(("low", ("v0", "v1")), ("high", ("v2", "v3")))),
        Column("height", Kind.CONTINUOUS, lower=-1.0, upper=2.0, bins=4),
        categories("edge", 255),
        Column("fixed", Kind.INTEGER, lower=7.0, upper=7.0, missing=("",)),
        categories("constant", 1),
    )
)


def mixed(rows, seed=0, few_values=True):
    """Random rows with ties, missing values, unlisted categories, groups and numbers outside the range."""
    rng = np.random.default_rng(seed)
    codes = np.empty((rows, len(MIXED.columns)), dtype=MIXED.code_type, order="F")
    numbers = np.empty((rows, len(MIXED.numeric)), order="F")
    for position, column in enumerate(MIXED.columns):
        if not column.is_numeric:
            choices = np.unique(np.r_[: min(column.code_count, 3), column.code_count - 3 : column.code_count].clip(0))
            codes[:, position] = rng.choice(choices, rows)
            continue
        values = rng.integers(column.lower - 2, column.upper + 3, rows).astype(float)
        if not column.is_integral and not few_values:
            values += rng.random(rows)
        if column.missing:
            values[rng.random(rows) < 0.2] = np.nan
        outside = (values < column.lower) | (values > column.upper)
        bins = np.where(outside, column.unlisted_code, column.bin_of(values))
        codes[:, position] = np.where(np.isnan(values), column.missing_code, bins)
        numbers[:, MIXED.numeric.index(position)] = values
    return Table(MIXED, codes, numbers)


def coded(codes):
    """A table of categories only, from its codes."""
    sizes = codes.max(axis=0, initial=0) + 1
    schema = Schema(tuple(categories(f"c{i}", int(size)) for i, size in enumerate(sizes)))
    return Table(schema, np.asfortranarray(codes.astype(schema.code_type)), np.empty((len(codes), 0)))


def pair_distance(metric, columns, a, b):
    """One pair, cell by cell: mismatches first, then the numbers in schema order. A cell is (code, number or None)."""
    counted = [isinstance(metric, Hamming) or (isinstance(metric, Gower) and cell[1] is None) for cell in a]
    total = float(sum(x[0] != y[0] for x, y, count in zip(a, b, counted, strict=True) if count))
    for column, x, y, count in zip(columns, a, b, counted, strict=True):
        if not count:
            total += gower_cell(column, x[1], y[1]) if isinstance(metric, Gower) else euclid_cell(metric, column, x, y)
    if isinstance(metric, Gower):
        return total / len(columns)
    return float(np.sqrt(total)) if isinstance(metric, Euclid) else total


def gower_cell(column, a, b):
    if np.isnan(a) or np.isnan(b):
        return 0.0 if np.isnan(a) and np.isnan(b) else 1.0
    if column.lower == column.upper:
        return float(a != b)
    return min(abs(a - b) * (1 / (column.upper - column.lower)), 1.0)


def euclid_cell(metric, column, a, b):
    deviation = dict(metric.deviations)[column.name]
    if deviation == 0:
        return 0.0
    missing = [np.isnan(n) if n is not None else code >= column.listed for code, n in (a, b)]
    if any(missing):
        same = all(missing) and (a[1] is not None or a[0] == b[0])
        return 0.0 if same else 2.0
    first, second = (float(code) if n is None else n for code, n in (a, b))
    gap = (first - second) * (1 / deviation)
    return gap * gap


def cells(table, names):
    schema = table.schema
    return [
        [
            (
                int(table.codes[row, schema.position(name)]),
                table.numbers[row, schema.numeric.index(schema.position(name))]
                if schema.column(name).is_numeric
                else None,
            )
            for name in names
        ]
        for row in range(len(table))
    ]


def naive(metric, queries, candidates, names=None, exclude_same_row=False):
    """The whole matrix of distances, by plain loops; infinity where the same row is left out."""
    names = list(queries.schema.names if names is None else names)
    columns = [queries.schema.column(name) for name in names]
    left, right = cells(queries, names), cells(candidates, names)
    matrix = np.array([[pair_distance(metric, columns, a, b) for b in right] for a in left])
    if exclude_same_row:
        np.fill_diagonal(matrix, np.inf)
    return matrix


def check_all(matrix, k, queries, candidates, **options):
    """`nearest`, `count_within` and `all_nearest` against a matrix of distances, bit for bit."""
    found = nearest(queries, candidates, k=k, **options)
    order = np.argsort(matrix, axis=1, kind="stable")[:, :k]
    assert np.array_equal(found.distances, np.take_along_axis(matrix, order, axis=1))
    assert np.array_equal(found.rows, order)
    assert found.distances.dtype == np.float64
    assert found.rows.dtype == np.int64
    tied = all_nearest(queries, candidates, **options)
    assert np.array_equal(tied.distances, matrix.min(axis=1))
    assert tied.starts.shape == (len(matrix) + 1,)
    for rows, row in zip(tied, matrix, strict=True):
        assert np.array_equal(rows, np.flatnonzero(row == row.min()))
    finite = np.unique(matrix[np.isfinite(matrix)])
    for radius in [*finite[:: max(1, len(finite) // 12)], finite[0] / 2, finite[-1] * 2, np.inf]:
        counts = count_within(queries, candidates, radius=radius, **options)
        assert np.array_equal(counts, (np.isfinite(matrix) & (matrix <= radius)).sum(axis=1))


METRICS = [Hamming(), Gower(), Euclid.fitted_to(mixed(200, seed=9))]
by_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: type(metric).__name__)


@by_metric
@pytest.mark.parametrize("few_values", [True, False])
def test_equals_naive_loops(metric, few_values):
    queries, candidates = mixed(40, 1, few_values), mixed(130, 2, few_values)
    check_all(naive(metric, queries, candidates), 64, queries, candidates, metric=metric)


@by_metric
def test_equals_naive_loops_on_some_columns(metric):
    queries, candidates = mixed(30, 3), mixed(50, 4)
    for names in (["many"], ["age", "few"], ["height", "fixed", "edge"]):
        in_schema_order = [name for name in MIXED.names if name in names]
        matrix = naive(metric, queries, candidates, in_schema_order)
        check_all(matrix, 3, queries, candidates, metric=metric, columns=names)


@by_metric
def test_leaves_the_same_row_out(metric):
    table = mixed(60, 5)
    check_all(
        naive(metric, table, table, exclude_same_row=True), 59, table, table, metric=metric, exclude_same_row=True
    )


@pytest.mark.parametrize("rows", [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 65])
def test_block_limits(rows):
    table = coded(np.random.default_rng(rows).integers(0, 5, (rows, 6)))
    some = np.unique([0, rows // 2, rows - 1])
    matrix = (table.codes[some, None, :] != table.codes[None, :, :]).sum(axis=2).astype(float)
    check_all(matrix, min(5, rows), table.take(some), table)


@pytest.mark.parametrize("rows", [2, BLOCK, BLOCK + 1])
def test_leaves_the_same_row_out_at_block_limits(rows):
    table = coded(np.random.default_rng(rows).integers(0, 5, (rows, 6)))
    matrix = (table.codes[:, None, :] != table.codes[None, :, :]).sum(axis=2).astype(float)
    np.fill_diagonal(matrix, np.inf)
    found = nearest(table, table, exclude_same_row=True)
    assert np.array_equal(found.rows[:, 0], matrix.argmin(axis=1))
    tied = all_nearest(table, table, exclude_same_row=True)
    assert np.array_equal(tied.counts, (matrix == matrix.min(axis=1, keepdims=True)).sum(axis=1))
    assert np.array_equal(tied.rows, np.nonzero(matrix == matrix.min(axis=1, keepdims=True))[1])


@pytest.mark.parametrize("columns", [254, 255, 256, 300])
@pytest.mark.parametrize("metric", [Hamming(), Gower()], ids=["hamming", "gower"])
def test_more_columns_than_a_byte_counts(columns, metric):
    """Rows that differ everywhere give the largest number of mismatches; it must not wrap round."""
    codes = np.random.default_rng(columns).integers(0, 2, (30, columns))
    codes[0], codes[1] = 0, 1
    table = coded(codes)
    matrix = (codes[:, None, :] != codes[None, :, :]).sum(axis=2).astype(float)
    assert matrix[0, 1] == columns
    check_all(matrix / (columns if metric == Gower() else 1), 30, table, table, metric=metric)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_hamming_on_any_codes(data):
    columns = data.draw(st.integers(1, 4))
    row = st.lists(st.sampled_from([0, 1, 2, 255, 256, 600]), min_size=columns, max_size=columns)
    codes = np.array(data.draw(st.lists(row, min_size=1, max_size=20)))
    table = coded(codes)
    matrix = (codes[:, None, :] != codes[None, :, :]).sum(axis=2).astype(float)
    check_all(matrix, data.draw(st.integers(1, len(codes))), table, table)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_gower_is_a_symmetric_number_between_0_and_1(data):
    bound = st.floats(-1e6, 1e6)
    lower, upper = sorted((data.draw(bound), data.draw(bound)))
    column = Column("x", Kind.CONTINUOUS, lower=lower, upper=upper, bins=1, missing=("",))
    values = data.draw(st.lists(st.one_of(bound, st.just(np.nan)), min_size=1, max_size=12))
    numbers = np.array(values)[:, None]
    codes = np.where(np.isnan(numbers), column.missing_code, 0).astype(np.uint8)
    table = Table(Schema((column,)), codes, numbers)
    found = nearest(table, table, k=len(values), metric=Gower())
    matrix = np.empty((len(values), len(values)))
    np.put_along_axis(matrix, found.rows, found.distances, axis=1)
    assert np.array_equal(matrix, matrix.T)
    assert (np.diag(matrix) == 0).all()
    assert ((matrix >= 0) & (matrix <= 1)).all()


@pytest.mark.parametrize("criterion", list(RankCriterion))
def test_rank_distances_equal_naive_loops(criterion):
    rng = np.random.default_rng(7)
    queries, candidates = rng.integers(1, 20, (40, 4)) / 2, rng.integers(1, 20, (90, 4)) / 2
    gaps = np.abs(queries[:, None, :] - candidates[None, :, :])
    matrix = {
        RankCriterion.SUM: gaps.sum(axis=2),
        RankCriterion.MAX: gaps.max(axis=2),
        RankCriterion.MIN: gaps.min(axis=2),
        RankCriterion.EUCLID: np.sqrt((gaps**2).sum(axis=2)),
    }[criterion]
    check_all(matrix, 5, queries, candidates, metric=Ranks(criterion))
    whole = nearest((2 * queries).astype(int), (2 * candidates).astype(np.uint16), k=5, metric=Ranks(criterion))
    assert np.array_equal(whole.rows, nearest(queries, candidates, k=5, metric=Ranks(criterion)).rows)


def test_euclid_equals_scipy_on_complete_numbers():
    rng = np.random.default_rng(3)
    schema = Schema(tuple(Column(f"x{i}", Kind.CONTINUOUS, lower=-50, upper=50) for i in range(4)))
    numbers = rng.normal(0, [1, 5, 0.1, 0], (300, 4))
    codes = np.column_stack([column.bin_of(numbers[:, i]) for i, column in enumerate(schema.columns)]).astype(np.uint8)
    table = Table(schema, codes, numbers)
    standard = numbers[:, :3] / numbers[:, :3].std(axis=0)  # the constant column adds nothing
    expected = np.sort(cdist(standard, standard), axis=1)[:, :6]
    found = nearest(table, table, k=6, metric=Euclid.fitted_to(table))
    np.testing.assert_allclose(found.distances, expected, rtol=1e-9, atol=1e-12)


def test_worked_answer_for_missing_values():
    """Two columns: age 20, missing, 40 on a range of 40, and a category. Gower and Euclid by hand."""
    age = Column("age", Kind.INTEGER, lower=0.0, upper=40.0, missing=("",))
    schema = Schema((age, categories("city", 2)))
    numbers = np.array([[20.0], [np.nan], [40.0]])
    bins = np.where(np.isnan(numbers[:, 0]), age.missing_code, age.bin_of(numbers[:, 0]))
    table = Table(schema, np.column_stack([bins, [0, 0, 1]]).astype(np.uint8), numbers)
    gower = nearest(table, table, k=3, metric=Gower())
    np.testing.assert_allclose(gower.distances, [[0, 0.5, 0.75], [0, 0.5, 1], [0, 0.75, 1]])
    assert gower.rows.tolist() == [[0, 1, 2], [1, 0, 2], [2, 0, 1]]
    euclid = Euclid((("age", 10.0), ("city", 0.5)))
    found = nearest(table, table, k=3, metric=euclid)
    np.testing.assert_allclose(found.distances**2, [[0, 2, 8], [0, 2, 6], [0, 6, 8]])


def test_unlisted_categories_compare_by_their_code():
    city = categories("city", 2, missing=("",))
    table = Table(Schema((city,)), np.array([[0], [2], [3], [3]], dtype=np.uint8), np.empty((4, 0)))
    for metric, unlike in ((Hamming(), 1), (Gower(), 1), (Euclid((("city", 0.5),)), np.sqrt(2))):
        distances = nearest(table, table, k=4, metric=metric).distances
        assert distances.tolist() == [[0, *[unlike] * 3]] * 2 + [[0, 0, unlike, unlike]] * 2


@by_metric
def test_threads_change_nothing(metric):
    queries, candidates = mixed(2 * CHUNK + 37, 6), mixed(700, 8)
    one, two = (nearest(queries, candidates, k=5, metric=metric, workers=workers) for workers in (1, 2))
    assert np.array_equal(one.distances, two.distances)
    assert np.array_equal(one.rows, two.rows)
    alone, shared = (all_nearest(queries, candidates, metric=metric, workers=workers) for workers in (1, 3))
    assert np.array_equal(alone.starts, shared.starts)
    assert np.array_equal(alone.rows, shared.rows)
    radius = float(np.median(one.distances))
    counts = [count_within(queries, candidates, radius=radius, metric=metric, workers=workers) for workers in (1, 2)]
    assert np.array_equal(*counts)
    assert np.array_equal(nearest(queries.take([5]), candidates, k=5, metric=metric).rows, one.rows[[5]])


def test_columns_are_found_by_name():
    """A table with its columns in another order, and a column that the other one lacks."""
    left, right = mixed(20, 1), mixed(30, 2)
    swapped = right.select(["age", "many", "few"])
    plain = nearest(left, right, k=4, metric=Gower(), columns=["few", "age"])
    assert np.array_equal(nearest(left, swapped, k=4, metric=Gower(), columns=["few", "age"]).rows, plain.rows)


def test_no_queries_give_empty_results():
    none, some = mixed(3).take([]), mixed(3)
    assert nearest(none, some, k=2).rows.shape == (0, 2)
    assert count_within(none, some, radius=1).shape == (0,)
    assert list(all_nearest(none, some)) == []
    assert count_within(some, none, radius=1).tolist() == [0, 0, 0]


def test_metrics_are_values():
    for metric in (*METRICS, Ranks(RankCriterion.MAX)):
        assert pickle.loads(pickle.dumps(metric)) == metric
        assert hash(metric) == hash(pickle.loads(pickle.dumps(metric)))


def test_errors_say_what_to_do():
    table, ranks = mixed(5), np.ones((5, 2))
    cases = [
        (lambda: nearest(table, table, k=0), "1 to 64"),
        (lambda: nearest(table, table, k=65), "1 to 64"),
        (lambda: nearest(table, table, k=6), "Lower k"),
        (lambda: nearest(table, table, k=5, exclude_same_row=True), "only 4 candidates"),
        (lambda: all_nearest(table.take([0]), table.take([0]), exclude_same_row=True), "only 0 candidates"),
        (lambda: nearest(table, mixed(6), exclude_same_row=True), "same table twice"),
        (lambda: nearest(table, table, workers=0), "workers is 0"),
        (lambda: nearest(table, table, columns=[]), "columns is empty"),
        (lambda: nearest(table, table, columns="age"), r"\['age'\]"),
        (lambda: nearest(table, table.select(["age"])), "'few'"),
        (lambda: nearest(table, coded(np.zeros((5, 1), int)), columns=["few"]), "no column 'few'"),
        (lambda: nearest(coded(np.ones((5, 1), int)), coded(np.zeros((5, 1), int))), "describe 'c0' differently"),
        (lambda: nearest(table, table, metric=Euclid((("age", 1.0),))), "no standard deviation for 'few'"),
        (lambda: count_within(table, table, radius=-1), "radius is -1"),
        (lambda: count_within(table, table, radius=np.nan), "radius is nan"),
        (lambda: nearest(ranks, ranks), "metric=Ranks"),
        (lambda: nearest(table, table, metric=Ranks()), "not tables"),
        (lambda: nearest(ranks, ranks, metric=Ranks(), columns=["a"]), "no column names"),
        (lambda: nearest(ranks, ranks[:, :1], metric=Ranks()), "same columns"),
        (lambda: nearest(ranks[0], ranks[0], metric=Ranks()), "rows x columns"),
        (lambda: nearest(ranks, ranks * np.nan, metric=Ranks()), "candidates hold NaN"),
    ]
    for call, message in cases:
        with pytest.raises((ParameterError, SchemaError), match=message):
            call()
