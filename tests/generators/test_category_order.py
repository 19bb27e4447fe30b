"""Categories come in the order of numba's argsort, ties and all: results for a seed hang on it."""

import numba
import numpy as np
import pytest

from unmask.compiled import njit
from unmask.generators._category_order import FEW, MOST_WAITING, order_categories


@njit()
def _ordered(codes, held, response, means, found, stack):
    order_categories(codes, held, response, means, found, stack)


@numba.njit
def _argsort(values):
    return np.argsort(values)


@pytest.mark.parametrize("found", [1, 2, FEW, FEW + 1, 40, 300, 5000])
@pytest.mark.parametrize("distinct", [1, 3, 50, 10**9])
def test_the_order_is_that_of_argsort(found, distinct, rng):
    for _ in range(20):
        codes = rng.permutation(found + 7)[:found].astype(np.int32)
        held, response = rng.integers(1, 4, found + 7), rng.integers(-distinct, distinct + 1, found + 7).astype(float)
        means = response[codes] / held[codes]
        # insertion keeps the order of equals
        wanted = codes[np.argsort(means, kind="stable") if found <= FEW else _argsort(means)]
        _ordered(codes, held, response, np.empty(found), found, np.empty((MOST_WAITING, 2), dtype=np.int64))
        np.testing.assert_array_equal(codes, wanted)


@pytest.mark.parametrize("values", [np.arange(3000.0), -np.arange(3000.0), np.abs(np.arange(3000.0) - 1500)])
def test_sorted_values_are_no_trouble(values):
    codes, held = np.arange(3000, dtype=np.int32), np.ones(3000, dtype=np.int64)
    _ordered(codes, held, values, np.empty(3000), 3000, np.empty((MOST_WAITING, 2), dtype=np.int64))
    np.testing.assert_array_equal(codes, _argsort(values))
