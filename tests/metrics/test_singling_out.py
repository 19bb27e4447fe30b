"""Singling out against naive loops, on releases whose leak is known, and on tables that break things."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from unmask import datasets
from unmask.errors import InputError, ParameterError
from unmask.metrics._predicates import ANY, on_common_levels
from unmask.metrics.legal import over_secrets
from unmask.metrics.singling_out import Mode, _multivariate, _random, _univariate, evenly_drawn, singling_out
from unmask.tables.encode import Unlisted
from unmask.tables.table import Table, concatenate

MODES = list(Mode)


def naive_matches(table, predicate):
    """Rows of `table` that meet the predicate's conditions, one row and column at a time, on plain values."""
    lows, highs, values = predicate
    found = []
    for row in range(len(table)):
        met = True
        for column, (low, high) in enumerate(zip(lows, highs, strict=True)):
            if high == ANY:
                continue
            if column not in table.schema.numeric:
                met &= low <= table.codes[row, column] <= high
                continue
            number = table.numbers[row, table.schema.numeric.index(column)]
            scale = values[column]
            if low == high == len(scale):
                met &= bool(np.isnan(number))
            else:
                met &= bool(scale[low] <= number <= scale[high])
        if met:
            found.append(row)
    return found


def test_only_match_equals_a_naive_loop(people, rng):
    synthetic, real = people.take(range(120)), people.take(range(80, 200))
    release, other = on_common_levels([synthetic, real])
    pooled = concatenate([synthetic, real])
    values = {
        position: np.unique(pooled.numbers[~np.isnan(pooled.numbers[:, place]), place])
        for place, position in enumerate(people.schema.numeric)
    }
    asked = _random(release, 150, (1, 4), rng)
    asked_rows = list(zip(asked.lows, asked.highs, strict=True))
    kinds = set()
    for leveled, table in ((release, synthetic), (other, real)):
        for found, (lows, highs) in zip(leveled.only_match(asked), asked_rows, strict=True):
            rows = naive_matches(table, (lows, highs, values))
            expected = rows[0] if len(rows) == 1 else -2 if rows else -1
            assert found == expected
            kinds.add(min(len(rows), 2))
    assert kinds == {0, 1, 2}  # or something was not tested


def test_rows_stand_in_the_order_of_their_levels(people):
    for leveled in on_common_levels([people, people.take(range(0, 200, 3))]):
        for column, order in enumerate(leveled.order):
            assert np.array_equal(order, np.argsort(leveled.levels[:, column], kind="stable"))


def test_univariate_predicates_of_a_small_table(rng):
    """Unique: b, the ages 20.5, 40.5 and 90.5, and the missing one."""
    frame = pd.DataFrame({"kind": ["a", "a", "b", "a", "a"], "age": [20.5, 35.5, 90.5, None, 35.5]})
    frame = pd.concat([frame, pd.DataFrame({"kind": ["a"], "age": [40.5]})], ignore_index=True)
    (release,) = on_common_levels([Table.from_pandas(frame)])
    found = _univariate(release, 100, rng)
    bounds = {(int(i), int(found.lows[q, i]), int(found.highs[q, i])) for q in range(len(found)) for i in (0, 1)}
    assert {b for b in bounds if b[2] != ANY} == {
        (0, 1, 1),  # b
        (1, 0, 0), (1, 2, 2), (1, 3, 3),  # 20.5, 40.5, 90.5; 35.5 occurs twice
        (1, 4, 4),  # the missing one; "<= 20.5" and ">= 90.5" say the same as the values as long as no other table is there
    }  # fmt: skip
    assert len(found) == 5
    assert (release.only_match(found) >= 0).all()


def test_extremes_reach_beyond_the_synthetic_range(rng):
    """ ">= 7.5", the largest synthetic number, also holds for the one real person with 9.5; "= 7.5" does not."""
    schema = Table.from_pandas(pd.DataFrame({"n": [0.5, 10.5]})).schema
    synthetic = Table.from_pandas(pd.DataFrame({"n": [3.5, 3.5, 7.5]}), schema)
    real = Table.from_pandas(pd.DataFrame({"n": [1.5, 3.5, 9.5]}), schema)
    release, people = on_common_levels([synthetic, real])
    found = _univariate(release, 10, rng)
    assert sorted(people.only_match(found)) == [-1, 2]
    both = Table.from_pandas(pd.DataFrame({"n": [8.5, 9.5]}), schema)
    release, people = on_common_levels([synthetic, both])
    assert sorted(people.only_match(_univariate(release, 10, rng))) == [-2, -1]


@pytest.mark.parametrize("mode", MODES)
def test_every_predicate_matches_one_synthetic_row(people, mode, rng):
    (release,) = on_common_levels([people])
    found = _univariate(release, 500, rng) if mode == Mode.UNIVARIATE else _multivariate(release, 500, (2, 6), rng)
    assert (release.only_match(found) >= 0).all()
    assert len(found.distinct()) == len(found) > 100


@pytest.mark.parametrize("mode", MODES)
def test_synthetic_equal_to_real(people, mode, rng):
    """Every predicate that matches one synthetic row matches that very row of the real table."""
    holdout = datasets.gaussian(6, 300, seed=2)
    real = datasets.gaussian(6, 300, seed=1)
    result = singling_out(real, real, holdout=holdout, mode=mode, rng=rng)
    assert result.predicates == 300
    assert result.attack.value == 1.0
    assert result.difference.low > 0.5
    assert result.beats_control
    alone = singling_out(people, people, mode=mode, rng=rng)
    assert alone.attack.value == alone.predicates / 200
    assert alone.control is alone.difference is alone.risk is alone.p_value is None


def test_planted_copies_are_seen(rng):
    made = datasets.planted(1000, leaked=200, seed=3)
    result = singling_out(made.real, made.synthetic, holdout=made.holdout, rng=rng)
    assert result.beats_control
    assert result.p_value < 1e-6
    leaked = np.isin(result.singled_out, made.leaked)
    assert leaked.mean() > 0.5  # a fifth of all rows, most of those found
    assert np.array_equal(result.rows[result.successes], result.singled_out)


def test_noise_beats_no_control(rng):
    """A release that ignores the data is no leak (anonymeter: "cannot be trusted")."""
    table = datasets.adult()
    real, holdout = table.take(range(1500)), table.take(range(1500, 3000))
    noise = evenly_drawn(real.schema, 1500, rng)
    results = [singling_out(real, noise, holdout=holdout, mode=mode, rng=rng) for mode in MODES]
    assert not over_secrets(results).rejected.any()


def test_real_and_holdout_are_cut_to_equal_size(rng):
    table = datasets.adult()
    real, holdout, synthetic = table.take(range(900)), table.take(range(900, 1200)), table.take(range(1200, 2200))
    result = singling_out(real, synthetic, holdout=holdout, rng=rng)
    assert len(result.rows) == len(np.unique(result.rows)) == len(result.control_rows) == 300
    assert result.attack.n == result.control.n == 300  # at most one attempt for each person
    assert any("as many as the holdout has" in note for note in result.notes)
    turned = singling_out(holdout, synthetic, holdout=real, rng=rng)
    assert len(turned.rows) == len(turned.control_rows) == 300


def test_equal_rows_of_two_people_single_nobody_out(rng):
    """Theirs drops repeated rows first, and so takes twins for one person who can be singled out."""
    once = datasets.gaussian(3, 60, seed=1)
    for mode in MODES:
        assert singling_out(concatenate([once, once]), once, mode=mode, rng=rng).attack.value == 0.0


def test_attempts_without_a_predicate_count_as_failed(rng):
    frame = pd.DataFrame({"a": ["x", "y"] * 50, "b": ["u", "u", "v", "v"] * 25})
    table = Table.from_pandas(frame)
    for mode in MODES:
        result = singling_out(table, table, holdout=table, mode=mode, rng=rng)
        assert result.predicates == 0
        assert (result.attack.value, result.attack.n, result.control.value) == (0.0, 100, 0.0)
        assert any("Only 0 predicates" in note for note in result.notes)


@pytest.mark.parametrize("mode", MODES)
def test_the_baseline_never_sees_the_synthetic_table(people, mode):
    real, holdout = people.take(range(100)), people.take(range(100, 200))
    rates = {
        singling_out(real, synthetic, holdout=holdout, mode=mode, rng=np.random.default_rng(5)).baseline
        for synthetic in (real, holdout, people.take(range(50, 150)))
    }
    assert len(rates) == 1


@pytest.mark.parametrize("mode", MODES)
def test_odd_tables_are_survived(mode, rng):
    frame = pd.DataFrame(
        {
            "constant": ["k"] * 60,
            "one number": [3.5] * 60,
            "empty": [None] * 60,
            "quotes": ["it's", '"q"', "</script>", "a\\b"] * 15,
            "value": np.r_[np.arange(59.0), np.nan],
        }
    )
    real = Table.from_pandas(frame)
    odd = frame.assign(quotes=["strange", "'"] * 30, value=np.arange(60) * 1000.0)
    synthetic = Table.from_pandas(odd, real.schema, unlisted=Unlisted.NOTE)
    for release in (real, synthetic, real.take([0]), real.take([59])):
        for people in (real, real.take([3]), real.take([59])):
            result = singling_out(people, release, holdout=real, mode=mode, rng=rng)
            assert 0 <= result.attack.low <= result.attack.high <= 1


def test_unlisted_values_match_nothing(rng):
    schema = Table.from_pandas(pd.DataFrame({"a": ["x", "y", None], "n": [1.5, 2.5, None]})).schema
    synthetic = Table.from_pandas(
        pd.DataFrame({"a": ["new", "x", "x"], "n": ["text", "1.5", "1.5"]}), schema, unlisted=Unlisted.NOTE
    )
    (release,) = on_common_levels([synthetic])
    assert len(_univariate(release, 10, rng)) == 0
    real = Table.from_pandas(pd.DataFrame({"a": ["x", "y", None], "n": [1.5, 2.5, None]}), schema)
    assert singling_out(real, synthetic, rng=rng).attack.value == 0


def test_wrong_arguments(people, rng):
    empty = people.take([])
    for tables in ((people, empty), (empty, people)):
        with pytest.raises(InputError, match="has no rows"):
            singling_out(*tables, rng=rng)
    with pytest.raises(InputError, match="other columns"):
        singling_out(people, people.select(["sex", "age"]), rng=rng)
    with pytest.raises(ParameterError, match="1 to 6 columns"):
        singling_out(people, people, width=7, rng=rng)
    with pytest.raises(ParameterError, match="mode is"):
        singling_out(people, people, mode="both", rng=rng)
    with pytest.raises(ParameterError, match="attempts is 0"):
        singling_out(people, people, attempts=0, rng=rng)


def test_of_very_large_tables_a_part_is_asked(people, monkeypatch):
    """Rows keep the numbers that they have in the whole table, and the report says so."""
    monkeypatch.setattr(import_module("unmask.metrics.singling_out"), "MOST_ROWS", 40)
    rng = np.random.default_rng(0)
    result = singling_out(people, people, rng=rng)
    assert len(result.rows) == 40
    assert len(set(result.rows)) == 40
    assert result.rows.max() >= 40
    assert set(result.singled_out) <= set(result.rows)
    assert f"40 of {len(people):,} published rows" in result.notes[-1]


def test_no_more_real_rows_are_left_out_than_the_holdout_leaves_out(people, monkeypatch):
    monkeypatch.setattr(import_module("unmask.metrics.singling_out"), "MOST_ROWS", 40)
    half = len(people) // 2
    result = singling_out(people, people, holdout=people.take(np.arange(half)), rng=np.random.default_rng(0))
    assert len(result.rows) == len(result.control_rows) == half
