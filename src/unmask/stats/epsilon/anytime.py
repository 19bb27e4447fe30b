"""Epsilon that may be looked at after every pair of runs (METHODS 3.7): betting against the claim."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmask.errors import ParameterError
from unmask.stats._checks import BoolArray, FloatArray, IntArray, check_delta, check_share
from unmask.stats.results import Assumption, Bound

GRID: tuple[float, ...] = tuple(round(0.025 * step, 3) for step in range(401))  # 0 to 10
CAUTION = 0.9  # share of the wealth that a single pair can cost
CELLS = 2_000_000  # numbers held at once
METHOD = "anytime e-process"


class Direction(StrEnum):
    """Which way the DP inequality is tested: with the target against without, the reverse, or the mean of both."""

    FORWARD = "forward"
    BACKWARD = "backward"
    BOTH = "both"


@dataclass(frozen=True, eq=False)
class Anytime:
    """Wealth of one or more bettors against each epsilon of a grid, after `pairs` pairs of runs.

    For a pair, g = 1{first in A} - e^eps 1{second in A} - delta has mean <= 0 if (epsilon, delta)-DP holds, whatever event A
    was fixed before the pair. So wealth *= 1 + l g with a stake l from earlier pairs only is a supermartingale: by
    Ville's inequality it ever reaches 1/(1-confidence) with probability at most 1-confidence, and looking early, often, or again
    next week is free. The mean over bettors inherits this; their maximum would not.
    """

    epsilons: FloatArray
    delta: float
    confidence: float
    pairs: int
    log_wealth: FloatArray  # bettors x epsilons
    peak: FloatArray  # largest log of the mean wealth so far, per epsilon
    counts: IntArray  # bettors x (first in A, second in A, both)

    @classmethod
    def start(
        cls,
        epsilons: ArrayLike = GRID,
        *,
        delta: float = 0.0,
        confidence: float = 0.95,
        bettors: int = 1,
    ) -> Anytime:
        """Wealth 1 everywhere, nothing seen."""
        check_delta(delta)
        check_share("confidence", confidence)
        grid = check_grid(epsilons)
        zero = np.zeros((bettors, grid.size))
        return cls(grid, delta, confidence, 0, zero, np.zeros(grid.size), np.zeros((bettors, 3), dtype=np.int64))

    def observe(self, first: ArrayLike, second: ArrayLike) -> Anytime:
        """State after further pairs: whether each output lay in the event, as arrays pairs x bettors.

        `first` is the output under the hypothesis that the event favours. The event and the order of the two may change from
        pair to pair, as long as they were fixed before the pair was seen.
        """
        bettors = self.log_wealth.shape[0]
        a = np.asarray(first, dtype=np.bool_).reshape(-1, bettors)
        b = np.asarray(second, dtype=np.bool_).reshape(-1, bettors)
        if a.shape != b.shape:
            raise ParameterError(f"first and second must be of one shape; they are {a.shape} and {b.shape}.")
        state, step = self, max(1, CELLS // (bettors * self.epsilons.size))
        for start in range(0, a.shape[0], step):
            state = state._observe(a[start : start + step], b[start : start + step])
        return state

    def _observe(self, a: BoolArray, b: BoolArray) -> Anytime:
        steps = np.stack([a, b, a & b], axis=2).astype(np.int64)
        after = self.counts + np.cumsum(steps, axis=0)
        before = (after - steps)[..., None].astype(np.float64)
        seen = (self.pairs + np.arange(a.shape[0], dtype=np.float64))[:, None, None]
        odds, delta = np.exp(self.epsilons), self.delta
        in_a, in_b, in_both = before[:, :, 0], before[:, :, 1], before[:, :, 2]
        total = in_a - odds * in_b - delta * seen
        square = in_a * (1 - 2 * delta) + odds * (odds + 2 * delta) * in_b - 2 * odds * in_both + delta * delta * seen
        stake = np.clip(total / (1 + square), 0.0, CAUTION / (odds + delta))
        gain = a[:, :, None] - odds * b[:, :, None] - delta
        wealth = self.log_wealth + np.cumsum(np.log1p(stake * gain), axis=0)
        mean = np.logaddexp.reduce(wealth, axis=1) - math.log(wealth.shape[1])
        return replace(
            self,
            pairs=self.pairs + a.shape[0],
            log_wealth=wealth[-1],
            peak=np.maximum(self.peak, mean.max(axis=0)),
            counts=after[-1],
        )

    def refuted(self) -> BoolArray:
        """For each epsilon of the grid, whether the claim has been refuted by now."""
        return np.asarray(self.peak >= -math.log1p(-self.confidence), dtype=np.bool_)

    def bound(self) -> Bound:
        """The largest epsilon of the grid up to which everything is refuted, at this moment or any other."""
        value = largest_below(self.epsilons, self.refuted())
        largest = largest_visible_anytime(
            self.pairs, epsilons=self.epsilons, confidence=self.confidence, delta=self.delta
        )
        n, interval = self.pairs, (value, math.inf)
        return Bound(value, interval, self.confidence, METHOD, Assumption.EXACT, n, self.delta, largest)

    def to_plain(self) -> dict[str, Any]:
        """The state as plain lists and numbers, for JSON: a nightly build can carry on from it."""
        return {
            "epsilons": self.epsilons.tolist(),
            "delta": self.delta,
            "confidence": self.confidence,
            "pairs": self.pairs,
            "log_wealth": self.log_wealth.tolist(),
            "peak": self.peak.tolist(),
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Anytime:
        """The state that `to_plain` wrote."""
        return cls(
            epsilons=check_grid(plain["epsilons"]),
            delta=float(plain["delta"]),
            confidence=float(plain["confidence"]),
            pairs=int(plain["pairs"]),
            log_wealth=np.asarray(plain["log_wealth"], dtype=np.float64),
            peak=np.asarray(plain["peak"], dtype=np.float64),
            counts=np.asarray(plain["counts"], dtype=np.int64),
        )


def epsilon_anytime(
    events_in: ArrayLike,
    events_out: ArrayLike,
    *,
    direction: Direction = Direction.BOTH,
    epsilons: ArrayLike = GRID,
    confidence: float = 0.95,
    delta: float = 0.0,
) -> Bound:
    """Lower bound on epsilon from pairs of runs: whether the event held with the target (in) and without it (out).

    Valid whenever the pairs stopped, for whatever reason. Backward bets on the complement of the event.
    """
    with_target = np.asarray(events_in, dtype=np.bool_)
    without = np.asarray(events_out, dtype=np.bool_)
    if with_target.ndim != 1 or with_target.shape != without.shape:
        raise ParameterError("events_in and events_out must be flat arrays of one length, pair by pair.")
    forward, backward = (with_target, without), (~without, ~with_target)
    chosen = {Direction.FORWARD: [forward], Direction.BACKWARD: [backward], Direction.BOTH: [forward, backward]}
    bets = chosen[direction]
    state = Anytime.start(epsilons, delta=delta, confidence=confidence, bettors=len(bets))
    first = np.stack([bet[0] for bet in bets], axis=1)
    second = np.stack([bet[1] for bet in bets], axis=1)
    return state.observe(first, second).bound()


def largest_visible_anytime(
    pairs: int, *, epsilons: ArrayLike = GRID, confidence: float = 0.95, delta: float = 0.0
) -> float:
    """The bound if the event always held with the target and never without it (seen by every bettor, if there are several)."""
    always = np.ones(pairs, dtype=np.bool_)
    state = Anytime.start(epsilons, delta=delta, confidence=confidence).observe(always, ~always)
    return largest_below(state.epsilons, state.refuted())


def check_grid(epsilons: ArrayLike) -> FloatArray:
    """A rising grid of epsilons that are not negative."""
    grid = np.asarray(epsilons, dtype=np.float64)
    if grid.ndim != 1 or grid.size == 0 or grid[0] < 0 or np.any(np.diff(grid) <= 0):
        raise ParameterError("epsilons must be a rising, flat list of numbers that are not negative.")
    return grid


def largest_below(epsilons: FloatArray, refuted: BoolArray) -> float:
    """The last grid value before the first that stands; 0 if the first one stands."""
    standing = int(np.argmin(refuted)) if not refuted.all() else refuted.size
    return float(epsilons[standing - 1]) if standing > 0 else 0.0
