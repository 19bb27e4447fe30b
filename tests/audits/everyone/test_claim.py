"""A claim against all coins: of whom it is asked, and when it is refuted, to the very edge."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from unmask.audits.everyone.claim import claim_finding, hold_against_coins
from unmask.audits.everyone.evidence import Evidence, Judged
from unmask.audits.everyone.pooled import pooled_bound
from unmask.generators.claim import Claim, Neighbours
from unmask.results.policy import Severity
from unmask.stats import epsilon_one_run
from unmask.threats.coins import CoinGame
from unmask.threats.knowledge import Coins


@pytest.fixture
def held(rng):
    """Twelve people, of whom four have one row; only they are given away."""
    game = CoinGame.of(Coins.INDEPENDENT, 12, rng)
    members = rng.random((40, 12)) < 0.5
    scores = np.where(np.arange(12) < 4, np.where(members, 5.0, -5.0), rng.normal(size=members.shape))
    judged = Judged(Evidence(scores[:20], members[:20]), Evidence(scores[20:], members[20:]), 20)

    def hold(claim, sizes=(1,) * 4 + (2,) * 8, coins=Coins.INDEPENDENT):
        units = SimpleNamespace(sizes=np.array(sizes))
        setting = SimpleNamespace(generator=object(), game=game, features=SimpleNamespace(units=units))
        return hold_against_coins(claim, judged, setting=setting, coins=coins, confidence=0.95)

    def bound(chosen):
        return pooled_bound(judged, game, chosen, confidence=0.95)

    return hold, bound


def test_a_claim_per_row_is_held_against_people_of_one_row(held):
    hold, bound = held
    assert hold(Claim(1.0)) == bound(np.arange(12) < 4)
    assert hold(Claim(1.0, unit="person")) == bound(np.ones(12, dtype=bool))
    assert hold(Claim(1.0)) != hold(Claim(1.0, unit="person"))


def test_two_people_of_one_row_are_enough_and_one_is_not(held):
    hold, bound = held
    assert hold(Claim(1.0), (1, 1) + (3,) * 10) == bound(np.arange(12) < 2)
    alone = hold(Claim(1.0), (1,) + (3,) * 11)
    assert "no people with a single row" in alone.reason


def test_claims_that_cannot_be_held_say_why(held):
    hold, _ = held
    assert "void: because" in hold(Claim(1.0, void="because")).reason
    assert "infinite" in hold(Claim(math.inf)).reason
    other = hold(Claim(1.0, neighbours=Neighbours.REPLACE))
    assert "the coins are" in other.reason
    assert other.remedy == "use --coins auto"


def test_a_claim_is_refuted_above_it_and_not_at_it():
    bound = epsilon_one_run(90, 100, coins=100)
    for epsilon, severity in ((bound.value, Severity.NONE), (bound.value - 1e-9, Severity.HIGH)):
        found = claim_finding(Claim(epsilon), bound, threat="anyone")
        assert found.severity is severity
        assert ("is not refuted" in found.title) is (severity is Severity.NONE)
        assert (found.estimate.value, found.estimate.low, found.baseline.value) == (bound.value, bound.value, epsilon)
        assert (found.estimate.n, found.baseline.n) == (100, 0), "a claim counts nobody"
