"""Attacks on releases of one's own, without a game."""

import numpy as np
import pytest

import unmask
from tests.attacks.test_closest_record import PLAIN, crowd, masked, outsider
from unmask.errors import NotAllowedError, ParameterError
from unmask.tables.table import concatenate


@pytest.fixture
def mine(rng):
    """Releases that publish their table: with the outsider or without."""
    targets = concatenate([outsider(), crowd(1, seed=8)])
    members = rng.random((40, 2)) < 0.5
    return [concatenate([crowd(60, seed=s), targets.take(row)]) for s, row in enumerate(members)], targets, members


def test_an_attack_learns_from_my_releases_and_scores_others(mine, rng):
    releases, targets, members = mine
    attack = unmask.attacks.get("queries", order=1, classifier="logistic")
    known = unmask.attacks.pool_of(attack, releases[:25], targets, members=members[:25])
    asked = unmask.attacks.pool_of(attack, releases[25:], targets)
    scores = attack.fit(known, rng).score(asked)
    assert scores.shape == (15, 2)
    assert ((scores[:, 0] > 0.5) == members[25:, 0]).all()
    with pytest.raises(NotAllowedError):
        asked.members  # noqa: B018


def test_a_pool_is_that_of_the_features_for_several_attacks(mine):
    releases, targets, members = mine
    chosen = [unmask.attacks.get("naive"), unmask.attacks.get("groundhog"), unmask.attacks.get("trained-distance")]
    pool = unmask.attacks.pool_of(chosen, releases, targets, members=members)
    keys = {feature.key: feature for attack in chosen for feature in attack.features}
    assert set(pool.feature_arrays) == set(keys)
    for key, feature in keys.items():
        np.testing.assert_array_equal(pool.feature_arrays[key][7], feature.compute(releases[7], targets))
    assert np.array_equal(pool.members, members)
    assert not pool.secrets.any()


def test_secrets_are_values_and_masked_in_the_targets(mine, rng):
    releases, targets, members = mine
    attack = unmask.attacks.get("histogram", classifier="knn")
    values = rng.choice(list("abcd"), members.shape)
    pool = unmask.attacks.pool_of(attack, releases, targets, members=members, secret="c1", secrets=values)
    assert pool.levels == 8
    assert np.array_equal(pool.secrets, np.vectorize("abcdefgh".index)(values))
    hidden, _ = masked(targets, "c1")
    assert np.array_equal(pool.targets.codes, hidden.codes)
    assert attack.fit(pool, rng).score(pool.blind()).shape == (40, 2, 8)
    own = unmask.attacks.pool_of(attack, releases, targets, members=members, secret="age")
    assert np.array_equal(own.secrets, np.tile(targets.numbers[:, 0], (40, 1)))
    assert own.levels == 0


def test_a_release_is_attacked_through_a_view(mine, rng):
    releases, targets, _ = mine
    view = unmask.attacks.View(frozenset({unmask.attacks.Access.SYNTHETIC}), synthetic=releases[0])
    closest = unmask.attacks.get("closest-record")
    assert closest.prepare(view, targets, None, rng).score(view, targets, None, rng).shape == (2,)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"members": np.ones((3, 2), bool)}, "members has the shape"),
        ({"secret": "c1", "secrets": np.full((40, 2), "q")}, "'q' is no value of 'c1'"),
        ({"secret": "c1", "secrets": ["a"]}, "secrets has the shape"),
        ({"releases": []}, "a release and a target"),
    ],
)
def test_what_does_not_fit_is_refused(mine, changed, says):
    releases, targets, members = mine
    given = {"releases": releases, "targets": targets, "members": members} | changed
    with pytest.raises(ParameterError, match=says):
        unmask.attacks.pool_of(unmask.attacks.get("naive"), **given)


def test_tables_of_another_schema_are_refused(mine):
    releases, targets, _ = mine
    fewer = unmask.read_table(releases[0].to_pandas()[["c0", "c1"]])
    with pytest.raises(ParameterError, match="Release 1 has other columns"):
        unmask.attacks.pool_of(unmask.attacks.get("naive"), [releases[0], fewer], targets)
    assert PLAIN.names != fewer.schema.names
