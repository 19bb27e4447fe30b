"""Numbers and categories as a network sees them, and back."""

import numpy as np
import pytest
from scipy.special import ndtri

from unmask.generators.deep._coding import UNSEEN, Coded, Coding, seen_codes
from unmask.generators.deep._modes import LARGEST, Modes, fit_modes, modes_of
from unmask.generators.deep._quantiles import Quantiles, fit_quantiles, quantiles_of
from unmask.tables.schema import Column, Kind
from unmask.testing import CASES, plain

RANGE = Column("x", Kind.CONTINUOUS, lower=-10.0, upper=30.0)


def test_two_modes_are_found_and_numbers_come_back(rng):
    which = rng.random(1000) < 0.3
    numbers = np.where(which, rng.normal(-5, 0.1, 1000), rng.normal(8, 1, 1000))
    numbers[:50] = np.nan
    modes = fit_modes(numbers, rng)
    values, levels = modes.encode(numbers, rng)
    assert modes.missing
    assert (levels[:50] == modes.size - 1).all()
    assert set(levels[50:][which[50:]]).isdisjoint(levels[50:][~which[50:]])
    assert np.abs(values).max() <= LARGEST
    inside = np.abs(values) < LARGEST
    back = modes.decode(values.astype(np.float32).astype(float), levels)
    assert np.isnan(back[:50]).all()
    np.testing.assert_allclose(back[inside & ~np.isnan(back)], numbers[inside & ~np.isnan(back)], atol=1e-5)
    assert (inside[50:]).mean() > 0.99


def test_a_mode_is_drawn_by_how_well_it_explains_the_number(rng):
    """At 0.5 the first mode has density .25 N(.5; 0, 1), the second .75 N(.5; 2, 1); 99.9 % limits of 20,000 draws."""
    modes = Modes(np.array([0.25, 0.75]), np.array([0.0, 2.0]), np.array([1.0, 1.0]), missing=False)
    densities = np.array([0.25 * np.exp(-(0.5**2) / 2), 0.75 * np.exp(-(1.5**2) / 2)])
    share = densities[0] / densities.sum()
    _, levels = modes.encode(np.full(20_000, 0.5), rng)
    assert abs((levels == 0).mean() - share) < 3.3 * np.sqrt(share * (1 - share) / 20_000)
    assert (modes.encode(np.full(10, 0.5), None)[1] == densities.argmax()).all()


@pytest.mark.parametrize(
    "fit", [lambda numbers: fit_modes(numbers, np.random.default_rng(0)), lambda numbers: fit_quantiles(RANGE, numbers)]
)
def test_columns_without_variety(fit):
    same = fit(np.full(20, 7.0))
    values, levels = same.encode(np.full(5, 7.0), None)
    assert same.size == 1
    np.testing.assert_array_equal(same.decode(values, levels), 7.0)
    nothing = fit(np.full(20, np.nan))
    values, levels = nothing.encode(np.array([np.nan, 3.0]), None)
    assert nothing.size == 1
    assert levels.tolist() == [0, UNSEEN]
    assert np.isnan(nothing.decode(np.zeros(3), np.zeros(3, dtype=int))).all()
    assert same.encode(np.array([np.nan]), None)[1] == UNSEEN


def test_quantiles_are_normal_scores(rng):
    numbers = rng.gamma(2.0, size=999)
    quantiles = fit_quantiles(RANGE, numbers)
    scores, _ = quantiles.encode(numbers, None)
    np.testing.assert_allclose(np.sort(scores), ndtri((np.arange(999) + 0.5) / 999), atol=1e-6)
    np.testing.assert_allclose(quantiles.decode(scores, np.zeros(999, dtype=int)), numbers, atol=1e-9)


def test_a_frequent_number_has_the_middle_of_its_shares_and_comes_back(rng):
    numbers = np.concatenate([np.zeros(5000), rng.uniform(1, 20, 2000)])
    quantiles = fit_quantiles(RANGE, numbers)
    scores, levels = quantiles.encode(numbers, None)
    # The half row below the smallest number reaches to -10, so the zeros do not begin at exactly 0.
    assert scores[:5000] == pytest.approx(ndtri(2500 / 7000), abs=0.01)
    back = quantiles.decode(scores, levels)
    assert (back[:5000] == 0).all()
    np.testing.assert_allclose(back[5000:], numbers[5000:], atol=0.1)  # 1,000 knots for 7,000 rows
    drawn = quantiles.decode(rng.standard_normal(20_000), np.zeros(20_000, dtype=int))
    assert abs((drawn == 0).mean() - 5 / 7) < 3.3 * np.sqrt(5 / 7 * 2 / 7 / 20_000) + 1e-3


def test_the_extremes_of_people_are_not_handed_out(rng):
    """Far scores give the public range, not the largest number of a person."""
    numbers = rng.uniform(0, 20, 50)
    quantiles = fit_quantiles(RANGE, numbers)
    far = quantiles.decode(np.array([-9.0, 9.0]), np.zeros(2, dtype=int))
    np.testing.assert_allclose(far, [-10, 30])
    drawn = quantiles.decode(rng.standard_normal(100_000), np.zeros(100_000, dtype=int))
    assert not np.isin(drawn, numbers).any()


def by_modes(table):
    return modes_of(table, np.random.default_rng(0))


@pytest.mark.parametrize("case", [case for case in CASES if case != "sixty columns"])  # the same columns, many times
@pytest.mark.parametrize("make", [by_modes, quantiles_of])
def test_whole_tables_come_back(case, make):
    """Categories, whole numbers and dates exactly; other numbers to a rounding, but for those that a mode cuts off."""
    table = CASES[case]("all kinds of columns")
    coding = make(table)
    coded = coding.encode(table, np.random.default_rng(1))
    back = coding.decode(coded)
    cut = np.abs(coded.values) >= LARGEST if make is by_modes else np.zeros(coded.values.shape, dtype=bool)
    assert cut.sum() <= 0.02 * cut.size
    np.testing.assert_array_equal(np.isnan(back.numbers), np.isnan(table.numbers))
    np.testing.assert_allclose(np.where(cut, 0, back.numbers), np.where(cut, 0, table.numbers), atol=1e-5)
    for position, column in enumerate(table.schema.columns):
        if not column.is_numeric:
            np.testing.assert_array_equal(back.codes[:, position], table.codes[:, position])
    assert (coded.levels < np.array(coding.sizes)).all()
    assert (coded.levels >= 0).all()


def test_values_that_training_rows_lack_have_no_level():
    table = plain("two small categorical columns")
    women = table.take(table.codes[:, 0] == 0)
    coding = Coding(table.schema, (), seen_codes(women))
    levels = coding.encode(table).levels
    np.testing.assert_array_equal(levels[:, 0] == UNSEEN, table.codes[:, 0] != 0)
    assert len(Coded(np.zeros((3, 0), dtype=np.float32), levels[:3])) == 3


def test_levels_mean_missing():
    quantiles = Quantiles(np.array([0.25, 0.75]), np.array([1.0, 2.0]), missing=True)
    assert quantiles.size == 2
    decoded = quantiles.decode(np.zeros(2), np.array([0, 1]))
    assert decoded[0] == 1.5
    assert np.isnan(decoded[1])
