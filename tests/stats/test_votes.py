"""The accountant of noisy votes against sums and dp-accounting."""

import math

import numpy as np
import pytest

from unmask.stats.votes import divergence_of_vote, epsilon_of_votes, scale_of_votes, votes_for


@pytest.mark.parametrize("scale", [0.5, 2.0, 20.0])
@pytest.mark.parametrize("order", [1.5, 4.0, 20.0])
def test_the_divergence_is_the_sum(scale, order):
    """1/(a-1) log of the sum of p^a q^(1-a), p and q discrete Laplace that are 1 apart."""
    k = np.arange(-int(60 * scale) - 2, int(60 * scale) + 3)
    weight = -math.log(np.exp(-np.abs(k) / scale).sum())
    logs = -order * np.abs(k) / scale - (1 - order) * np.abs(k - 1) / scale + weight
    assert divergence_of_vote(scale, np.array([order]))[0] == pytest.approx(
        np.logaddexp.reduce(logs) / (order - 1), rel=1e-6
    )


@pytest.mark.parametrize(("scale", "votes", "delta"), [(20.0, 100, 1e-5), (100.0, 4000, 1e-6), (5.0, 3, 1e-5)])
def test_epsilon_is_that_of_dp_accounting_and_above_the_sharpest(scale, votes, delta):
    """Moments of randomised response are theirs; privacy loss distributions of the very noise bound it from below."""
    dp = pytest.importorskip("dp_accounting")
    from dp_accounting import pld, rdp

    same = dp.SelfComposedDpEvent(dp.RandomizedResponseDpEvent(2 / (1 + math.exp(1 / scale)), 2), votes)
    accountant = rdp.RdpAccountant(neighboring_relation=dp.NeighboringRelation.REPLACE_ONE)
    theirs = accountant.compose(same).get_epsilon(delta)
    one = pld.privacy_loss_distribution.from_discrete_laplace_mechanism(1 / scale, sensitivity=1)
    sharpest = one.self_compose(votes).get_epsilon_for_delta(delta)
    ours = epsilon_of_votes(scale, votes, delta)
    assert sharpest * 0.999 <= ours <= theirs * 1.001


def test_one_vote_is_pure():
    assert epsilon_of_votes(4.0, 1, 1e-9) == 0.25
    assert epsilon_of_votes(0.0, 1, 1e-9) == math.inf
    assert epsilon_of_votes(3.0, 0, 1e-9) == 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("scale", [3.0, 40.0, 700.0])
def test_budget_and_votes_are_inverse(epsilon, scale):
    delta = 1e-6
    votes = votes_for(scale, epsilon, delta)
    assert epsilon_of_votes(scale, votes + 1, delta) > epsilon
    if votes:
        assert epsilon_of_votes(scale, votes, delta) <= epsilon * (1 + 1e-9)
        least = scale_of_votes(votes, epsilon, delta)
        assert least <= scale * (1 + 1e-9)
        assert epsilon_of_votes(least, votes, delta) <= epsilon * (1 + 1e-9)
        assert epsilon_of_votes(least * 0.999, votes, delta) > epsilon
