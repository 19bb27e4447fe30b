"""Exact matches against a dictionary of rows."""

from collections import Counter
from itertools import count

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.errors import ParameterError
from unmask.tables import matching
from unmask.tables.matching import By, count_matches, duplicates, group_ids, occur_in, occur_once, row_keys
from unmask.tables.read import read_table
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

CITY = Column("city", Kind.CATEGORICAL, values=("a", "b"), missing=("",), groups=(("both", ("a", "b")),))
AGE = Column("age", Kind.CONTINUOUS, lower=0, upper=10, bins=2, missing=("",))
SMALL = Schema((CITY, AGE))


def small(cities, ages):
    numbers = np.array(ages, dtype=float)
    bins = np.where((numbers < 0) | (numbers > 10), AGE.unlisted_code, AGE.bin_of(numbers))
    bins = np.where(np.isnan(numbers), AGE.missing_code, bins)
    codes = np.column_stack([np.array(cities, dtype=int), bins.astype(int)]).astype(np.uint8)
    return Table(SMALL, np.asfortranarray(codes), np.asfortranarray(numbers[:, None]))


def naive_keys(table, by, fresh):
    """Each row as a tuple; what equals nothing gets a number of its own."""
    keys = []
    for (city, age_bin), (age,) in zip(table.codes.tolist(), table.numbers.tolist(), strict=True):
        first = ("unlisted", next(fresh)) if city == CITY.unlisted_code else city
        second = age_bin if by == By.CODES else ("missing" if np.isnan(age) else age)
        if by == By.CODES and age_bin == AGE.unlisted_code:
            second = ("unlisted", next(fresh))
        keys.append((first, second))
    return keys


rows = st.lists(
    st.tuples(st.integers(0, CITY.code_count - 1), st.sampled_from([0.0, -0.0, 1.0, 7.0, 7.5, -3.0, 12.0, np.nan])),
    max_size=25,
)


@given(rows, rows, st.sampled_from(list(By)))
@settings(max_examples=150, deadline=None)
def test_equals_a_dictionary_of_rows(left, right, by):
    tables = [small([city for city, _ in part], [age for _, age in part]) for part in (left, right)]
    fresh = count()
    keys = [naive_keys(table, by, fresh) for table in tables]
    ids = group_ids(*tables, by=by)
    group_of = dict(zip(keys[0] + keys[1], np.concatenate(ids).tolist(), strict=True))
    assert [group_of[key] for key in keys[0] + keys[1]] == np.concatenate(ids).tolist()
    assert sorted(set(group_of.values())) == list(range(len(group_of)))
    in_right, in_left = Counter(keys[1]), Counter(keys[0])
    assert count_matches(*tables, by=by).tolist() == [in_right[key] for key in keys[0]]
    assert duplicates(tables[0], by=by).tolist() == [in_left[key] for key in keys[0]]


def test_worked_answer():
    """Same bin, different numbers; missing equals missing; an unlisted city equals nothing."""
    table = small([0, 0, 0, 1, 3, 3], [1.0, 2.0, 1.0, np.nan, 5.0, 5.0])
    assert duplicates(table).tolist() == [2, 1, 2, 1, 1, 1]
    assert duplicates(table, by=By.CODES).tolist() == [3, 3, 3, 1, 1, 1]
    assert duplicates(table, columns=["age"]).tolist() == [2, 1, 2, 1, 2, 2]
    other = small([0, 1, 1, 3], [1.0, np.nan, np.nan, 5.0])
    assert count_matches(table, other).tolist() == [1, 0, 1, 2, 0, 0]


def test_numbers_outside_the_range_match_by_value_only():
    table = small([0, 0], [12.0, 12.0])
    assert duplicates(table).tolist() == [2, 2]
    assert duplicates(table, by=By.CODES).tolist() == [1, 1]


def test_keys_too_wide_for_64_bits_stay_exact():
    """40 columns of 60,000 values: the plain key would need 635 bits."""
    schema = Schema(tuple(Column(f"x{i}", Kind.INTEGER, lower=0.0, upper=59_999.0, bins=60_000) for i in range(40)))
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 60_000, (50, 40)).astype(float)[rng.integers(0, 50, 400)]
    numbers[np.arange(400), rng.integers(0, 40, 400)] = rng.choice([1.0, 2.0], 400)
    table = Table(schema, np.asfortranarray(numbers.astype(np.uint16)), np.asfortranarray(numbers))
    counts = Counter(map(bytes, numbers))
    assert max(counts.values()) > 1
    for by in By:
        assert duplicates(table, by=by).tolist() == [counts[bytes(row)] for row in numbers]


def test_accepts_plain_words_and_any_number_of_tables():
    table = small([0, 1, 0], [1.0, 2.0, 3.0])
    first, second, third = group_ids(table, table.take([2, 0]), table.take([]), by="codes")
    assert first.tolist() == [0, 1, 0]
    assert second.tolist() == [0, 0]
    assert third.dtype == np.int64
    assert len(third) == 0


def test_errors_say_what_to_do():
    table = small([0], [1.0])
    wider = Table(Schema((CITY, Column("age", Kind.CONTINUOUS, lower=0, upper=9))), table.codes, table.numbers)
    cases = [
        (lambda: group_ids(table, by="bins"), "'values', 'codes'"),
        (lambda: group_ids(), "no tables"),
        (lambda: duplicates(table, columns=[]), "columns is empty"),
        (lambda: duplicates(table, columns="age"), r"\['age'\]"),
        (lambda: count_matches(table, table.select(["age"])), "'city'"),
        (lambda: count_matches(table, wider), "describe 'age' differently"),
    ]
    for call, message in cases:
        with pytest.raises(ParameterError, match=message):
            call()


def test_keys_of_large_tables_say_the_same_as_group_numbers(monkeypatch):
    """Missing values, negative zeros and categories that the schema does not list included; block by block."""
    frame = pd.DataFrame(
        {"n": [1.5, 0.0, -0.0, None, None, 1.5, 2.5, 2.5], "c": ["a", "b", "b", None, None, "a", "a", "b"]}
    )
    first = read_table(frame)
    second = Table.from_pandas(
        pd.DataFrame({"n": [1.5, None, 2.5, 2.5, 0.0], "c": ["a", None, "z", "z", "b"]}), first.schema, unlisted="note"
    )
    monkeypatch.setattr(matching, "AT_ONCE", 3)
    for by in By:
        plain = np.concatenate(row_keys(first, second, by=by))
        with monkeypatch.context() as patch:
            patch.setattr(matching, "MANY_ROWS", 0)
            keys = np.concatenate(row_keys(first, second, by=by))
        assert np.array_equal(plain[:, None] == plain, keys[:, None] == keys), by
    assert len(np.unique(keys)) > 1


def test_keys_of_people_do_not_meet(monkeypatch, rng):
    """A hundred thousand different rows of small numbers, which differ by single bits."""
    table = read_table(pd.DataFrame({"a": np.arange(100_000) % 400, "b": np.arange(100_000) // 400}))
    monkeypatch.setattr(matching, "MANY_ROWS", 0)
    (keys,) = row_keys(table)
    assert len(np.unique(keys)) == 100_000
    assert abs((keys >> np.uint64(63)).mean() - 0.5) < 0.01
    assert abs((keys & np.uint64(1)).mean() - 0.5) < 0.01


def test_what_occurs_once_and_what_occurs_elsewhere():
    values = np.array([3.0, 1.0, np.nan, 3.0, 2.0])
    assert occur_once(values).tolist() == [False, True, False, False, True]
    assert occur_in(values, np.array([2.0, np.nan, 3.0])).tolist() == [True, False, False, True, True]
    assert occur_in(values, np.empty(0)).tolist() == [False] * 5
    assert occur_once(np.array([7, 7, 1])).tolist() == [False, False, True]
    assert occur_once(np.empty(0)).tolist() == []
