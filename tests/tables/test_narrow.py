"""Numbers in few bytes are the same numbers, and a table that holds them so is the same table."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import unmask
from tests.golden import cases
from unmask.tables import narrow as narrow_module
from unmask.tables.narrow import NarrowNumbers, narrow, stacked_numbers, together
from unmask.tables.table import Table, concatenate

ROWS = 2_000


@pytest.fixture
def always(monkeypatch):
    """Every table that is read is large."""
    monkeypatch.setattr(narrow_module, "FROM_ROWS", 0)
    monkeypatch.setattr(narrow_module, "AT_ONCE", 300)


def columns(rng):
    whole = rng.integers(0, 200, ROWS).astype(float)
    found = {
        "age": (whole, np.uint8),
        "top of a byte": (whole + 55, np.uint8),
        "one too many": (np.append(whole, 255.0), np.int16),
        "negative": (whole - 100, np.int16),
        "two bytes": (whole * 300, np.uint16),
        "large": (whole * 1e7 - 5, np.int32),
        "larger": (whole * 2e7, np.uint32),
        "too large": (whole * 1e8, np.float64),
        "amounts": (np.array([float(f"{number / 100:.2f}") for number in rng.integers(0, 5_000, ROWS)]), np.int16),
        "thousandths": (np.array([float(f"{number / 1000:.3f}") for number in rng.integers(-9, 9, ROWS)]), np.int16),
        "ten thousandths": (rng.integers(1, 9, ROWS) / 10_000, np.float64),
        "floats": (rng.normal(size=ROWS), np.float64),
        "tiny": (np.full(ROWS, 5e-324), np.float64),
        "huge": (np.full(ROWS, 1e308), np.float64),
        "infinite": (np.append(whole, np.inf), np.float64),
        "minus nought": (np.append(whole, -0.0), np.float64),
        "nothing": (np.full(ROWS, np.nan), np.uint8),
        "none": (np.empty(0), np.uint8),
    }
    return found | {f"{name}, gaps": (np.append(numbers, np.nan), kind) for name, (numbers, kind) in found.items()}


def same_bits(one, other):
    gone = np.isnan(other)
    return np.array_equal(np.isnan(one), gone) and one[~gone].tobytes() == other[~gone].tobytes()


def test_every_number_comes_back_bit_by_bit(always, rng):
    for name, (numbers, kind) in columns(rng).items():
        column = narrow(numbers)
        assert column.held.dtype == kind, name
        assert same_bits(column.numbers(), numbers), name
        index = rng.integers(-1, len(numbers), ROWS) if len(numbers) else np.empty(0, dtype=int)
        values = np.append(numbers, np.nan)
        assert same_bits(narrow(values, index).numbers(), values[index]), name


def test_small_columns_stay_as_they_are():
    assert narrow(np.arange(9.0)).held.dtype == np.float64
    assert isinstance(together([narrow(np.arange(9.0))], 9), np.ndarray)


def test_numbers_read_like_an_array(always, rng):
    plain = np.array([rng.integers(0, 9, 50), rng.normal(size=50), rng.integers(-5, 5, 50)]).T
    plain[::7, 0] = np.nan
    numbers = together([narrow(column) for column in plain.T], 50)
    assert isinstance(numbers, NarrowNumbers)
    assert (numbers.shape, len(numbers), numbers.ndim, numbers.dtype) == (plain.shape, 50, 2, np.float64)
    rows, mask = rng.integers(0, 50, (4, 6)), plain[:, 2] > 0
    one = (np.s_[:, 0], np.s_[3, 0], np.s_[7, 0], np.s_[rows, 1], np.s_[mask, 2])
    for key in (*one, np.s_[2:9], np.s_[4], np.s_[:, [2, 0]], np.s_[:, None, 1]):
        np.testing.assert_array_equal(numbers[key], plain[key])
    for made in (lambda x: x - 1, lambda x: 2 / (x + 9), np.isnan, lambda x: x.T, lambda x: x >= 1, np.sign):
        np.testing.assert_array_equal(made(numbers), made(plain))
    np.testing.assert_array_equal(np.nan_to_num(numbers), np.nan_to_num(plain))
    assert (numbers[:, 1:].tolist(), numbers.size, numbers.sum(axis=0).tolist()[1:]) == (
        plain[:, 1:].tolist(),
        plain.size,
        plain.sum(axis=0).tolist()[1:],
    )
    copied = numbers.copy(order="F")
    assert copied.flags.f_contiguous
    copied[:] = 0  # is nobody else's
    np.testing.assert_array_equal(numbers, plain)
    np.testing.assert_array_equal(stacked_numbers([numbers, plain]), np.concatenate([plain, plain]))
    with pytest.raises(TypeError):
        numbers[0, 0] = 1.0


def people(rng, rows):
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "pay": np.where(rng.random(rows) < 0.1, np.nan, np.round(rng.gamma(2, 900, rows), 2)),
            "town": rng.choice(list("abc"), rows),
            "born": pd.to_datetime("2000-01-01") + pd.to_timedelta(rng.integers(0, 999, rows), "D"),
            "noise": rng.normal(size=rows),
        }
    )


def test_a_large_table_is_the_same_table(rng, monkeypatch):
    frame = people(rng, ROWS)
    plain = Table.from_pandas(frame)
    monkeypatch.setattr(narrow_module, "FROM_ROWS", 500)
    large = Table.from_pandas(frame)
    assert [column.held.dtype for column in large.numbers.columns] == [np.uint8, np.int32, np.int16, np.float64]
    rows = rng.permutation(ROWS)[:900]
    made = (
        lambda table: table,
        lambda table: table.take(rows),
        lambda table: table.take(rows[:100]),
        lambda table: table.take(rows % 2 == 0),
        lambda table: table.between(100, 900),
        lambda table: table.between(ROWS - 100, ROWS + 100),
        lambda table: table.select(["noise", "town", "age"]),
        lambda table: table.split(0.5, seed=1)[1],
        lambda table: concatenate([table, table.take(rows)]),
        lambda table: concatenate([table.take(rows[:100]), table]),
        lambda table: pickle.loads(pickle.dumps(table)),
    )
    for make in made:
        one, other = make(plain), make(large)
        assert isinstance(other.numbers, NarrowNumbers) == (len(other) >= 500)
        assert np.array_equal(one.numbers, other.numbers, equal_nan=True)
        assert one.digest() == other.digest()
        pd.testing.assert_frame_equal(one.to_pandas(), other.to_pandas())


def test_a_table_does_not_hang_on_the_frame_it_was_made_of(always, rng):
    frame = people(rng, ROWS)
    table = Table.from_pandas(frame)
    before = table.digest()
    frame.loc[:, "noise"] = 0.0
    assert table.digest() == before


def test_an_audit_of_large_tables_is_the_same(monkeypatch):
    """To the byte, with everything that the audit looks at."""
    real, holdout = cases.people(300), cases.people(200, start=300)
    real, synthetic, holdout = (table.to_pandas() for table in (real, cases.made("cart", real, 300), holdout))
    found = []
    for rows in (narrow_module.FROM_ROWS, 0):
        monkeypatch.setattr(narrow_module, "FROM_ROWS", rows)
        assert isinstance(Table.from_pandas(real).numbers, NarrowNumbers) == (rows == 0)
        result = unmask.audit(real, synthetic, holdout=holdout, utility=True, secrets=["income", "age"])
        found.append(json.dumps(cases.plain_of(result)))
    assert found[0] == found[1]
