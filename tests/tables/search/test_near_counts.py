"""Near rows by bits against counting them one by one."""

import numpy as np
import pytest

from unmask.tables.search import near_counts as module
from unmask.tables.search.near_counts import BLOCK, near_counts


def naive(people, rows, levels, own):
    found = np.zeros((len(people), levels), dtype=int)
    for person, codes in enumerate(people):
        unequal = ((rows != codes) | (codes < 0)).sum(axis=1)
        if own is not None and own[person] >= 0:
            unequal[own[person]] = levels
        found[person] = [(unequal == level).sum() for level in range(levels)]
    return found


@pytest.mark.parametrize("width", [1, 3, 5, 15, 16, 30])
@pytest.mark.parametrize("size", [1, 64, 700, BLOCK + 100])
def test_equal_to_counting_one_by_one(width, size, monkeypatch):
    monkeypatch.setattr(module, "FEWEST_PAIRS", 0)
    rng = np.random.default_rng([width, size])
    people, rows = (rng.integers(-2, 4, (count, width)).astype(np.int32) for count in (40, size))
    rows[rows == -2] = -1
    rows[: min(size, 10)] = people[: min(size, 10)]
    own = rng.integers(-1, size, 40)
    for places in (None, own):
        assert np.array_equal(near_counts(people, rows, 5, places), naive(people, rows, 5, places))


def test_refuses_what_bits_do_not_pay_for():
    assert near_counts(np.zeros((10, 3), int), np.zeros((10, 3), int), 5) is None
    assert near_counts(np.zeros((2_000, 31), int), np.zeros((2_000, 31), int), 5) is None
