"""A second code space: a value equals itself, whatever file it came from, and nothing equals what is missing."""

import numpy as np
import pandas as pd
import pytest

from unmask.tables import exact
from unmask.tables.exact import MISSING, NOBODY, ExactValues, rounded_like, significant, step_of
from unmask.tables.read import read_table
from unmask.tables.table import Table


def table(frame, schema=None, **more):
    return read_table(pd.DataFrame(frame), schema, **more)


@pytest.fixture
def people():
    return table({"amount": [10.5, 20.25, None, 10.5], "town": ["a", "b", "a", None]})


def test_equal_values_have_equal_codes_and_others_none(people):
    codes = ExactValues(people).codes
    assert codes[0, 0] == codes[3, 0] != codes[1, 0]
    other = table({"amount": [20.25, 20.26, None], "town": ["a", None, "b"]}, people.schema, unlisted="note")
    found = ExactValues(people).find(other)
    assert found[:, 0].tolist() == [codes[1, 0], NOBODY, NOBODY]
    assert found[:, 1].tolist() == [codes[0, 1], NOBODY, codes[1, 1]]


def test_missing_agrees_with_nothing(people):
    codes = ExactValues(people).codes
    assert codes[2, 0] == MISSING
    assert codes[3, 1] == MISSING
    assert not (codes[2, 0] == ExactValues(people).find(people)[:, 0]).any()


def test_whole_numbers_and_floats_agree(people):
    whole = table({"amount": [10, 20, 30]})
    written = table({"amount": [10.0, 31.0, 30.0]}, whole.schema, unlisted="note")
    assert ExactValues(whole).find(written)[:, 0].tolist() == [0, NOBODY, 2]


def test_file_and_single_precision_agree(tmp_path):
    frame = pd.DataFrame({"amount": np.array([39.1, 1e-7, 1234.567, 12.0], dtype=np.float32), "town": list("abab")})
    frame.to_csv(tmp_path / "people.csv", index=False)
    written = read_table(tmp_path / "people.csv")
    found = ExactValues(written).find(read_table(frame, written.schema))
    assert (found == ExactValues(written).codes).all()


def test_noise_of_floats_is_no_difference():
    people = table({"amount": [0.3, 1.5]})
    noisy = table({"amount": [0.1 + 0.2, 1.5 - 1e-15]}, people.schema, unlisted="note")
    assert ExactValues(people).find(noisy)[:, 0].tolist() == [0, 1]


def test_long_whole_numbers_keep_every_digit():
    people = table({"number": [9_007_199_254_740_001, 9_007_199_254_740_003, 5]})
    assert len(np.unique(ExactValues(people).codes[:, 0])) == 3


def test_fewer_digits_bring_neighbours_together():
    people = table({"amount": [1234.0, 1231.0, 0.0, -1234.0]})
    codes = ExactValues(people, digits=3).codes[:, 0]
    assert codes[0] == codes[1]
    assert len(np.unique(codes)) == 3
    assert significant(np.array([0.0, 1234.0, -0.01239, np.nan]), 2).tolist()[:3] == [0.0, 1200.0, -0.012]


@pytest.mark.parametrize(
    ("numbers", "step"),
    [
        ([10, 20, 50], 10),
        ([0.25, 1.5], 0.01),
        ([0, 3], 1),
        ([1000, 2500], 100),
        ([5, 5], 0),
        ([np.pi, np.e], 0),
        ([1e9, 3], 1),
    ],
)
def test_step_is_the_coarsest_power_of_ten(numbers, step):
    assert step_of(np.array([*numbers, np.nan], dtype=float)) == pytest.approx(step)


def test_people_are_rounded_as_the_release_rounds():
    people = table({"amount": [1234, 1267, 15], "town": list("aba")})
    release = table({"amount": [1230, 20, 1200], "town": list("aab")}, people.schema, unlisted="note")
    assert rounded_like(people, release).numbers[:, 0].tolist() == [1230, 1270, 20]
    assert rounded_like(people, people) is people


def test_whole_numbers_are_looked_up_as_they_are_searched_for(monkeypatch):
    """Numbers outside, between and missing included; numbers that are not whole, or too far apart, are searched for."""
    people = read_table(pd.DataFrame({"n": [-3.0, 5.0, 40.0, None, 5.0], "x": [0.5, 1.0, 2.0, 3.0, 4.0]}))
    other = pd.DataFrame({"n": [5.0, 4.0, None, -3.0, 40.0, 39.5], "x": [1.0, 0.5, 1.5, 9.0, None, 4.0]})
    table = Table.from_pandas(other, people.schema, unlisted="note")
    values = ExactValues(people)
    assert list(values._codes_of_whole) == [0]
    found = values.find(table)
    assert found[:, 0].tolist() == [1, -1, -1, 0, 2, -1]
    monkeypatch.setattr(exact, "MOST_CODES", 0)
    searched = ExactValues(people)
    assert not searched._codes_of_whole
    assert np.array_equal(searched.find(table), found)
    assert np.array_equal(searched.codes, values.codes)
