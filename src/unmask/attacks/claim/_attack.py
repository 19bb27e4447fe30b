"""The protocol of attacks on a claim, and how their guesses are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unmask.stats import HalfLines

ABSTAIN, OUT, IN = -1, 0, 1

Seen = Mapping[str, float]
Record = tuple[tuple[int, int], tuple[int, int]]  # right and made, each (guess out, guess in)


@dataclass(frozen=True, eq=False)
class History:
    """What earlier runs of one pair showed."""

    names: tuple[str, ...]
    values: np.ndarray  # runs x names
    coins: np.ndarray


class ClaimAttack(Protocol):
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


def guesses_of(lines: HalfLines, scores: np.ndarray) -> np.ndarray:
    """`lines.guess` over an array: 1 in, 0 out, -1 abstain."""
    return np.asarray(np.where(scores >= lines.in_above, 1, np.where(scores <= lines.out_below, 0, -1)))


def record(guesses: np.ndarray, coins: np.ndarray) -> Record:
    """How often guesses (out, in) were right, and made."""
    made = [guesses == side for side in (0, 1)]
    right = [int(np.sum(made[side] & (coins == bool(side)))) for side in (0, 1)]
    return (right[0], right[1]), (int(made[0].sum()), int(made[1].sum()))
