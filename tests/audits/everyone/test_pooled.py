"""Pooled figures against naive ones, intervals against the truth, and a bound whose guesses never hang on the coins."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import roc_auc_score

from unmask.audits.everyone import pooled
from unmask.audits.everyone.evidence import Evidence, Judged
from unmask.audits.everyone.pooled import (
    GuessCounts,
    _auc_without,
    _candidates,
    _falling,
    _histograms,
    _Ranked,
    _tpr_without,
    judge_pooled,
    per_coin,
    pooled_bound,
)
from unmask.stats import auc, epsilon_one_run, roc_curve
from unmask.threats.coins import CoinGame
from unmask.threats.knowledge import Coins

RUNS, UNITS = 24, 50


def evidence(rng, runs: int = RUNS, units: int = UNITS, leak: float = 1.0, grid: float = 0.0) -> Evidence:
    """Every run has a strength of its own, so that its units are no independent examples."""
    members = rng.random((runs, units)) < 0.5
    strength = leak * rng.gamma(2.0, 0.5, (runs, 1))
    scores = rng.normal(size=members.shape) + strength * (members - 0.5)
    return Evidence(np.round(scores / grid) * grid if grid else scores, members)


def naive_tpr(found: Evidence, fpr: float) -> float:
    scores, inside = found.log_ratios.ravel(), found.members.ravel()
    falling = np.sort(scores[~inside])[::-1]
    above = falling[int(np.floor(fpr * len(falling) + 1e-9))]
    return float((scores[inside] > above).mean())


@pytest.mark.parametrize("grid", [0.0, 0.4], ids=["no ties", "ties"])
def test_figures_equal_naive_ones(grid, rng):
    found = evidence(rng, grid=grid)
    pooled = judge_pooled(found, confidence=0.9)
    scores, inside = found.log_ratios.ravel(), found.members.ravel()
    assert pooled.auc.value == pytest.approx(roc_auc_score(inside, scores))
    assert pooled.tpr.value == pytest.approx((scores[inside] > 0).mean())
    assert pooled.fpr.value == pytest.approx((scores[~inside] > 0).mean())
    assert pooled.advantage.value == pytest.approx(pooled.tpr.value - pooled.fpr.value)
    assert [point.value for point in pooled.tpr_at] == pytest.approx([naive_tpr(found, 0.01), naive_tpr(found, 0.001)])


def test_intervals_are_those_of_a_jackknife_by_hand(rng):
    found = evidence(rng)
    pooled = judge_pooled(found, confidence=0.9)
    left = [
        judge_pooled(Evidence(np.delete(found.log_ratios, run, 0), np.delete(found.members, run, 0)), confidence=0.9)
        for run in range(RUNS)
    ]
    for name in ("auc", "tpr", "fpr", "advantage"):
        values = np.array([getattr(each, name).value for each in left])
        spread = np.sqrt((RUNS - 1) / RUNS * ((values - values.mean()) ** 2).sum())
        estimate = getattr(pooled, name)
        assert estimate.high - estimate.low == pytest.approx(2 * 1.645 * spread, rel=0.12), name


def test_figures_without_a_run_are_those_of_the_other_runs(rng):
    """Fewer scores than bins: the histograms lose nothing, so they equal plain figures of what is left."""
    found = evidence(rng, runs=10)
    inside, outside = _histograms(found.log_ratios, found.members)
    areas, rates = _auc_without(inside, outside), _tpr_without(inside, outside, 0.1)
    for run in range(10):
        scores, members = np.delete(found.log_ratios, run, 0), np.delete(found.members, run, 0)
        curve = roc_curve(scores[members], scores[~members])
        assert areas[run] == pytest.approx(auc(scores[members], scores[~members]).value)
        assert rates[run] == pytest.approx(np.interp(0.1, curve.fpr, curve.tpr), abs=0.02)


def test_limits_of_the_figures_are_what_they_can_be():
    """Nothing but right guesses in two of three runs: no rate above 1 or below 0, an advantage down to -1."""
    members = np.tile([True, False], (3, 4))
    found = judge_pooled(Evidence(np.where(members, 1.0, -1.0) * np.array([[1], [1], [-1]]), members), confidence=0.95)
    assert (found.tpr.low, found.tpr.high) == (0.0, 1.0)
    assert found.tpr.value == pytest.approx(2 / 3)
    assert (found.advantage.low, found.advantage.high) == (-1.0, 1.0)
    assert found.advantage.value == pytest.approx(1 / 3)


def test_guesses_are_counted_from_both_ends_of_each_run(rng):
    found = evidence(rng, runs=5, units=12)
    ranked = _Ranked.of(found)
    for top, bottom in ((1, 0), (3, 3), (6, 6), (12, 0), (2, 5)):
        right = 0
        for scores, inside in zip(found.log_ratios, found.members, strict=True):
            order = np.argsort(-scores)
            right += inside[order[:top]].sum() + (~inside[order[12 - bottom :]]).sum()
        assert ranked.right(GuessCounts(top, bottom)) == right


def test_a_promise_is_the_rule_of_succession_less_both_errors(rng):
    found = evidence(rng, runs=5, units=12)
    ranked, guesses = _Ranked.of(found), GuessCounts(2, 1)
    made, later = 3 * 5, 3 * 8
    share = (ranked.right(guesses) + 1) / (made + 2)
    expected = share - 1.645 * np.sqrt(share * (1 - share) * (1 / made + 1 / later))
    assert ranked.promise(guesses, 8) == pytest.approx(expected)


@pytest.mark.parametrize("coins", [1, 7, 200, 1000])
def test_numbers_of_guesses_go_up_to_half_on_either_side_without_large_steps(coins):
    found = [(each.top, each.bottom) for each in _candidates(coins)]
    tops = sorted({top for top, _ in found})
    assert all(bottom in (0, top) and 0 < top + bottom <= coins for top, bottom in found)
    assert tops[0] <= max(1, coins // 200)
    assert tops[-1] == max(1, round(coins / 2))
    assert max(np.diff(tops), default=0) <= max(1, 0.1 * coins)
    assert max(np.diff([top for top in tops if top <= 0.3 * coins]), default=0) <= max(1, 0.05 * coins)


def test_without_early_runs_a_tenth_is_guessed_on_either_side(counted, rng):
    game = CoinGame.of(Coins.INDEPENDENT, 35, rng)
    for units, made in ((35, 3 + 3), (8, 1 + 0)):
        late = evidence(rng, runs=4, units=35)
        chosen = np.arange(35) < units
        silent = np.zeros((2, 35), dtype=bool)
        pooled_bound(Judged(None, late, 4, None, silent), game, chosen, confidence=0.95)
        assert counted[-1][1:] == (4 * made, 6 * units), "coins of runs that failed count"


@pytest.fixture
def counted(monkeypatch):
    """What the bound was computed from: right guesses, guesses, coins."""
    calls = []

    def watch(correct, guesses, *, coins, **others):
        calls.append((correct, guesses, coins))
        return epsilon_one_run(correct, guesses, coins=coins, **others)

    monkeypatch.setattr(pooled, "epsilon_one_run", watch)
    return calls


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("coins", list(Coins))
def test_guesses_never_hang_on_late_coins(coins, delta, counted, rng):
    """Flip late coins one by one: that shows which are guessed, and how; all other coins must then agree with it."""
    units = 13
    game = CoinGame.of(coins, units, rng)

    def dealt(runs: int) -> np.ndarray:
        return np.stack([game.deal(rng) for _ in range(runs)])

    early, late = (Evidence(rng.normal(size=(runs, units)).round(1), dealt(runs)) for runs in (9, 6))

    def right(members: np.ndarray) -> int:
        pooled_bound(
            Judged(early, Evidence(late.log_ratios, members), 20), game, game.coined, confidence=0.95, delta=delta
        )
        return counted[-1][0]

    def flipped(run: int, unit: int) -> np.ndarray:
        other = late.members.copy()
        for each in (unit,) if game.partners is None else (unit, game.partners[unit]):
            other[run, each] = ~other[run, each]
        return other

    base = right(late.members)
    change = {(run, unit): right(flipped(run, unit)) - base for run in range(6) for unit in game.firsts}
    assert set(change.values()) <= {-1, 0, 1}
    for _ in range(30):
        members = dealt(6)
        differs = members != late.members
        assert right(members) == base + sum(step for place, step in change.items() if differs[place])
    assert len({made for _, made, _ in counted}) == 1
    assert {asked for *_, asked in counted} == {6 * len(game.firsts)}


def test_the_number_of_guesses_comes_from_early_coins(counted, rng):
    """The early runs say that only few are worth guessing about; without them a tenth on either side is guessed."""
    game, everyone = CoinGame.of(Coins.INDEPENDENT, 200, rng), np.ones(200, dtype=bool)
    members = rng.random((60, 200)) < 0.5
    scores = rng.normal(size=members.shape)
    scores[:, :4] = np.where(members[:, :4], 9, -9)
    few = Judged(Evidence(scores[:30], members[:30]), Evidence(scores[30:], members[30:]), 30)
    bound = pooled_bound(few, game, everyone, confidence=0.95)
    assert counted[-1][1] < 0.04 * 6000
    assert bound.value > pooled_bound(Judged(None, few.late, 30), game, everyone, confidence=0.95).value
    assert counted[-1][1] == 30 * 40


def test_a_pair_is_one_coin_and_both_halves_speak(rng):
    game = CoinGame.of(Coins.PAIRED, 9, rng)
    members = np.stack([game.deal(rng) for _ in range(4)])
    found = per_coin(Evidence(rng.normal(size=members.shape), members), game, game.coined)
    assert found.members.shape == (4, 4)
    whole = Evidence(np.where(members, 2.0, -1.0), members)
    assert np.array_equal(per_coin(whole, game, game.coined).log_ratios, np.where(found.members, 3.0, -3.0))


@pytest.mark.parametrize("truth", [0.0, 1.0])
@pytest.mark.parametrize("coins", list(Coins))
def test_the_bound_is_honest_and_near_for_randomised_response(truth, coins):
    """Every coin is told, with a lie now and then: above the truth in at most 5 % (99.9 % limit of 60: 9)."""
    q, above, found = np.exp(truth) / (1 + np.exp(truth)), 0, []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        game = CoinGame.of(coins, 60, rng)
        members = np.stack([game.deal(rng) for _ in range(64)])
        told = np.where(rng.random(members.shape) < q, members, ~members)
        if game.partners is not None:  # the pair is told about once
            told[:, game.partners[game.firsts]] = ~told[:, game.firsts]
        judged = Judged(
            *(Evidence(np.where(told, 1.0, -1.0)[part], members[part]) for part in (slice(0, 32), slice(32, 64))), 32
        )
        found.append(pooled_bound(judged, game, game.coined, confidence=0.95).value)
    above = sum(value > truth for value in found)
    assert above <= binom.ppf(0.999, 60, 0.05)
    assert truth == 0 or np.median(found) > 0.8 * truth


@pytest.mark.parametrize("digits", [0, 1, 12])
def test_places_from_the_highest_score_down_keep_ties_in_order(digits, rng):
    scores = np.round(rng.normal(size=500), digits) + 0.0
    assert _falling(scores).tolist() == sorted(range(500), key=lambda place: -scores[place])
