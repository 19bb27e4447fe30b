"""The utility game against a naive one, with planted people who help, and on releases that help nobody."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from unmask.audits.attack.audit import AttackAudit, attack
from unmask.audits.attack.plan import AttackPlan
from unmask.errors import UnmaskError
from unmask.generators import parse
from unmask.generators.raw import Raw
from unmask.simulation.target import UTILITY_GAME
from unmask.simulation.task import Task, Whose
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table
from unmask.utility import utility_game
from unmask.utility.learners import Learner
from unmask.utility.utility_game import UtilityGame, judge_utility

QUICK = Learner("tree", lambda seed: DecisionTreeClassifier(random_state=seed))
RARE = (3, 50, 90)  # the only people of a rare kind: a target, and two who are like it
SCHEMA = Schema(
    (
        Column("kind", Kind.CATEGORICAL, values=("a", "b", "c", "rare"), groups=(("other", ("c", "rare")),)),
        Column("age", Kind.INTEGER, lower=0, upper=99),
        Column("ill", Kind.CATEGORICAL, values=("no", "yes")),
    )
)
SIZES = {"attacks": ("closest-record",), "shadows": 2, "tests": 40, "train_rows": 60, "workers": 1, "seed": 1}


@pytest.fixture(scope="module")
def population():
    """Everybody of the rare kind is ill, and nobody else."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": rng.choice(["a", "b", "c"], 300), "age": rng.integers(0, 100, 300), "ill": "no"})
    frame.loc[list(RARE), ["kind", "age", "ill"]] = ["rare", 40, "yes"]
    return Table.from_pandas(frame, SCHEMA)


@pytest.fixture
def quick(monkeypatch):
    """An analyst who grows one tree: a hundred times as fast, and as sure where one person teaches everything."""
    monkeypatch.setattr(utility_game, "FOREST", QUICK)


def play(generator, population, **more):
    asked = {"targets": "rows:3", "utility_label": "ill", "utility_people": 2}
    result = attack(generator, population, **{**SIZES, **asked, **more})
    (grid,) = [each for each in result.grids if each.name == "utility/game"]
    return result, [dict(zip(grid.columns, row, strict=True)) for row in grid.rows]


def test_people_like_a_target_are_the_nearest_others_of_known_label(people):
    """Nobody is asked about twice, nor about a target; the label says nothing about who is alike."""
    targets = np.array([5, 17])
    game = UtilityGame.of(people, targets, "region", 3)
    assert len({*game.rows.ravel(), *targets}) == 8
    assert game.people.codes[:, 1].max() < 3
    frame = people.to_pandas()
    assert (frame["region"].iloc[game.rows.ravel()].to_numpy() == game.people.to_pandas()["region"].to_numpy()).all()
    changed = people.codes.copy(order="F")
    changed[:, 1] = np.random.default_rng(0).integers(0, 3, len(people))
    known = people.codes[:, 1] < 3
    again = UtilityGame.of(replace(people, codes=np.where(known[:, None], changed, people.codes)), targets, "region", 3)
    assert (again.rows == game.rows).all()


def test_other_rows_of_a_target_are_not_asked_about(population):
    persons = np.array([f"p{row // 100}" for row in range(300)], dtype=object)
    game = UtilityGame.of(replace(population, persons=persons), np.array([3]), "ill", 5)
    assert game.rows.min() >= 100


def test_an_analyst_is_a_forest_of_scikit_learn(population):
    """Codes of categories and numbers as features, a hundred trees, a seed of its own."""
    game = UtilityGame.of(population, np.array([3, 10]), "kind", 4)
    release = population.take(np.arange(100, 220))
    found = game.right(release, np.random.default_rng(5))

    def features(table):
        return np.column_stack([table.numbers[:, 0], table.codes[:, 2]])

    forest = RandomForestClassifier(100, random_state=int(np.random.default_rng(5).integers(2**31)))
    told = forest.fit(features(release), release.codes[:, 0]).predict(features(game.people))
    assert found.tolist() == (told == game.people.codes[:, 0]).reshape(2, 4).tolist()
    assert 0 < found.mean() < 1


def test_advantages_are_those_of_the_definition(population, tmp_path, quick):
    """Shares of right predictions with the target less those without, counted one by one; n is fits, not people."""
    path, more = tmp_path / "scores.npz", {"targets": "rows:3+random:2", "releases_per_fit": 2, "utility_label": "kind"}
    result, rows = play("cart", population, scores=path, **more)
    with np.load(path) as file:
        found = dict(file)
    assert found["utility_right"].shape == (80, 3, 2)
    for group, row in zip(("rows", "random"), rows, strict=True):
        for start, sides in (("", ("utility_right", "members")), ("raw ", ("raw_utility_right", "raw_members"))):
            right, members = (found[name] for name in sides)
            count = np.zeros((2, 2))
            for draw in range(len(right)):
                for target in np.flatnonzero(found["groups"] == group):
                    for person in range(2):
                        count[int(members[draw, target])] += [right[draw, target, person], 1]
            without, inside = count[:, 0] / count[:, 1]
            assert row[f"{start}right with"] == pytest.approx(inside, abs=1e-4)
            assert row[f"{start}right without"] == pytest.approx(without, abs=1e-4)
        assert row["advantage"] == pytest.approx(row["right with"] - row["right without"], abs=2e-4)
        assert row["low"] <= row["advantage"] <= row["high"]
        assert row["n"] == 40
    per_target = {line[0]: line[-4:] for line in result.records.rows}
    assert result.records.columns[-4:][0] == "utility advantage"
    assert len(per_target) == 3


@dataclass(frozen=True)
class Forgetful:
    """Publishes the real table, at times without everybody of the rare kind."""

    name: ClassVar[str] = "forgetful"
    row_level: ClassVar[bool] = True
    claim: ClassVar[None] = None

    forgets: float = 0.5

    def fit(self, table, rng):
        forgotten = rng.random() < self.forgets
        return Raw().fit(table.take(table.codes[:, 0] != 3) if forgotten else table, rng)


@pytest.mark.parametrize(
    ("generator", "truth"),
    [("raw", 1.0), (Forgetful(0.5), 0.5), ("oblivious", 0.0), ("sanitiser:k=1", 0.0), ("independent", 0.0)],
    ids=["raw", "forgetful", "oblivious", "sanitiser", "independent"],
)
def test_one_person_who_teaches_all_there_is_to_know(generator, truth, population, quick):
    """Only a target of the rare kind shows that such people are ill: raw tables keep that, a sanitiser drops it."""
    _, (row,) = play(generator, population, tests=100)
    assert row["advantage on raw data"] == 1
    assert row["low"] <= truth <= row["high"]
    assert row["advantage"] == pytest.approx(truth, abs=3.3 * np.sqrt(0.5 / 50))
    assert row["raw low"] > 0.75


def test_a_forest_learns_it_too(population):
    _, (row,) = play("raw", population, tests=8)
    assert (row["advantage"], row["advantage on raw data"]) == (1, 1)


def test_a_target_who_misleads_has_a_negative_advantage(population, quick):
    """The same people, but the target is not ill: those like it are, and were guessed so by a majority of the ill."""
    codes = population.codes.copy(order="F")
    codes[:, 2] = 1 - codes[:, 2]
    codes[list(RARE[1:]), 2] = 1
    _, (row,) = play("raw", replace(population, codes=codes))
    assert (row["advantage"], row["right without"]) == (-1, 1)
    assert row["high"] < -0.5


def test_nobody_who_is_asked_about_is_in_any_table(population, quick):
    plan = AttackPlan.of(
        {"generator": "raw", "targets": "rows:3", "utility_label": "ill", "utility_people": 2, "train_rows": 60,
         "attacks": ("closest-record",)}
    )  # fmt: skip
    for knowledge in ("auxiliary", "exact"):
        audit = AttackAudit(replace(plan, knowledge=knowledge), parse("raw"), population)
        setting, _, _ = audit.set_up()
        assert sorted(audit.utility_game.rows.ravel()) == list(RARE[1:])
        for side in (setting.ground.people, setting.ground.reference, setting.ground.others):
            assert not (side.codes[:, 0] == 3).any()
        assert f"score/{UTILITY_GAME}" in setting.play(Task(Whose.TEST, 0))
        assert f"score/{UTILITY_GAME}" not in setting.play(Task(Whose.SHADOW, 0))  # nobody judges it


def test_people_are_made_as_coarse_as_a_sanitised_release(population):
    """'rare' is published as 'other', and looked up as that."""
    release = parse("sanitiser:k=1,rare=1").fit(population, None).sample(1, np.random.default_rng(0))
    assert not (release.codes[:, 0] == 3).any()
    kinds = replace(
        release, codes=np.where(np.arange(3) == 2, (release.codes[:, :1] > 3).astype(np.uint8), release.codes)
    )
    game = UtilityGame.of(population, np.array([3]), "ill", 2)
    assert game.right(kinds, np.random.default_rng(1)).all()  # all others are ill there


def test_an_analyst_without_rows_has_no_answer(population):
    unknown = population.take([0, 1])
    codes = np.where(np.arange(3) == 2, 2, unknown.codes)  # of no listed value
    game = UtilityGame.of(population, np.array([3]), "ill", 2)
    assert not game.right(replace(unknown, codes=codes), np.random.default_rng(1)).any()
    assert not game.right(population.take([]), np.random.default_rng(1)).any()


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"utility_label": "age"}, "'age' is a number"),
        ({"utility_label": "illness"}, "illness"),
        ({"goal": "attribute", "secret": "ill"}, "leave out --goal attribute"),
        ({"targets": "random:40", "utility_people": 10}, "asks about 400 people"),
        ({"targets": "rows:999"}, "rows 0 to 299"),
    ],
)
def test_what_cannot_be_asked_is_refused(population, choices, words):
    with pytest.raises(UnmaskError, match=words):
        play("raw", population, **choices)


def test_isolated_targets_are_judged_by_their_own_releases(population, quick):
    _, rows = play("independent", population, targets="rows:3,10", isolate_targets=True, tests=8)
    assert rows[0]["n"] == 16  # releases: eight for each
    assert rows[0]["people asked about"] == 4


def test_predictions_that_are_all_right_tell_as_much_as_ones_that_are_all_wrong():
    rng = np.random.default_rng(1)
    members, fits = rng.random(300) < 0.5, np.arange(300) // 3
    ends = [judge_utility(np.full(300, value), members, fits).advantage for value in (0, 1)]
    for each in ends:
        assert each.value == 0
        assert -0.15 < each.low < 0 < each.high < 0.15
    assert judge_utility(np.ones(4), np.ones(4, dtype=bool), np.arange(4)) is None


@pytest.mark.calibration
@pytest.mark.parametrize("accuracy", [0.1, 0.5, 0.97])
def test_intervals_are_honest_where_presence_changes_nothing(accuracy):
    """Predictions of one release go right or wrong together; at 95 % at most 1 in 20 may miss 0 (99.9 % limit of 200: 21)."""
    rng, missed = np.random.default_rng(3), 0
    for _ in range(200):
        right = np.repeat(rng.random(40) < accuracy, 10)
        members = np.repeat(rng.random((40, 2)) < 0.5, 5, axis=1).ravel()
        found = judge_utility(right, members, np.repeat(np.arange(40), 10)).advantage
        missed += not found.low <= 0 <= found.high
    assert missed <= 21


@pytest.mark.calibration
def test_games_on_releases_that_never_saw_the_data_are_honest():
    """Whole games with an analyst who grows one tree (99.9 % limit of 40 at 5 %: 7)."""
    rng, missed = np.random.default_rng(4), 0
    schema = Schema(tuple(Column(name, Kind.CATEGORICAL, values=("x", "y", "z")) for name in "abcd"))
    for _ in range(40):
        codes = np.asfortranarray(rng.integers(0, 3, (200, 4)).astype(np.uint8))
        table = Table(schema, codes, np.empty((200, 0)))
        game = replace(UtilityGame.of(table, np.array([0, 1]), "d", 2), learner=QUICK)
        members, right = rng.random((30, 2)) < 0.5, []
        for inside in members:
            real = table.take(
                np.concatenate([rng.choice(np.arange(10, 200), 40, replace=False), np.flatnonzero(inside)])
            )
            right.append(game.right(parse("oblivious").fit(real, rng).sample(40, rng), rng))
        cases = np.broadcast_to(members[..., None], (30, 2, 2)).ravel()
        found = judge_utility(np.ravel(right), cases, np.repeat(np.arange(30), 4)).advantage
        missed += not found.low <= 0 <= found.high
    assert missed <= 7
