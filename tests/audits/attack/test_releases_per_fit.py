"""Several releases of one fit: the first ones stay as they were, and all of a fit are one piece of evidence."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from unmask.audits.attack.audit import attack
from unmask.audits.attack.effective import NAME
from unmask.audits.everyone.audit import everyone
from unmask.errors import RunError
from unmask.tables.read import read_table
from unmask.tables.schema import Origin

SIZES = {"shadows": 12, "tests": 24, "train_rows": 40, "seed": 3, "targets": "rows:3,8"}
ATTACKS = ("closest-record", "naive:classifier=knn")


@pytest.fixture(scope="module")
def population():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({name: rng.choice(["x", "y", "z"], 200) for name in "abc"} | {"n": rng.integers(0, 40, 200)})
    table = read_table(frame)
    return replace(table, schema=replace(table.schema, origin=Origin.PUBLIC))


@dataclass(frozen=True)
class Repeats:
    """Its releases are a part of the real table that the fit has drawn: the second one says what the first one said."""

    name: ClassVar[str] = "repeats"
    row_level: ClassVar[bool] = False
    claim: ClassVar = None

    def fit(self, table, rng):
        return RepeatsModel(table.take(rng.integers(0, len(table), 4)))


@dataclass(frozen=True, eq=False)
class RepeatsModel:
    kept: object
    claim: ClassVar = None

    def sample(self, rows, rng):
        return self.kept.take(np.arange(rows) % len(self.kept))


def exported(path):
    with np.load(path) as file:
        return dict(file)


def test_the_first_release_of_a_fit_is_the_one_that_was_there_before(population, tmp_path):
    files = {}
    for releases in (1, 2, 3):
        path = tmp_path / f"{releases}.npz"
        attack("independent", population, attacks=ATTACKS, scores=path, releases_per_fit=releases, **SIZES)
        files[releases] = exported(path)
    one, two, three = (files[releases] for releases in (1, 2, 3))
    assert (len(one["members"]), len(two["members"]), len(three["shadow_members"])) == (24, 48, 36)
    assert two["fits"].tolist() == np.repeat(np.arange(24), 2).tolist()
    score = "score/closest-record"
    assert np.array_equal(one[score], two[score][::2])
    assert np.array_equal(two[score][1::2], three[score][1::3])
    assert not np.array_equal(two[score][::2], two[score][1::2])
    assert np.array_equal(np.repeat(one["members"], 3, axis=0), three["members"])


@pytest.mark.parametrize("goal", ["membership", "attribute"])
def test_releases_that_say_the_same_narrow_no_interval(population, goal):
    """Every release of `Repeats` is the same, so thrice as many are no more evidence: values stay, no interval is narrower."""
    choices = SIZES | {"attacks": ("closest-record",), "tests": 60}
    if goal == "attribute":
        choices |= {"goal": "attribute", "secret": "c"}
    once, thrice = (attack(Repeats(), population, releases_per_fit=count, **choices) for count in (1, 3))
    tables = [next(grid for grid in result.grids if grid.name == "attacks") for result in (once, thrice)]
    lines = [dict(zip(table.columns, table.rows[0], strict=True)) for table in tables]
    assert lines[0]["advantage"] == pytest.approx(lines[1]["advantage"], abs=0.02)
    assert lines[1]["high"] - lines[1]["low"] >= lines[0]["high"] - lines[0]["low"] - 1e-3
    if goal == "membership":
        bounds = [next(grid for grid in result.grids if grid.name == NAME).rows for result in (once, thrice)]
        assert bounds[0] == bounds[1]  # one release of each fit


def test_a_threshold_is_learnt_on_whole_fits(population):
    """Without shadows the first half of the fits sets the threshold, and the others are judged."""
    result = attack(
        "independent", population, attacks=("closest-record",), access="no-box", releases_per_fit=3, **SIZES | {"tests": 21}
    )  # fmt: skip
    (finding,) = [finding for finding in result.findings if finding.name.startswith("closest-record")]
    assert finding.estimate.n == 11  # fits
    assert "Every fit gave 3 releases. Intervals are over fits: 21 were judged." in result.notes


def test_a_directory_holds_one_number_of_releases(population, tmp_path):
    attack("independent", population, attacks=ATTACKS, out=tmp_path, **SIZES)
    attack("independent", population, attacks=ATTACKS, out=tmp_path, releases_per_fit=1, **SIZES)
    with pytest.raises(RunError, match="releases_per_fit was 1, now it is 2"):
        attack("independent", population, attacks=ATTACKS, out=tmp_path, releases_per_fit=2, **SIZES)


def test_everyone_takes_all_releases_of_a_fit_for_one_run(population, tmp_path):
    found = {}
    for count in (1, 4):
        path = tmp_path / f"{count}.npz"
        result = everyone("cart", population, runs=32, seed=1, releases_per_fit=count, distances=False, scores=path)
        found[count] = exported(path)
        assert any("4 times" in note for note in result.notes) == (count == 4)
    assert found[1]["log_ratios"].shape == found[4]["log_ratios"].shape
    assert np.array_equal(found[1]["members"], found[4]["members"])

    def told(of):
        return of["log_ratios"][of["members"]].mean() - of["log_ratios"][~of["members"]].mean()

    assert told(found[4]) > told(found[1])
