"""Attacks on a claim: each divides outputs into two regions before a run is seen, and bets in them that the target is in or out.

*Static* ones know the tables D and D' and bet from the first run. *Planned* ones read the likelihood ratio, in regions fixed by
simulation. *Learnt* ones are refitted after 32, 64, 128, ... runs, from earlier runs only. A *fingerprint* recognises outputs
that came before: noise from a fixed seed repeats itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.special import expit, rel_entr

from unmask.audits.epsilon_likelihood import Planned, guesses_of, record
from unmask.audits.epsilon_pairs import Pair
from unmask.stats import HalfLines, best_half_lines

ABSTAIN, OUT, IN = -1, 0, 1
SURE = 3  # right guesses that a static attack is credited with before the first run
FIRST_LESSON = 32
RIDGE = 1.0  # weight of the penalty in units of one run
STEPS = 12  # Newton steps
FAR = 4.0  # standard deviations at which a feature is cut for the ridge

Seen = Mapping[str, float]
Record = tuple[tuple[int, int], tuple[int, int]]  # right and made, each (guess out, guess in)


@dataclass(frozen=True, eq=False)
class History:
    """What earlier runs of one pair showed."""

    names: tuple[str, ...]
    values: np.ndarray  # runs x names
    coins: np.ndarray


class Attack(Protocol):
    """Guesses from what is seen; may learn from earlier runs."""

    @property
    def name(self) -> str:
        """Which attack, as in the result."""
        ...

    @property
    def words(self) -> str:
        """What it reads, for people."""
        ...

    @property
    def weight(self) -> float:
        """Share of the first wealth, before all are scaled to sum to 1."""
        ...

    def guess(self, seen: Seen, prints: tuple[str, str]) -> int:
        """-1 (abstain), 0 (out) or 1 (in)."""
        ...

    def learn(self, past: History) -> Record | None:
        """Take up new regions; returns their record on past runs, or None if nothing changed."""
        ...

    def prior(self) -> Record | None:
        """The record that the attack is credited with before the first run."""
        ...

    def watch(self, prints: tuple[str, str], coin: bool) -> None:
        """Told after every run what came out and where it came from."""
        ...


@dataclass(frozen=True)
class Static:
    """A rule that follows from the two tables alone."""

    name: str
    words: str
    rule: Callable[[Seen], int]
    weight: float = 1.0

    def guess(self, seen: Seen, prints: tuple[str, str]) -> int:
        return self.rule(seen)

    def learn(self, past: History) -> Record | None:
        return None

    def prior(self) -> Record | None:
        return (SURE, SURE), (SURE, SURE)

    def watch(self, prints: tuple[str, str], coin: bool) -> None:
        """A static attack remembers nothing."""


@dataclass(frozen=True)
class Ratio:
    """The likelihood ratio of the measurements, in planned regions."""

    name: str
    words: str
    planned: Planned
    weight: float = 1.0

    def guess(self, seen: Seen, prints: tuple[str, str]) -> int:
        return self.planned.lines.guess(seen["likelihood ratio"]) if "likelihood ratio" in seen else ABSTAIN

    def learn(self, past: History) -> Record | None:
        return None

    def prior(self) -> Record | None:
        return self.planned.right, self.planned.bets

    def watch(self, prints: tuple[str, str], coin: bool) -> None:
        """A planned attack remembers nothing."""


@dataclass
class Fingerprint:
    """An output that came at least twice, and from one side only."""

    name: str
    words: str
    place: int  # 0 = the release, 1 = its measurements
    weight: float = 1.0
    times: dict[str, list[int]] = field(default_factory=dict)

    def guess(self, seen: Seen, prints: tuple[str, str]) -> int:
        out, inside = self.times.get(prints[self.place], (0, 0))
        if not prints[self.place] or (out > 0) == (inside > 0) or out + inside < 2:
            return ABSTAIN
        return IN if inside else OUT

    def learn(self, past: History) -> Record | None:
        return None

    def prior(self) -> Record | None:
        return None

    def watch(self, prints: tuple[str, str], coin: bool) -> None:
        self.times.setdefault(prints[self.place], [0, 0])[int(coin)] += 1


@dataclass
class BestStatistic:
    """The one statistic, with two half-lines, that would have earned most on earlier runs."""

    name: str
    words: str
    epsilon: float
    usable: Callable[[str], bool]
    weight: float = 1.0
    chosen: str = ""
    lines: HalfLines = HalfLines(-math.inf, math.inf)

    def guess(self, seen: Seen, prints: tuple[str, str]) -> int:
        return self.lines.guess(seen[self.chosen]) if self.chosen in seen else ABSTAIN

    def learn(self, past: History) -> Record | None:
        names = [place for place, name in enumerate(past.names) if self.usable(name)]
        if not names:
            return None
        guesses = np.full(len(past.coins), ABSTAIN)
        for fold in (0, 1):
            judged = np.arange(len(past.coins)) % 2 == fold
            place, lines = self._best(past.values[~judged], past.coins[~judged], names)
            guesses[judged] = guesses_of(lines, past.values[judged, place])
        place, self.lines = self._best(past.values, past.coins, names)
        self.chosen = past.names[place]
        return record(guesses, past.coins)

    def _best(self, values: np.ndarray, coins: np.ndarray, names: list[int]) -> tuple[int, HalfLines]:
        found = []
        for place in names:
            lines = best_half_lines(values[:, place], coins, epsilon=self.epsilon)
            found.append((growth(values[:, place], coins, lines, self.epsilon), place, lines))
        _, place, lines = max(found, key=lambda item: item[0])
        return place, lines

    def prior(self) -> Record | None:
        return None

    def watch(self, prints: tuple[str, str], coin: bool) -> None:
        """It learns from the history."""


@dataclass
class Ridge:
    """A ridge-logistic score of all statistics; half-lines are chosen on cross-fitted scores."""

    name: str
    words: str
    epsilon: float
    usable: Callable[[str], bool]
    weight: float = 1.0
    model: Linear | None = None
    lines: HalfLines = HalfLines(-math.inf, math.inf)

    def guess(self, seen: Seen, prints: tuple[str, str]) -> int:
        if self.model is None:
            return ABSTAIN
        values = np.array([[seen.get(name, 0.0) for name in self.model.names]])
        return self.lines.guess(float(self.model.score(values)[0]))

    def learn(self, past: History) -> Record | None:
        places = [place for place, name in enumerate(past.names) if self.usable(name)]
        values, names = past.values[:, places], tuple(past.names[place] for place in places)
        scores = np.zeros(len(past.coins))
        for fold in range(4):
            judged = np.arange(len(past.coins)) % 4 == fold
            if past.coins[~judged].all() or not past.coins[~judged].any():
                return None
            scores[judged] = Linear.fit(names, values[~judged], past.coins[~judged]).score(values[judged])
        self.model = Linear.fit(names, values, past.coins)
        self.lines = best_half_lines(scores, past.coins, epsilon=self.epsilon)
        return record(guesses_of(self.lines, scores), past.coins)

    def prior(self) -> Record | None:
        return None

    def watch(self, prints: tuple[str, str], coin: bool) -> None:
        """It learns from the history."""


@dataclass(frozen=True, eq=False)
class Linear:
    """A logistic model of standardised statistics."""

    names: tuple[str, ...]
    centre: np.ndarray
    spread: np.ndarray
    slope: np.ndarray

    @classmethod
    def fit(cls, names: tuple[str, ...], values: np.ndarray, coins: np.ndarray) -> Linear:
        """Newton's method with a ridge penalty; statistics that do not vary get no weight."""
        centre, spread = values.mean(axis=0), values.std(axis=0)
        blank = cls(names, centre, np.where(spread > 1e-12, spread, np.inf), np.zeros(len(names) + 1))
        design = blank.design(values)
        penalty = RIDGE * np.eye(design.shape[1])
        penalty[0, 0] = 1e-6
        slope = np.zeros(design.shape[1])
        for _ in range(STEPS):
            chance = expit(design @ slope)
            bend = design.T @ (design * (chance * (1 - chance))[:, None]) + penalty
            step = np.linalg.solve(bend, design.T @ (coins - chance) - penalty @ slope)
            slope = slope + step
            if np.abs(step).max() < 1e-6:
                break
        return cls(names, blank.centre, blank.spread, slope)

    def design(self, values: np.ndarray) -> np.ndarray:
        """A column of ones and the standardised statistics."""
        scaled = np.clip((values - self.centre) / self.spread, -FAR, FAR)
        return np.concatenate([np.ones((len(values), 1)), scaled], axis=1)

    def score(self, values: np.ndarray) -> np.ndarray:
        """Log-odds of "in", rounded so that equal outputs get equal scores."""
        return np.asarray(np.round(self.design(values) @ self.slope, 9))


def growth(scores: np.ndarray, coins: np.ndarray, lines: HalfLines, epsilon: float) -> float:
    """How much the half-lines would have earned: bets x KL(pi || q), summed over both."""
    q = float(expit(epsilon))
    right, bets = (np.array(part, dtype=np.float64) for part in record(guesses_of(lines, scores), coins))
    pi = (right + 2 * q) / (bets + 2)
    return float(np.sum(bets * (rel_entr(pi, q) + rel_entr(1 - pi, 1 - q)) * (pi > q)))


def static_attacks(pair: Pair) -> list[Static]:
    """The rules that follow from knowing both tables."""
    rows_in, rows_out = pair.sizes
    found = [
        Static("own values", "values or ranges that only the target has appear in the release", _own_values),
        Static("target row", "the target's row appears in the release", lambda seen: IN if _copied(seen) else OUT),
        Static(
            "missing row", "the target's row is missing from the release", lambda seen: OUT if _copied(seen) else IN
        ),
        Static("statistics", "the release is nearer to the counts of one of the two tables", _nearer),
    ]
    if rows_in != rows_out:
        rule = {rows_in: IN, rows_out: OUT}
        found.append(
            Static("row count", "the number of rows is exact", lambda seen: rule.get(int(seen["rows"]), ABSTAIN))
        )
    return found


def model_attacks(together: tuple[int, int] | None) -> list[Static]:
    """The rules for who sees the fitted model; `together` are the two columns that the target ties together most."""
    found = [Static("bare counts", "counts are published without noise", _unmoved)]
    if together is not None:
        name = f"measured {together[0] + 1},{together[1] + 1}"
        words = "the choice of the columns that are measured together"
        found.append(Static("structure", words, lambda seen: IN if seen.get(name, 0) > 0 else OUT))
    return found


def _unmoved(seen: Seen) -> int:
    return OUT if seen.get("cells as in D'", 0) > 0 else IN


def _own_values(seen: Seen) -> int:
    return IN if seen["columns beyond D'"] > 0 else OUT


def _copied(seen: Seen) -> bool:
    return seen["target row"] > 0


def _nearer(seen: Seen) -> int:
    return ABSTAIN if seen["nearer to D"] == 0 else IN if seen["nearer to D"] > 0 else OUT
