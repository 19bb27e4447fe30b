"""Linking against a naive loop, its closed-form baseline, and releases whose leak is known."""

import numpy as np
import pandas as pd
import pytest

from unmask import datasets
from unmask.errors import InputError, ParameterError, SchemaError
from unmask.metrics.legal import over_secrets
from unmask.metrics.linkability import _blind, linkability
from unmask.metrics.singling_out import evenly_drawn
from unmask.tables.encode import Unlisted
from unmask.tables.table import Table


def naive_nearest(table, record, candidates, columns, k):
    """Row numbers of the k nearest candidates by Gower distance, one pair at a time."""
    sums = np.zeros(len(candidates))
    for name in columns:
        position = table.schema.position(name)
        column = table.schema.columns[position]
        for row in range(len(candidates)):
            if not column.is_numeric:
                sums[row] += table.codes[record, position] != candidates.codes[row, position]
                continue
            place = table.schema.numeric.index(position)
            one, other = table.numbers[record, place], candidates.numbers[row, place]
            if np.isnan(one) or np.isnan(other):
                sums[row] += np.isnan(one) != np.isnan(other)
            else:
                sums[row] += min(abs(one - other) / (column.upper - column.lower), 1.0)
    return set(np.argsort(sums, kind="stable")[:k])


@pytest.mark.parametrize("k", [1, 4])
def test_equals_a_naive_loop(people, k):
    real, synthetic = people.take(range(40)), people.take(range(30, 130))
    halves = (["sex", "age", "income"], ["region", "joined", "smoker"])
    result = linkability(real, synthetic, halves=halves, neighbours=k, rng=np.random.default_rng(3))
    shuffled = synthetic.take(np.random.default_rng(3).permutation(len(synthetic)))
    expected = [
        bool(set.intersection(*(naive_nearest(real, record, shuffled, half, k) for half in halves)))
        for record in range(40)
    ]
    np.testing.assert_array_equal(result.successes, expected)
    assert 0 < sum(expected) < 40


@pytest.mark.parametrize(("k", "rows"), [(1, 20), (3, 20), (7, 20), (10, 20), (11, 20), (1, 1)])
def test_baseline_equals_a_simulation(k, rows, rng):
    """Two random sets of k among n rows: 1 - C(n-k, k)/C(n, k); within five standard errors of 4,000 draws."""
    value = _blind(k, rows, 1, 0.95).value
    sets = rng.random((2, 4000, rows)).argsort(axis=2)[:, :, :k]
    drawn = (sets[0][:, :, None] == sets[1][:, None, :]).any(axis=(1, 2)).mean()
    assert abs(value - drawn) <= 5 * np.sqrt(value * (1 - value) / 4000) + 1e-12


def test_synthetic_equal_to_real(rng):
    real, holdout = datasets.gaussian(6, 400, seed=1), datasets.gaussian(6, 500, seed=2)
    result = linkability(real, real, holdout=holdout, rng=rng)
    assert result.attack.value == 1.0  # no ties: each half finds its own row
    assert result.difference.low > 0.9
    assert result.control.n == 500


def test_planted_copies_are_seen(rng):
    real, holdout = datasets.gaussian(6, 1000, seed=1), datasets.gaussian(6, 1000, seed=2)
    synthetic = datasets.gaussian(6, 1000, seed=3)
    synthetic.numbers[:100] = real.numbers[:100]
    result = linkability(real, synthetic, holdout=holdout, rng=rng)
    assert result.beats_control
    assert result.successes[:100].all()
    assert result.successes[100:].mean() < 0.05


def test_noise_beats_no_control(rng):
    table = datasets.adult()
    real, holdout = table.take(range(1000)), table.take(range(1000, 2000))
    result = linkability(real, evenly_drawn(real.schema, 1000, rng), holdout=holdout, rng=rng)
    assert not over_secrets([result]).rejected.any()


def test_the_order_of_the_file_says_nothing(rng):
    """All synthetic rows tie on the first half; the nearest on the second is found in one of n orders, not always or never."""
    frame = pd.DataFrame({"a": ["x"] * 40, "b": np.arange(40.0)})
    table = Table.from_pandas(frame)
    links = sum(linkability(table, table, rng=rng).successes.sum() for _ in range(50))
    assert 25 <= links <= 75  # one record of 40 in each run: its row was shuffled to the front


def test_attacks_and_the_default_halves(people, rng):
    result = linkability(people, people, holdout=people, attempts=50, rng=rng)
    assert result.halves == (("sex", "age", "joined"), ("region", "income", "smoker"))
    assert len(np.unique(result.rows)) == len(result.control_rows) == result.attack.n == 50


def test_odd_tables_are_survived(rng):
    frame = pd.DataFrame(
        {
            "constant": ["k"] * 30,
            "empty": [None] * 30,
            "n": np.r_[np.arange(29.0), np.nan],
            "q": ["it's", '"', "<"] * 10,
        }
    )
    real = Table.from_pandas(frame)
    odd = Table.from_pandas(frame.assign(q="strange", n=1e6), real.schema, unlisted=Unlisted.NOTE)
    for release in (real, odd, real.take([0])):
        result = linkability(real, release, holdout=real.take([1]), neighbours=5, rng=rng)
        assert 0 <= result.attack.value <= 1
    assert any("only 1 rows" in note for note in result.notes)
    assert result.control.value == 1.0
    assert result.risk is None  # undefined, and said so
    assert any("succeeds always" in note for note in result.notes)


def test_wrong_arguments(people, rng):
    with pytest.raises(InputError, match="has no rows"):
        linkability(people, people.take([]), rng=rng)
    with pytest.raises(ParameterError, match="in both halves"):
        linkability(people, people, halves=(["sex", "age"], ["age"]), rng=rng)
    with pytest.raises(ParameterError, match="two lists"):
        linkability(people, people, halves=("sex", ["age"]), rng=rng)
    with pytest.raises(SchemaError, match="no column 'height'"):
        linkability(people, people, halves=(["height"], ["age"]), rng=rng)
    with pytest.raises(ParameterError, match="two columns"):
        linkability(people.select(["sex"]), people.select(["sex"]), rng=rng)
    with pytest.raises(ParameterError, match="neighbours is 0"):
        linkability(people, people, neighbours=0, rng=rng)
