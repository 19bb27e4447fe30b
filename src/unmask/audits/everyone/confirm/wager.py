"""Wealth in the exact game about one person: attacks bet on each coin from what the pool and earlier runs taught them.

Bets on two regions of outputs are those of the audit of a claim (`attacks.claim`), here against "epsilon 0: the release does not
depend on this person". Beside them stands a graded bet on what the scorer of the pool says. All are averaged, none is
chosen afterwards, so the person may be looked at after any run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit

from unmask.attacks.claim._attack import ABSTAIN, IN, OUT, ClaimAttack
from unmask.attacks.claim.fingerprint import Fingerprint
from unmask.attacks.claim.learnt import BestStatistic, Ridge
from unmask.attacks.claim.static import Static, static_attacks
from unmask.attacks.claim.wager import Wager
from unmask.attacks.everyone.pool_score import PoolLesson, PoolScore
from unmask.generators.claim import Claim
from unmask.simulation.person import RATIO
from unmask.simulation.task import Arrays, Failed
from unmask.stats import stakes
from unmask.stats.bets import MOST, STAKE
from unmask.stats.epsilon.anytime import largest_below
from unmask.stats.epsilon.betting import CAUTION
from unmask.threats.pairs import Pair

HALF = math.log(0.5)  # the share of the first wealth that is bet on regions; the graded bet has the other one
ADVANTAGES = np.arange(100) / 100


def attacks_on(pair: Pair, scorer: PoolScore, *, white_box: bool) -> list[ClaimAttack]:
    """Rules that follow from the two tables, the scorer of the pool, and what learns from earlier runs."""
    found: list[ClaimAttack] = [attack for attack in static_attacks(pair) if attack.name != "row count"]
    if white_box:
        words = "the measurements are likelier with the person"
        found.append(Static(RATIO, words, lambda seen: _sign(seen.get(RATIO, 0.0))))
    return [
        *found,
        scorer,
        BestStatistic("best statistic", "one statistic", 0.0, _any),
        Ridge("all statistics", "a learnt score of all statistics", 0.0, _any),
        Fingerprint("same output", "the same release comes again and again", 0),
    ]


def _sign(value: float) -> int:
    return ABSTAIN if value == 0 else IN if value > 0 else OUT


def _any(name: str) -> bool:
    return True


@dataclass(frozen=True, eq=False)
class Bet:
    """What stood before a run, what was guessed, and how the coin fell: enough to settle the run against other claims."""

    right: np.ndarray  # attacks x (guess out, guess in)
    bets: np.ndarray
    guesses: np.ndarray
    coin: bool


@dataclass
class PersonWager:
    """The wealth of all bets about one person."""

    wager: Wager
    scorer: PoolScore
    direction: PoolLesson
    shares: np.ndarray  # logs: what each attack starts with
    graded: np.ndarray  # log wealth of the graded bet against each epsilon
    peak: np.ndarray  # the largest log of the mean wealth so far, per epsilon
    history: list[Bet] = field(default_factory=list)
    confirmed_after: int | None = None

    @classmethod
    def start(cls, pair: Pair, direction: PoolLesson, *, white_box: bool, confidence: float) -> PersonWager:
        scorer = PoolScore(direction.shift)
        wager = Wager.start(Claim(0.0), [attacks_on(pair, scorer, white_box=white_box)], confidence=confidence)
        nothing = np.zeros(wager.betting.epsilons.size)
        return cls(wager, scorer, direction, wager.betting.log_wealth[:, 0].copy(), nothing, nothing)

    @property
    def runs(self) -> int:
        return self.wager.runs

    @property
    def confirmed(self) -> bool:
        return self.confirmed_after is not None

    @property
    def log_threshold(self) -> float:
        return -math.log1p(-self.wager.betting.confidence)

    def observe(self, coin: bool, outcome: Arrays | Failed) -> None:
        """Play one run. One that failed is no evidence."""
        if isinstance(outcome, Failed):
            self.wager.abstain(coin, outcome.message)
            return
        seen = self._seen(outcome)
        prints = (str(outcome["print"]), "")
        betting = self.wager.betting
        guesses = np.array([attack.guess(seen, prints) for attack in self.wager.sides[0].attacks])
        self.history.append(Bet(betting.right, betting.bets, guesses, coin))
        self.graded = self.graded + graded_gain(self.scorer.evidence, coin, betting.epsilons)
        self.wager.observe(0, coin, seen, prints)
        regions = self.wager.betting.log_wealth
        mean = np.logaddexp.reduce(regions, axis=0) - math.log(len(regions))
        self.peak = np.maximum(self.peak, np.logaddexp(mean, self.graded) + HALF)
        if not self.confirmed and self.peak[0] >= self.log_threshold:
            self.confirmed_after = self.runs

    def _seen(self, outcome: Arrays) -> dict[str, float]:
        values = outcome["values"]
        features = np.concatenate([outcome["counts"], values])
        seen = dict(zip(outcome["names"].tolist(), outcome["seen"].tolist(), strict=True))
        named = {f"value {place + 1}": float(value) for place, value in enumerate(values)}
        return seen | named | self.direction.read(features)

    def epsilon(self) -> float:
        """Everything up to it is refuted, at this moment or any other (pure differential privacy)."""
        return largest_below(self.wager.betting.epsilons, self.peak >= self.log_threshold)

    def largest_visible(self) -> float:
        """The bound of one perfect attack among useless ones; its share of the wealth is halved by the graded bet."""
        betting = self.wager.betting
        halved = replace(betting, confidence=1 - (1 - betting.confidence) / 2)
        return max(self.epsilon(), halved.bound().largest_visible)

    def advantage(self) -> float:
        """Lower bound on the best attacker's TPR - FPR, from the bets on regions.

        An advantage of at most a is (0, a)-differential privacy, so a right guess pays l(1 - a/2), a wrong one costs
        l(1 + a/2), and abstaining l a/2, for each region. A bound on epsilon would not do: it may come from a rare event.
        """
        if not self.history:
            return 0.0
        right = np.stack([bet.right for bet in self.history])
        bets = np.stack([bet.bets for bet in self.history])
        made = np.stack([bet.guesses for bet in self.history])[..., None] == np.array([OUT, IN])
        coins = np.array([bet.coin for bet in self.history])[:, None, None]
        pay = np.where(made, np.where(np.array([False, True]) == coins, 1.0, -1.0), 0.0)
        kelly = stakes(right, bets, epsilons=np.zeros(1))
        visited = np.minimum((bets + 1) / (np.arange(len(bets))[:, None, None] + 2), 1.0)
        wealth = np.empty((len(bets), len(ADVANTAGES)))
        for place, most in enumerate(ADVANTAGES):
            stake = np.clip(kelly[..., 0] - most / (2 * visited), 0.0, CAUTION / (1 + most))
            gains = np.log1p((stake * (pay - most / 2)).sum(axis=2))
            grown = self.shares + np.cumsum(gains, axis=0)
            wealth[:, place] = np.logaddexp.reduce(grown, axis=1) - math.log(grown.shape[1])
        return largest_below(ADVANTAGES, wealth.max(axis=0) >= self.log_threshold)


def graded_gain(evidence: float, coin: bool, epsilons: np.ndarray) -> np.ndarray:
    """Log of what one graded bet multiplies the wealth by, against each epsilon (`stats.bets`, for one run)."""
    odds = np.exp(epsilons)
    sure = expit(abs(evidence))
    stake = np.clip(np.minimum(STAKE * (sure - (1 - sure) * odds), MOST) / odds, 0.0, None)
    return np.asarray(np.log1p(stake if (evidence > 0) == coin else -stake * odds))
