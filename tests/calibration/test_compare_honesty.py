"""Two mechanisms that are alike must not be told apart more often than stated; limits are the 99.9 % binomial ones."""

import numpy as np
import pytest

from unmask.audits.compare.axes import PRIVACY, UTILITY, CompareAxis, Contrasts, mean_of
from unmask.audits.compare.dominance import dominated
from unmask.stats.cases import Cases
from unmask.stats.paired import paired_gain

pytestmark = pytest.mark.calibration

COMPARISONS = 200


def games(rng, mechanisms, *, releases=60, targets=6, whole=0.0, advantage=0.2):
    """Guesses about the same coins by mechanisms of one advantage; with probability `whole` a release gives all away."""
    members = rng.random((releases, targets)) < 0.5
    guesses = []
    for _ in range(mechanisms):
        luck = rng.random(members.shape)
        right = np.where(members, luck < 0.5 + advantage / 2, luck < 0.5 - advantage / 2)
        given = rng.random((releases, 1)) < whole
        guesses.append(np.where(given, members, right))
    return members, guesses


def axes(rng, mechanisms, **how):
    members, guesses = games(rng, mechanisms, **how)
    cases = Cases.of(np.arange(len(members)).repeat(members.shape[1]), members.size)
    table = rng.normal(size=(20, 1))  # what all mechanisms share: the real table of the draw
    use = 0.8 + 0.05 * table + 0.02 * rng.standard_t(5, size=(20, mechanisms))

    def gain(one, other, sure):
        return paired_gain(
            guesses[int(other)].ravel(), guesses[int(one)].ravel(), members.ravel(), cases=cases, confidence=sure
        )

    def kept(one, other, sure):
        return mean_of(use[:, int(one)] - use[:, int(other)], sure)

    return CompareAxis("gain", "gain", PRIVACY, {}, gain), CompareAxis("use", "use", UTILITY, {}, kept)


@pytest.mark.parametrize("whole", [0.0, 0.1])
def test_two_that_are_alike_are_not_told_apart(whole):
    """Two copies, each with noise of its own: at 95 % at most 1 in 20 comparisons may tell them apart in anything (limit: 21)."""
    rng = np.random.default_rng(16)
    names = ("0", "1")
    told = 0
    for _ in range(COMPARISONS):
        contrasts = Contrasts.of(axes(rng, 2, whole=whole), names, 0.95)
        told += any(each.sign for each in contrasts.each.values())
    assert told <= 21


def test_statements_about_four_alike_hold_together():
    """Of four copies none may seem dominated, or better in anything, in more than 1 of 20 comparisons (limit: 21)."""
    rng = np.random.default_rng(17)
    names = ("0", "1", "2", "3")
    told = 0
    for _ in range(COMPARISONS):
        contrasts = Contrasts.of(axes(rng, 4, releases=40), names, 0.95)
        wrong = any(each.sign for each in contrasts.each.values())
        assert wrong or not dominated(contrasts)
        told += wrong
    assert told <= 21
