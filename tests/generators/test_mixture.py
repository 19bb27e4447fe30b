"""Planted clusters, densities that scipy and scikit-learn confirm, and what is refused."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.mixture import GaussianMixture

from unmask.errors import ParameterError
from unmask.generators.mixture import Mixture
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

CENTRES = np.array([[-6.0, 0.0], [0.0, 6.0], [6.0, -3.0]])
SHARES = np.array([0.5, 0.3, 0.2])
SPREAD = np.array([[1.0, 0.6], [0.6, 0.8]])


def table_of(values: np.ndarray, lower: float = -20, upper: float = 20, **more) -> Table:
    names = [f"x{i}" for i in range(values.shape[1])]
    columns = tuple(Column(name, Kind.CONTINUOUS, lower=lower, upper=upper, missing=("",), **more) for name in names)
    return Table.from_pandas(pd.DataFrame(values, columns=names), Schema(columns))


def clusters(rows: int = 3000, seed: int = 1) -> Table:
    rng = np.random.default_rng(seed)
    chosen = rng.choice(3, rows, p=SHARES)
    return table_of(CENTRES[chosen] + rng.multivariate_normal([0, 0], SPREAD, rows))


def fit(table: Table, *parameters, seed: int = 2):
    return Mixture(*parameters).fit(table, np.random.default_rng(seed))


def nearest(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - CENTRES, axis=2).argmin(axis=1)


def test_planted_clusters_are_found_and_drawn():
    model = fit(clusters(), 3)
    centres = model.centre + model.scale * model.means
    order = np.argsort(nearest(centres))
    assert np.allclose(centres[order], CENTRES, atol=0.2)
    assert np.allclose(model.weights[order], SHARES, atol=0.04)
    units = np.outer(model.scale, model.scale)
    assert all(np.allclose(each * units, SPREAD, atol=0.25) for each in model.covariances)
    drawn = model.sample(6000, np.random.default_rng(3)).numbers
    which = nearest(drawn)
    assert np.allclose(np.bincount(which) / 6000, model.weights[order], atol=4 * 0.5 / np.sqrt(6000))
    for cluster in range(3):
        assert np.allclose(np.cov(drawn[which == cluster].T), SPREAD, atol=0.25)


def test_no_real_number_comes_out():
    table = clusters(500)
    drawn = fit(table).sample(2000, np.random.default_rng(3)).numbers
    assert not Mixture.emits_real_values
    assert not np.isin(drawn, table.numbers).any()


def test_diagonal_components_have_no_correlation():
    model = fit(clusters(), 3, "diag")
    assert (model.covariances[:, 0, 1] == 0).all()
    assert (model.covariances[:, 0, 0] > 0).all()
    assert (fit(clusters(), 1, "diag").covariances[0, 0, 1]) == 0
    assert abs(fit(clusters(), 1, "full").covariances[0, 0, 1]) > 0.05


def test_density_is_that_of_scikit_learn_on_standardised_numbers():
    table = clusters(800)
    for covariance in ("full", "diag"):
        model = fit(table, 4, covariance)
        peer = GaussianMixture(4).fit(table.numbers[:8])
        peer.weights_, peer.means_, peer.covariances_ = model.weights, model.means, model.covariances
        peer.precisions_cholesky_ = np.linalg.inv(np.linalg.cholesky(model.covariances)).transpose(0, 2, 1)
        standard = (table.numbers - table.numbers.mean(axis=0)) / table.numbers.std(axis=0)
        assert np.allclose(model.log_likelihood(table), peer.score_samples(standard))


def test_density_integrates_to_one():
    model = fit(clusters().select(["x0"]), 3)
    grid = np.linspace(-20, 20, 4001)[:, None]
    density = np.exp(model.log_likelihood(table_of(grid)))
    assert density.sum() * 0.01 / model.scale[0] == pytest.approx(1, abs=1e-6)  # per standard deviation


def test_missing_numbers_keep_their_share_and_are_integrated_out():
    table = clusters()
    numbers = table.numbers.copy()
    numbers[np.random.default_rng(4).random(len(numbers)) < 0.3, 1] = np.nan
    model = fit(table_of(numbers), 3)
    assert model.missing[0] == 0
    assert model.missing[1] == np.isnan(numbers[:, 1]).mean()
    gone = np.isnan(model.sample(6000, np.random.default_rng(5)).numbers)
    assert not gone[:, 0].any()
    assert abs(gone[:, 1].mean() - model.missing[1]) < 4 * np.sqrt(0.21 / 6000)
    rows = table_of(np.array([[1.0, 2.0], [1.0, np.nan], [np.nan, 2.0], [np.nan, np.nan]]))
    logs = model.log_likelihood(rows)
    here = (np.array([1.0, 2.0]) - model.centre) / model.scale
    parts = list(zip(model.weights, model.means, model.covariances, strict=True))
    both = sum(w * stats.multivariate_normal.pdf(here, mean, spread) for w, mean, spread in parts)
    first = sum(w * stats.norm.pdf(here[0], mean[0], spread[0, 0] ** 0.5) for w, mean, spread in parts)
    assert logs[0] == pytest.approx(np.log(both * (1 - model.missing[1])))
    assert logs[1] == pytest.approx(np.log(first * model.missing[1]))
    assert (logs[2:] == -np.inf).all()  # the first column was never missing


def test_filling_keeps_margins():
    """Holes are filled with observed numbers of the column, so its mean and spread are those of the known numbers."""
    numbers = clusters().numbers.copy()
    numbers[numbers[:, 0] > 3, 1] = np.nan
    model = fit(table_of(numbers), 3)
    known = numbers[~np.isnan(numbers[:, 1]), 1]
    filled = np.isnan(numbers[:, 1]).sum()
    assert abs(model.centre[1] - known.mean()) < 4 * known.std() / np.sqrt(filled)


def test_draws_stay_in_the_range_and_whole_numbers_stay_whole():
    rng = np.random.default_rng(6)
    columns = Column("n", Kind.INTEGER, lower=0, upper=4), Column("x", Kind.CONTINUOUS, lower=0, upper=1)
    frame = pd.DataFrame({"n": rng.integers(0, 5, 300), "x": rng.random(300) ** 4})
    drawn = fit(Table.from_pandas(frame, Schema(columns)), 2).sample(2000, rng)
    assert set(drawn.numbers[:, 0]) == set(range(5))
    assert drawn.numbers[:, 1].min() == 0  # clipped
    assert drawn.numbers[:, 1].max() <= 1
    assert (drawn.codes[:, 1] == columns[1].bin_of(drawn.numbers[:, 1])).all()


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_fewer_rows_than_components_are_said_so(covariance):
    for rows in (1, 2, 7):
        table = table_of(np.arange(2 * rows, dtype=float).reshape(rows, 2))
        drawn = fit(table, 10, covariance).sample(30, np.random.default_rng(7))
        assert drawn.notes == (f"mixture: {rows} components instead of 10; there were no more distinct rows.",)
        away = abs(drawn.numbers[:, None] - table.numbers).max(axis=2).min(axis=1)
        assert (away < 0.03).all()  # each component sits on one row
    assert fit(clusters(100), 3).sample(5, np.random.default_rng(7)).notes == ()


def test_constant_and_empty_columns():
    values = np.column_stack([np.full(50, 0.1), np.full(50, np.nan), np.random.default_rng(8).normal(size=50)])
    model = fit(table_of(values), 3)
    drawn = model.sample(40, np.random.default_rng(9))
    assert (drawn.numbers[:, 0] == 0.1).all()
    assert np.isnan(drawn.numbers[:, 1]).all()
    assert np.isfinite(model.log_likelihood(drawn)).all()
    nothing = fit(table_of(np.full((5, 1), np.nan)))
    assert np.isnan(nothing.sample(3, np.random.default_rng(9)).numbers).all()
    assert (nothing.log_likelihood(table_of(np.full((5, 1), np.nan))) == 0).all()


def test_a_fit_that_has_not_settled_says_so(monkeypatch):
    monkeypatch.setattr("sklearn.mixture.GaussianMixture", partial(GaussianMixture, max_iter=1))
    assert "had not settled after 1 rounds" in fit(clusters(300), 8).sample(3, np.random.default_rng(1)).notes[0]


def test_same_seeds_same_table():
    table = clusters(300)
    drawn = [fit(table, seed=a).sample(20, np.random.default_rng(b)).digest() for a, b in ((1, 1), (1, 1), (1, 2))]
    assert drawn[0] == drawn[1] != drawn[2]


def test_categories_are_refused_by_name(people):
    with pytest.raises(ParameterError, match=r"not numeric: 'sex', 'region', 'smoker'(.|\n)*copula or cart"):
        fit(people)
    numeric = people.select(["age", "income", "joined"])
    assert fit(numeric).sample(10, np.random.default_rng(1)).schema == numeric.schema
    with pytest.raises(ParameterError, match="no rows"):
        fit(replace(numeric, codes=numeric.codes[:0], numbers=numeric.numbers[:0]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"components": 0}, "components is 0"),
        ({"components": 2.0}, "components is 2.0"),
        ({"components": True}, "components is True"),
        ({"covariance": "tied"}, "choose 'full' or 'diag'"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        Mixture(**parameters)
