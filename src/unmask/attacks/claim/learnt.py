"""Attacks that learn from earlier runs: the one statistic that would have earned most, and a score of all of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, rel_entr

from unmask.attacks.claim._attack import ABSTAIN, History, Record, Seen, guesses_of, record
from unmask.stats import HalfLines, best_half_lines

FIRST_LESSON = 32
RIDGE = 1.0  # weight of the penalty in units of one run
STEPS = 12  # Newton steps
FAR = 4.0  # standard deviations at which a feature is cut for the ridge


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
    model: LinearScore | None = None
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
            scores[judged] = LinearScore.fit(names, values[~judged], past.coins[~judged]).score(values[judged])
        self.model = LinearScore.fit(names, values, past.coins)
        self.lines = best_half_lines(scores, past.coins, epsilon=self.epsilon)
        return record(guesses_of(self.lines, scores), past.coins)

    def prior(self) -> Record | None:
        return None

    def watch(self, prints: tuple[str, str], coin: bool) -> None:
        """It learns from the history."""


@dataclass(frozen=True, eq=False)
class LinearScore:
    """A logistic model of standardised statistics.

    By hand: scikit-learn's has no penalty on the intercept, so that scores differ in the sixth digit, and takes 2.6 times
    as long.
    """

    names: tuple[str, ...]
    centre: np.ndarray
    spread: np.ndarray
    slope: np.ndarray

    @classmethod
    def fit(cls, names: tuple[str, ...], values: np.ndarray, coins: np.ndarray) -> LinearScore:
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
