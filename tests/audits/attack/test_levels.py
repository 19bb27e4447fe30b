"""Attacks on secrets have an AUC per value, ROC curves and histograms: against naive ones, and what they show of a leak."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from unmask.audits.attack.audit import attack
from unmask.stats.outcomes import judge_level
from unmask.tables.read import read_table
from unmask.tables.schema import Origin


@pytest.fixture(scope="module")
def population():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({name: rng.choice(["x", "y", "z"], 300, p=[0.5, 0.3, 0.2]) for name in "abcd"})
    frame["n"] = rng.integers(0, 50, 300)
    frame.loc[0] = [*["alien"] * 3, "z", 90]
    table = read_table(frame)
    return replace(table, schema=replace(table.schema, origin=Origin.PUBLIC))


def naive_auc(inside, outside):
    return np.mean([(one > other) + 0.5 * (one == other) for one in inside for other in outside])


def test_the_auc_of_a_value_is_that_of_its_score_in_releases_with_the_person(rng):
    members, secrets = rng.random((40, 3)) < 0.5, rng.integers(0, 3, (40, 3))
    scores = rng.integers(0, 6, (40, 3)) + 2 * ((secrets == 2) & members)
    found = judge_level(
        scores.ravel(), secrets.ravel() == 2, members.ravel(), confidence=0.9, releases=np.repeat(np.arange(40), 3)
    )
    for estimate, side in ((found.with_person, members), (found.without_person, ~members)):
        assert estimate.value == pytest.approx(naive_auc(scores[side & (secrets == 2)], scores[side & (secrets != 2)]))
        assert estimate.low < estimate.value < estimate.high
    one = judge_level(np.ones(3), np.ones(3, bool), np.ones(3, bool), confidence=0.9, releases=np.arange(3))
    assert (one.with_person, one.without_person) == (None, None)


CHOICES = {"goal": "attribute", "targets": "rows:0", "shadows": 0, "tests": 150, "train_rows": 60}


def test_every_value_is_ranked_and_the_commonest_stands_in_the_table(population):
    result = attack(
        "raw", population, secret="d", secret_values="uniform", attacks=("record-linkage", "closest-record"), **CHOICES
    )
    grids = {grid.name: grid for grid in result.grids}
    rows = [dict(zip(grids["attacks by value"].columns, row, strict=True)) for row in grids["attacks by value"].rows]
    assert [(row["attack"], row["value"]) for row in rows] == [
        (name, value) for name in ("record-linkage", "closest-record") for value in "xyz"
    ]
    for row in rows:
        assert row["AUC"] == row["high"] == 1
        assert row["low"] > 0.8
        assert 0.25 < row["AUC without"] < 0.75
    detail = grids["attacks in detail"]
    first = dict(zip(detail.columns, detail.rows[0], strict=True))
    assert [first[head] for head in ("AUC of the commonest value", "AUC low", "AUC high", "AUC without")] == [
        rows[0][head] for head in ("AUC", "low", "high", "AUC without")
    ]
    assert result.records.rows[0][-4:] == tuple(detail.rows[0][-4:])
    assert [series.name for series in result.series][:3] == [
        "roc/record-linkage",
        "histogram/record-linkage/secret is the commonest value",
        "histogram/record-linkage/secret is another value",
    ]
    roc = next(series for series in result.series if series.name == "roc/closest-record")
    assert min(roc.y) == 1


def test_values_of_an_inferred_schema_are_numbered(population):
    inferred = replace(population, schema=replace(population.schema, origin=Origin.INFERRED))
    result = attack("raw", inferred, secret="d", secret_values="uniform", attacks=("record-linkage",), **CHOICES)
    (grid,) = [grid for grid in result.grids if grid.name == "attacks by value"]
    assert {row[2] for row in grid.rows} == {"value 1", "value 2", "value 3"}


def test_true_secrets_of_one_target_cannot_be_ranked(population):
    """One target has one value: there is nothing to compare it with."""
    result = attack("raw", population, secret="d", attacks=("record-linkage",), **CHOICES)
    detail = next(grid for grid in result.grids if grid.name == "attacks in detail")
    assert np.isnan(detail.rows[0][2])
    assert not [series for series in result.series if series.name.startswith("roc/")]


def test_numbers_have_a_histogram_of_how_near_guesses_were(population):
    result = attack("raw", population, secret="n", attacks=("record-linkage",), **CHOICES)
    assert "attacks by value" not in [grid.name for grid in result.grids]
    sides = {series.name.rsplit("/", 1)[1]: series for series in result.series if series.name.startswith("histogram/")}
    assert set(sides) == {"target in the data", "target not in"}
    assert max(sides["target in the data"].x) >= 0


def test_a_copier_shows_the_auc_of_each_definition(population):
    """Told with probability p: by the paper's distance p^2 + p(1-p) + (1-p)^2/2, since the other value's copy is near as well."""
    p, attacks = 0.7, ("closest-record:metric=hamming", "trained-distance:metric=hamming,rows=8")
    frame = population.to_pandas()[["a", "b", "c"]].assign(s=np.random.default_rng(1).choice(["no", "yes"], 300))
    frame.loc[0] = ["alien"] * 3 + ["no"]
    table = read_table(frame)
    public = replace(table, schema=replace(table.schema, origin=Origin.PUBLIC))
    result = attack(
        f"copycat:p={p}", public, secret="s", secret_values="uniform", attacks=attacks, confidence=0.999,
        **CHOICES | {"shadows": 80, "tests": 300},
    )  # fmt: skip
    rows = {row[2]: dict(zip(result.records.columns, row, strict=True)) for row in result.records.rows}
    plain, trained = (rows[name] for name in attacks)
    assert plain["AUC low"] <= p**2 + p * (1 - p) + (1 - p) ** 2 / 2 <= plain["AUC high"]
    assert trained["AUC of the commonest value"] > plain["AUC of the commonest value"] + 0.05
