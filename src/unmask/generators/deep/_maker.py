"""The network that makes rows, for both private GANs: noise in, one code per column out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.generators._numbers import table_from_codes
from unmask.generators.deep._blocks import Blocks
from unmask.generators.deep._dense import Dense
from unmask.tables.schema import Schema
from unmask.tables.table import Table

CHUNK = 8_192  # rows at a time: memory does not grow with what is asked for
STAGES = 20  # of training, whose rows a release mixes: two networks that chase each other are right on average
FROM = 0.5  # share of the training after which stages are kept


def is_stage(step: int, steps: int) -> bool:
    """Whether what the network has learnt after this step (of 0 .. steps-1) is one of the stages; the last always is."""
    begin = int(FROM * steps)
    every = max(1, (steps - begin) // STAGES)
    return step >= begin and (steps - 1 - step) % every == 0


def log_odds(judge: Dense, weights: np.ndarray, blocks: Blocks, codes: np.ndarray) -> np.ndarray:
    """How real each row looks to a network with one output; higher is more real."""
    found = [np.empty(0)]
    for start in range(0, len(codes), CHUNK):
        rows = blocks.encode(codes[start : start + CHUNK])
        found.append(judge.forward(weights, rows)[-1][:, 0].astype(np.float64))
    return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class Made:
    """Rows that the network made, and what it takes to learn from them."""

    codes: np.ndarray
    rows: np.ndarray  # zeros and ones
    shares: np.ndarray  # soft choices, for the slope
    passed: list[np.ndarray]


@dataclass(frozen=True, eq=False)
class Maker:
    """Dense layers from noise to logits; a code is drawn from each block by Gumbel noise.

    Learning goes straight through: rows are hard choices, slopes are those of soft ones at `temperature` (Jang et al. 2017).
    """

    schema: Schema
    noise: int
    hidden: tuple[int, ...]
    temperature: float = 0.5

    @cached_property
    def blocks(self) -> Blocks:
        return Blocks.of(self.schema)

    @cached_property
    def network(self) -> Dense:
        return Dense((self.noise, *self.hidden, self.blocks.width))

    def make(self, weights: np.ndarray, rows: int, rng: np.random.Generator) -> Made:
        """Rows to learn from."""
        passed, logits = self._logits(weights, rows, rng)
        codes = self.blocks.choose(logits)
        shares = self.blocks.softmax(logits / np.float32(self.temperature))
        return Made(codes, self.blocks.encode(codes), shares, passed)

    def gradient(self, weights: np.ndarray, made: Made, slope: np.ndarray) -> np.ndarray:
        """The mean gradient of the network, from the slope of each row's loss at the row."""
        at_logits = self.blocks.pull(made.shares, slope) / np.float32(self.temperature * len(slope))
        return self.network.total(made.passed, self.network.slopes(weights, made.passed, at_logits))

    def sample(self, stages: np.ndarray, rows: int, rng: np.random.Generator) -> Table:
        """A table of exactly this many rows, each from one of the stages (weights, one array each), all equally likely."""
        codes = np.empty((rows, len(self.schema.columns)), dtype=np.int64)
        whose = rng.integers(len(stages), size=rows)
        for stage, weights in enumerate(stages):
            mine = np.flatnonzero(whose == stage)
            for start in range(0, len(mine), CHUNK):
                part = mine[start : start + CHUNK]
                codes[part] = self.blocks.choose(self._logits(weights, len(part), rng)[1])
        return table_from_codes(self.schema, codes, rng)

    def _logits(self, weights: np.ndarray, rows: int, rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
        """What passed the network, and its logits with Gumbel noise."""
        passed = self.network.forward(weights, rng.standard_normal((rows, self.noise), dtype=np.float32))
        uniform = rng.random((rows, self.blocks.width), dtype=np.float32)
        gumbel = -np.log(-np.log(np.maximum(uniform, np.float32(1e-20))) + np.float32(1e-20))
        return passed, passed[-1] + gumbel
