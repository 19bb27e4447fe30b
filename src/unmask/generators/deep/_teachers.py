"""Teachers who each see the rows of their own part, and vote which made-up rows look real."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from unmask.generators.deep._blocks import Blocks

STEP = 10.0  # of a teacher's gradient step, in units of a row's squared length
DECAY = 0.05  # of its weights


@dataclass(frozen=True, eq=False)
class Parts:
    """Disjoint parts of a table, drawn once: one part per teacher.

    The values of a row, how many rows with the same values stand before it, and a key decide whose it is. So one row more or
    less, wherever it stands, is one row more or less of one teacher (equal rows may change places, which nobody can tell), and
    moves one vote at most, even for somebody who knows the key. Cutting a shuffled table into equal parts, or drawing teachers
    by position, would move others.
    """

    teachers: int
    key: int

    def of(self, codes: np.ndarray) -> np.ndarray:
        """The teacher of each row."""
        mixed = _scrambled(_earlier(codes).astype(np.uint64) ^ np.uint64(self.key))
        for place in range(codes.shape[1]):
            mixed = _scrambled(mixed ^ (codes[:, place].astype(np.uint64) + np.uint64(place << 32)))
        return (mixed % np.uint64(self.teachers)).astype(np.int64)

    def seen(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whose each row is, and the rows."""
        return self.of(codes), codes


def _earlier(codes: np.ndarray) -> np.ndarray:
    """How many equal rows stand before each row."""
    if not len(codes):
        return np.empty(0, dtype=np.int64)
    kind = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(kind, kind="stable")
    counts = np.bincount(kind)
    found = np.empty(len(codes), dtype=np.int64)
    found[order] = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return found


def _scrambled(words: np.ndarray) -> np.ndarray:
    """A permutation of 64-bit words in which every bit hangs on every other (multiply and shift, as SplitMix64 ends)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: np.ndarray = words ^ (words >> np.uint64(31))
    return found


@dataclass
class Teachers:
    """Logistic regressions, one per part, that tell their own rows from made-up ones.

    Linear, since a part has few rows. A teacher votes for a row that looks more real to it than the middle one of the
    made-up rows it last learnt against: asked for "real or not", nearly all would say no to nearly everything, and such votes
    tell nothing. Nothing but the own part, made-up rows and fixed constants enters a teacher.
    """

    blocks: Blocks
    teachers: int
    owner: np.ndarray  # of each real row
    places: np.ndarray  # of the ones in each real row
    weights: np.ndarray
    bias: np.ndarray
    middle: np.ndarray  # what a row must exceed to get a teacher's vote

    @classmethod
    def begin(cls, blocks: Blocks, parts: Parts, codes: np.ndarray) -> Teachers:
        owner, rows = parts.seen(codes)
        blank = np.zeros((parts.teachers, blocks.width), dtype=np.float32)
        zero = np.zeros(parts.teachers, dtype=np.float32)
        return cls(blocks, parts.teachers, owner, blocks.places(rows), blank, zero, zero.copy())

    def learn(self, made: np.ndarray, steps: int) -> None:
        """Gradient steps of every teacher, its own rows against these made-up ones, each side with half the weight."""
        for _ in range(steps):
            against = expit(made @ self.weights.T + self.bias)  # made-up rows x teachers
            slope = against.T @ made / np.float32(len(made))
            own, own_bias = self._own_slope()
            step = np.float32(STEP / len(self.blocks.sizes))
            self.weights -= step * (slope - own) + np.float32(DECAY) * step * self.weights
            self.bias -= step * (against.mean(axis=0) - own_bias)
        self.middle = np.median(made @ self.weights.T, axis=0)

    def votes(self, made: np.ndarray) -> np.ndarray:
        """How many teachers vote for each row."""
        return np.asarray((made @ self.weights.T > self.middle).sum(axis=1))

    def _own_slope(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean over each teacher's rows of (1 - how real it finds the row) x row; nothing for a teacher without rows."""
        if not len(self.owner):
            return np.zeros_like(self.weights), np.zeros_like(self.bias)
        width = self.blocks.width
        score = self.weights[self.owner[:, None], self.places].sum(axis=1) + self.bias[self.owner]
        pull = expit(-score.astype(np.float64))
        pull /= np.bincount(self.owner, minlength=self.teachers)[self.owner]
        cells = self.owner[:, None] * width + self.places
        weights = np.repeat(pull, self.places.shape[1])
        slope = np.bincount(cells.ravel(), weights=weights, minlength=self.teachers * width)
        bias = np.bincount(self.owner, weights=pull, minlength=self.teachers)
        return slope.reshape(self.teachers, width).astype(np.float32), bias.astype(np.float32)
