"""Groundhog's linkage against sanitised tables: found by a plain loop, else the classifier alone; and unique links of secrets."""

from dataclasses import replace

import numpy as np
import pytest

from tests.attacks.test_record_linkage import SCHEMA, crowd, view_of
from unmask.attacks._known import Coarsening
from unmask.attacks.linear import FLOOR, Linear
from unmask.attacks.link_then_classify import LinkThenClassify
from unmask.attacks.record_linkage import RecordLinkage
from unmask.attacks.shadow import Histogram, Naive
from unmask.attacks.synthetic_predictor import SyntheticPredictor
from unmask.audits.attack.audit import attack
from unmask.errors import ParameterError
from unmask.generators.sanitiser import Sanitiser
from unmask.simulation.target import masked_targets, secret_of
from unmask.tables.schema import Origin
from unmask.tables.table import concatenate
from unmask.threats.game import Game
from unmask.threats.knowledge import Goal
from unmask.threats.pool import Pool


def sanitised(rng, releases=24, targets=3):
    """Sanitised tables with and without each target; San drops whoever has few alike."""
    people, everybody = crowd(targets, seed=9), crowd(400, seed=3)
    tables, members = [], rng.random((releases, targets)) < 0.5
    for inside in members:
        real = concatenate([everybody.take(rng.choice(400, 120, replace=False)), people.take(inside)])
        tables.append(Sanitiser(k=2).fit(real, rng).sample(len(real), rng))
    return tables, members, people


def pool_of(found, tables, members, people):
    arrays = {each.key: np.stack([each.compute(table, people) for table in tables]) for each in found.features}
    return Pool(people, arrays, answers=(members, np.zeros(members.shape)))


def naive_matches(person, table):
    """Rows that have the person's published values: the sanitiser is deterministic, so it is run on the person's row itself."""
    count = 0
    for row in range(len(table)):
        same = True
        for position, column in enumerate(SCHEMA.columns):
            if column.is_numeric:
                place = SCHEMA.numeric.index(position)
                same &= table.numbers[row, place] == person.numbers[0, place]
            else:
                same &= table.codes[row, position] == person.codes[0, position]
        count += same
    return count


@pytest.mark.parametrize(("by", "alone"), [("naive", Naive()), ("histogram", Histogram(bins=25))])
def test_a_single_match_is_in_and_all_else_is_classified(by, alone, rng):
    tables, members, people = sanitised(rng)
    found = LinkThenClassify(by, bins=25 if by == "histogram" else None)
    pool = pool_of(found, tables, members, people)
    scores = found.fit(pool, np.random.default_rng(1)).score(pool.blind())
    classified = alone.fit(pool, np.random.default_rng(1)).score(pool.blind())
    linked = 0
    for release, table in enumerate(tables):
        shown = Coarsening.of(table).apply(people)
        for target in range(3):
            if naive_matches(shown.take([target]), table) == 1:
                assert scores[release, target] == 1
                linked += 1
            else:
                assert scores[release, target] == classified[release, target]
    assert 0 < linked < scores.size


def test_two_matches_are_no_link(rng):
    """Everybody twice: then nobody is identified, and the classifier decides about all."""
    tables, members, people = sanitised(rng)
    twice = [concatenate([table, table]) for table in tables]
    found = LinkThenClassify(classifier="knn")
    pool = pool_of(found, twice, members, people)
    scores = found.fit(pool, rng).score(pool)
    assert np.array_equal(scores, Naive("knn").fit(pool, rng).score(pool))


def masked(people, name):
    game = Game(goal=Goal.ATTRIBUTE, secret=name)
    return masked_targets(people, game), secret_of(people, game)


@pytest.mark.parametrize("model", ["forest", "knn"])
def test_a_secret_is_read_off_one_row_and_else_predicted(model, rng):
    """Of the first person there is one row, of the second two, of the third none."""
    people, others = crowd(3, seed=9), crowd(200, seed=3)
    release = concatenate([others, people.take([0, 1, 1])])
    targets, secret = masked(people, "illness")
    attack_ = RecordLinkage(model=model, unique=True)
    scores = attack_.score(view_of(release), targets, secret, np.random.default_rng(4))
    assert scores[0].argmax() == people.codes[0, secret.position]
    assert scores[0].max() > 0.99
    rest = SyntheticPredictor(model=model).probabilities(
        release, targets.take([1, 2]), secret, np.random.default_rng(4)
    )
    np.testing.assert_allclose(scores[1:], rest, atol=1e-4)
    several = RecordLinkage(model=model).score(view_of(release), targets, secret, np.random.default_rng(4))
    assert several[1].max() > 0.7  # two rows that agree, and half a vote for the guess


def test_a_number_is_known_for_certain_from_one_row_and_else_linear(rng):
    people, others = crowd(3, seed=9), crowd(200, seed=3)
    release = concatenate([others, people.take([0])])
    targets, secret = masked(people, "age")
    view = view_of(release)
    found = RecordLinkage(model="linear", unique=True).score(view, targets, secret, rng)
    place = SCHEMA.numeric.index(secret.position)
    assert found.mean[0] == people.numbers[0, place]
    assert found.scale[0] == pytest.approx(FLOOR * 99)
    rest = Linear().score(view, targets, secret, rng)
    np.testing.assert_allclose(found.mean[1:], rest.mean[1:])
    np.testing.assert_allclose(found.scale[1:], rest.scale[1:])


def test_a_sanitiser_that_keeps_the_target_is_told_as_one_that_publishes():
    population = crowd(500)
    public = replace(population, schema=replace(population.schema, origin=Origin.PUBLIC))
    attacks, sizes = ("link-then-classify:classifier=knn",), {"shadows": 30, "tests": 60, "train_rows": 80}
    result = attack("sanitiser:k=1", public, attacks=attacks, targets="rows:4", **sizes)
    found = dict(zip(result.records.columns, result.records.rows[0], strict=True))
    assert found["TPR"] == 1
    assert found["AUC"] > 0.95
    assert found["FPR"] > 0  # where nobody is found the classifier guesses, and errs


@pytest.mark.parametrize("wrong", [{"by": "guess"}, {"by": "naive", "bins": 3}, {"classifier": "none"}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ParameterError):
        LinkThenClassify(**wrong)
    with pytest.raises(ParameterError, match="unique"):
        RecordLinkage(unique="yes")
