"""Wealth against a claim: attacks bet on each coin from what earlier runs taught them, until the claim falls or the runs end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unmask.attacks.claim._attack import ABSTAIN, ClaimAttack, History
from unmask.attacks.claim.learnt import FIRST_LESSON, BestStatistic, Ridge
from unmask.errors import RunError
from unmask.generators.claim import Claim
from unmask.stats import Betting, Bound
from unmask.stats.epsilon.anytime import GRID


@dataclass
class PairSide:
    """The attacks on one pair and what its runs showed so far."""

    attacks: list[ClaimAttack]
    seen: list[dict[str, float]] = field(default_factory=list)
    coins: list[bool] = field(default_factory=list)
    prints: list[tuple[str, str]] = field(default_factory=list)

    def history(self) -> History:
        names = tuple(dict.fromkeys(name for one in self.seen for name in one))
        values = np.array([[one.get(name, 0.0) for name in names] for one in self.seen])
        return History(names, values, np.array(self.coins))


@dataclass
class Wager:
    """Wealth against a claim, over one or more pairs that take turns."""

    claim: Claim
    sides: list[PairSide]
    betting: Betting
    runs: int = 0
    failed: list[tuple[bool, str]] = field(default_factory=list)
    trail: list[float] = field(default_factory=list)  # log of the mean wealth against the claim, after each run

    @classmethod
    def start(cls, claim: Claim, attacks: Sequence[list[ClaimAttack]], *, confidence: float) -> Wager:
        """Wealth 1 in all, shared by weight; attacks with a prior record can bet on the first run."""
        every = [attack for side in attacks for attack in side]
        grid = sorted({*GRID, claim.epsilon})
        betting = Betting.start(grid, attacks=len(every), delta=claim.delta, confidence=confidence)
        weights = np.array([attack.weight for attack in every])
        shares = np.log(weights / weights.sum() * len(every))
        betting = replace(betting, log_wealth=betting.log_wealth + shares[:, None])
        for place, attack in enumerate(every):
            if (known := attack.prior()) is not None:
                betting = betting.with_record(place, right=known[0], bets=known[1])
        return cls(claim, [PairSide(list(side)) for side in attacks], betting)

    @property
    def column(self) -> int:
        """Where the claim stands on the grid."""
        return int(np.argmin(np.abs(self.betting.epsilons - self.claim.epsilon)))

    @property
    def refuted(self) -> bool:
        """Whether every epsilon up to the claim is refuted: then so is the claim, at this moment and for good."""
        return bool(self.betting.refuted()[: self.column + 1].all())

    @property
    def names(self) -> list[str]:
        return [attack.name for side in self.sides for attack in side.attacks]

    def bound(self) -> Bound:
        """The anytime bound. Attacks of larger weight may pass what an average one could show, so that is raised."""
        bound = self.betting.bound()
        return replace(bound, largest_visible=max(bound.value, bound.largest_visible))

    def abstain(self, coin: bool, reason: str) -> None:
        """A run that failed is one in which everybody abstains."""
        self.failed.append((coin, reason))
        self._settle(coin, np.full(len(self.names), ABSTAIN))

    def observe(self, pair: int, coin: bool, seen: dict[str, float], prints: tuple[str, str]) -> None:
        """Guesses from the regions that stand, then the coin, then what is learnt for the next run."""
        side, guesses, offset = self.sides[pair], np.full(len(self.names), ABSTAIN), self._offset(pair)
        for place, attack in enumerate(side.attacks):
            guesses[offset + place] = attack.guess(seen, prints)
        self._settle(coin, guesses)
        side.seen.append(seen)
        side.coins.append(coin)
        side.prints.append(prints)
        for attack in side.attacks:
            attack.watch(prints, coin)
        if _lesson(len(side.coins)):
            self.learn(pair)

    def _settle(self, coin: bool, guesses: np.ndarray) -> None:
        self.betting = self.betting.observe(coin, guesses)
        self.runs += 1
        self.trail.append(self._log_wealth())

    def _offset(self, pair: int) -> int:
        """The place of a pair's first attack among all."""
        return sum(len(other.attacks) for other in self.sides[:pair])

    def learn(self, pair: int) -> None:
        """Refit what can learn, from the runs so far; the wealth stays what it is."""
        side = self.sides[pair]
        past, offset = side.history(), self._offset(pair)
        if past.coins.all() or not past.coins.any():
            return
        for place, attack in enumerate(side.attacks):
            if (known := attack.learn(past)) is not None:
                self.betting = self.betting.with_record(offset + place, right=known[0], bets=known[1])

    def _log_wealth(self) -> float:
        wealth = self.betting.log_wealth[:, self.column]
        return float(np.logaddexp.reduce(wealth)) - math.log(len(wealth))

    def leader(self) -> ClaimAttack:
        """The attack that earned most against the claim: it names the leak."""
        every = [attack for side in self.sides for attack in side.attacks]
        return every[self.betting.leader(self.claim.epsilon)]

    def to_plain(self) -> dict[str, Any]:
        """Wealth and history for JSON: a nightly build carries on from it. The wealth is kept, never worked out again."""
        return {
            "claim": str(self.claim),
            "attacks": self.names,
            "betting": self.betting.to_plain(),
            "runs": self.runs,
            "trail": self.trail,
            "failed": [list(item) for item in self.failed],
            "sides": [
                {"seen": side.seen, "coins": side.coins, "prints": [list(p) for p in side.prints]}
                for side in self.sides
            ],
        }

    def carry_on(self, plain: dict[str, Any], where: str) -> None:
        """Take up the state that an earlier audit left: same claim, same attacks, its wealth and its runs."""
        for name, mine in (("claim", str(self.claim)), ("attacks", self.names)):
            if plain.get(name) != mine:
                raise RunError(
                    f"{where}: this state is of another audit: {name} was {plain.get(name)!r}, now it is {mine!r}.\n"
                    "Start a new run directory."
                )
        self.runs, self.trail = int(plain["runs"]), [float(value) for value in plain["trail"]]
        self.failed = [(bool(coin), str(message)) for coin, message in plain["failed"]]
        for side, kept in zip(self.sides, plain["sides"], strict=True):
            side.seen, side.coins = list(kept["seen"]), [bool(coin) for coin in kept["coins"]]
            side.prints = [(str(a), str(b)) for a, b in kept["prints"]]
            for prints, coin in zip(side.prints, side.coins, strict=True):
                for attack in side.attacks:
                    attack.watch(prints, coin)
        for pair, side in enumerate(self.sides):
            if len(side.coins) >= FIRST_LESSON:
                self.learn(pair)
        kept_betting = Betting.from_plain(plain["betting"])
        # regions learnt just now keep the record that they have on all past runs; the others keep theirs
        learnt = np.array([isinstance(a, BestStatistic | Ridge) for side in self.sides for a in side.attacks])[:, None]
        self.betting = replace(
            kept_betting,
            right=np.where(learnt, self.betting.right, kept_betting.right),
            bets=np.where(learnt, self.betting.bets, kept_betting.bets),
        )


def _lesson(runs: int) -> bool:
    return runs >= FIRST_LESSON and runs & (runs - 1) == 0
