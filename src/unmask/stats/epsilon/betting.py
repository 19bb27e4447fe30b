"""Epsilon from one coin per run and several attacks at once (METHODS 3, "a sequential protocol that works")."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, rel_entr

from unmask.errors import ParameterError
from unmask.stats._checks import BoolArray, FloatArray, IntArray, as_scores, check_delta, check_share
from unmask.stats.epsilon.anytime import GRID, check_grid, largest_below
from unmask.stats.results import Assumption, Bound

CAUTION = 0.98  # share of the wealth that a single wrong guess can cost
METHOD = "betting on coins"
ABSTAIN, GUESS_OUT, GUESS_IN = -1, 0, 1


def stakes(right: ArrayLike, bets: ArrayLike, *, epsilons: FloatArray, delta: float = 0.0) -> FloatArray:
    """How much to bet in a region that was right `right` times in `bets`, for each epsilon (last axis).

    Kelly's stake for a guess that is right with probability pi = (right + 2q)/(bets + 2), q = e^eps/(1+e^eps): a right guess
    pays l, a wrong one costs l e^eps. Zero until the region has done better than the claim allows.
    """
    odds, q = np.exp(epsilons), expit(epsilons)
    k = np.asarray(right, dtype=np.float64)[..., None]
    n = np.asarray(bets, dtype=np.float64)[..., None]
    pi = (k + 2 * q) / (n + 2)
    return np.asarray(np.clip((pi - (1 - pi) * odds) / odds, 0.0, CAUTION / (odds + delta)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Betting:
    """Wealth of several attacks against each epsilon of a grid, after `runs` runs with one fair coin each.

    The coin decides between M(D) and M(D'). An attack has two disjoint regions of outputs, fixed before the run: in one it bets
    that the target is in, in the other that it is out, elsewhere it abstains. If (epsilon, delta)-DP holds, the mean of
    1{o in region}(1{right} - e^eps 1{wrong}) is at most delta/2, so wealth *= 1 - sum_r l_r delta/2 + 1{o in r}(l_r if right,
    else -l_r e^eps) is a supermartingale, and so is the mean over attacks.
    """

    epsilons: FloatArray
    delta: float
    confidence: float
    runs: int
    log_wealth: FloatArray  # attacks x epsilons
    peak: FloatArray  # largest log of the mean wealth so far, per epsilon
    right: IntArray  # attacks x (guess out, guess in)
    bets: IntArray

    @classmethod
    def start(
        cls,
        epsilons: ArrayLike = GRID,
        *,
        attacks: int,
        delta: float = 0.0,
        confidence: float = 0.95,
    ) -> Betting:
        """Wealth 1 for each of `attacks` attacks; one that has no region yet simply abstains."""
        check_delta(delta)
        check_share("confidence", confidence)
        grid = check_grid(epsilons)
        none = np.zeros((attacks, 2), dtype=np.int64)
        zero = np.zeros((attacks, grid.size))
        return cls(grid, delta, confidence, 0, zero, np.zeros(grid.size), none, none)

    def observe(self, coin: bool, guesses: ArrayLike) -> Betting:
        """State after one run: its coin (True = the target was in) and each attack's guess (-1 abstain, 0 out, 1 in)."""
        guess = np.asarray(guesses, dtype=np.int64)
        if guess.shape != (self.bets.shape[0],) or np.any((guess < ABSTAIN) | (guess > GUESS_IN)):
            raise ParameterError(f"guesses must hold {self.bets.shape[0]} numbers, each -1 (abstain), 0 or 1.")
        stake = stakes(self.right, self.bets, epsilons=self.epsilons, delta=self.delta)
        made = guess[:, None] == np.array([GUESS_OUT, GUESS_IN])
        correct = made & (np.array([GUESS_OUT, GUESS_IN]) == int(coin))
        pay = np.where(correct[..., None], 1.0, -np.exp(self.epsilons)) * made[..., None]
        factor = np.sum(stake * (pay - self.delta / 2), axis=1)
        wealth = self.log_wealth + np.log1p(factor)
        mean = np.logaddexp.reduce(wealth, axis=0) - math.log(wealth.shape[0])
        return replace(
            self,
            runs=self.runs + 1,
            log_wealth=wealth,
            peak=np.maximum(self.peak, mean),
            right=self.right + correct,
            bets=self.bets + made,
        )

    def with_record(self, attack: int, *, right: ArrayLike, bets: ArrayLike) -> Betting:
        """The same wealth, but attack number `attack` has new regions with this record (guess out, guess in) on past runs.

        Any numbers that were known before the next run are valid; honest ones make the next stakes good.
        """
        k, n = self.right.copy(), self.bets.copy()
        k[attack], n[attack] = right, bets
        if np.any(k < 0) or np.any(k > n):
            raise ParameterError(f"attack {attack}: {k[attack]} right out of {n[attack]} bets is impossible.")
        return replace(self, right=k, bets=n)

    def refuted(self) -> BoolArray:
        """For each epsilon of the grid, whether the claim has been refuted by now."""
        return np.asarray(self.peak >= -math.log1p(-self.confidence), dtype=np.bool_)

    def bound(self) -> Bound:
        """The largest epsilon of the grid up to which everything is refuted, at this moment or any other."""
        value = largest_below(self.epsilons, self.refuted())
        n, interval = self.runs, (value, math.inf)
        return Bound(value, interval, self.confidence, METHOD, Assumption.EXACT, n, self.delta, self._largest_visible())

    def _largest_visible(self) -> float:
        """One perfect attack among useless ones, coins in turn."""
        seen = (np.arange(self.runs) // 2)[:, None]
        both = stakes(seen, seen, epsilons=self.epsilons, delta=self.delta)[:, 0]
        wealth = np.sum(np.log1p(both * (1 - self.delta)), axis=0) - math.log(self.bets.shape[0])
        return largest_below(self.epsilons, wealth >= -math.log1p(-self.confidence))

    def leader(self, epsilon: float) -> int:
        """The attack with the largest wealth against the grid value nearest to `epsilon`: it names the leak."""
        column = int(np.argmin(np.abs(self.epsilons - epsilon)))
        return int(np.argmax(self.log_wealth[:, column]))

    def to_plain(self) -> dict[str, Any]:
        """The state as plain lists and numbers, for JSON: a nightly build can carry on from it."""
        arrays = ("epsilons", "log_wealth", "peak", "right", "bets")
        plain: dict[str, Any] = {name: getattr(self, name).tolist() for name in arrays}
        return plain | {"delta": self.delta, "confidence": self.confidence, "runs": self.runs}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Betting:
        """The state that `to_plain` wrote."""
        return cls(
            epsilons=check_grid(plain["epsilons"]),
            delta=float(plain["delta"]),
            confidence=float(plain["confidence"]),
            runs=int(plain["runs"]),
            log_wealth=np.asarray(plain["log_wealth"], dtype=np.float64),
            peak=np.asarray(plain["peak"], dtype=np.float64),
            right=np.asarray(plain["right"], dtype=np.int64),
            bets=np.asarray(plain["bets"], dtype=np.int64),
        )


@dataclass(frozen=True)
class HalfLines:
    """Two disjoint regions of a score: guess out at or below `out_below`, guess in at or above `in_above`."""

    out_below: float
    in_above: float

    def guess(self, score: float) -> int:
        """-1 (abstain), 0 (out) or 1 (in)."""
        if score >= self.in_above:
            return GUESS_IN
        return GUESS_OUT if score <= self.out_below else ABSTAIN


def best_half_lines(scores: ArrayLike, coins: ArrayLike, *, epsilon: float) -> HalfLines:
    """The half-lines of a score that would have grown wealth fastest on past runs.

    Each maximises (share of runs in it) x KL(pi || q) with pi = (right + 2q)/(bets + 2): the growth rate of Kelly's bet. The
    shrinkage towards q is what keeps it from chasing regions with one or two runs. A side that never beats q stays empty.
    """
    past = as_scores("scores", scores)
    inside = np.asarray(coins, dtype=np.bool_)
    if inside.shape != past.shape:
        raise ParameterError(f"There are {past.size} scores and {inside.size} coins; they must go together.")
    in_above = _best_from(past, inside, epsilon)
    out_below = -_best_from(-past, ~inside, epsilon)
    if out_below >= in_above:  # they would overlap: the out side gives way
        out_below = float(np.nextafter(in_above, -np.inf))
    return HalfLines(out_below, in_above)


def _best_from(scores: FloatArray, wanted: BoolArray, epsilon: float) -> float:
    q = float(expit(epsilon))
    order = np.argsort(-scores, kind="stable")
    last_of_tie = np.append(np.diff(scores[order]) != 0, True)
    bets = np.flatnonzero(last_of_tie) + 1
    right = np.cumsum(wanted[order])[bets - 1]
    pi = (right + 2 * q) / (bets + 2)
    growth = bets * (rel_entr(pi, q) + rel_entr(1 - pi, 1 - q)) * (pi > q)
    best = int(np.argmax(growth))
    return float(scores[order][bets[best] - 1]) if growth[best] > 0 else math.inf
