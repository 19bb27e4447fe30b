"""Rows that agree with points in sets of columns: counted by keys, looked up, in turn, or one by one."""

import numpy as np
import pytest

from unmask.attacks import _agreeing
from unmask.datasets import adult

SETS = [(), (3,), (1, 4, 9), tuple(range(15))]


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"MOST_KEYS": 10},
        {"MOST_KEYS": 10, "WIDEST_KEY": 20},
        {"FEW_POINTS": 1_000},
        {"AT_ONCE": 64, "MOST_KEYS": 50},
    ],
)
def test_equal_to_counting_one_by_one(limits, monkeypatch):
    for name, value in limits.items():
        monkeypatch.setattr(_agreeing, name, value)
    rows, points = adult().take(np.arange(700)), adult().take(np.arange(650, 750))
    found = _agreeing.agreeing(rows, points, SETS)
    for place, positions in enumerate(SETS):
        same = (rows.codes[None, :, positions] == points.codes[:, None, positions]).all(axis=2)
        assert np.array_equal(found[:, place], same.sum(axis=1))
