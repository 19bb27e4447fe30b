"""Copulas of known correlation, margins of known shape, and likelihoods that add up."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from unmask.errors import ParameterError
from unmask.generators._margins import Beta, Gamma, Normal, UniformMargin, expected_scores, fitted
from unmask.generators.copula import LEAST_EIGENVALUE, Copula, correlation
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

RHO = np.array([[1.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 1.0]])


def number(name: str, lower: float, upper: float, **more) -> Column:
    return Column(name, Kind.CONTINUOUS, lower=lower, upper=upper, **more)


def numbers_table(values: np.ndarray, lower: float, upper: float, **more) -> Table:
    names = [f"x{i}" for i in range(values.shape[1])]
    schema = Schema(tuple(number(name, lower, upper, **more) for name in names))
    return Table.from_pandas(pd.DataFrame(values, columns=names), schema)


def gaussian(rows: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).multivariate_normal(np.zeros(3), RHO, size=rows)


def fit(table: Table, margins: str = "empirical"):
    return Copula(margins).fit(table, np.random.default_rng(1))


def test_expected_scores_are_means_of_normal_numbers_within_cells():
    bounds = np.array([0.0, 0.1, 0.15, 0.15, 0.6, 0.999, 1.0])
    scores = expected_scores(bounds)
    for low, high, score in zip(bounds[:-1], bounds[1:], scores, strict=True):
        if low < high:
            ends = stats.norm.ppf([low, high])
            assert score == pytest.approx(stats.truncnorm.mean(*ends), abs=1e-9)
    assert scores[2] == 0
    assert np.diff(bounds) @ scores == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("margins", ["empirical", "parametric"])
def test_correlation_of_a_gaussian_table_is_recovered(margins):
    rows = 4000
    values = gaussian(rows, 1)
    model = fit(numbers_table(np.exp(values / 2).clip(0, 50), 0, 50), margins)  # monotone margins change nothing
    errors = 4 * (1 - RHO**2) / np.sqrt(rows)
    assert (abs(model.correlation - RHO) <= errors + 1e-9).all()
    synthetic = model.sample(20_000, np.random.default_rng(2))
    ranks = stats.spearmanr(synthetic.numbers).statistic
    truth = 6 / np.pi * np.arcsin(model.correlation / 2)  # Spearman's rho of a Gaussian copula
    assert abs(ranks - truth).max() < 4 / np.sqrt(20_000)


def test_correlation_behind_coarse_columns_is_recovered():
    """Three unequal levels against yes/no: the plain correlation of scores falls short by 40 %."""
    for rho in (-0.7, 0.2, 0.5):
        rng = np.random.default_rng(3)
        normal = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=40_000)
        frame = pd.DataFrame({"a": np.digitize(normal[:, 0], [-1, 0.5]), "b": (normal[:, 1] > 1) * 1})
        columns = [Column(name, Kind.CATEGORICAL, values=(0, 1, 2)) for name in "ab"]
        model = fit(Table.from_pandas(frame, Schema(tuple(columns))))
        assert model.correlation[0, 1] == pytest.approx(rho, abs=0.05)


def test_correlation_matrix_is_positive_definite_for_copies_and_for_more_columns_than_rows():
    rng = np.random.default_rng(4)
    for values in (np.repeat(rng.normal(size=(300, 2)), 3, axis=1), rng.normal(size=(8, 30))):
        model = fit(numbers_table(values, -10, 10))
        assert np.linalg.eigvalsh(model.correlation).min() > LEAST_EIGENVALUE / 10
        assert np.allclose(np.diag(model.correlation), 1)
        assert abs(model.correlation).max() <= 1 + 1e-12
        assert np.isfinite(model.log_likelihood(model.sample(50, rng))).all()
    assert (correlation(np.zeros((3, 5))) == np.eye(3)).all()  # constant columns are tied to nothing


def test_empirical_margins_are_the_observed_ones():
    values = np.random.default_rng(5).gamma(2, size=(3000, 2)).clip(0, 40)
    values[::7, 1] = 0.0  # a spike
    synthetic = fit(numbers_table(values, 0, 40)).sample(3000, np.random.default_rng(6)).numbers
    assert Copula().emits_real_values
    for at in range(2):
        assert np.isin(synthetic[:, at], values[:, at]).all()
        assert stats.ks_2samp(synthetic[:, at], values[:, at]).pvalue > 1e-3
    assert abs((synthetic[:, 1] == 0).mean() - 1 / 7) < 4 * np.sqrt(6 / 49 / 3000)


TRUTHS = {
    UniformMargin: stats.uniform(-2, 12),
    Normal: stats.truncnorm((-2 - 4) / 1.5, (10 - 4) / 1.5, 4, 1.5),
    Gamma: stats.gamma(3, loc=-2, scale=0.7),
    Beta: stats.beta(0.6, 0.5, loc=-2, scale=12),
}


@pytest.mark.parametrize("kind", TRUTHS)
def test_parametric_margins_find_the_family_and_its_shape(kind):
    column = number("x", -2, 10)
    values = TRUTHS[kind].rvs(4000, random_state=7).clip(-2, 10)
    margin = fitted(column, values)
    assert type(margin.family) is kind
    _, drawn = margin.draw(np.random.default_rng(8).random(2000))
    assert stats.kstest(drawn, TRUTHS[kind].cdf).pvalue > 1e-3
    assert not np.isin(drawn, values).any()


@pytest.mark.parametrize(
    ("family", "truth"),
    [
        (Normal(-2, 10, 9, 3), stats.truncnorm((-2 - 9) / 3, (10 - 9) / 3, 9, 3)),
        (Beta(-2, 10, 1, 2), stats.beta(0.25 * 5.75, 0.75 * 5.75, -2, 12)),
        (UniformMargin(-2, 10), stats.uniform(-2, 12)),
    ],
)
def test_families_are_those_of_scipy(family, truth):
    at = np.linspace(-2, 10, 41)
    assert np.allclose(family.cdf(at), truth.cdf(at))
    assert np.allclose(family.inverse(family.cdf(at)), at)


def test_gamma_is_cut_off_at_the_upper_end():
    family = Gamma(-2, 10, 1, 2)
    truth = stats.gamma((3 / 2) ** 2, loc=-2, scale=4 / 3)
    at = np.linspace(-2, 10, 41)
    assert np.allclose(family.cdf(at), truth.cdf(at) / truth.cdf(10))
    assert np.allclose(family.inverse(family.cdf(at)), at)


def test_whole_numbers_are_drawn_alike_by_table_and_by_inverse():
    """Few whole numbers go through a table, many through the family's inverse; both must agree."""
    column = Column("n", Kind.INTEGER, lower=0, upper=60)
    margin = fitted(column, np.random.default_rng(9).binomial(60, 0.3, 500).astype(float))
    uniform = np.random.default_rng(10).random(1000)
    whole, by_table = margin.draw(uniform)
    in_parts = [margin.draw(part)[1] for part in np.split(uniform, 20)]  # 50 draws of 61 numbers: no table
    assert (by_table == np.concatenate(in_parts)).all()
    assert (by_table == np.floor(by_table)).all()
    assert (column.bin_of(by_table) == whole).all()


@pytest.mark.parametrize("margins", ["empirical", "parametric"])
def test_missing_is_a_cell_of_its_own(margins):
    rng = np.random.default_rng(11)
    values = rng.normal(size=(3000, 2)).clip(-5, 5)
    values[values[:, 0] > 0.8, 1] = np.nan  # missing where the other one is large
    model = fit(numbers_table(values, -5, 5, missing=("",)), margins)
    synthetic = model.sample(6000, rng)
    gone = np.isnan(synthetic.numbers[:, 1])
    truth = np.isnan(values[:, 1]).mean()
    assert abs(gone.mean() - truth) < 4 * np.sqrt(truth * (1 - truth) / 6000)
    assert (gone == (synthetic.codes[:, 1] == synthetic.schema.columns[1].missing_code)).all()
    assert synthetic.numbers[gone, 0].mean() > 0.3 + synthetic.numbers[~gone, 0].mean()  # and the tie is kept


@pytest.mark.parametrize("margins", ["empirical", "parametric"])
def test_likelihood_of_one_column_is_the_probability_of_its_codes(margins):
    rng = np.random.default_rng(12)
    values = rng.normal(5, 2, size=(1000, 1)).clip(0, 10)
    values[:100] = np.nan
    table = numbers_table(values, 0, 10, missing=("",))
    model = fit(table, margins)
    codes = np.arange(table.schema.sizes[0], dtype=table.codes.dtype)[:, None]
    logs = model.log_likelihood(replace(table, codes=codes, numbers=np.zeros((len(codes), 1))))
    assert np.exp(logs).sum() == pytest.approx(1)
    if margins == "empirical":
        shares = np.bincount(table.codes[:, 0], minlength=len(codes)) / 1000
        assert np.allclose(np.exp(logs), shares)
    drawn = model.sample(40_000, rng).codes[:, 0]
    likely = np.exp(logs) > 1e-4
    observed, expected = np.bincount(drawn, minlength=len(codes))[likely], np.exp(logs[likely])
    assert stats.chisquare(observed, expected / expected.sum() * observed.sum()).pvalue > 1e-4
    unlisted = replace(table, codes=np.full((1, 1), 21, dtype=codes.dtype), numbers=np.zeros((1, 1)))
    assert model.log_likelihood(unlisted)[0] == -np.inf


def test_likelihood_of_two_columns_is_close_to_the_rectangles_of_a_normal_density():
    values = gaussian(5000, 13)[:, :2].clip(-6, 6)
    cuts = tuple(np.round(stats.norm.ppf(np.arange(1, 20) / 20), 6))
    table = numbers_table(values, -6, 6, cuts=cuts)
    model = fit(table)
    codes = np.stack(np.meshgrid(np.arange(20), np.arange(20), indexing="ij"), axis=-1).reshape(-1, 2)
    grid = replace(table, codes=np.asfortranarray(codes, dtype=table.codes.dtype), numbers=np.zeros(codes.shape))
    ours = np.exp(model.log_likelihood(grid)).reshape(20, 20)
    bounds = [np.append(0, np.cumsum(margin.probabilities[:20])) for margin in model.margins]
    ends = [np.clip(stats.norm.ppf(np.minimum(bound, 1)), -8, 8) for bound in bounds]
    below = stats.multivariate_normal(np.zeros(2), model.correlation).cdf(
        np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1)
    )
    truth = np.diff(np.diff(below, axis=0), axis=1)
    assert ours.sum() == pytest.approx(1, abs=0.01)
    assert abs(ours - truth).sum() / 2 < 0.01  # total variation
    drawn = model.sample(100_000, np.random.default_rng(14)).codes.astype(int)
    observed = np.bincount(drawn[:, 0] * 20 + drawn[:, 1], minlength=400) / 100_000
    assert abs(observed - ours.ravel()).sum() / 2 < 0.035  # 400 cells, 1e5 draws: sampling alone gives 0.024


def test_likelihood_is_higher_where_columns_agree():
    table = Table.from_pandas(pd.DataFrame({"a": ["x", "y"] * 200, "b": ["x"] * 30 + ["x", "y"] * 185}))
    logs = fit(table).log_likelihood(table)
    agree = table.codes[:, 0] == table.codes[:, 1]
    assert logs[agree].mean() > logs[~agree].mean() + 1


@pytest.mark.parametrize("margins", ["empirical", "parametric"])
def test_odd_tables_work(margins):
    """One row, constant columns, a column that is always missing, a point range, all of a range at one end."""
    columns = (
        number("gone", 0, 1, missing=("",)),
        Column("one", Kind.CATEGORICAL, values=("a",)),
        Column("n", Kind.INTEGER, lower=3, upper=3),
        number("point", 0.5, 0.5),
        number("low", 0, 10),
        Column("many", Kind.CATEGORICAL, values=tuple(range(3000))),
    )
    rng = np.random.default_rng(15)
    for rows in (1, 5, 300):
        frame = pd.DataFrame({"gone": np.full(rows, np.nan), "one": "a", "n": 3, "point": 0.5, "low": 0.0})
        table = Table.from_pandas(frame.assign(many=rng.integers(0, 3000, rows)), Schema(columns))
        model = fit(table, margins)
        synthetic = model.sample(20, rng)
        shown = synthetic.to_pandas()
        assert shown.gone.isna().all()
        assert (shown.n == 3).all()
        assert (shown.point == 0.5).all()
        assert shown.low.between(0, 10).all()
        assert shown.many.isin(frame.assign(many=table.codes[:, 5]).many).all()
        assert np.isfinite(model.log_likelihood(synthetic)).all()


def test_same_seed_same_table(people):
    model = fit(people)
    first, again, other = (model.sample(50, np.random.default_rng(seed)).digest() for seed in (1, 1, 2))
    assert first == again != other


def test_unknown_margins_are_refused():
    with pytest.raises(ParameterError, match="margins is 'kernel'; choose 'empirical' or 'parametric'"):
        Copula("kernel")
