"""How many rows there are, privately: under add/remove neighbours the number of rows is a secret like any other."""

from __future__ import annotations

import math

import numpy as np

from unmask.generators._noise import Seeded

COUNT_SHARE = 0.05  # of epsilon, for the number of rows
GRID = 4  # sampling rates are powers of 2^(1/4), so that noise is worked out for few of them


def noisy_rows(rows: int, epsilon: float, rng: np.random.Generator) -> int:
    """The number of rows with discrete Laplace noise: `epsilon`-DP; at least 1."""
    scale = 0.0 if math.isinf(epsilon) else 1 / epsilon
    return max(1, int(Seeded(rng).laplace(np.array([rows]), scale)[0]))


def sampling_rate(batch: int, rows: int) -> float:
    """The rate at which about `batch` of so many rows are drawn, rounded down to a grid; at most 1."""
    if rows <= batch:
        return 1.0
    return 2.0 ** (math.floor(GRID * math.log2(batch / rows)) / GRID)


def poisson_sample(rows: int, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Positions of a sample in which each row is with probability `rate`, whatever the others do."""
    return np.flatnonzero(rng.random(rows) < rate)
