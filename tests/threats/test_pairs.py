"""Neighbouring tables: they differ in one row, the worst case is the worst, and pairs that make no sense are refused."""

import numpy as np
import pytest

from unmask.errors import ParameterError
from unmask.generators.claim import Neighbours
from unmask.threats.pairs import Canary, OwnPair, RandomPair, WorstCase, parse_pair

BOTH = list(Neighbours)


def rows_of(table):
    return sorted(map(tuple, table.codes.tolist()))


@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize("text", ["worst-case", "repeat", "narrow", "tiny", "mixed", "canary", "random"])
def test_the_two_tables_of_a_pair_are_neighbours(text, neighbours, people):
    pair = parse_pair(text).build(neighbours, people, seed=3)
    more, fewer = rows_of(pair.inside), rows_of(pair.outside)
    for row in rows_of(pair.target):
        more.remove(row)
    if pair.other is not None:
        for row in rows_of(pair.other):
            fewer.remove(row)
    assert more == fewer
    assert (pair.other is None) == (neighbours is Neighbours.ADD_REMOVE)
    assert len(pair.inside) - len(pair.outside) == (1 if neighbours is Neighbours.ADD_REMOVE else 0)


def test_the_worst_case_attains_the_sensitivity_of_privbayes():
    """The target's own two values raise the mutual information by exactly S: no pair of this size leaks more by structure."""
    from unmask.generators._counts import mutual_information
    from unmask.generators.privbayes import sensitivity

    pair = WorstCase(columns=3, rows=100).build(Neighbours.REPLACE, None, 0)
    sizes = pair.inside.schema.sizes
    gain = mutual_information(pair.inside.codes, sizes)[0, 1] - mutual_information(pair.outside.codes, sizes)[0, 1]
    assert gain == pytest.approx(sensitivity(100, binary=True), rel=1e-9)


def test_the_mixed_target_has_no_value_of_its_own():
    pair = parse_pair("mixed").build(Neighbours.ADD_REMOVE, None, 0)
    assert tuple(pair.target.codes[0].tolist()) not in rows_of(pair.outside)
    for j, code in enumerate(pair.target.codes[0]):
        assert (pair.outside.codes[:, j] == code).sum() > 100


def test_a_canary_takes_values_that_nobody_has_where_the_domain_allows(people):
    pair = Canary().build(Neighbours.ADD_REMOVE, people, 0)
    for i, j in enumerate(people.schema.numeric):
        number, column = pair.target.numbers[0, i], people.schema.columns[j]
        assert number in (column.lower, column.upper)
        assert pair.target.codes[0, j] == column.bin_of(np.array([number]))[0]


def test_pairs_that_make_no_sense_are_refused(people):
    with pytest.raises(ParameterError, match="needs a real table"):
        Canary().build(Neighbours.REPLACE, None, 0)
    with pytest.raises(ParameterError, match="no pair 'weird'"):
        parse_pair("weird")
    with pytest.raises(ParameterError, match="at least 3"):
        RandomPair().build(Neighbours.REPLACE, people.take([0, 1]), 0)
    with pytest.raises(ParameterError, match="no replace neighbours"):
        OwnPair(people, people.take(np.arange(199))).build(Neighbours.REPLACE, None, 0)


def test_tables_of_the_worst_case_are_public():
    pair = WorstCase(columns=1, rows=3).build(Neighbours.ADD_REMOVE, None, 0)
    assert pair.inside.codes.ravel().tolist() == [0, 0, 0, 1]
    assert pair.inside.numbers.ravel().tolist() == [0, 4999, 0, 9999]
    assert pair.inside.schema.origin == "public"


def test_the_target_of_the_worst_case_has_the_highest_number_and_the_lowest():
    for neighbours in Neighbours:
        pair = WorstCase(columns=3, rows=20).build(neighbours, None, 0)
        assert pair.target.numbers.tolist() == [[9999, 0]]
        assert pair.outside.numbers.min(axis=0).tolist() == [0, 5000]
        assert pair.outside.numbers.max(axis=0).tolist() == [4999, 9999]
        assert not (pair.outside.codes[:, :2] == pair.target.codes[0, :2]).any()
    codes = WorstCase(columns=3, rows=20, numbers=0).build(Neighbours.ADD_REMOVE, None, 0).target.codes
    assert codes.tolist() == [[1, 1, 1]]
    with pytest.raises(ParameterError, match="numbers=3"):
        WorstCase(numbers=3)
