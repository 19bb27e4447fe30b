"""What the noisy sums of DP-SGD say about one row, to somebody who sees all of them and knows everybody else."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.special import expit

from unmask.generators._accounting import SampledGaussian
from unmask.generators.deep._blocks import Blocks
from unmask.generators.deep._dense import Dense
from unmask.tables.table import Table

MOST_KEPT = 2_000_000  # numbers of weights and of sums; beyond that nothing is kept, and models stay small


@dataclass
class Trace:
    """Weights before each step and the noisy sum that came out of it: all that DP-SGD releases."""

    wanted: bool
    weights: list[np.ndarray] = field(default_factory=list)
    sums: list[np.ndarray] = field(default_factory=list)

    @classmethod
    def begin(cls, size: int, steps: int) -> Trace:
        return cls(size * steps <= MOST_KEPT)

    def add(self, weights: np.ndarray, noisy: np.ndarray) -> None:
        if self.wanted:
            self.weights.append(weights)
            self.sums.append(noisy)

    def kept(self) -> Trace | None:
        return self if self.wanted else None


class Clipping(Protocol):
    """Who limits gradients, and how far."""

    def limited(self, norms: np.ndarray) -> tuple[np.ndarray, float]:
        """The factor of each row's gradient, and the norm that none exceeds afterwards."""
        ...


def gradient_evidence(
    trace: Trace, judge: Dense, mechanism: SampledGaussian, clipping: Clipping, rows: tuple[Table, Table]
) -> dict[str, float]:
    """The log-likelihood ratio of target and others against others alone, at the declared noise, and how large the noise was.

    Each step is seen along the target's clipped gradient u: N(m, v) without it, and with it a mixture of that and
    N(m + |u|^2, v) at the sampling rate; m and v count the others' sample by its first two moments. Exact at a rate of 1.
    """
    target, others = rows
    blocks, rate = Blocks.of(target.schema), mechanism.rate
    codes, counts = np.unique(np.asarray(others.codes), axis=0, return_counts=True)
    own, known = blocks.encode(target.codes[:1]), blocks.encode(codes)
    ratio = sizes = 0.0
    for weights, noisy in zip(trace.weights, trace.sums, strict=True):
        passed, slopes, factors, _ = _clipped(judge, clipping, weights, own)
        direction = judge.total(passed, slopes, factors).astype(np.float64)
        length = float(direction @ direction)
        passed_o, slopes_o, factors_o, limit = _clipped(judge, clipping, weights, known)
        along = judge.products(passed_o, slopes_o, passed, slopes) * factors_o * factors[0]
        mean = rate * float(counts @ along)
        spread = (mechanism.noise * limit) ** 2 * length + rate * (1 - rate) * float(counts @ along**2)
        beyond = float(direction @ noisy) - mean
        if spread > 0:
            tilt = (2 * beyond * length - length**2) / (2 * spread)
            ratio += tilt if rate == 1 else float(np.logaddexp(math.log1p(-rate), math.log(rate) + tilt))
        rest = noisy - rate * judge.total(passed_o, slopes_o, factors_o * counts)
        sizes += float(rest @ rest) / len(noisy) / ((mechanism.noise or 1.0) * limit) ** 2
    return {
        "likelihood ratio": round(ratio, 6),
        "size of noise": math.sqrt(sizes / max(len(trace.sums), 1)),
    }


def _clipped(
    judge: Dense, clipping: Clipping, weights: np.ndarray, rows: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray, float]:
    passed = judge.forward(weights, rows)
    slopes = judge.slopes(weights, passed, -expit(-passed[-1]))
    factors, limit = clipping.limited(judge.norms(passed, slopes))
    return passed, slopes, factors, limit
