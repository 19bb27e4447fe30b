"""Verbatim copies of unique people."""

import numpy as np
import pandas as pd
import pytest

from unmask.datasets import planted
from unmask.errors import InputError
from unmask.metrics.copies import copies
from unmask.stats import difference
from unmask.tables import matching
from unmask.tables.encode import Unlisted
from unmask.tables.table import Table


def test_worked_answer():
    real = Table.from_pandas(pd.DataFrame({"a": list("aabcde"), "n": [1.0, 1, 2, np.nan, 5, 6]}))
    holdout, synthetic = (
        Table.from_pandas(pd.DataFrame(frame), real.schema, unlisted=Unlisted.NOTE)
        for frame in ({"a": list("be"), "n": [2.0, 1]}, {"a": list("acdz"), "n": [1.0, np.nan, 5, 5]})
    )
    found = copies(real, synthetic, holdout=holdout)
    assert found.published.tolist() == [False, False, False, True, True, False]  # a: twice; b: in the holdout too
    assert found.identical.value == 3 / 4
    assert found.unique.value == 2 / 3  # c, d of c, d, e
    assert found.excess == difference((2, 3), (0, 1))


def test_copies_stand_out_and_equal_tables_are_the_maximum(people):
    data = planted(rows=1000, leaked=100, seed=2)
    assert copies(data.real, data.synthetic, holdout=data.holdout).excess.low > 0
    same = copies(people.take(range(100)), people.take(range(100)), holdout=people.take(range(100, 200)))
    assert same.excess.value == same.identical.value == 1
    assert same.published.all()


def test_nothing_to_compare_is_said(people):
    alone = copies(people, people)
    assert alone.excess is None
    assert "no holdout" in alone.notes[0]
    twice = people.take([0, 0])
    found = copies(twice, twice, holdout=people.take([5]))
    assert found.unique is None
    assert "Every real row" in found.notes[0]
    assert copies(people.take([1]), people, holdout=people.take([3, 3])).excess is None
    with pytest.raises(InputError, match="no rows"):
        copies(people, people.take([]))


def test_large_tables_give_the_same_by_keys(monkeypatch):
    release = planted(400, leaked=40, columns=4, seed=2)
    plain = copies(release.real, release.synthetic, holdout=release.holdout)
    monkeypatch.setattr(matching, "MANY_ROWS", 0)
    keyed = copies(release.real, release.synthetic, holdout=release.holdout)
    assert (keyed.mine, keyed.theirs, keyed.identical) == (plain.mine, plain.theirs, plain.identical)
    assert np.array_equal(keyed.published, plain.published)
