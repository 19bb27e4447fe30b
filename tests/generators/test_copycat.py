import math

import numpy as np
import pytest
from scipy import stats

from unmask.errors import ParameterError
from unmask.generators import get
from unmask.generators.copycat import Copycat


def row_key(table):
    return [(*codes, *numbers) for codes, numbers in zip(table.codes.tolist(), table.numbers.tolist(), strict=True)]


def present(table, sample):
    """Which rows of the table appear verbatim; incomes make them unique, rows without an income are left out."""
    keys = set(row_key(sample))
    return np.array([key in keys for key in row_key(table)])


@pytest.fixture
def unique(people):
    return people.take(~np.isnan(people.numbers).any(axis=1))


def test_each_row_is_copied_with_probability_p_on_its_own(unique, rng):
    runs = np.array([present(unique, Copycat(0.3).fit(unique, rng).sample(200, rng)) for _ in range(150)])
    total = int(runs.sum())
    assert stats.binomtest(total, runs.size, 0.3).pvalue > 1e-4
    counts = runs.sum(axis=1)  # independent coins: binomial spread between runs
    spread = counts.var(ddof=1) / (len(unique) * 0.3 * 0.7)
    assert stats.chi2.ppf(1e-4, 149) < 149 * spread < stats.chi2.ppf(1 - 1e-4, 149)


def test_only_the_named_rows_leak(unique, rng):
    named = (3, 17, 40)
    runs = np.array([present(unique, Copycat(0.5, only=named).fit(unique, rng).sample(100, rng)) for _ in range(300)])
    assert set(np.flatnonzero(runs.any(axis=0))) == set(named)
    assert stats.binomtest(int(runs.sum()), 900, 0.5).pvalue > 1e-4


def test_p_zero_and_one(unique, rng):
    assert not present(unique, Copycat(0).fit(unique, rng).sample(500, rng)).any()
    assert present(unique, Copycat(1).fit(unique, rng).sample(len(unique), rng)).all()


def test_the_fill_is_uniform_and_the_order_tells_nothing(unique, rng):
    fill = Copycat(0.5, only=(0,)).fit(unique, rng).sample(20_000, rng)
    sizes = unique.schema.sizes
    for j, size in enumerate(sizes):
        observed = np.bincount(fill.codes[:, j], minlength=size)
        assert stats.chisquare(observed).pvalue > 1e-4
    places = [
        int(np.flatnonzero(present(sample, unique.take([0])))[0])
        for sample in (Copycat(1, only=(0,)).fit(unique, rng).sample(10, rng) for _ in range(500))
    ]
    assert stats.chisquare(np.bincount(places, minlength=10)).pvalue > 1e-4


def test_fewer_rows_than_copies_gives_a_random_part(unique, rng):
    model = Copycat(1).fit(unique, rng)
    sample = model.sample(10, rng)
    assert len(sample) == 10
    assert present(unique, sample).sum() == 10
    assert model.sample(10, rng).digest() != sample.digest()
    assert model.sample(0, rng).codes.shape == (0, 6)


def test_several_samples_show_the_same_people(unique, rng):
    model = Copycat(0.5).fit(unique, rng)
    one, two = (present(unique, model.sample(300, rng)) for _ in range(2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan, "half", True])
def test_bad_probabilities_are_refused(p):
    with pytest.raises(ParameterError, match="probability"):
        Copycat(p)


def test_row_numbers(unique, rng):
    assert get("copycat", p=0.5, only=3) == Copycat(0.5, (3,)) == Copycat(0.5, np.array([3]))
    assert hash(Copycat(0.5, [1, 2, 1])) == hash(Copycat(0.5, (1, 2)))
    for only in ("3", (1.5,), (-1,), (True,)):
        with pytest.raises(ParameterError, match="row numbers"):
            Copycat(0.5, only)
    with pytest.raises(ParameterError, match="numbered from 0"):
        Copycat(0.5, (len(unique),)).fit(unique, rng)
    assert len(Copycat(0.5, ()).fit(unique, rng).copies) == 0
