"""Wealth against a claim: guesses come before coins, luck earns nothing, and a perfect attack names the leak."""

import math

import numpy as np
import pytest

from unmask.attacks.claim._attack import ABSTAIN, IN, OUT
from unmask.attacks.claim.fingerprint import Fingerprint
from unmask.attacks.claim.learnt import BestStatistic, Ridge
from unmask.attacks.claim.static import Static
from unmask.attacks.claim.wager import Wager
from unmask.generators.claim import Claim

PRINTS = ("a", "b")


def test_guesses_are_made_before_the_coin_is_known():
    """An attack that reads the coin out of its own history sees only earlier coins: its guess is predictable."""
    heard = []

    class Spy(Fingerprint):
        def guess(self, seen, prints):
            heard.append(len(self.times))
            return ABSTAIN

        def watch(self, prints, coin):
            self.times[str(len(self.times))] = [int(coin), 0]

    wager = Wager.start(Claim(1.0), [[Spy("spy", "", 0)]], confidence=0.95)
    for index in range(5):
        wager.observe(0, bool(index % 2), {"x": float(index)}, PRINTS)
    assert heard == [0, 1, 2, 3, 4]


def test_shuffled_coins_earn_nothing(rng):
    """Regions learnt from the past and judged on independent coins: the wealth is a supermartingale (mean at most 1)."""
    final = []
    for _ in range(60):
        attacks = [BestStatistic("best", "", 0.0, lambda name: True), Ridge("all", "", 0.0, lambda name: True)]
        wager = Wager.start(Claim(0.0), [attacks], confidence=0.95)
        for _ in range(100):
            wager.observe(0, bool(rng.random() < 0.5), {name: rng.normal() for name in "abc"}, PRINTS)
        final.append(math.exp(wager.trail[-1]))
    assert np.mean(final) < 1.5
    assert sum(wealth >= 20 for wealth in final) <= 8  # 99.9 % limit of 5 % in 60


def test_failed_runs_abstain_and_are_counted():
    wager = Wager.start(Claim(1.0), [[Static("sure", "", lambda seen: IN)]], confidence=0.95)
    wager.abstain(True, "no memory")
    assert wager.runs == 1
    assert wager.failed == [(True, "no memory")]
    assert wager.trail[-1] == 0.0


def test_a_perfect_attack_refutes_and_names_the_leak():
    attacks = [
        Static("dull", "nothing", lambda seen: ABSTAIN),
        Static("sharp", "all", lambda seen: IN if seen["x"] else OUT),
    ]
    wager = Wager.start(Claim(1.0), [attacks], confidence=0.95)
    for index in range(40):
        wager.observe(0, index % 2 == 0, {"x": float(index % 2 == 0)}, PRINTS)
    assert wager.refuted
    assert wager.leader().name == "sharp"
    assert wager.bound().value >= 1.0


def test_wealth_is_shared_by_weight_and_starts_at_one():
    attacks = [Static("a", "", lambda seen: ABSTAIN, weight=3.0), Static("b", "", lambda seen: ABSTAIN)]
    wager = Wager.start(Claim(1.0), [attacks], confidence=0.95)
    assert np.exp(wager.betting.log_wealth[:, 0]) == pytest.approx([1.5, 0.5])
    wager.observe(0, True, {"x": 0.0}, PRINTS)
    assert wager.trail[0] == pytest.approx(0.0)
