"""Effective epsilon against the paper's text, by hand; and that the bound is a bound (more of it under calibration)."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from tests.stats.mechanisms import Laplace, RandomisedResponse
from unmask.errors import ParameterError
from unmask.stats import Contender, ErrorCounts, Split, choosing, effective_epsilon, epsilon_of_attack


def upper(k, n, level):
    return 1.0 if k >= n else beta.ppf(level, k + 1, n - k)


def ratio(fpr, fnr, delta):
    """Theorem 1 of the paper with TP = 1 - FNR: the larger of both ratios, in logs."""
    with np.errstate(divide="ignore", invalid="ignore"):
        both = [np.log(max(1 - fnr - delta, 0) / fpr), np.log(max(1 - fpr - delta, 0) / fnr)]
    return np.nanmax(both)


def naive(contenders, delta, confidence):
    """Choose attack and threshold on the tenth by the bound that it promises, then bound by Clopper-Pearson on the rest."""
    level, best = 0.5 + confidence / 2, (-np.inf, None, None)
    for place, each in enumerate(contenders):
        few, many = each.chooses, ~each.chooses
        for cut in np.unique(each.scores[few]):
            rates = []
            for side, wrong in ((~each.members, each.scores >= cut), (each.members, each.scores < cut)):
                here, there = (few & side).sum(), (many & side).sum()
                n = 1 / (1 / here + 1 / there)
                rates.append(upper(wrong[few & side].mean() * n, n, level))
            if (promise := ratio(*rates, delta)) > best[0]:
                best = (promise, place, cut)
    _, place, cut = best
    won = contenders[place]
    many, flagged = ~won.chooses, won.scores >= cut
    alarms, misses = flagged[many & ~won.members], ~flagged[many & won.members]
    fpr, fnr = (upper(wrong.sum(), wrong.size, level) for wrong in (alarms, misses))
    return place, max(0.0, ratio(fpr, fnr, delta))


def contenders(rng, runs=80, attacks=4, levels=5):
    """Scores with few values, so that a threshold between two of them is one of them."""
    chooses = choosing(np.ones((runs, 1), bool), split=Split(0.3), rng=rng)[:, 0]
    members = rng.random(runs) < 0.5
    leaks = rng.random(attacks)
    return [
        Contender.of(np.where(rng.random(runs) < leak, 4 * members, rng.integers(0, levels, runs)), members, chooses)
        for leak in leaks
    ]


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.2])
def test_the_procedure_is_that_of_the_paper(delta):
    rng, seen = np.random.default_rng(3), 0
    for _ in range(25):
        found = contenders(rng)
        result = effective_epsilon(found, confidence=0.9, delta=delta)
        place, value = naive(found, delta, 0.9)
        assert (result.winner, result.bound.delta) == (place, delta)
        assert result.bound.value == pytest.approx(value)
        assert result.chosen_on == 24
        assert result.bound.n == 56
        seen += value > 0
    assert seen > 5


def test_a_tenth_of_the_releases_of_each_target_chooses(rng):
    together = choosing(np.ones((200, 3), bool), rng=rng)
    assert together.sum(axis=0).tolist() == [20, 20, 20]
    assert (together == together[:, :1]).all()  # whole releases, whoever the target is
    alone = np.eye(3, dtype=bool)[rng.integers(0, 3, 200)]
    apart = choosing(alone, rng=rng)
    assert not (apart & ~alone).any()
    assert apart.sum(axis=0).tolist() == np.rint(alone.sum(axis=0) / 10).tolist()
    assert choosing(np.ones((3, 1), bool), rng=rng).sum() == 1


def test_what_was_chosen_on_is_not_judged(rng):
    """Scores of the choosing releases that tell everything do not move the bound of one that tells nothing."""
    members, chooses = rng.random(400) < 0.5, np.arange(400) < 40
    scores = np.where(chooses, members, rng.random(400))
    found = effective_epsilon([Contender.of(scores, members, chooses)])
    assert found.bound.value == 0
    assert found.bound.n == 360


def test_the_first_of_equal_attacks_wins_and_none_where_a_side_is_empty(rng):
    members, chooses = np.arange(40) % 2 == 0, np.arange(40) < 4
    each = Contender.of(rng.random(40), members, chooses)
    assert effective_epsilon([each, each]).winner == 0
    never = Contender.of(each.scores, np.where(chooses, True, members), chooses)
    assert effective_epsilon([never]) is None
    assert effective_epsilon([never, each]).winner == 1
    assert effective_epsilon([]) is None
    with pytest.raises(ParameterError, match="one coin"):
        Contender.of(np.ones(3), np.ones(2, bool), np.ones(3, bool))


def test_lost_releases_are_misses(rng):
    members, chooses = np.arange(400) % 2 == 0, np.arange(400) < 40
    found = [Contender.of(members.astype(float), members, chooses)]
    whole, lossy = effective_epsilon(found), effective_epsilon(found, lost=20)
    assert lossy.bound.n == whole.bound.n + 20
    assert 0 < lossy.bound.value < whole.bound.value


def test_a_larger_delta_gives_a_smaller_bound(rng):
    members, chooses = np.arange(400) % 2 == 0, np.arange(400) < 40
    scores = members + rng.normal(0, 0.7, 400)
    bounds = [
        effective_epsilon([Contender.of(scores, members, chooses)], delta=delta).bound.value
        for delta in (0, 0.01, 0.1, 0.4)
    ]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[-1]


def test_the_interval_of_one_attack_is_the_box_of_its_error_rates():
    found = epsilon_of_attack(ErrorCounts(3, 60, 10, 70), confidence=0.9, delta=0.01)
    level = 0.975  # four ends share a tenth
    most = [upper(k, n, level) for k, n in ((3, 60), (10, 70))]
    least = [beta.ppf(1 - level, k, n - k + 1) for k, n in ((3, 60), (10, 70))]
    assert found.value == pytest.approx(ratio(3 / 60, 10 / 70, 0.01))
    assert found.interval == pytest.approx((ratio(*most, 0.01), ratio(*least, 0.01)))
    perfect = epsilon_of_attack(ErrorCounts(0, 50, 0, 50))
    assert perfect.value == perfect.high == np.inf
    assert 1 < perfect.low < 3
    nothing = epsilon_of_attack(ErrorCounts(50, 50, 50, 50))
    assert (nothing.value, nothing.low) == (0, 0)


@pytest.mark.parametrize("mechanism", [RandomisedResponse(1.0), Laplace(1.0)])
def test_the_bound_is_seldom_above_the_truth(mechanism):
    """60 audits of 120 releases, four attacks of which three know nothing: at most 9 at 5 % (99.9 % limit)."""
    rng, above = np.random.default_rng(5), 0
    for _ in range(60):
        members, chooses = rng.random(120) < 0.5, np.arange(120) < 12
        inside, outside = mechanism.draw(120, rng)
        scores = [np.where(members, inside, outside), *rng.random((3, 120))]
        found = effective_epsilon([Contender.of(each, members, chooses) for each in scores])
        above += found.bound.value > mechanism.epsilon
    assert above <= binom.ppf(0.999, 60, 0.05) == 9
