"""Raw scores of an attack in a file: everything that the report says can be computed from it."""

import stat
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from unmask.audits.attack.audit import attack
from unmask.cli.attack import command
from unmask.stats import Contender, auc, choosing, effective_epsilon
from unmask.stream import stream
from unmask.tables.read import read_table
from unmask.tables.schema import Origin

ATTACKS = ("closest-record", "record-linkage", "naive:classifier=knn")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    return pd.DataFrame({name: rng.choice(["x", "y", "z"], 200) for name in "abc"} | {"n": rng.integers(0, 40, 200)})


@pytest.fixture(scope="module")
def population(frame):
    table = read_table(frame)
    return replace(table, schema=replace(table.schema, origin=Origin.PUBLIC))


SIZES = {"shadows": 12, "tests": 40, "train_rows": 40, "seed": 3}


def test_the_report_can_be_computed_from_the_file(population, tmp_path):
    path = tmp_path / "scores.npz"
    choices = {"attacks": ATTACKS, "targets": "rows:3+random:1", **SIZES}
    result = attack("copycat:p=0.7", population, scores=path, **choices)
    assert result == attack("copycat:p=0.7", population, **choices)
    with np.load(path, allow_pickle=False) as file:
        found = dict(file)
    assert found["attacks"].tolist() == list(ATTACKS)
    assert found["rows"][0] == 3
    assert found["groups"].tolist() == ["rows", "random"]
    assert found["members"].shape == found["active"].shape == found["secrets"].shape == (40, 2)
    assert found["active"].all()
    assert found["shadow_members"].shape == (12, 2)
    assert {name for name in found if name.startswith("shadow_score/")} == {
        f"shadow_score/{name}" for name in ATTACKS[:2]
    }
    members = found["members"]
    for row in result.records.rows:
        here = found["rows"].tolist().index(row[0])
        scores = found[f"score/{row[2]}"][:, here]
        area = auc(scores[members[:, here]], scores[~members[:, here]])
        assert row[result.records.columns.index("AUC")] == pytest.approx(area.value, abs=1e-4)
    chooses = choosing(found["active"], rng=stream(3, "effective epsilon"))
    every = [(name, place) for name in ATTACKS for place in range(2)]
    contenders = [
        Contender.of(found[f"score/{name}"][:, place], members[:, place], chooses[:, place]) for name, place in every
    ]
    won = effective_epsilon(contenders, confidence=float(found["confidence"]), delta=float(found["delta"]))
    grid = next(grid for grid in result.grids if grid.name == "effective epsilon")
    assert grid.rows[0][1] == every[won.winner][0]
    assert grid.rows[0][5] == pytest.approx(won.bound.value, abs=1e-4)


def test_secrets_have_levels_or_a_mean_and_a_scale_and_isolated_targets_are_marked(population, tmp_path):
    path = tmp_path / "scores.npz"
    choices = {"goal": "attribute", "targets": "rows:3,4", "attacks": ("closest-record",), "scores": path, **SIZES}
    attack("raw", population, secret="b", isolate_targets=True, **choices)
    with np.load(path) as file:
        assert file["score/closest-record"].shape == (80, 2, 3)
        assert file["active"].sum(axis=1).tolist() == [1] * 80
    attack("raw", population, secret="n", **choices)
    with np.load(path) as file:
        assert file["score/closest-record"].shape == (40, 2, 2)
        assert set(file["secrets"].ravel()) == set(population.numbers[[3, 4], 0])


def test_the_command_writes_a_private_file(frame, tmp_path):
    frame.to_csv(tmp_path / "people.csv", index=False)
    path = tmp_path / "scores.npz"
    arguments = [
        str(tmp_path / "people.csv"), "--generator", "random", "--attacks", "closest-record", "--shadows", "2", "--tests", "4",
        "--train-rows", "20", "--targets", "1", "--fail-on", "none", "--quiet", "--export-scores", str(path),
    ]  # fmt: skip
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    with np.load(path) as file:
        assert file["score/closest-record"].shape == (4, 1)
    assert sys.platform == "win32" or stat.S_IMODE(path.stat().st_mode) == 0o600
