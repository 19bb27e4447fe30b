"""The same tables with and without the target: what the attacker trains on changes, and nothing else."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from unmask.audits.attack.audit import attack
from unmask.tables.read import read_table
from unmask.tables.schema import Origin

SIZES = {"shadows": 20, "tests": 20, "train_rows": 40, "seed": 3, "targets": "rows:3,8"}


@pytest.fixture(scope="module")
def population():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({name: rng.choice(["x", "y", "z"], 200) for name in "abc"} | {"n": np.arange(200)})
    table = read_table(frame)
    return replace(table, schema=replace(table.schema, origin=Origin.PUBLIC))


@dataclass(frozen=True)
class PublishesTheFirst:
    """Publishes the people with the smallest numbers; with `luck`, a random part of them."""

    name: ClassVar[str] = "publishes-the-first"
    row_level: ClassVar[bool] = False
    claim: ClassVar = None

    luck: bool = False

    def fit(self, table, rng):
        first = np.argsort(table.numbers[:, 0])[:8]
        return FirstModel(table.take(rng.permutation(first)[:2] if self.luck else first))


@dataclass(frozen=True, eq=False)
class FirstModel:
    kept: object
    claim: ClassVar = None

    def sample(self, rows, rng):
        return self.kept.take(np.arange(rows) % len(self.kept))


@pytest.mark.parametrize("isolated", [False, True])
def test_releases_under_attack_stay_as_they_are(population, tmp_path, isolated):
    found = {}
    for tables in ("coins", "paired"):
        path = tmp_path / f"{tables}.npz"
        attack(
            "independent", population, attacks=("closest-record", "naive:classifier=knn"), scores=path,
            shadow_tables=tables, isolate_targets=isolated, **SIZES,
        )  # fmt: skip
        with np.load(path) as file:
            found[tables] = dict(file)
    coins, paired = found["coins"], found["paired"]
    for name in ("members", "secrets", "active", "score/closest-record"):
        assert np.array_equal(coins[name], paired[name])
    assert not np.array_equal(coins["shadow_members"], paired["shadow_members"])
    members, active = paired["shadow_members"], paired["shadow_active"]
    assert (members[::2] ^ members[1::2]).astype(int).tolist() == active[::2].astype(int).tolist()
    assert not (coins["shadow_members"][::2] ^ coins["shadow_members"][1::2])[coins["shadow_active"][::2]].all()


@pytest.mark.parametrize(
    ("tables", "luck", "same"), [("paired", False, True), ("paired", True, False), ("coins", False, False)]
)
def test_pairs_share_people_and_no_luck(population, tmp_path, tables, luck, same):
    """The targets have the largest numbers, so that what is published are people of the table but for the target."""
    path = tmp_path / "scores.npz"
    attack(
        PublishesTheFirst(luck), population, attacks=("closest-record",), scores=path, shadow_tables=tables,
        isolate_targets=True, placement="append", **SIZES | {"targets": "rows:198,199"},
    )  # fmt: skip
    with np.load(path) as file:
        score, active = file["shadow_score/closest-record"], file["shadow_active"]
    assert np.array_equal(score[::2][active[::2]], score[1::2][active[1::2]]) == same
