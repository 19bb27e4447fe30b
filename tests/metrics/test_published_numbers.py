"""Own numbers in a release: by hand, honest under chance and under a shift, and able to see what is carried over."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from unmask.errors import InputError
from unmask.metrics import published_numbers
from unmask.metrics.published_numbers import MOST_STRATA, NEIGHBOURS, _neighbours, wide_columns
from unmask.stats import difference
from unmask.stats.labels import fisher_within
from unmask.tables.read import read_table
from unmask.tables.table import Table


def tables(*columns):
    """Tables of one numeric column, against one schema."""
    frames = [pd.DataFrame({"amount": values}) for values in columns]
    schema = read_table(pd.concat(frames, ignore_index=True)).schema
    return [Table.from_pandas(frame, schema) for frame in frames]


def asked(real, synthetic, holdout, seed=0):
    """What is found in the only column."""
    (found,) = published_numbers(real, synthetic, holdout=holdout, rng=np.random.default_rng(seed))
    return found


def naive(real, synthetic, holdout):
    """Whose number is nobody else's, and whether it is published: by looking at everybody."""
    everybody = [*real, *holdout]
    alone = [value == value and everybody.count(value) == 1 for value in everybody]
    hit = [mine and value in synthetic for mine, value in zip(alone, everybody, strict=True)]
    return np.array(alone), np.array(hit)


def test_people_are_counted_as_by_hand(rng):
    real, synthetic, holdout = ((rng.integers(0, 4_000, size) * 1.0).tolist() for size in (150, 120, 90))
    real[3] = holdout[5] = float("nan")
    alone, hit = naive(real, synthetic, holdout)
    found = asked(*tables(real, synthetic, holdout))
    assert found.column == "amount"
    assert found.asked.mine == (hit[:150].sum(), alone[:150].sum())
    assert found.asked.theirs == (hit[150:].sum(), alone[150:].sum())
    assert np.array_equal(found.published, hit[:150])
    assert found.excess == difference(found.asked.mine, found.asked.theirs)
    rows = np.flatnonzero(alone)
    strata = _neighbours(np.array([*real, *holdout])[rows])
    assert found.p_value == pytest.approx(fisher_within(hit[rows], rows < 150, strata))
    gaps, weights = [], []
    for place in np.unique(strata):
        mine, theirs = (hit[rows[(strata == place) & side]] for side in (rows < 150, rows >= 150))
        gaps.append(mine.mean() - theirs.mean())
        weights.append(len(mine) * len(theirs) / (len(mine) + len(theirs)))
    assert found.asked.excess == pytest.approx(np.average(gaps, weights=weights))


def test_numbers_are_compared_as_the_release_writes_them():
    """A release in tens says nothing about units; 0.1 + 0.2 is 0.3."""
    found = asked(*tables([1234.0, 5678.0], [1230.0, 9990.0], [2222.0, 3333.0]))
    assert found.published.tolist() == [True, False]
    found = asked(*tables([0.1 + 0.2, 0.7], [0.3, 0.5], [0.9, 0.8]))
    assert found.published.tolist() == [True, False]


def test_one_random_row_of_a_person_is_asked_about():
    real, synthetic, holdout = tables([1.5, 2.5, 3.5, 4.5], [1.5, 2.5, 3.5, 4.5], [5.5, 6.5, 7.5, 8.5])
    persons = np.array(["a", "a", "b", "c"], dtype=object)
    seen = set()
    for seed in range(20):
        found = asked(replace(real, persons=persons), synthetic, holdout, seed)
        assert found.asked.mine == (3, 3)
        assert found.asked.theirs[1] == 4
        assert found.published.all()
        seen.add(tuple(found.rows.tolist()))
    assert seen == {(0, 2, 3), (1, 2, 3)}


def test_columns_in_which_people_can_have_their_own_numbers():
    frame = pd.DataFrame({"age": [20, 40], "pay": [100, 90_000], "rate": [0.5, 0.25], "town": ["a", "b"]})
    assert wide_columns(read_table(frame).schema) == ["pay", "rate"]


def test_nobody_to_compare():
    same, synthetic, holdout = tables([5.5, 5.5], [5.5, 1.0], [7.0, 8.0])
    found = asked(same, synthetic, holdout)
    assert found.excess is None
    assert found.p_value is None
    assert found.explained == 0
    with pytest.raises(InputError, match="holdout table has no rows"):
        asked(same, synthetic, holdout.take(np.empty(0, dtype=int)))


def test_neighbours_are_groups_of_a_hundred_or_more(rng):
    numbers = rng.normal(size=1_050)
    groups = _neighbours(numbers)
    sizes = np.bincount(groups)
    assert len(sizes) == 10
    assert sizes.min() >= NEIGHBOURS
    assert all(numbers[groups == place].max() < numbers[groups == place + 1].min() for place in range(9))
    assert _neighbours(rng.normal(size=100_000)).max() == MOST_STRATA - 1
    assert _neighbours(numbers[:50]).tolist() == [0] * 50


def play(rng, carried, shift=0.0, size=1_500):
    """Amounts of a population whose scale is another one in the holdout; some of the real ones are carried over."""
    real, fresh = np.rint(np.exp(rng.normal(9, 1, (2, size))))
    holdout = np.rint(np.exp(rng.normal(9 - shift, 1, size)))
    fresh[: round(carried * size)] = rng.choice(real, round(carried * size), replace=False)
    return asked(*tables(real, fresh, holdout)).p_value


@pytest.mark.parametrize("shift", [0.0, 0.3, -0.3])
def test_it_is_honest_also_where_real_and_holdout_differ(shift):
    """At level 5 % at most 21 of 200 (99.9 % limit)."""
    rng = np.random.default_rng(4)
    assert sum(play(rng, 0.0, shift) <= 0.05 for _ in range(200)) <= 21


def test_without_neighbours_a_shift_would_alarm(monkeypatch):
    """What the groups are for."""
    monkeypatch.setattr(import_module("unmask.metrics.published_numbers"), "MOST_STRATA", 1)
    rng = np.random.default_rng(4)
    assert sum(play(rng, 0.0, -0.6) <= 0.05 for _ in range(20)) >= 10


def test_it_sees_what_is_carried_over(rng):
    """One in ten: at the strict level of an audit."""
    assert sum(play(rng, 0.1) <= 0.0003 for _ in range(10)) == 10


@pytest.mark.parametrize(("size", "held"), [(3_000, 300), (15_000, 1_500), (3_000, 30)])
def test_a_table_that_is_published_whole_is_seen_whatever_the_holdout(rng, size, held):
    real, holdout = (rng.normal(size=count) for count in (size, held))
    found = asked(*tables(real, real, holdout))
    assert found.asked.mine == (size, size)
    assert found.p_value < 1e-9
    assert found.explained == 0


def scale(rng, size, factor):
    """Pay by a scale of 3,000 steps, which another year raises."""
    return np.round(factor * (10_000 + 7 * rng.integers(0, 3_000, size)), 2)


def test_numbers_that_belong_to_another_year_are_explained(rng):
    """Fresh people of the real population as release: the holdout is paid by another scale, so its numbers never occur."""
    found = [
        asked(*tables(scale(rng, 1_500, 1.0), scale(rng, 1_500, 1.0), scale(rng, 500, 1.02)), seed)
        for seed in range(10)
    ]
    assert sum(each.p_value <= 0.0003 for each in found) == 10, "they look like a leak"
    assert all(each.explained >= each.excess.value for each in found), "and the blind twin explains it"
    alike = [
        asked(*tables(scale(rng, 1_500, 1.0), scale(rng, 1_500, 1.0), scale(rng, 500, 1.0)), seed)
        for seed in range(100)
    ]
    assert sum(each.explained > 0 for each in alike) <= 13
