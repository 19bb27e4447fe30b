"""Signs of nearness against a naive loop; the stack against its parts, planted leaks, and releases that leak nothing."""

from dataclasses import replace

import numpy as np
import pytest

from tests.attacks.test_closest_record import crowd, ground, mixed, outsider, releases
from unmask import attacks, generators
from unmask.attacks import pool_of
from unmask.attacks.features.neighbourhood import NEIGHBOURS, NeighbourhoodFeatures
from unmask.attacks.stacked_shadow import OwnReleases, SignWeights, StackedShadow, Typical
from unmask.audits.attack.audit import attack
from unmask.datasets import adult
from unmask.errors import ParameterError
from unmask.simulation.store import MemoryStore
from unmask.simulation.target import TargetSetting
from unmask.simulation.target_pool import draws_of
from unmask.simulation.target_pool import pool_of as drawn_pool
from unmask.simulation.task import Whose, tasks_for
from unmask.stats.auc import auc
from unmask.tables.table import concatenate
from unmask.threats.game import Game, lay_ground

SIGNS = NeighbourhoodFeatures()


def played(generator, grounds, *, shadows, tests, rows=100, releases=1, seed=0):
    """The attacker's own pool and the one under attack."""
    setting = TargetSetting(seed, Game(rows=rows, synthetic_rows=rows), grounds, generator, (SIGNS,), releases=releases)
    tasks, store = tasks_for(shadows, tests, len(grounds.targets), isolate=False), MemoryStore()
    for task in tasks:
        store.put(task, setting.play(task))
    return tuple(drawn_pool(setting, draws_of(setting, tasks, store, whose)) for whose in (Whose.SHADOW, Whose.TEST))


def areas(scores, members):
    """Mean AUC over targets."""
    return np.mean([auc(scores[m, t], scores[~m, t]).value for t, m in enumerate(members.T)])


def test_registered():
    assert attacks.get("stacked-shadow") == StackedShadow()
    assert attacks.parse("stacked-shadow:folds=3") == StackedShadow(3)
    with pytest.raises(ParameterError, match="folds"):
        StackedShadow(1)


def test_signs_are_those_of_a_naive_loop():
    """Gower distances pair by pair, sorted; kernels row by row: Gaussian for numbers, Aitchison-Aitken for categories."""
    targets, release = crowd(4, seed=1), crowd(70, seed=2)
    found = dict(zip(SIGNS.parts, SIGNS.compute(release, targets).T, strict=True))
    spans, floor = np.array([99.0, 1.0]), 0.01 / 6
    scaled = release.numbers / spans
    for t in range(4):
        unequal = (release.codes[:, :4] != targets.codes[t, :4]).astype(float)
        gaps = scaled - targets.numbers[t] / spans
        distances = np.sort((unequal.sum(axis=1) + np.abs(gaps).sum(axis=1)) / 6) + floor
        for k in NEIGHBOURS:
            assert found[f"distance {k}"][t] == pytest.approx(-np.log(distances[k - 1]))
        assert found["nndr"][t] == pytest.approx(-distances[0] / distances[1])
        for name, factor, spread in (("density, wide", 70 ** (-1 / 6), 0.1), ("density, narrow", 0.1, 0.01)):
            width = factor * scaled.std(axis=0)
            logs = np.log(np.where(unequal, spread / 7, 1 - spread)).sum(axis=1)
            logs += (-0.5 * np.minimum((gaps / width) ** 2, 64) - np.log(width * np.sqrt(2 * np.pi))).sum(axis=1)
            assert found[name][t] == pytest.approx(np.log(np.exp(logs).sum() / 70))


def test_signs_of_awkward_releases_are_finite_and_copies_are_nearest():
    for release in releases().values():
        assert np.isfinite(SIGNS.compute(release, mixed(4, seed=4))).all()
    far, copied = (
        SIGNS.compute(crowd(60), outsider())[0],
        SIGNS.compute(concatenate([crowd(60), outsider()]), outsider())[0],
    )
    assert copied[0] > far[0]
    assert copied[-3] > far[-3], "the nearest is much nearer than the second"
    assert (copied[-2:] > far[-2:]).all()


def test_what_is_typical_is_learnt_from_the_chosen_releases_only(rng):
    """Means and deviations by a naive loop; one target has no release without it, and takes the others' gap."""
    values, members = rng.normal(size=(30, 3, 2)), rng.random((30, 3)) < 0.5
    members[:, 2] = True
    values += members[:, :, None] * [1.0, 3.0]
    known = OwnReleases(values, members, np.ones((30, 3), dtype=bool), np.arange(30))
    chosen = np.arange(30) < 20
    found = Typical.of(known, chosen)
    squares, free = np.zeros((3, 2)), np.zeros(3)
    for t in range(3):
        for side in (True, False):
            mine = values[chosen & (members[:, t] == side), t]
            squares[t] += ((mine - mine.mean(axis=0)) ** 2).sum(axis=0) if len(mine) else 0
        free[t] = 18
    np.testing.assert_allclose(found.centre[0], values[chosen & ~members[:, 0], 0].mean(axis=0))
    np.testing.assert_allclose(found.centre[2], values[chosen, 2].mean(axis=0))
    common = squares.sum(axis=0) / free.sum()
    np.testing.assert_allclose(found.spread, np.sqrt((squares + 4 * common) / (free[:, None] + 4)), rtol=1e-6)
    np.testing.assert_allclose(found.gap[2], found.gap[:2].mean(axis=0), atol=0.5)
    changed = replace(known, values=np.where(chosen[:, None, None], values, 99.0))
    np.testing.assert_array_equal(Typical.of(changed, chosen).signs(values), found.signs(values))


def test_relative_score_is_the_log_likelihood_ratio_of_two_normals():
    from scipy.stats import norm

    typical = Typical(np.array([[1.0]]), np.array([[2.0]]), np.array([[1.5]]))
    values = np.linspace(-3, 8, 7)[:, None, None]
    _, relative = typical.signs(values)[:, 0].T
    ratio = norm.logpdf(values.ravel(), 1 + 1.5 * 2, 2) - norm.logpdf(values.ravel(), 1, 2)
    np.testing.assert_allclose(relative, ratio)


def test_weights_fall_back_on_the_mean_where_nothing_can_be_learnt(rng):
    signs = rng.normal(size=(10, 2 * len(SIGNS.parts)))
    weights = SignWeights.learnt(signs, np.ones(10, dtype=bool))
    assert (weights.each == 0).all()
    assert weights.mean == 0.5
    labels = rng.random(4000) < 0.5
    signs = rng.normal(size=(4000, 2 * len(SIGNS.parts)))
    signs[:, 5] += 2 * labels
    learnt = SignWeights.learnt(signs, labels)
    assert np.abs(learnt.each).argmax() == 5
    assert auc(learnt.log_odds(signs)[labels], learnt.log_odds(signs)[~labels]).value > 0.9


def test_a_planted_copy_is_recognised():
    """Copied with probability p: TPR = p without false alarms, so the AUC is (1+p)/2."""
    own, judged = played(generators.get("copycat", p=0.7), ground(outsider()), shadows=60, tests=200)
    scores = StackedShadow().fit(own, np.random.default_rng(0)).score(judged.blind())
    found = areas(scores, judged.members)
    assert abs(found - 0.85) < 4 * 0.5 * np.sqrt(0.21 / 100)
    assert ((scores >= 0) & (scores <= 1)).all()


def test_nothing_is_found_where_nothing_leaks():
    """Mean AUC of five targets, 200 releases each: deviation .018."""
    people = concatenate([outsider(), crowd(4, seed=5)])
    own, judged = played(generators.get("oblivious"), ground(people), shadows=40, tests=200, rows=60)
    scores = StackedShadow().fit(own, np.random.default_rng(0)).score(judged.blind())
    assert abs(areas(scores, judged.members) - 0.5) < 4 * 0.018


def test_releases_of_one_fit_are_in_one_fold():
    """What a release is compared with never comes from its own fit."""
    own, _ = played(generators.get("independent"), ground(crowd(3, seed=5)), shadows=10, tests=2, releases=6)
    assert own.releases == 6
    np.testing.assert_array_equal(own.fits, np.repeat(np.arange(10), 6))
    seen = []

    def noted(known, chosen):
        seen.append(set(known.fits[chosen]) & set(known.fits[~chosen]))
        return Typical.of(known, chosen)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unmask.attacks.stacked_shadow.Typical", type("Noted", (Typical,), {"of": staticmethod(noted)}))
        StackedShadow().fit(own, np.random.default_rng(0))
    assert len(seen) == 6  # five folds, then all
    assert not any(seen)


def test_several_releases_per_fit_in_an_audit():
    result = attack(
        "cart",
        crowd(400),
        attacks=("stacked-shadow",),
        targets="2",
        shadows=24,
        tests=24,
        releases_per_fit=3,
        train_rows=60,
    )
    assert any(finding.name.startswith("stacked-shadow") for finding in result.findings)


def test_own_releases_in_python():
    tables = [crowd(50, seed=seed) for seed in range(8)]
    members = np.arange(16).reshape(8, 2) % 3 == 0
    pool = pool_of(StackedShadow(), tables, crowd(2, seed=9), members=members)
    assert StackedShadow().fit(pool, np.random.default_rng(0)).score(pool.blind()).shape == (8, 2)


def stack_and_parts(generator, seed, *, rows, shadows, tests):
    """Mean AUC over six people of Adult: of the stack, and of every sign and every relative score by itself."""
    people = adult().take(np.random.default_rng(seed).choice(45_222, 2000, replace=False))
    grounds = lay_ground(people, np.arange(6), Game(rows=rows, synthetic_rows=rows), np.random.default_rng(seed))
    own, judged = played(generators.parse(generator), grounds, shadows=shadows, tests=tests, rows=rows, seed=seed)
    scores = StackedShadow().fit(own, np.random.default_rng(0)).score(judged.blind())
    known = OwnReleases.of(own, SIGNS.key)
    signs = Typical.of(known, np.ones(len(own), dtype=bool)).signs(judged.feature_arrays[SIGNS.key])
    parts = [areas(signs[:, :, place], judged.members) for place in range(signs.shape[2])]
    return areas(scores, judged.members), parts


@pytest.mark.parametrize("generator", ["cart", "copula"])
def test_stack_is_no_worse_than_its_best_part(generator):
    """Paired over seeds on Adult; the best part is the best on average. tabddpm: tests/papers/test_deep.py."""
    found = [stack_and_parts(generator, seed, rows=150, shadows=80, tests=120) for seed in (10, 11, 12)]
    stacked, parts = np.mean([each[0] for each in found]), np.mean([each[1] for each in found], axis=0)
    assert stacked >= parts.max() - 0.01
    assert stacked > 0.55
