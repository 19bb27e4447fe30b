"""Groundhog's linear attack, centred: against least squares with an intercept, which is the same thing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from unmask.attacks.linear import Linear
from unmask.errors import ParameterError
from unmask.simulation.target import masked_targets, secret_of
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table
from unmask.threats.game import Game
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View

NUMBERS = Schema(
    (
        *(Column(f"x{place}", Kind.CONTINUOUS, lower=-1000, upper=1000) for place in range(4)),
        Column("y", Kind.CONTINUOUS, lower=-1e6, upper=1e6),
    )
)
MIXED = Schema(
    (
        Column("sex", Kind.CATEGORICAL, values=("f", "m", "x")),
        Column("region", Kind.CATEGORICAL, values=("n", "s", "e", "w")),
        Column("age", Kind.INTEGER, lower=0, upper=120, missing=("",)),
        Column("pay", Kind.CONTINUOUS, lower=-1e5, upper=1e5, missing=("",)),
    )
)


def attack(release: Table, people: Table, secret: str):
    game = Game(goal=Goal.ATTRIBUTE, secret=secret)
    view = View(frozenset({Access.SYNTHETIC}), synthetic=release)
    masked, about = masked_targets(people, game), secret_of(people, game)
    return Linear().score(view, masked, about, np.random.default_rng(0))


def numbers(rows: int, noise: float, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    x = rng.normal(100, 30, (rows, 4))
    y = 5000 + x @ np.array([3.0, -2.0, 0.5, 0.0]) + noise * rng.normal(size=rows)
    return Table.from_pandas(pd.DataFrame({**{f"x{i}": x[:, i] for i in range(4)}, "y": y}), NUMBERS)


def mixed(rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], rows),
            "region": rng.choice(["n", "s", "e", "w"], rows),
            "age": rng.integers(18, 90, rows),
        }
    )
    steps = frame["region"].map({"n": 0.0, "s": 10.0, "e": 20.0, "w": 300.0})
    frame["pay"] = 1000 + 50.0 * (frame["sex"] == "m") + steps + 2 * frame["age"]
    return frame


def test_equals_least_squares_with_an_intercept():
    """Closed form: centring both sides is an intercept; sigma^2 = RSS / (n - 4), four known columns."""
    release, people = numbers(300, 40), numbers(20, 40, seed=1)
    x, y = release.numbers[:, :4], release.numbers[:, 4]
    weights, (rss,), *_ = np.linalg.lstsq(np.column_stack([np.ones(300), x]), y, rcond=None)
    found = attack(release, people, "y")
    assert found.mean == pytest.approx(weights[0] + people.numbers[:, :4] @ weights[1:], rel=1e-9)
    assert found.scale == pytest.approx(np.full(20, np.sqrt(rss / (300 - 4))), rel=1e-9)


def test_the_target_is_centred():
    """Regression: Groundhog's program multiplies the target as it is with weights learnt on centred features."""
    release, people = numbers(300, 0), numbers(20, 0, seed=1)
    found = attack(release, people, "y")
    truth = people.numbers[:, 4]
    x = release.numbers[:, :4] - release.numbers[:, :4].mean(axis=0)
    theirs = people.numbers[:, :4] @ np.linalg.lstsq(x, release.numbers[:, 4], rcond=None)[0]
    assert found.mean == pytest.approx(truth, rel=1e-8)
    assert np.abs(theirs - truth).min() > 4000


def test_an_exact_law_with_categories_is_recovered():
    """One column of 0 and 1 per category is collinear; the least-norm solution predicts the same as any other."""
    release = Table.from_pandas(mixed(400), MIXED)
    frame = mixed(30, seed=1)
    found = attack(release, Table.from_pandas(frame, MIXED), "pay")
    assert found.mean == pytest.approx(frame["pay"].to_numpy(), rel=1e-7)
    assert (found.scale < 1).all()
    assert (found.scale > 0).all()


def test_the_rank_counts_where_columns_are_collinear():
    """n - rank: categories of 2 and 4 seen values, and a number, have rank 1 + 3 + 1."""
    frame = mixed(400)
    frame["pay"] += np.random.default_rng(3).normal(size=400) * 20
    release = Table.from_pandas(frame, MIXED)
    dummies = pd.get_dummies(frame[["sex", "region"]], drop_first=True).to_numpy(dtype=float)
    design = np.column_stack([np.ones(400), dummies, frame["age"]])
    _, (rss,), *_ = np.linalg.lstsq(design, frame["pay"].to_numpy(), rcond=None)
    found = attack(release, release.take([0]), "pay")
    assert found.scale[0] == pytest.approx(np.sqrt(rss / (400 - 5)), rel=1e-8)


def test_missing_values_and_categories_that_the_release_lacks():
    frame = mixed(300)
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "pay"] = np.nan
    people = mixed(3, seed=1)
    people["sex"] = "x"
    people.loc[1, "age"] = np.nan
    found = attack(Table.from_pandas(frame, MIXED), Table.from_pandas(people, MIXED), "pay")
    assert np.isfinite(found.mean).all()
    assert (np.abs(found.mean - people["pay"]) < 150).all()


@pytest.mark.parametrize("rows", [0, 1, 2, 3])
def test_hardly_any_rows(rows):
    release = numbers(50, 1).take(np.arange(rows))
    found = attack(release, numbers(5, 1, seed=1), "y")
    assert np.isfinite(found.mean).all()
    assert (found.scale > 0).all()


def test_the_mean_stays_in_the_public_range():
    narrow = replace(NUMBERS, columns=(*NUMBERS.columns[:4], replace(NUMBERS.columns[4], lower=5000, upper=5200)))
    release, people = numbers(300, 0), numbers(50, 0, seed=1)
    release, people = (
        Table(narrow, table.codes, np.column_stack([table.numbers[:, :4], table.numbers[:, 4].clip(5000, 5200)]))
        for table in (release, people)
    )
    found = attack(release, people, "y")
    assert found.mean.min() >= 5000
    assert found.mean.max() <= 5200


@pytest.mark.parametrize("secret", [None, "sex"])
def test_refuses_what_is_no_number(secret):
    table = Table.from_pandas(mixed(50), MIXED)
    about = None if secret is None else secret_of(table, Game(goal=Goal.ATTRIBUTE, secret=secret))
    view = View(frozenset(), synthetic=table)
    with pytest.raises(ParameterError, match="secrets that are numbers"):
        Linear().prepare(view, table, about, np.random.default_rng(0))
