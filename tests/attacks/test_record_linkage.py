"""Record linkage: literal matches, matches under coarsening, and the guess where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from unmask import attacks, generators
from unmask.attacks._known import Coarsening
from unmask.attacks.record_linkage import RecordLinkage, matching_rows
from unmask.attacks.synthetic_predictor import SyntheticPredictor
from unmask.errors import ParameterError
from unmask.simulation.target import TargetSetting, masked_targets, secret_of
from unmask.simulation.task import Task, Whose
from unmask.stats.auc import auc
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table, concatenate
from unmask.threats.game import Game, SecretValues, lay_ground
from unmask.threats.knowledge import Access, Box, Data, Goal
from unmask.threats.view import View

SCHEMA = Schema(
    (
        Column("sex", Kind.CATEGORICAL, values=("f", "m")),
        Column(
            "region",
            Kind.CATEGORICAL,
            values=("n", "s", "e", "w"),
            groups=(("north-south", ("n", "s")), ("other", ("e", "w"))),
        ),
        Column("age", Kind.INTEGER, lower=0, upper=99, bins=10, missing=("",)),
        Column("charge", Kind.CONTINUOUS, lower=0, upper=1000),
        Column("day", Kind.DATETIME, lower=14_610, upper=14_974, resolution="D", format="%Y-%m-%d"),
        Column("illness", Kind.CATEGORICAL, values=("a", "b", "c", "d")),
    ),
    keys=("sex", "age"),
)


def crowd(rows: int = 1200, seed: int = 1) -> Table:
    """People of whom each is unique by the charge."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], rows),
            "region": rng.choice(["n", "s", "e", "w"], rows),
            "age": rng.integers(20, 80, rows),
            "charge": rng.gamma(2, 40, rows).clip(0, 1000),
            "day": np.datetime64("2010-01-01") + rng.integers(0, 365, rows),
            "illness": rng.choice(["a", "b", "c", "d"], rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )
    return Table.from_pandas(frame, SCHEMA)


def view_of(release: Table, reference: Table | None = None) -> View:
    allowed = {Access.SYNTHETIC} | ({Access.REFERENCE} if reference is not None else set())
    return View(frozenset(allowed), synthetic=release, reference=reference)


def play(generator, game, tests, *, targets=(3, 4, 5), population=None, attack=None):
    """Members, secrets and scores over many releases, each tests x targets (x levels)."""
    population = crowd() if population is None else population
    ground = lay_ground(population, np.array(targets), game, np.random.default_rng(0))
    setting = TargetSetting(7, game, ground, generator, attacks={"it": attack or RecordLinkage()})
    drawn = [setting.play(Task(Whose.TEST, index)) for index in range(tests)]
    assert not any(key.startswith("problem") for arrays in drawn for key in arrays), drawn[0].get("problem/it")
    return (np.array([arrays[key] for arrays in drawn]) for key in ("members", "secrets", "score/it"))


MEMBERSHIP = Game(rows=200, synthetic_rows=200)
NO_BOX = Game(rows=200, synthetic_rows=200, data=Data.NONE, box=Box.NO)


@pytest.mark.parametrize("game", [MEMBERSHIP, NO_BOX])
def test_a_unique_target_in_a_raw_release_is_always_found(game):
    members, _, scores = play(generators.get("raw"), game, 40)
    assert np.array_equal(scores > 1, members)
    assert (scores[members].min() if members.any() else 0) > scores[~members].max()
    assert members.any()
    assert not members.all()


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_a_copier_is_caught_as_often_as_it_copies(p):
    """TPR = p at FPR 0, and AUC (1 + p) / 2: the 99.9 % binomial limits."""
    members, _, scores = play(generators.get("copycat", p=p), MEMBERSHIP, 150)
    linked, caught = scores > 1, int((scores > 1)[members].sum())
    assert not linked[~members].any()
    low, high = binom.ppf([0.0005, 0.9995], members.sum(), p)
    assert low <= caught <= high
    area = auc(scores[members], scores[~members], confidence=0.999).interval
    assert area[0] <= (1 + p) / 2 <= area[1]


def test_a_sanitiser_that_drops_the_target_protects_them():
    """A category that hardly anyone has is dropped with its rows, so members and others score alike."""
    people = crowd()
    codes = people.codes.copy(order="F")
    position = people.schema.position("illness")
    codes[:, position] = np.minimum(codes[:, position], 2)
    codes[[3, 4, 5], position] = 3
    members, _, scores = play(
        generators.get("sanitiser", k=1), MEMBERSHIP, 120, population=replace(people, codes=codes)
    )
    assert (scores <= 1).all()
    found = auc(scores[members], scores[~members], confidence=0.999)
    assert found.interval[0] <= 0.5 <= found.interval[1]


def test_a_sanitiser_that_keeps_the_target_does_not():
    """Groups, months, bins and caps do not hide a row that is still unique: San is all or nothing per target."""
    sanitiser = generators.get("sanitiser", k=1, rare=1, cap=0.99)
    members, _, scores = play(sanitiser, MEMBERSHIP, 40, targets=(6, 7, 8))
    assert np.array_equal(scores > 1, members)


def test_a_capped_target_is_found_under_the_cap():
    people = crowd()
    numbers = people.numbers.copy(order="F")
    numbers[3, people.schema.numeric.index(people.schema.position("charge"))] = 999.0
    sanitiser = generators.get("sanitiser", k=1, rare=1)
    members, _, scores = play(sanitiser, MEMBERSHIP, 40, targets=(3,), population=replace(people, numbers=numbers))
    assert (scores[members] > 1).all()
    assert auc(scores[members], scores[~members]).value > 0.9


def test_nothing_is_found_where_nothing_leaks():
    members, _, scores = play(generators.get("oblivious"), MEMBERSHIP, 120)
    found = auc(scores[members], scores[~members], confidence=0.999)
    assert found.interval[0] <= 0.5 <= found.interval[1]


@pytest.mark.parametrize("secret", ["illness", "charge"])
def test_the_secret_of_a_member_is_read_off_a_raw_release(secret):
    """Those who are not in it are at chance or at what holds for everyone."""
    game = Game(goal=Goal.ATTRIBUTE, secret=secret, rows=200, secret_values=SecretValues.UNIFORM)
    members, secrets, scores = play(generators.get("raw"), game, 60)
    right = np.abs(scores[..., 0] - secrets) < 1e-9 if secret == "charge" else scores.argmax(axis=-1) == secrets
    assert right[members].mean() > 0.97  # unique by sex, region, age, charge and day, or nearly so without the charge
    chance = 0.25 if secret == "illness" else 0.0
    assert right[~members].sum() <= binom.ppf(0.9995, (~members).sum(), chance)


def test_accuracy_is_chance_where_nothing_leaks():
    game = Game(goal=Goal.ATTRIBUTE, secret="illness", rows=200, synthetic_rows=200, secret_values=SecretValues.UNIFORM)
    _, secrets, scores = play(generators.get("oblivious"), game, 120)
    right = (scores.argmax(axis=-1) == secrets).sum()
    low, high = binom.ppf([0.0005, 0.9995], secrets.size, 1 / 4)
    assert low <= right <= high


def test_matches_are_those_of_a_plain_loop():
    """Against a naive comparison of decoded values, some of them missing, in a small domain with many twins."""
    rng = np.random.default_rng(3)
    schema = Schema((SCHEMA.columns[0], SCHEMA.columns[1], replace(SCHEMA.columns[2], upper=3.0, bins=2)))
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], 300),
            "region": rng.choice(["n", "s", "e", "w"], 300),
            "age": pd.Series(rng.integers(0, 4, 300)).astype(object).where(rng.random(300) < 0.8, None),
        }
    )
    table = Table.from_pandas(frame, schema)
    people, release = table.take(np.arange(30)), table.take(np.arange(30, 300))
    rows = [tuple(row) for row in frame.fillna("none").itertuples(index=False)]
    for person, found in enumerate(matching_rows(people, release, [0, 1, 2])):
        assert found.tolist() == [row for row in range(270) if rows[30 + row] == rows[person]]


def test_a_category_outside_the_schema_matches_nothing():
    table = crowd(20)
    codes = table.codes.copy(order="F")
    codes[:, 0] = SCHEMA.columns[0].unlisted_code
    strange = replace(table, codes=codes)
    assert all(len(rows) == 0 for rows in matching_rows(strange, strange, list(range(6))))
    assert (RecordLinkage().score(view_of(strange), strange, None, np.random.default_rng(0)) <= 1).all()


def test_the_score_follows_the_likelihood_ratio():
    """1 + c / (c + w): w from the reference; without one, all matches but one."""
    table = crowd(400)
    target, others = table.take([0]), table.take(np.arange(1, 100))
    rng = np.random.default_rng(0)

    def score(copies, reference=None):
        release = concatenate([others, *[target] * copies])
        return RecordLinkage().score(view_of(release, reference), target, None, rng)[0]

    assert score(1) == 2
    assert score(2) == pytest.approx(1 + 2 / 3)
    assert score(0) < 1
    reference = concatenate([table.take(np.arange(100, 399)), target])
    expected = 1.5 * 101 / 301
    assert score(2, reference) == pytest.approx(1 + 2 / (2 + expected))
    assert score(3, reference) > score(2, reference) > score(1, reference) > score(0, reference)
    assert score(1, table.take(np.arange(100, 400))) > score(1, reference)  # rarer among others: better evidence


def test_without_a_match_nearer_is_higher():
    table = crowd(300)
    target = table.take([0])
    near = replace(target, numbers=target.numbers + 0.0, codes=target.codes.copy(order="F"))
    near.codes[0, 0] = 1 - near.codes[0, 0]
    far = replace(near, codes=near.codes.copy(order="F"))
    far.codes[0, 5] = (far.codes[0, 5] + 1) % 4
    rng = np.random.default_rng(0)
    scores = [RecordLinkage().score(view_of(release), target, None, rng)[0] for release in (near, far)]
    assert scores == pytest.approx([1 - 1 / 6, 1 - 2 / 6])


def test_several_matches_vote_and_a_majority_beats_the_guess():
    table = crowd(50)
    target = table.take([0])
    codes = np.repeat(target.codes, 5, axis=0).copy(order="F")
    codes[:, 5] = [2, 2, 2, 1, 1]
    twins = replace(target, codes=codes, numbers=np.repeat(target.numbers, 5, axis=0).copy(order="F"))
    game = Game(goal=Goal.ATTRIBUTE, secret="illness")
    masked, secret = masked_targets(target, game), secret_of(target, game)
    release = concatenate([table.take(np.arange(1, 50)), twins])
    scores = RecordLinkage().score(view_of(release), masked, secret, np.random.default_rng(0))
    assert scores[0].argmax() == 2
    assert scores[0, 1] > max(scores[0, 0], scores[0, 3])
    assert scores.sum() == pytest.approx(1)


def test_a_published_group_of_secrets_is_shared_by_its_members():
    table = crowd(60)
    release = generators.get("sanitiser", k=1, rare=1, dates="none", bands=False, cap=1.0)
    release = release.fit(table, None).sample(0, np.random.default_rng(0))
    game = Game(goal=Goal.ATTRIBUTE, secret="region")
    masked, secret = masked_targets(table, game), secret_of(table, game)
    scores = RecordLinkage().score(view_of(release), masked, secret, np.random.default_rng(0))
    truth = table.codes[:, 1] // 2  # n, s or e, w
    pairs = scores.reshape(len(table), 2, 2)
    assert np.array_equal(pairs.sum(axis=2).argmax(axis=1), truth)
    assert np.allclose(pairs[..., 0], pairs[..., 1])


@pytest.mark.parametrize("dates", ["month", "week", "quarter", "year", "none"])
@pytest.mark.parametrize("bands", [True, False])
def test_coarsening_is_read_off_a_sanitised_release(dates, bands):
    """Everyone whom the sanitiser kept equals their published row once they are coarsened like the release."""
    table = crowd(600)
    sanitiser = generators.get("sanitiser", k=1, rare=1, dates=dates, bands=bands)
    model = sanitiser.fit(table, None)
    people = Coarsening.of(model.table).apply(table)
    assert np.array_equal(people.codes, model.table.codes)
    assert np.array_equal(people.numbers, model.table.numbers)
    again = Coarsening.of(model.table).apply(people)
    assert np.array_equal(people.codes, again.codes)


def test_a_raw_release_is_not_coarsened():
    table = crowd(600)
    people = Coarsening.of(table).apply(table)
    assert np.array_equal(people.numbers, table.numbers)
    assert np.array_equal(people.codes, table.codes)
    empty = Coarsening.of(table.take([])).apply(table)
    assert np.array_equal(empty.numbers, table.numbers)


def test_linkage_is_not_dead(monkeypatch):
    """Regression: in Groundhog's program a bare `except` swallows every linkage, so it never happens; errors are seen."""
    people = crowd(200)
    game = Game(goal=Goal.ATTRIBUTE, secret="charge")
    masked, secret = masked_targets(people, game), secret_of(people, game)
    prediction = RecordLinkage().score(view_of(people), masked, secret, np.random.default_rng(0))
    assert (np.abs(prediction.mean - people.numbers[:, 1]) < 1e-9).mean() > 0.95
    absent = masked.take([0])

    def fail(*arguments):
        raise RuntimeError("the guess fails")

    monkeypatch.setattr(SyntheticPredictor, "numbers", fail)
    with pytest.raises(RuntimeError, match="the guess fails"):
        RecordLinkage().score(view_of(people.take(np.arange(1, 200))), absent, secret, np.random.default_rng(0))


def test_the_model_of_the_guess_is_a_parameter():
    assert attacks.parse("record-linkage:model=tree") == RecordLinkage("tree")
    with pytest.raises(ParameterError, match="model is 'oracle'"):
        RecordLinkage("oracle")
