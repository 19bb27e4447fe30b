"""Shadow attacks: a planted leak is found in full, nothing is found where nothing leaks, odd pools do no harm."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from unmask import attacks
from unmask.attacks._attack import FittedAttack, ShadowAttack
from unmask.attacks.shadow import CLASSIFIERS, Correlation, Groundhog, Histogram, Naive, Queries
from unmask.errors import ParameterError
from unmask.generators.copycat import Copycat
from unmask.generators.independent import Independent
from unmask.generators.oblivious import Oblivious
from unmask.simulation.target import TargetSetting
from unmask.simulation.task import Whose, tasks_for
from unmask.stats.auc import auc
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table
from unmask.threats.game import Game, lay_ground
from unmask.threats.knowledge import Goal, SecretValues
from unmask.threats.pool import Pool

EVERY = (Naive(), Histogram(), Correlation(), Groundhog(), Queries())
NAMES = [attack.name for attack in EVERY]


@pytest.fixture(scope="module")
def population():
    """People with values a to h in seven columns and a number; nobody but row 0 has the value z, nobody but row 1 y."""
    rng = np.random.default_rng(5)
    values = tuple("abcdefghyz")
    schema = Schema(
        (
            *(Column(f"c{k}", Kind.CATEGORICAL, values=values) for k in range(7)),
            Column("x", Kind.CONTINUOUS, lower=0, upper=10, bins=10),
        )
    )
    codes = rng.integers(0, 8, (300, 8)).astype(schema.code_type)
    codes[0, :7], codes[1, :7] = 9, 8
    numbers = codes[:, 7:] + rng.random((300, 1))
    return Table(schema, np.asfortranarray(codes), np.asfortranarray(numbers))


def play(generator, population, targets, attacks, *, shadows=60, tests=60, seed=1, rows=60, **settings):
    """Pools of shadow and test releases of a game, with everything that these attacks ask for."""
    game = Game(rows=rows, synthetic_rows=rows, **settings)
    ground = lay_ground(population, np.array(targets), game, np.random.default_rng(seed))
    features = {feature.key: feature for attack in attacks for feature in attack.features}
    setting = TargetSetting(seed, game, ground, generator, tuple(features.values()))
    tasks = tasks_for(shadows, tests, len(targets), isolate=game.isolate_targets)
    pools = []
    for part in (Whose.SHADOW, Whose.TEST):
        chosen = [task for task in tasks if task.whose is part]
        drawn = [setting.play(task) for task in chosen]
        stacked = {name: np.stack([arrays[name] for arrays in drawn]) for name in drawn[0]}
        about = np.array([task.target for task in chosen]) if game.isolate_targets else None
        arrays = {key: stacked[f"feature/{key}"] for key in features}
        levels = 0 if setting.secret is None else setting.secret.levels
        pools.append(Pool(setting.masked, arrays, about, (stacked["members"], stacked["secrets"]), levels))
    return pools


def test_registered():
    assert isinstance(attacks.get("queries", order=1), Queries)
    assert attacks.parse("queries:order=1-2,count=5") == Queries(order="1-2", count=5)
    assert attacks.parse("histogram:bins=45,classifier=knn") == Histogram("knn", 45)
    for name, attack in zip(NAMES, EVERY, strict=True):
        assert attacks.get(name) == attack
        assert isinstance(attack, ShadowAttack)
        assert pickle.loads(pickle.dumps(attack)) == attack


@pytest.mark.parametrize(
    "parameters",
    [
        {"classifier": "oracle"},
        {"classifier": "sklearn.linear_model:Ridge"},
        {"order": 0},
        {"count": -1},
    ],
)
def test_wrong_parameters(parameters):
    with pytest.raises(ParameterError):
        Queries(**parameters)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_queries_find_all_that_copycat_gives_away_and_no_more(population, p):
    """A target unlike everybody, copied with probability p: TPR = p at FPR 0 and AUC = (1+p)/2, within 4 deviations.

    Of uniform rows about one in a million agree with it in seven or more of the eight columns.
    """
    attack = Queries(order="7-8")
    own, judged = play(Copycat(p), population, [0], [attack], shadows=100, tests=400, rows=30)
    scores = attack.fit(own, np.random.default_rng(0)).score(judged.blind())[:, 0]
    members = judged.members[:, 0]
    inside, outside = scores[members], scores[~members]
    assert len(np.unique(outside)) == 1
    deviation = np.sqrt(p * (1 - p) / len(inside))
    assert abs((inside > outside.max()).mean() - p) < 4 * deviation
    assert abs(auc(inside, outside).value - (1 + p) / 2) < 2 * deviation


@pytest.mark.parametrize("classifier", [*CLASSIFIERS, "sklearn.naive_bayes:GaussianNB"])
def test_every_classifier_sees_a_verbatim_copy(population, classifier):
    """Order 1: a target whose values nobody else has raises every count by 1."""
    attack = Queries(classifier, order=1)
    own, judged = play(Copycat(1.0), population, [0, 1], [attack], shadows=80)
    fitted = attack.fit(own, np.random.default_rng(0))
    assert isinstance(fitted, FittedAttack)
    scores = fitted.score(judged.blind())
    assert scores.shape == (60, 2)
    assert ((scores >= 0) & (scores <= 1)).all()
    for target in range(2):
        members = judged.members[:, target]
        assert auc(scores[members, target], scores[~members, target]).value > 0.8


@pytest.mark.parametrize("attack", EVERY, ids=NAMES)
def test_untargeted_features_see_values_that_nobody_else_has(population, attack):
    own, judged = play(Independent(), population, [0], [attack], shadows=100, tests=100)
    scores = attack.fit(own, np.random.default_rng(0)).score(judged.blind())[:, 0]
    members = judged.members[:, 0]
    assert auc(scores[members], scores[~members]).value > 0.8


@pytest.mark.parametrize("attack", EVERY, ids=NAMES)
def test_nothing_is_found_where_nothing_leaks(population, attack):
    """Mean AUC of five targets with coins of their own, 200 trials each: deviation .018."""
    own, judged = play(Oblivious(), population, range(5), [attack], shadows=40, tests=200)
    scores = attack.fit(own, np.random.default_rng(0)).score(judged.blind())
    found = [auc(scores[judged.members[:, k], k], scores[~judged.members[:, k], k]).value for k in range(5)]
    assert abs(np.mean(found) - 0.5) < 4 * 0.018


def test_equal_seeds_give_equal_scores(population):
    attack = Groundhog()
    own, judged = play(Independent(), population, [0, 4], [attack], shadows=30, tests=20)
    one, two, other = (attack.fit(own, np.random.default_rng(seed)).score(judged.blind()) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)
    fitted = pickle.loads(pickle.dumps(attack.fit(own, np.random.default_rng(1))))
    np.testing.assert_array_equal(fitted.score(judged.blind()), one)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_a_secret_category_is_read_off_a_copy_and_guessed_without_it(population, classifier):
    """The secret is drawn anew each time, so that its ten values are equally likely and only members give theirs away."""
    attack = Queries(classifier, order="3-5", count=10)
    own, judged = play(
        *(Copycat(1.0), population, [0], [attack]),
        **{"goal": Goal.ATTRIBUTE, "secret": "c2", "secret_values": SecretValues.UNIFORM, "prior": 0.7},
        **{"shadows": 300, "tests": 150},
    )
    scores = attack.fit(own, np.random.default_rng(0)).score(judged.blind())
    assert scores.shape == (150, 1, 10)
    np.testing.assert_allclose(scores.sum(axis=2), 1, rtol=1e-5)
    right = scores[:, 0].argmax(axis=1) == judged.secrets[:, 0]
    members = judged.members[:, 0]
    assert right[members].mean() > 0.9
    assert right[~members].mean() < 0.1 + 4 * np.sqrt(0.09 / (~members).sum())


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_a_secret_number_is_estimated(population, classifier):
    attack = Queries(classifier, order=4, count=10)
    own, judged = play(
        *(Copycat(1.0), population, [0], [attack]),
        **{"goal": Goal.ATTRIBUTE, "secret": "x", "secret_values": SecretValues.UNIFORM, "prior": 0.7},
        **{"shadows": 300, "tests": 100},
    )
    scores = attack.fit(own, np.random.default_rng(0)).score(judged.blind())
    assert scores.shape == (100, 1)
    members = judged.members[:, 0]
    error = np.abs(scores - judged.secrets)[members, 0]
    assert error.mean() < 1.0  # bins are 1 wide; the mean of the range would err by 2.5


def test_a_foreign_classifier_cannot_learn_numbers(population):
    attack = Naive("sklearn.naive_bayes:GaussianNB")
    own, _ = play(
        *(Oblivious(), population, [0], [attack]),
        **{"goal": Goal.ATTRIBUTE, "secret": "x", "secret_values": SecretValues.UNIFORM, "shadows": 10, "tests": 1},
    )
    with pytest.raises(ParameterError, match="GaussianNB"):
        attack.fit(own, np.random.default_rng(0))


@pytest.mark.parametrize(("secret", "neutral"), [("c2", 0.1), ("x", 5.0)])
def test_a_secret_that_never_varies_is_not_repeated(population, secret, neutral):
    """Where shadow releases all hold one secret, there is nothing to learn, and the attack must not hand it back."""
    attack = Histogram()
    own, judged = play(
        *(Independent(), population, [0, 5], [attack]),
        **{"goal": Goal.ATTRIBUTE, "secret": secret, "shadows": 20, "tests": 5},
    )
    own = replace(own, answers=(own.members, np.full(own.secrets.shape, 2.0)))
    scores = attack.fit(own, np.random.default_rng(0)).score(judged.blind())
    assert (scores == neutral).all()


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_one_answer_only_gives_equal_scores(population, classifier):
    attack = Naive(classifier)
    own, judged = play(Independent(), population, [0, 5], [attack], shadows=10, tests=5)
    members = own.members.copy()
    members[:, 0] = True
    lopsided = Pool(own.targets, own.feature_arrays, answers=(members, own.secrets))
    scores = attack.fit(lopsided, np.random.default_rng(0)).score(judged.blind())
    assert (scores[:, 0] == 0.5).all()
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_two_releases_are_enough_not_to_crash(population, classifier):
    attack = Histogram(classifier)
    own, judged = play(Independent(), population, [0], [attack], shadows=2, tests=3)
    pool = Pool(own.targets, own.feature_arrays, answers=(np.array([[True], [False]]), own.secrets))
    assert np.isfinite(attack.fit(pool, np.random.default_rng(0)).score(judged.blind())).all()


def test_isolated_targets_learn_from_their_own_releases_only(population):
    """Releases about target 1 come first with nonsense answers for target 0; its scores do not change."""
    attack = Queries(order=1)
    own, judged = play(Independent(), population, [0, 1], [attack], shadows=40, tests=30, isolate_targets=True)
    assert own.target_of.tolist() == [0] * 40 + [1] * 40
    scores = attack.fit(own, np.random.default_rng(0)).score(judged.blind())
    assert scores.shape == (60, 2)
    assert (scores[judged.target_of == 1, 0] == 0).all()
    assert (scores[judged.target_of == 0, 1] == 0).all()
    members = own.members.copy()
    members[40:, 0] = True
    changed = Pool(own.targets, own.feature_arrays, own.target_of, (members, own.secrets))
    np.testing.assert_array_equal(attack.fit(changed, np.random.default_rng(0)).score(judged.blind()), scores)
    for target in range(2):
        rows = judged.about(target)
        members = judged.members[rows, target]
        own_scores = scores[rows, target]
        assert auc(own_scores[members], own_scores[~members]).value > 0.8


@pytest.mark.parametrize("secret", ["c2", "x"])
def test_secrets_are_learnt_from_releases_that_the_target_was_in(population, secret):
    """Other releases cannot show the secret that was drawn for them: learning from them would only add noise."""
    attack = Histogram()
    own, judged = play(
        *(Copycat(1.0), population, [0], [attack]),
        **{"goal": Goal.ATTRIBUTE, "secret": secret, "secret_values": SecretValues.UNIFORM, "shadows": 30, "tests": 5},
    )
    nonsense = np.where(own.members, own.secrets, 3.0)
    changed = Pool(own.targets, own.feature_arrays, None, (own.members, nonsense), own.levels)
    one, two = (attack.fit(pool, np.random.default_rng(0)).score(judged.blind()) for pool in (own, changed))
    np.testing.assert_array_equal(one, two)


def test_groundhog_bins_its_correlations_if_asked_to():
    naive, marginals, correlations = Groundhog(bins=45, binned_correlations=True).features
    assert (naive, marginals) == Groundhog(bins=45).features[:2]
    assert correlations == Correlation(bins=45).features[0]
    assert Groundhog(bins=45).features[2] == Groundhog().features[2] == Correlation().features[0]
    with pytest.raises(ParameterError, match="need a number of bins"):
        Groundhog(binned_correlations=True)
