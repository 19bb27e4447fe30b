"""Ranks, and the order of nominal values where the schema has groups."""

import numpy as np
import pytest
from scipy.stats import rankdata

from unmask.tables.ranks import Ties, nominal_places, ranks
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

FRUIT = Column(
    "fruit",
    Kind.CATEGORICAL,
    values=("apple", "pear", "lemon", "lime"),
    groups=(("core", ("apple", "pear")), ("citrus", ("lemon", "lime"))),
    missing=("",),
)


def coded(column, codes):
    schema = Schema((column,))
    return Table(schema, np.asfortranarray(np.array(codes, dtype=schema.code_type)[:, None]), np.empty((len(codes), 0)))


def naive_centrality(column, codes):
    """The mean, over a table, of the share of the domain in the smallest group that holds both."""
    sets = [{value} for value in column.values] + [set(values) for _, values in column.groups]
    nodes = [*range(column.listed), *range(column.size + 1, column.code_count)]
    node_of = dict(zip(nodes, sets, strict=True))

    def distance(a, b):
        if a == b:
            return 0.0
        both = node_of[a] | node_of[b]
        return min([len(group) for group in sets if both <= group] + [column.listed]) / column.listed

    counted = [code for code in codes if code in node_of]
    return {node: np.mean([distance(node, code) for code in counted]) for node in nodes}


@pytest.mark.parametrize("seed", range(5))
def test_marginality_is_that_of_a_naive_loop(seed):
    rng = np.random.default_rng(seed)
    nested = Column(
        "place", Kind.CATEGORICAL, values=tuple("abcdefg"),
        groups=(("ab", ("a", "b")), ("abc", ("a", "b", "c")), ("fg", ("f", "g")), ("all", tuple("abcdefg"))),
    )  # fmt: skip
    for column in (FRUIT, nested):
        codes = rng.integers(column.code_count, size=60)
        codes = codes[codes != column.unlisted_code]
        expected = naive_centrality(column, codes)
        places = nominal_places(column, codes)
        order = sorted(expected, key=lambda node: (round(expected[node], 12), node))
        np.testing.assert_array_equal(places[order], np.arange(len(order)))


def test_the_most_central_value_comes_first_and_missing_ones_last():
    codes = [0] * 5 + [2] * 3 + [1, 3, FRUIT.missing_code]
    found = ranks(coded(FRUIT, codes))[:, 0]
    assert found[0] < found[8] < found[5] < found[9] < found[10]  # apple, pear (kin of many), lemon, lime, missing
    assert found[10] == len(codes)


def test_tables_that_are_compared_share_an_order():
    few, many = coded(FRUIT, [3, 3, 3, 0]), coded(FRUIT, [0] * 5 + [1, 3])
    alone, alike = ranks(few)[:, 0], ranks(few, like=many)[:, 0]
    assert alone[0] < alone[3]  # lime is the usual one here
    assert alike[0] > alike[3]  # and the odd one there


def test_an_ordered_column_keeps_its_order_and_a_group_stands_at_its_middle():
    ages = Column(
        "age", Kind.CATEGORICAL, values=(1, 2, 3, 4), ordered=True, groups=(("1-3", (1, 2, 3)), ("3-4", (3, 4)))
    )
    codes = np.array([0, 1, 2, 3, 5, 6])
    np.testing.assert_array_equal(ranks(coded(ages, codes))[:, 0], rankdata([0, 1, 2, 3, 1.0, 2.5]))


def test_ties_in_order_are_a_permutation(people):
    found = ranks(people, Ties.IN_ORDER)
    for column in found.T:
        assert sorted(column) == list(range(1, len(people) + 1))


@pytest.mark.parametrize("ties", Ties)
def test_ranks_are_those_of_scipy(rng, ties):
    """Categories, whole numbers, other numbers, both zeros, endless and missing ones; many ties and none; no rows."""
    schema = Schema(
        (
            Column("colour", Kind.CATEGORICAL, values=tuple("abcde")),
            Column("count", Kind.INTEGER, lower=-3, upper=3, missing=("",)),
            Column("size", Kind.CONTINUOUS, lower=-9.0, upper=9.0, missing=("",)),
        )
    )
    method = "ordinal" if ties is Ties.IN_ORDER else "average"
    for rows in (0, 1, 400):
        codes = rng.integers(5, size=(rows, 3)).astype(schema.code_type)
        numbers = np.column_stack([rng.integers(-3, 4, size=rows).astype(float), rng.normal(size=rows)])
        numbers[rng.random(numbers.shape) < 0.1] = np.nan
        numbers[rng.random(numbers.shape) < 0.1] = -0.0
        found = ranks(Table(schema, np.asfortranarray(codes), np.asfortranarray(numbers)), ties)
        np.testing.assert_array_equal(found[:, 0], rankdata(codes[:, 0], method=method))
        for place in range(2):
            values = np.where(np.isnan(numbers[:, place]), np.inf, numbers[:, place])
            np.testing.assert_array_equal(found[:, 1 + place], rankdata(values, method=method))
