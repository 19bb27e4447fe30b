"""The trained distance against a naive one, its slopes, and leaks in one column that equal weights bury."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from tests.attacks.test_closest_record import PLAIN, crowd, masked, mixed
from unmask.attacks.closest_record import ClosestRecord
from unmask.attacks.features.nearest_rows import NO_ROW, NearestRowFeatures
from unmask.attacks.trained_distance import FittedDistance, Shown, TrainedDistance, _membership_weights, _secret_weights
from unmask.errors import ParameterError
from unmask.stats import auc
from unmask.tables.table import Table
from unmask.threats.pool import Pool

ALL = 40  # rows of a release: all of them are looked at


def pool_of(attack, releases, targets, members, secrets=None, levels=0):
    (feature,) = attack.features
    arrays = {feature.key: np.stack([feature.compute(release, targets) for release in releases])}
    answers = (members, np.zeros(members.shape) if secrets is None else secrets)
    return Pool(targets, arrays, answers=answers, levels=levels)


def naive_weighted(target, rows, weights, metric, skip=None, value=None):
    """The least weighted distance of a row, cell by cell; `skip` is the secret, with `value` in its place."""
    spans, every = [99, 1], []
    for r in range(len(rows)):
        total = 0.0
        for j in range(6):
            if j == skip:
                total += weights[j] * (rows.codes[r, j] != value)
            elif j < 4 or metric == "hamming":
                total += weights[j] * (target.codes[0, j] != rows.codes[r, j])
            else:
                total += weights[j] * abs(target.numbers[0, j - 4] - rows.numbers[r, j - 4]) / spans[j - 4]
        every.append(total)
    return min(every)


@pytest.mark.parametrize("metric", ["gower", "hamming"])
def test_scores_fall_with_the_naive_weighted_distance(metric, rng):
    attack, targets = TrainedDistance(metric, rows=ALL), crowd(3, seed=1)
    releases = [crowd(ALL, seed=seed) for seed in range(2, 6)]
    weights, offsets = 3 * rng.random(6), rng.normal(size=3)
    pool = pool_of(attack, releases, targets, np.zeros((4, 3), bool))
    shown = Shown(attack.features[0].key, 6, None, 0)
    scores = FittedDistance(shown, weights, offsets).score(pool)
    for release, row in zip(releases, scores, strict=True):
        for target in range(3):
            distance = naive_weighted(targets.take([target]), release, weights, metric)
            assert row[target] == pytest.approx(1 / (1 + np.exp(distance - offsets[target])))


@pytest.mark.parametrize("metric", ["gower", "hamming"])
def test_a_secret_takes_every_value_in_turn(metric, rng):
    attack, people = TrainedDistance(metric, rows=ALL), crowd(2, seed=1)
    targets, secret = masked(people, "c1")
    releases = [crowd(ALL, seed=seed) for seed in range(2, 5)]
    weights = 3 * rng.random(6)
    pool = pool_of(attack, releases, targets, np.zeros((3, 2), bool), levels=8)
    scores = FittedDistance(Shown(attack.features[0].key, 6, 1, 8), weights, np.zeros(2)).score(pool)
    for release, row in zip(releases, scores, strict=True):
        for target in range(2):
            one = people.take([target])
            distances = [naive_weighted(one, release, weights, metric, secret.position, value) for value in range(8)]
            expected = np.exp(-np.array(distances))
            assert row[target] == pytest.approx(expected / expected.sum())


def leaky(rng, releases, column, targets):
    """Releases of a crowd in which one row has a member's value in one column; in another one somebody always has everybody's."""
    tables, members = [], rng.random((releases, len(targets))) < 0.5
    for inside in members:
        table = crowd(ALL, seed=int(rng.integers(2**31)))
        codes, numbers = table.codes.copy(order="F"), table.numbers.copy(order="F")
        for place, target in enumerate(np.flatnonzero(inside)):
            codes[place, column] = targets.codes[target, column]
        tables.append(Table(PLAIN, codes, numbers))
    return tables, members


def odd(rng):
    """Targets whose value in the last category nobody of the crowd has."""
    targets = crowd(3, seed=7)
    codes = targets.codes.copy(order="F")
    codes[:, 3] = [5, 6, 7]
    return Table(PLAIN, codes, targets.numbers)


def test_a_leak_in_one_column_gets_the_weight_and_is_told_better_than_by_equal_ones(rng):
    targets, attack = odd(rng), TrainedDistance(rows=ALL)
    train, told = leaky(rng, 150, 3, targets)
    test, truth = leaky(rng, 150, 3, targets)
    fitted = attack.fit(pool_of(attack, train, targets, told), rng)
    assert fitted.weights.argmax() == 3
    assert (fitted.weights >= 0).all()
    scores = fitted.score(pool_of(attack, test, targets, truth).blind())
    plain = np.stack([ClosestRecord(reference=False).prepare(None, targets, None, rng).score(
        _View(release), targets, None, rng) for release in test])  # fmt: skip
    for target in range(3):
        inside = truth[:, target]
        trained, equal = (auc(found[inside, target], found[~inside, target]).value for found in (scores, plain))
        assert trained > 0.9
        assert trained > equal + 0.15


class _View:
    def __init__(self, synthetic):
        self.synthetic, self.allowed = synthetic, frozenset()


@pytest.mark.parametrize("kind", ["membership", "secret"])
def test_the_slope_that_is_followed_is_that_of_the_loss(kind, rng, monkeypatch):
    import unmask.attacks.trained_distance as module

    attack, people = TrainedDistance(rows=9), crowd(3, seed=1)
    releases, seen = [crowd(ALL, seed=seed) for seed in range(20, 50)], {}

    def note(loss, columns, free):
        seen["loss"], seen["size"] = loss, columns + free
        return np.ones(columns + free)

    monkeypatch.setattr(module, "_least", note)
    members = rng.random((30, 3)) < 0.5
    about = np.ones_like(members)
    key = attack.features[0].key
    if kind == "membership":
        _membership_weights(Shown(key, 6, None, 0), pool_of(attack, releases, people, members), about)
    else:
        targets, _ = masked(people, "c2")
        secrets = rng.integers(0, 8, members.shape).astype(float)
        _secret_weights(Shown(key, 6, 2, 8), pool_of(attack, releases, targets, members, secrets, 8), members)
    at = 0.5 + rng.random(seen["size"])
    slope = approx_fprime(at, lambda x: seen["loss"](x)[0], 1e-7)
    np.testing.assert_allclose(seen["loss"](at)[1], slope, rtol=2e-4, atol=2e-4)


def test_where_there_is_nothing_to_learn_all_scores_are_equal(rng):
    attack, people = TrainedDistance(), crowd(2, seed=1)
    releases = [crowd(ALL, seed=seed) for seed in range(5)]
    pool = pool_of(attack, releases, people, np.ones((5, 2), bool))
    assert (attack.fit(pool, rng).score(pool) == 0.5).all()
    targets, _ = masked(people, "c0")
    pool = pool_of(attack, releases, targets, np.ones((5, 2), bool), np.full((5, 2), 3.0), 8)
    assert attack.fit(pool, rng).score(pool) == pytest.approx(1 / 8)


def test_numbers_are_refused_and_parameters_checked(rng):
    attack = TrainedDistance()
    targets, _ = masked(crowd(2), "age")
    pool = pool_of(attack, [crowd(ALL)], targets, np.ones((1, 2), bool))
    with pytest.raises(ParameterError, match="'age' is a number"):
        attack.fit(pool, rng)
    for wrong in ({"rows": 0}, {"rows": True}, {"metric": "cosine"}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            TrainedDistance(**wrong)


def test_features_are_differences_nearest_first_and_far_where_there_is_no_row():
    targets = mixed(3, seed=1)
    found = NearestRowFeatures(rows=5).compute(mixed(2, seed=2), targets).reshape(3, 5, 6)
    assert (found[:, 2:] == 1).all()
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found[:, :2].sum(axis=2), axis=1) >= -1e-12).all()
    hidden, secret = masked(targets, "few")
    found = NearestRowFeatures(rows=5).compute(mixed(2, seed=2), hidden).reshape(3, 5, 6)
    assert (found[:, 2:, secret.position] == NO_ROW).all()
    assert set(np.unique(found[:, :2, secret.position])) == set(mixed(2, seed=2).codes[:, secret.position])
