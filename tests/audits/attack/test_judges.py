"""The judges of a game by themselves, on made-up draws: thresholds from releases that are not judged, shares of the error."""

from types import SimpleNamespace

import numpy as np
import pytest

from unmask.audits.attack.judges import (
    Bench,
    Played,
    Scored,
    advantages,
    judge_of,
    membership_guesses,
    raw_judge_of,
    success_of,
    tolerance_of,
)
from unmask.simulation.target_pool import Draws
from unmask.stats.outcomes import best_threshold, judge_attribute, judge_membership, standardised
from unmask.threats.knowledge import Goal

RUNS, TARGETS = 60, 3


def draws(rng, runs=RUNS, active=None, scores=None):
    members = rng.random((runs, TARGETS)) < 0.5
    secrets = rng.integers(0, 4, (runs, TARGETS)).astype(float)
    active = np.ones(members.shape, dtype=bool) if active is None else active
    return Draws(members, secrets, active, {}, scores or {}, {}, ())


@pytest.fixture
def played(rng):
    """A game of membership about three targets in two groups; `raw` matches members always."""
    published = draws(rng, 20)
    published.scores["record-linkage"] = np.where(published.members, 1.0, 0.5)
    plan = SimpleNamespace(goal=Goal.MEMBERSHIP, seed=1, tolerance=None)
    setting = SimpleNamespace(game=SimpleNamespace(prior=0.5), attacks={"distance": None}, secret=None)

    class Targets(SimpleNamespace):
        def __len__(self):
            return TARGETS

    targets = Targets(groups=("odd", "usual", "odd"))
    return Played(plan, setting, targets, draws(rng, 30), draws(rng), published, 0.9)


def same(found, other):
    return (found.tpr, found.fpr, found.advantage, found.adjusted_low) == (
        other.tpr, other.fpr, other.advantage, other.adjusted_low,
    )  # fmt: skip


def test_groups_keep_their_order_and_know_their_targets(played):
    assert played.groups == ("odd", "usual")
    assert played.in_group("odd").tolist() == [0, 2]


def test_a_shadow_attack_guesses_member_from_one_half_on(played, rng):
    chance = np.where(played.test.members, 0.5, 0.49)
    scores, thresholds, judged = membership_guesses(played, Scored("learnt", chance, None))
    assert np.array_equal(scores, chance)
    assert thresholds.tolist() == [0.5] * TARGETS
    assert judged.all()
    found = judge_of(played, Scored("learnt", chance, None), 1)(np.arange(TARGETS))
    assert (found.tpr.value, found.fpr.value) == (1.0, 0.0)


def test_without_shadows_the_first_half_of_each_targets_releases_sets_its_threshold(played, rng):
    """Which is then not judged; an odd release out is judged."""
    active = np.ones((RUNS, TARGETS), dtype=bool)
    active[:5, 1] = False
    test = draws(rng, active=active)
    game = Played(played.plan, played.setting, played.targets, played.shadow, test, played.published, 0.9)
    raw = rng.normal(size=test.members.shape) + test.members
    scores, thresholds, judged = membership_guesses(game, Scored("distance", raw, None))
    for target in range(TARGETS):
        mine = np.flatnonzero(active[:, target])
        early, late = mine[: len(mine) // 2], mine[len(mine) // 2 :]
        assert np.flatnonzero(judged[:, target]).tolist() == late.tolist()
        absent = raw[early, target][~test.members[early, target]]
        expected = (raw[:, target] - absent.mean()) / absent.std()
        assert scores[:, target] == pytest.approx(expected)
        assert thresholds[target] == pytest.approx(best_threshold(expected[early], test.members[early, target]))


def test_shadows_set_the_threshold_and_every_release_is_judged(played, rng):
    raw, shadow = rng.normal(size=(RUNS, TARGETS)), rng.normal(size=(30, TARGETS)) + played.shadow.members
    scores, thresholds, judged = membership_guesses(played, Scored("distance", raw, shadow))
    assert judged.all()
    assert scores == pytest.approx(standardised(raw, shadow, played.shadow.members))
    common = standardised(shadow, shadow, played.shadow.members)
    expected = [best_threshold(common[:, t], played.shadow.members[:, t]) for t in range(TARGETS)]
    assert thresholds == pytest.approx(expected)
    found = judge_of(played, Scored("distance", raw, shadow), 2)(np.array([1]))
    plain = judge_membership(
        scores[:, 1], played.test.members[:, 1], thresholds[1], confidence=0.9, tests=2, releases=np.arange(RUNS)
    )
    assert same(found, plain)


def test_findings_share_the_error_and_so_do_targets_where_all_must_hold(played, rng):
    """Two attacks on two groups are four tests; on three targets six."""
    scored = [Scored(name, rng.random((RUNS, TARGETS)), None) for name in ("one", "two")]
    bench = Bench.of(played, scored)
    assert bench.tests == 4
    everybody = np.arange(TARGETS)
    assert same(bench.judges["one"](everybody), judge_of(played, scored[0], 4)(everybody))
    sure = bench.strict["one"](everybody)
    assert sure.advantage.confidence == pytest.approx(1 - 0.1 / 6)
    assert sure.adjusted_low == sure.advantage.low
    assert [one.n for one in advantages(bench.judges["one"], everybody)] == [RUNS] * TARGETS


def test_a_target_that_was_never_out_has_no_advantage(played, rng):
    played.test.members[:, 0] = True
    judge = judge_of(played, Scored("learnt", rng.random((RUNS, TARGETS)), None), 1)
    assert len(list(advantages(judge, np.arange(TARGETS)))) == TARGETS - 1


def test_a_literal_match_is_a_match_in_the_published_table(played):
    found = raw_judge_of(played)(np.arange(TARGETS))
    assert (found.tpr.value, found.fpr.value) == (1.0, 0.0)
    played.published.scores["record-linkage"] -= 1e-9
    assert raw_judge_of(played)(np.arange(TARGETS)).tpr.value == 0.0


def of_secrets(played, secret, **plan):
    setting = SimpleNamespace(game=SimpleNamespace(prior=0.5), attacks={}, secret=secret, ground=played.setting)
    chosen = SimpleNamespace(**{"goal": Goal.ATTRIBUTE, "seed": 1, "tolerance": None} | plan)
    return Played(chosen, setting, played.targets, played.shadow, played.test, played.published, 0.9)


def test_numbers_are_right_within_the_tolerance_and_have_a_density_where_the_attack_gives_a_scale(played):
    """N(mean, scale) at the truth: at one standard deviation e^-1/2 / (scale sqrt(2 pi))."""
    game = of_secrets(played, SimpleNamespace(levels=(), position=0), tolerance=0.5)
    assert tolerance_of(game) == 0.5
    truth = np.zeros((2, 2))
    mean = np.array([[0.5, -0.51], [2.0, 0.0]])
    right, density = success_of(game, np.stack([mean, np.full((2, 2), 2.0)], axis=-1), truth, "any")
    assert right.tolist() == [[True, False], [False, True]]
    assert density[1].tolist() == pytest.approx([np.exp(-0.5) / np.sqrt(8 * np.pi), 1 / np.sqrt(8 * np.pi)])
    right, none = success_of(game, mean, truth, "any")
    assert right.tolist() == [[True, False], [False, True]]
    assert none is None


def test_categories_are_guessed_by_the_highest_score(played, rng):
    game = of_secrets(played, SimpleNamespace(levels=("a", "b", "c", "d"), position=0))
    scores = rng.random((RUNS, TARGETS, 4))
    right, density = success_of(game, scores, played.test.secrets, "any")
    assert density is None
    assert np.array_equal(right, scores.argmax(axis=-1) == played.test.secrets)
    found = judge_of(game, Scored("any", scores, None), 3)(np.array([0, 2]))
    chosen = [0, 2]
    plain = judge_attribute(
        right[:, chosen].ravel(), played.test.members[:, chosen].ravel(), None, confidence=0.9, tests=3,
        releases=np.repeat(np.arange(RUNS), 2),
    )  # fmt: skip
    assert (found.with_person, found.without_person, found.advantage) == (
        plain.with_person, plain.without_person, plain.advantage,
    )  # fmt: skip
    assert found.adjusted_low == plain.adjusted_low
