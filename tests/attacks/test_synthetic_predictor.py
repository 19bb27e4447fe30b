"""Prediction from the release: laws are found, classes may be absent, and nothing comes of nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from unmask import attacks, generators
from unmask.attacks.linear import Linear
from unmask.attacks.synthetic_predictor import FLOOR, MODELS, SyntheticPredictor
from unmask.errors import ParameterError
from unmask.simulation.target import TargetSetting, masked_targets, secret_of
from unmask.simulation.task import Task, Whose
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table
from unmask.threats.game import Game, SecretValues, lay_ground
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View

SCHEMA = Schema(
    (
        Column("sex", Kind.CATEGORICAL, values=("f", "m")),
        Column("region", Kind.CATEGORICAL, values=("n", "s", "e", "w"), groups=(("east-west", ("e", "w")),)),
        Column("age", Kind.INTEGER, lower=0, upper=99, bins=10, missing=("",)),
        Column("illness", Kind.CATEGORICAL, values=("a", "b", "c", "d", "e")),
        Column("cost", Kind.CONTINUOUS, lower=0, upper=1000),
    )
)


def people(rows: int, seed: int = 0) -> Table:
    """The illness follows from sex and age, the cost from sex and region."""
    rng = np.random.default_rng(seed)
    sex, age = rng.choice(["f", "m"], rows), rng.integers(20, 80, rows)
    region = rng.choice(["n", "s", "e", "w"], rows)
    frame = pd.DataFrame(
        {
            "sex": sex,
            "region": region,
            "age": age,
            "illness": np.where(sex == "f", np.where(age < 50, "a", "b"), "c"),
            "cost": 100.0 + 200 * (sex == "f") + pd.Series(region).map({"n": 0, "s": 50, "e": 100, "w": 400}),
        }
    )
    return Table.from_pandas(frame, SCHEMA)


def attack(release: Table, targets: Table, secret: str, model: str = "forest", seed: int = 0):
    game = Game(goal=Goal.ATTRIBUTE, secret=secret)
    view = View(frozenset({Access.SYNTHETIC}), synthetic=release)
    masked, about = masked_targets(targets, game), secret_of(targets, game)
    return SyntheticPredictor(model).score(view, masked, about, np.random.default_rng(seed))


@pytest.mark.parametrize("model", MODELS)
def test_a_law_between_categories_is_recovered(model):
    release, targets = people(600), people(200, seed=1)
    scores = attack(release, targets, "illness", model)
    right = scores.argmax(axis=1) == targets.codes[:, 3]
    assert right.mean() > 0.97
    assert scores.sum(axis=1) == pytest.approx(np.ones(200))


@pytest.mark.parametrize("model", MODELS)
def test_a_law_for_numbers_is_recovered_and_its_error_known(model):
    release, targets = people(600), people(200, seed=1)
    found = attack(release, targets, "cost", model)
    error = np.abs(found.mean - targets.numbers[:, 1])
    assert error.mean() < 20
    assert found.scale.max() < 40


@pytest.mark.parametrize("model", MODELS)
def test_the_scale_is_the_error_on_rows_that_the_model_has_not_seen(model):
    """The cost is pure noise of sd 100: a model that has learnt it by heart must not call itself certain."""
    rng = np.random.default_rng(2)
    frame = people(800).to_pandas().assign(cost=rng.normal(500, 100, 800).clip(0, 1000))
    found = attack(Table.from_pandas(frame, SCHEMA), people(5, seed=1), "cost", model)
    assert (found.scale > 85).all()
    assert (found.scale < 170).all()


@pytest.mark.parametrize("model", MODELS)
def test_a_class_that_the_release_lacks_gets_the_floor(model):
    """Regression: Groundhog's program crashes where the release lacks a class. Here 'd' and 'e' never occur."""
    scores = attack(people(300), people(20, seed=1), "illness", model)
    assert scores.shape == (20, 5)
    assert scores[:, 3:] == pytest.approx(np.full((20, 2), FLOOR), rel=1e-3)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rows", [0, 1, 2, 5])
def test_hardly_any_rows(model, rows):
    for secret in ("illness", "cost"):
        found = attack(people(50).take(np.arange(rows)), people(4, seed=1), secret, model)
        values = found if secret == "illness" else np.stack([found.mean, found.scale])
        assert np.isfinite(values).all()
    if rows == 0:
        assert (attack(people(50).take([]), people(4), "illness", model) == 1 / 5).all()


def test_one_class_only():
    release = people(100)
    release = release.take(release.codes[:, 3] == 2)
    for model in MODELS:
        assert (attack(release, people(4, seed=1), "illness", model).argmax(axis=1) == 2).all()


def test_missing_and_unlisted_values():
    frame = people(300).to_pandas()
    frame["age"] = frame["age"].astype(object).where(np.arange(300) % 5 > 0, None)
    release = Table.from_pandas(frame, SCHEMA)
    codes = release.codes.copy(order="F")
    codes[::9, 0], codes[::11, 3] = 2, 5  # outside the schema, the secret included
    spoilt = Table(SCHEMA, codes, release.numbers)
    for model in MODELS:
        scores = attack(spoilt, release.take(np.arange(10)), "illness", model)
        assert np.isfinite(scores).all()
        assert scores.argmax(axis=1).max() <= 2


def test_a_target_is_asked_about_as_the_release_is_coarsened():
    """Regions e and w are published as one group; a target from w is then one of the group."""
    release = generators.get("sanitiser", k=1, rare=1, cap=1.0).fit(people(600), None).table
    targets = people(100, seed=1)
    scores = attack(release, targets, "cost", "linear")
    grouped = np.isin(targets.codes[:, 1], (2, 3))
    assert np.abs(scores.mean - targets.numbers[:, 1])[~grouped].max() < 20
    middle = 100 + 200 * (targets.codes[:, 0] == 0) + 250
    assert np.abs(scores.mean - middle)[grouped].max() < 30


def test_a_group_of_secrets_is_shared_by_its_members():
    release = generators.get("sanitiser", k=1, rare=1, cap=1.0).fit(people(600), None).table
    scores = attack(release, people(20, seed=1), "region")
    assert scores.shape == (20, 4)
    assert scores[:, 2] == pytest.approx(scores[:, 3])


def test_linear_is_the_linear_attack():
    release, targets = people(300), people(20, seed=1)
    game = Game(goal=Goal.ATTRIBUTE, secret="cost")
    view = View(frozenset({Access.SYNTHETIC}), synthetic=release)
    masked, about = masked_targets(targets, game), secret_of(targets, game)
    expected = Linear().score(view, masked, about, np.random.default_rng(0))
    for model in ("linear", "logistic"):
        assert attack(release, targets, "cost", model).mean == pytest.approx(expected.mean)


@pytest.mark.parametrize("model", ["forest", "knn", "tree"])
def test_accuracy_is_chance_where_nothing_leaks(model):
    """Uniform secrets and a generator that never looks: 1 in 5, within the 99.9 % binomial limit."""
    game = Game(goal=Goal.ATTRIBUTE, secret="illness", rows=100, synthetic_rows=100, secret_values=SecretValues.UNIFORM)
    ground = lay_ground(people(400), np.arange(10), game, np.random.default_rng(0))
    setting = TargetSetting(1, game, ground, generators.get("oblivious"), attacks={"it": SyntheticPredictor(model)})
    drawn = [setting.play(Task(Whose.TEST, index)) for index in range(40)]
    right = sum(int((arrays["score/it"].argmax(axis=1) == arrays["secrets"]).sum()) for arrays in drawn)
    low, high = binom.ppf([0.0005, 0.9995], 400, 1 / 5)
    assert low <= right <= high


@pytest.mark.parametrize("model", ["forest", "knn", "tree"])
def test_a_copied_target_gives_its_uniform_secret_away(model):
    """All of the real table is published: members' secrets are read off, those of others stay at chance."""
    game = Game(goal=Goal.ATTRIBUTE, secret="illness", rows=100, secret_values=SecretValues.UNIFORM)
    rng = np.random.default_rng(5)
    population = people(400).to_pandas().assign(cost=rng.uniform(0, 1000, 400))
    ground = lay_ground(Table.from_pandas(population, SCHEMA), np.arange(10), game, rng)
    setting = TargetSetting(1, game, ground, generators.get("raw"), attacks={"it": SyntheticPredictor(model)})
    drawn = [setting.play(Task(Whose.TEST, index)) for index in range(30)]
    members = np.array([arrays["members"] for arrays in drawn])
    right = np.array([arrays["score/it"].argmax(axis=1) == arrays["secrets"] for arrays in drawn])
    assert right[members].mean() > 0.85
    assert right[~members].mean() < 0.35


def test_parameters_are_checked():
    assert attacks.parse("synthetic-predictor:model=tree") == SyntheticPredictor("tree")
    for wrong in ({"model": "oracle"}, {"trees": 0}, {"neighbours": 65}, {"trees": True}):
        with pytest.raises(ParameterError):
            SyntheticPredictor(**wrong)
    table = people(10)
    view = View(frozenset({Access.SYNTHETIC}), synthetic=table)
    with pytest.raises(ParameterError, match="--goal attribute"):
        SyntheticPredictor().score(view, table, None, np.random.default_rng(0))
