"""Arguments at the very ends of what has a meaning, and a search that stops at the last digit."""

import math

import numpy as np
import pytest

from unmask.errors import ParameterError
from unmask.stats._checks import as_probabilities, as_scores, check_count, check_delta, check_nonnegative, check_share
from unmask.stats._search import last_true


def refused(check, *arguments, **named) -> bool:
    try:
        check(*arguments, **named)
    except ParameterError:
        return True
    return False


def test_shares_exclude_their_ends_unless_closed():
    assert [refused(check_share, "x", x) for x in (-0.1, 0.0, 0.5, 1.0, 1.1)] == [True, True, False, True, True]
    closed = [refused(check_share, "x", x, closed=True) for x in (-0.1, 0.0, 0.5, 1.0, 1.1)]
    assert closed == [True, False, False, False, True]


def test_delta_may_be_zero_and_not_one():
    assert [refused(check_delta, x) for x in (-1e-9, 0.0, 0.999, 1.0)] == [True, False, False, True]


def test_epsilons_are_finite_and_not_negative():
    values = (-1e-9, 0.0, 5.0, math.inf, math.nan)
    assert [refused(check_nonnegative, "x", x) for x in values] == [True, False, False, True, True]


def test_counts_lie_within_a_total_of_one_at_least():
    pairs = ((0, 0), (0, 1), (1, 1), (2, 1), (-1, 1))
    assert [refused(check_count, "x", *pair) for pair in pairs] == [True, False, False, True, True]


def test_arrays_are_flat_and_hold_what_they_say():
    for wrong in ([-0.1], [1.1], [math.nan], [[0.5]]):
        assert refused(as_probabilities, "x", wrong)
    assert as_probabilities("x", [0, 1]).tolist() == [0.0, 1.0]
    for wrong in ([], [[1.0]], [math.nan]):
        assert refused(as_scores, "x", wrong)
    assert as_scores("x", [math.inf, -1]).tolist() == [math.inf, -1.0]


@pytest.mark.parametrize("at", [1e-3, 0.3, 2.0, 4.9999])
def test_the_search_ends_at_the_last_float_that_holds(at):
    found = last_true(lambda x: x <= at, 0.0, 5.0)
    assert found <= at < np.nextafter(found, 9.0)


def test_the_search_at_its_ends():
    assert last_true(lambda x: True, 0.0, 5.0) == 5.0
    assert last_true(lambda x: False, 1.0, 5.0) == 1.0
    near = last_true(lambda x: x <= 2.2, 0.0, 5.0, within=0.01)
    assert 2.2 - 0.01 < near <= 2.2
    tried = []
    last_true(lambda x: tried.append(x) or x <= 2.2, 0.0, 5.0, within=0.01)
    assert len(tried) < 12
