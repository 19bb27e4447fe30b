"""The scorer learns what leaks, says nothing where it knows nothing, and treats all units and all runs alike."""

import numpy as np
import pytest

from unmask.attacks.everyone.boosted import BoostedScorer
from unmask.attacks.everyone.scorer import RatioScorer

UNITS, COUNTS, VALUES = 60, 5, 3
GROUPS = ("a", "a", "b", "b", "all")
SCORERS = [RatioScorer(), BoostedScorer(trees=5, smallest_leaf=20)]
both = pytest.mark.parametrize("scorer", SCORERS, ids=["ratio", "boosted"])


def blocks(members: np.ndarray, rng: np.random.Generator, leak: float = 0.0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Features of every run; those of the first half of the units move by `leak` standard deviations if they are in."""
    level = rng.gamma(2.0, 3.0, (members.shape[1], COUNTS))
    found = []
    for inside in members:
        moved = leak * (inside & (np.arange(len(inside)) < len(inside) // 2))[:, None]
        counts = rng.poisson(level + moved * np.sqrt(level)).astype(np.uint16)
        found.append((counts, (rng.normal(5, 2, (len(inside), VALUES)) - 2 * moved).astype(np.float32)))
    return found


def game(runs: int, rng: np.random.Generator, leak: float = 0.0, units: int = UNITS):
    members = rng.random((runs, units)) < 0.5
    return members, blocks(members, rng, leak)


def fit(scorer, known, members):
    return scorer.fit(known.__getitem__, range(len(members)), members, GROUPS)


@both
def test_evidence_points_to_those_who_are_in(scorer, rng):
    members, known = game(80, rng, leak=1.0)
    fitted = fit(scorer, known[:40], members[:40])
    scores = np.stack([fitted.score(block) for block in known[40:]])
    leaking, later = np.arange(UNITS) < UNITS // 2, members[40:]
    assert np.isfinite(scores).all()
    assert np.mean((scores > 0)[:, leaking] == later[:, leaking]) > 0.75
    assert abs(np.mean((scores > 0)[:, ~leaking] == later[:, ~leaking]) - 0.5) < 0.06
    strong = np.abs(scores)
    assert strong[:, leaking].mean() > 2 * strong[:, ~leaking].mean()


@both
def test_runs_may_be_streamed(scorer, rng):
    """The same numbers whether runs stay in memory or are read anew each time, as long as a run is a run."""
    members, known = game(24, rng, leak=1.0)
    asked = []

    def load(run: int):
        asked.append(run)
        return known[run][0].copy(), known[run][1].copy()

    streamed = scorer.fit(load, range(20), members[:20], GROUPS)
    held = fit(scorer, known[:20], members[:20])
    assert np.array_equal(streamed.score(known[21]), held.score(known[21]))
    assert set(asked) == set(range(20))


@both
def test_learning_and_scoring_change_no_input(scorer, rng):
    members, known = game(16, rng, leak=1.0)
    copies, coins = [(counts.copy(), values.copy()) for counts, values in known], members.copy()
    fit(scorer, known[:12], members[:12]).score(known[13])
    assert np.array_equal(coins, members)
    assert all(
        np.array_equal(a, b) for one, two in zip(known, copies, strict=True) for a, b in zip(one, two, strict=True)
    )


def test_equal_results_for_any_order_of_units(rng):
    members, known = game(40, rng, leak=1.0)
    order = rng.permutation(UNITS)
    turned = [(counts[order], values[order]) for counts, values in known]
    one = fit(RatioScorer(), known[:32], members[:32])
    two = fit(RatioScorer(), turned[:32], members[:32][:, order])
    for before, after in zip(known[32:], turned[32:], strict=True):
        assert two.score(after) == pytest.approx(one.score(before)[order], rel=1e-3, abs=1e-4)


def test_equal_results_for_any_order_of_runs(rng):
    members, known = game(33, rng, leak=1.0)
    order = rng.permutation(32)
    one = fit(RatioScorer(), known[:32], members[:32])
    two = fit(RatioScorer(), [known[run] for run in order], members[order])
    assert two.score(known[32]) == pytest.approx(one.score(known[32]), rel=1e-3, abs=1e-4)


def test_no_opinion_about_units_that_were_always_in_or_always_out(rng):
    members, known = game(21, rng, leak=2.0)
    members[:, 0], members[:, 1] = True, False
    fitted = fit(RatioScorer(), known[:20], members[:20])
    assert fitted.score(known[20])[:2].tolist() == [0.0, 0.0]


@both
def test_constant_features_say_nothing(scorer, rng):
    members = rng.random((24, UNITS)) < 0.5
    same = (np.full((UNITS, COUNTS), 3, np.uint16), np.zeros((UNITS, VALUES), np.float32))
    scores = fit(scorer, [same] * 20, members[:20]).score(same)
    assert np.isfinite(scores).all()
    if isinstance(scorer, RatioScorer):
        assert not scores.any()


def test_a_feature_that_never_moved_without_the_unit_tells_once_it_moves(rng):
    """A row that nobody else could have given: its copy is seen, and worth more than its absence."""
    members, known = game(64, rng)
    for inside, (counts, _) in zip(members, known, strict=True):
        counts[:, -1] = inside & (rng.random(UNITS) < 0.5)
    fitted = fit(RatioScorer(), known[:48], members[:48])
    scores, copied = np.stack([fitted.score(b) for b in known[48:]]), np.stack([b[0][:, -1] > 0 for b in known[48:]])
    assert scores[copied].min() > scores[~copied].max()
    assert scores[copied].mean() > 2


@both
def test_permuted_labels_teach_next_to_nothing(scorer, rng):
    """Coins that the features know nothing of: evidence is no better than guessing (99.99 % limit)."""
    right = total = 0
    for seed in range(6):
        own = np.random.default_rng(seed)
        _, known = game(48, own, leak=2.0)
        members = own.random((48, UNITS)) < 0.5
        fitted = fit(scorer, known[:32], members[:32])
        scores = np.stack([fitted.score(block) for block in known[32:]])
        told = scores != 0
        right += int(((scores > 0) == members[32:])[told].sum())
        total += int(told.sum())
    assert abs(right / max(total, 1) - 0.5) < 3.9 * 0.5 / np.sqrt(total)
