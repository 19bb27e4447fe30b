"""The coin game: a fair coin for every unit of a table and every run says who is in.

One run asks about everybody at once. Coins are independent, never fixed halves, and the number of synthetic rows is a
constant, so that nothing but the generator can give them away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.errors import ParameterError
from unmask.generators.claim import Claim, Neighbours
from unmask.threats.knowledge import Coins

NOBODY = -1  # the partner of a unit that was left over


def coins_for(claim: Claim | None) -> Coins:
    """The coins that test this claim."""
    return Coins.PAIRED if claim is not None and claim.neighbours is Neighbours.REPLACE else Coins.INDEPENDENT


@dataclass(frozen=True, eq=False)
class CoinGame:
    """Who plays, and who stands against whom. Fixed before the first run."""

    partners: np.ndarray | None  # paired coins: the partner of each unit; NOBODY for one that is left over
    units: int

    @classmethod
    def of(cls, coins: Coins, units: int, rng: np.random.Generator) -> CoinGame:
        """Set up a game; pairs are drawn at random."""
        if units < 4:
            raise ParameterError(
                f"The table has {units} units; the audit of everyone needs at least 4, and is of use from 100."
            )
        if coins is Coins.INDEPENDENT:
            return cls(None, units)
        order = rng.permutation(units)
        partners = np.full(units, NOBODY)
        first, second = order[: units // 2], order[units // 2 : 2 * (units // 2)]
        partners[first], partners[second] = second, first
        return cls(partners, units)

    @property
    def coined(self) -> np.ndarray:
        """Units with a coin: all, but for the one that found no partner. It is in every run."""
        return np.ones(self.units, dtype=bool) if self.partners is None else self.partners != NOBODY

    @property
    def firsts(self) -> np.ndarray:
        """One unit for each coin: all of them, or one of each pair."""
        if self.partners is None:
            return np.arange(self.units)
        return np.flatnonzero(self.coined & (np.arange(self.units) < self.partners))

    def deal(self, rng: np.random.Generator) -> np.ndarray:
        """Toss the coins of one run: who is in (bool, one per unit)."""
        tossed = rng.random(self.units) < 0.5
        if self.partners is None:
            return tossed
        members = np.ones(self.units, dtype=bool)
        firsts = self.firsts
        members[firsts] = tossed[firsts]
        members[self.partners[firsts]] = ~tossed[firsts]
        return members
