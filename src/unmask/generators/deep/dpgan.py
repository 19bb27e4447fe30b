"""DPGAN (Xie et al. 2018): a GAN whose discriminator is trained by DP-SGD, on the public schema alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import expit

from unmask.errors import ParameterError
from unmask.generators._accounting import SampledGaussian, sampled_gaussian
from unmask.generators._generator import check_finite, check_fits, check_positive, claim_for
from unmask.generators.claim import Claim, Neighbours
from unmask.generators.deep._blocks import Blocks
from unmask.generators.deep._dense import AdamSteps, Dense
from unmask.generators.deep._evidence import Trace, gradient_evidence
from unmask.generators.deep._maker import Maker, is_stage, log_odds
from unmask.generators.deep._rows import COUNT_SHARE, noisy_rows, poisson_sample, sampling_rate
from unmask.generators.deep._torch import check_whole
from unmask.tables.schema import Schema
from unmask.tables.table import Table
from unmask.threads import one_thread

GRID_BITS = 12  # steps of the grid of noisy sums: the noise's size in powers of 2, less so many
ROUNDING = 1 + 1e-5  # norms are sums of 32-bit products: clipped to this much less than allowed


@dataclass(frozen=True)
class DPGAN:
    """A generator learns from a discriminator that sees real rows only through clipped sums with Gaussian noise.

    Add/remove neighbours. Every real row is in a step's sample with the same probability, whatever the others do; its gradient
    is clipped to `clip`; the sum gets noise that privacy loss distributions ask for, given epsilon, delta and the number of
    steps. The number of rows is not public: 5 % of epsilon buys a noisy one, from which the sampling rate follows. All else is
    the public schema: one input per code, numbers by their bins. The loss is the plain one, since a penalty on mixtures of
    real and made-up rows has no gradient of its own for each person. A release mixes rows of several stages of training.
    """

    name: ClassVar[str] = "dpgan"
    row_level: ClassVar[bool] = False
    claims: ClassVar[str] = "epsilon, delta, add-remove"
    shows_evidence: ClassVar[bool] = True
    worst_case: ClassVar[str] = "tiny"  # every row in every sample: an audit then sees all that there is to see
    extra: ClassVar[str] = "accounting"

    epsilon: float = 1.0
    delta: float = 1e-6
    steps: int = 500
    batch: int = 256  # expected rows of a step
    clip: float = 1.0  # most that one row moves a step
    hidden: int = 64  # units of the discriminator
    width: int = 128  # units of the generator
    rate: float = 0.03  # size of the discriminator's steps
    maker_rate: float = 0.003  # size of the generator's steps

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon, self.name)
        for field in ("delta", "clip", "rate", "maker_rate"):
            check_finite(field, getattr(self, field), self.name)
        for field in ("steps", "batch", "hidden", "width"):
            check_whole(field, getattr(self, field), self.name)
        if not self.delta < 1:
            raise ParameterError(f"{self.name}: delta is {self.delta!r}; it must be below 1, and well below 1/rows.")

    @property
    def claim(self) -> Claim | None:
        return Claim(float(self.epsilon), float(self.delta), Neighbours.ADD_REMOVE)

    def fit(self, table: Table, rng: np.random.Generator | None) -> DPGANModel:
        check_fits(table, self.name)
        if rng is None:
            raise ParameterError(f"{self.name}: fitting needs an rng. Pass numpy.random.default_rng(seed).")
        with one_thread():  # sums in the same order, hence the same bytes
            return self._train(table, rng)

    def accounted(self, rate: float) -> SampledGaussian:
        """The noise that what is left of the budget asks for, at this sampling rate."""
        left = (1 - COUNT_SHARE) * float(self.epsilon)
        return sampled_gaussian(left, float(self.delta), steps=self.steps, rate=rate)

    def limited(self, norms: np.ndarray) -> tuple[np.ndarray, float]:
        """The factor of each row's gradient, and the norm that none exceeds afterwards."""
        return np.minimum(1, self.clip / np.maximum(norms * ROUNDING, 1e-30)), self.clip

    def spread(self, mechanism: SampledGaussian, limit: float) -> float:
        """Standard deviation of the noise on a sum of gradients no longer than `limit`."""
        return mechanism.noise * limit

    def _train(self, table: Table, rng: np.random.Generator) -> DPGANModel:
        rows = noisy_rows(len(table), COUNT_SHARE * self.epsilon, rng)
        mechanism = self.accounted(sampling_rate(self.batch, rows))
        expected = max(mechanism.rate * rows, 1.0)

        maker = Maker(table.schema, noise=32, hidden=(self.width,))
        judge = Dense((maker.blocks.width, self.hidden, 1))
        making, judging = maker.network.begin(rng), judge.begin(rng)
        stages = []
        maker_steps, judge_steps = AdamSteps(self.maker_rate), AdamSteps(self.rate)
        trace = Trace.begin(judge.size, self.steps)
        for step in range(self.steps):
            sample = poisson_sample(len(table), mechanism.rate, rng)
            real = maker.blocks.encode(table.codes[sample])
            total, limit = self.clipped_sum(judge, judging, real, sign=-1)
            noisy = with_noise(total, self.spread(mechanism, limit), rng)
            trace.add(judging, noisy)

            made = maker.make(making, self.batch, rng)
            against = (self.clipped_sum(judge, judging, made.rows, sign=1)[0] / self.batch).astype(np.float32)
            judging = judge_steps.step(judging, noisy / np.float32(expected) + against)

            made = maker.make(making, self.batch, rng)
            passed = judge.forward(judging, made.rows)
            slopes = judge.slopes(judging, passed, -expit(-passed[-1]))
            gradient = maker.gradient(making, made, judge.to_inputs(judging, slopes))
            making = maker_steps.step(making, gradient)
            if is_stage(step, self.steps):
                stages.append(making)
        claim = claim_for(self.claim, table.schema)
        details = (
            f"{mechanism.in_words(float(self.delta))}; {COUNT_SHARE * self.epsilon:.4g} for the number of rows, whose noisy "
            f"value is {rows:,}"
        )
        return DPGANModel(
            schema=table.schema,
            claim=None if claim is None else replace(claim, details=details),
            maker=maker,
            stages=np.array(stages),
            judge=judge,
            judging=judging,
            mechanism=mechanism,
            generator=self,
            noisy_rows=rows,
            trace=trace.kept(),
        )

    def clipped_sum(self, judge: Dense, judging: np.ndarray, rows: np.ndarray, sign: int) -> tuple[np.ndarray, float]:
        """The sum of clipped gradients of the loss softplus(sign x score): -1 for real rows, +1 for made-up ones."""
        passed = judge.forward(judging, rows)
        slopes = judge.slopes(judging, passed, np.float32(sign) * expit(np.float32(sign) * passed[-1]))
        factors, limit = self.limited(judge.norms(passed, slopes))
        return judge.total(passed, slopes, factors), limit


def with_noise(total: np.ndarray, spread: float, rng: np.random.Generator) -> np.ndarray:
    """Sums with Gaussian noise, on a grid that hangs on the noise alone.

    Added in floating point, noise would leave the last bits of the exact sum in the noisy one, and a neighbouring table could
    often not have led there (Mironov 2012). A coarse grid has no such bits, and its multiples are exact in 32 bits.
    """
    if spread == 0:
        return total.astype(np.float32)
    grid = 2.0 ** (math.floor(math.log2(spread)) - GRID_BITS)
    return (np.rint((total + rng.normal(0, spread, len(total))) / grid) * grid).astype(np.float32)


@dataclass(frozen=True, eq=False)
class DPGANModel:
    """A fitted generator; discriminator, noisy sums and accounting for those who see the model."""

    schema: Schema
    claim: Claim | None
    maker: Maker
    stages: np.ndarray
    judge: Dense
    judging: np.ndarray
    mechanism: SampledGaussian
    generator: DPGAN
    noisy_rows: int
    trace: Trace | None  # None where it would be too large

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        with one_thread():
            return self.maker.sample(self.stages, rows, rng)

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks.of(self.schema)

    def discriminator_score(self, table: Table) -> np.ndarray:
        """How real each row looks to the discriminator: the log-odds; higher is more real."""
        with one_thread():
            return log_odds(self.judge, self.judging, self._blocks, table.codes)

    def evidence(self, target: Table, others: Table) -> dict[str, float]:
        """What the training shows about a target, to somebody who knows all others; above 0 speaks for its presence."""
        found = {"score of target": float(self.discriminator_score(target)[0]), "noisy rows": float(self.noisy_rows)}
        if self.trace is None:
            return found
        return found | gradient_evidence(self.trace, self.judge, self.mechanism, self.generator, (target, others))
