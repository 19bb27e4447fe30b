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

    Each row's part is drawn on its own, from a stream that does not depend on the table, so one row more or less changes the
    part of no other row, and the vote of one teacher at most. (Cutting a shuffled table into equal parts would move others.)
    """

    teachers: int
    seed: int

    def of(self, rows: int) -> np.ndarray:
        """The teacher of each row."""
        return np.random.default_rng(self.seed).integers(self.teachers, size=rows)

    def seen(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whose each row is, and the rows."""
        return self.of(len(codes)), codes


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
