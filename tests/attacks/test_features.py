"""Feature sets against naive re-implementations, on every kind of column, and where tables are odd."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from unmask.attacks._attack import FeatureSet
from unmask.attacks.features import CorrelationFeatures, HistogramFeatures, NaiveFeatures, QueryFeatures
from unmask.attacks.features.queries import _chosen, hidden_column
from unmask.errors import ParameterError
from unmask.tables.encode import Unlisted
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

EVERY = (
    NaiveFeatures(),
    HistogramFeatures(),
    HistogramFeatures(bins=7),
    CorrelationFeatures(),
    CorrelationFeatures(bins=7),
    CorrelationFeatures(most=50),
    QueryFeatures(),
    QueryFeatures(order=2, numbers="at-most"),
    QueryFeatures(order=2, numbers="bin"),
    QueryFeatures(order=2, numbers="both"),
)


@pytest.fixture
def strange(people):
    """People among whom some values are not listed: a new region, an age out of range."""
    frame = people.to_pandas()
    frame["age"] = frame["age"].astype("int64")
    frame.loc[frame.index[:5], "age"] = 300
    frame.loc[frame.index[3:9], "region"] = "moon"
    return Table.from_pandas(frame, people.schema, unlisted=Unlisted.NOTE)


def masked(table, name):
    """The table as targets of an attribute game, as the simulation masks them."""
    position = table.schema.position(name)
    column = table.schema.columns[position]
    codes, numbers = table.codes.copy(order="F"), table.numbers.copy(order="F")
    codes[:, position] = column.unlisted_code
    if column.is_numeric:
        numbers[:, table.schema.numeric.index(position)] = np.nan
    return replace(table, codes=codes, numbers=numbers)


@pytest.mark.parametrize("feature", EVERY, ids=lambda feature: feature.key)
def test_contract(feature, people, strange):
    """Finite, repeatable, of one shape whatever the release; inputs untouched; rows may come in any order."""
    assert isinstance(feature, FeatureSet)
    targets = people.take([0, 5, 9])
    found = feature.compute(people, targets)
    before = people.digest()
    constant = people.take(np.zeros(50, dtype=int))
    for release in (people, strange, people.take([]), people.take([3]), constant, people.take(range(64))):
        other = feature.compute(release, targets)
        assert other.shape == found.shape
        assert np.isfinite(other).all()
    assert people.digest() == before
    np.testing.assert_array_equal(feature.compute(people, targets), found)
    shuffled = people.take(np.random.default_rng(0).permutation(len(people)))
    np.testing.assert_allclose(feature.compute(shuffled, targets), found, atol=1e-12)
    assert found.shape[0] == 3 if found.ndim == 2 else found.ndim == 1


def test_keys_tell_parameters_apart():
    keys = [
        feature.key for feature in (*EVERY, QueryFeatures(count=5), QueryFeatures(subsets=1), QueryFeatures(order=3))
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("feature", "parameters"),
    [
        (HistogramFeatures, {"bins": 0}),
        (HistogramFeatures, {"bins": "ten"}),
        (CorrelationFeatures, {"bins": 2.5}),
        (CorrelationFeatures, {"most": 0}),
        (QueryFeatures, {"order": 0}),
        (QueryFeatures, {"order": "3-1"}),
        (QueryFeatures, {"order": "all"}),
        (QueryFeatures, {"count": 0}),
        (QueryFeatures, {"numbers": "near"}),
        (QueryFeatures, {"subsets": -1}),
    ],
)
def test_wrong_parameters(feature, parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        feature(**parameters)


def test_naive_equals_pandas(people):
    found = NaiveFeatures().compute(people, people).reshape(-1, 3)
    frame = people.to_pandas()
    for place, position in enumerate(people.schema.numeric):
        column, numbers = people.schema.columns[position], pd.Series(people.numbers[:, place])
        scaled = (numbers - column.lower) / (column.upper - column.lower)
        np.testing.assert_allclose(found[place], [scaled.mean(), scaled.median(), scaled.var(ddof=0)])
    assert people.schema.names[1] == "region"
    counts = frame["region"].value_counts(dropna=False)
    codes = people.codes[:, 1]
    region = found[len(people.schema.numeric) + 1]
    assert region[0] == len(counts) == 4  # missing is a value
    assert (codes == region[1]).sum() == counts.max()
    assert (codes == region[2]).sum() == counts.min()


def test_naive_ties_go_to_the_lower_code_and_nothing_is_minus_one():
    schema = Schema((Column("c", Kind.CATEGORICAL, values=("a", "b", "c")),))
    table = Table(schema, np.array([[1], [2], [2], [1]], dtype=np.uint8), np.empty((4, 0)))
    assert NaiveFeatures().compute(table, table).tolist() == [2, 1, 1]
    assert NaiveFeatures().compute(table.take([]), table).tolist() == [0, -1, -1]


def test_naive_survives_numbers_beyond_all_bounds():
    schema = Schema((Column("x", Kind.CONTINUOUS, lower=0, upper=1e-3),))
    table = Table.from_pandas(pd.DataFrame({"x": [1e300, 0.0, -1e300]}), schema, unlisted=Unlisted.NOTE)
    for feature in (NaiveFeatures(), CorrelationFeatures()):
        assert np.isfinite(feature.compute(table, table).astype(np.float32)).all()


def test_histogram_equals_bincount_with_cells_for_missing_and_unlisted(strange):
    found = HistogramFeatures().compute(strange, strange)
    expected = [
        np.bincount(strange.codes[:, position], minlength=column.code_count) / len(strange)
        for position, column in enumerate(strange.schema.columns)
    ]
    np.testing.assert_array_equal(found, np.concatenate(expected))
    ends = np.cumsum([column.code_count for column in strange.schema.columns])
    assert ends[-1] == len(found)
    assert found[ends[2] - 1] == 5 / 200  # ages of 300: a peer drops them
    assert found[ends[1] - 1] == 6 / 200  # the moon
    assert found.sum() == pytest.approx(len(ends))  # nobody is lost


def test_histogram_with_equal_bins_equals_numpy(people, strange):
    bins = 7
    for table, outside in ((people, 0), (strange, 5)):
        found = HistogramFeatures(bins=bins).compute(table, table)
        at = sum(column.code_count for column in table.schema.columns[:2])
        age = table.schema.column("age")
        expected = np.histogram(table.numbers[:, 0], bins, range=(age.lower, age.upper))[0]
        np.testing.assert_allclose(found[at : at + bins], expected / 200)
        assert found[at + bins] == outside / 200
        income = table.schema.column("income")
        present = table.numbers[~np.isnan(table.numbers[:, 1]), 1]
        expected = np.histogram(present, bins, range=(income.lower, income.upper))[0]
        np.testing.assert_allclose(found[at + bins + 1 : at + 2 * bins + 1], expected / 200)
        assert found[at + 2 * bins + 1] == np.isnan(table.numbers[:, 1]).mean()  # missing
        assert found[at + 2 * bins + 2] == 0  # unlisted


def test_histogram_cells_keep_their_identity():
    """A peer sorts cells by count, so that swapping two values changes nothing."""
    schema = Schema((Column("c", Kind.CATEGORICAL, values=("a", "b", "c")),))
    one, other = (
        Table(schema, np.array(codes, dtype=np.uint8)[:, None], np.empty((3, 0))) for codes in ([0, 0, 2], [2, 2, 0])
    )
    assert HistogramFeatures().compute(one, one).tolist() == [2 / 3, 0, 1 / 3, 0]
    assert HistogramFeatures().compute(other, one).tolist() == [1 / 3, 0, 2 / 3, 0]


def design(table, numbers):
    """Numbers, then an indicator for each code but the first of each category."""
    parts = [numbers]
    for position, column in enumerate(table.schema.columns):
        if not column.is_numeric:
            parts.append(table.codes[:, [position]] == np.arange(1, column.code_count))
    return np.hstack(parts).astype(float)


def correlations(matrix):
    spread = matrix.std(axis=0)
    spread[spread < 1e-9] = np.inf
    standard = (matrix - matrix.mean(axis=0)) / spread
    return (standard.T @ standard / len(matrix))[np.triu_indices(matrix.shape[1], 1)]


@pytest.mark.parametrize("bins", [None, 7])
def test_correlations_equal_those_of_the_one_hot_matrix(strange, bins):
    numbers = strange.numbers.copy()
    if bins is not None:
        for place, position in enumerate(strange.schema.numeric):
            column = strange.schema.columns[position]
            edges = np.linspace(column.lower, column.upper, bins + 1)[1:-1]
            binned = np.searchsorted(edges, numbers[:, place], side="right").astype(float)
            binned[strange.codes[:, position] >= column.missing_code] = np.nan
            numbers[:, place] = binned
    numbers = np.where(np.isnan(numbers), np.nanmean(numbers, axis=0), numbers)
    found = CorrelationFeatures(bins=bins).compute(strange, strange)
    np.testing.assert_allclose(found, correlations(design(strange, numbers)), atol=1e-10)


def test_correlation_of_what_does_not_vary_is_zero(people):
    constant = people.take(np.full(30, 4))
    assert not CorrelationFeatures().compute(constant, constant).any()


def test_correlations_stay_within_bounds_with_hundreds_of_values(rng):
    """Values share indicators, which stay the same ones; what one indicator is worth can be computed."""
    values = tuple(range(900))
    schema = Schema(tuple(Column(name, Kind.CATEGORICAL, values=values) for name in "ab"))
    codes = np.asfortranarray(rng.integers(0, 900, (300, 2)), dtype=schema.code_type)
    table = Table(schema, codes, np.empty((300, 0)))
    found = CorrelationFeatures(most=1000).compute(table, table)
    shared = 22  # 44 indicators make 946 pairs, 46 would make 1035
    assert found.shape == (44 * 43 // 2,)
    folded = (codes.astype(int)[:, :, None] - 1) % shared == np.arange(shared)
    folded[codes == 0] = False
    np.testing.assert_allclose(found, correlations(folded.reshape(300, -1).astype(float)), atol=1e-10)


def agreement(table, target, numbers):
    """Rows x columns: where the table agrees with one target."""
    same = table.codes == target.codes[0]
    if numbers == "equal":
        for position, column in enumerate(table.schema.columns):
            if column.is_numeric:
                place = table.schema.numeric.index(position)
                same[:, position] = table.numbers[:, place] == target.numbers[0, place]  # NaN equals nothing
            elif target.codes[0, position] >= column.listed:
                same[:, position] = False
    if numbers == "at-most":
        for place, position in enumerate(table.schema.numeric):
            limit = target.numbers[0, place]
            column = table.numbers[:, place]
            same[:, position] = np.isnan(column) if np.isnan(limit) else column <= limit
    return same


@pytest.mark.parametrize("numbers", ["equal", "bin", "at-most"])
@pytest.mark.parametrize("rows", [200, 64, 65, 1])
def test_queries_equal_a_loop(people, strange, numbers, rows):
    feature = QueryFeatures(order="1-3", count=12, numbers=numbers, subsets=3)
    release, targets = strange.take(range(rows)), people.take(range(20))
    found = feature.compute(release, targets)
    sets = [[k for k in row if k >= 0] for row in _chosen(6, None, 1, 3, 12, 3)]
    assert [len(one) for one in sets] == [1] * 6 + [2] * 12 + [3] * 12
    assert len({tuple(one) for one in sets}) == 30
    for row in range(20):
        same = agreement(release, targets.take([row]), numbers)
        np.testing.assert_allclose(found[row], [same[:, one].all(axis=1).mean() for one in sets])


def test_order_one_counts_the_targets_own_values(people):
    found = QueryFeatures(order=1, numbers="bin").compute(people, people.take([7]))
    np.testing.assert_allclose(found[0], (people.codes == people.codes[7]).mean(axis=0))


def test_numbers_agree_if_they_are_equal_unless_asked_otherwise():
    """One number in a bin of many: bins count its neighbours, equality counts itself; 0.1 + 0.2 is 0.3."""
    frame = pd.DataFrame({"amount": [0.1 + 0.2, 0.3, 0.31, 0.9, 0.0], "kind": list("aabba")})
    table = Table.from_pandas(frame, Schema((
        Column("amount", Kind.CONTINUOUS, lower=0.0, upper=1.0, bins=2), Column("kind", Kind.CATEGORICAL, values=("a", "b")),
    )))  # fmt: skip
    target = table.take([1])
    assert QueryFeatures(order="1-2").compute(table, target)[0].tolist() == [2 / 5, 3 / 5, 2 / 5]
    assert QueryFeatures(order="1-2", numbers="bin").compute(table, target)[0].tolist() == [4 / 5, 3 / 5, 3 / 5]
    both = QueryFeatures(order="1-2", numbers="both").compute(table, target)[0].tolist()
    assert both == [2 / 5, 3 / 5, 2 / 5, 4 / 5, 3 / 5, 3 / 5]


def test_missing_agrees_with_nothing_where_values_must_be_equal():
    frame = pd.DataFrame({"amount": [1.0, np.nan, np.nan], "kind": ["a", None, "a"]})
    table = Table.from_pandas(frame, Schema((
        Column("amount", Kind.CONTINUOUS, lower=0.0, upper=1.0, missing=("",)),
        Column("kind", Kind.CATEGORICAL, values=("a", "b"), missing=("",)),
    )))  # fmt: skip
    assert not QueryFeatures(order="1-2").compute(table, table.take([1])).any()
    assert QueryFeatures(order=1, numbers="bin").compute(table, table.take([1]))[0].tolist() == [2 / 3, 1 / 3]


def test_orders_beyond_the_columns_ask_for_all_columns(people):
    found = QueryFeatures(order=50).compute(people, people.take([7]))
    assert found.tolist() == [[1 / 200]]


def test_sets_of_columns_are_fixed_by_their_number():
    wide = _chosen(300, None, 3, 3, 50, 0)  # too many to list
    assert wide.shape == (50, 3)
    assert len({tuple(row) for row in wide}) == 50
    assert all(len(set(row)) == 3 for row in wide.tolist())
    for columns in (14, 300):
        np.testing.assert_array_equal(
            _chosen.__wrapped__(columns, None, 3, 3, 50, 0), _chosen(columns, None, 3, 3, 50, 0)
        )
        assert not np.array_equal(_chosen(columns, None, 3, 3, 50, 1), _chosen(columns, None, 3, 3, 50, 0))


@pytest.mark.parametrize("secret", ["region", "income"])
def test_in_the_attribute_game_queries_ask_for_every_value_of_the_secret(people, strange, secret):
    """Order 1: the secret alone; order 2: with each other column."""
    targets = masked(people.take([3, 8]), secret)
    position = people.schema.position(secret)
    assert hidden_column(targets) == position
    assert hidden_column(people) is None
    levels = people.schema.columns[position].size
    known = [column for column in range(6) if column != position]
    found = QueryFeatures(order="1-2").compute(strange, targets).reshape(2, 1 + len(known), levels)
    for row in range(2):
        same = agreement(strange, targets.take([row]), "equal")
        for level, query in itertools.product(range(levels), range(1 + len(known))):
            rows = strange.codes[:, position] == level
            if query:
                rows = rows & same[:, known[query - 1]]
            assert found[row, query, level] == pytest.approx(rows.mean())


def test_queries_never_read_the_secret(people):
    """Whatever the targets' true secret is, masked targets give the same features."""
    frame = people.to_pandas()
    frame["region"] = "north"
    other = Table.from_pandas(frame, people.schema)
    feature = QueryFeatures(order="1-3")
    one, two = (feature.compute(people, masked(table.take([1, 2]), "region")) for table in (people, other))
    np.testing.assert_array_equal(one, two)


def test_secrets_with_many_values_bound_the_number_of_features(rng):
    values = tuple(range(3000))
    schema = Schema(
        (Column("s", Kind.CATEGORICAL, values=values), *(Column(n, Kind.CATEGORICAL, values=(0, 1)) for n in "abcdef"))
    )
    codes = np.zeros((50, 7), dtype=schema.code_type, order="F")
    table = Table(schema, codes, np.empty((50, 0)))
    assert QueryFeatures(order="1-3").compute(table, masked(table.take([0]), "s")).shape == (1, 3 * 3000)
