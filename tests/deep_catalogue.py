"""DPGAN and PATE-GAN with one wrong decision each, as somebody has made it in real software. For tests only, never shipped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unmask.generators._accounting import SampledGaussian
from unmask.generators.claim import Claim
from unmask.generators.deep._teachers import Parts
from unmask.generators.deep.dpgan import DPGAN
from unmask.generators.deep.pategan import PATEGAN, Ballot
from unmask.tables.schema import Schema
from unmask.tables.table import Table


@dataclass(frozen=True)
class ForgetsSteps(DPGAN):
    """The noise is worked out for one step, and then used in all of them."""

    def accounted(self, rate: float) -> SampledGaussian:
        return replace(replace(self, steps=1).correct(rate), steps=self.steps)

    def correct(self, rate: float) -> SampledGaussian:
        return DPGAN.accounted(self, rate)


@dataclass(frozen=True)
class ClipFromGradients(DPGAN):
    """The clipping norm is the largest norm of the batch: noise and sums tell how steep the steepest row is."""

    def limited(self, norms: np.ndarray) -> tuple[np.ndarray, float]:
        return np.ones(len(norms)), float(norms.max()) if len(norms) else self.clip


@dataclass(frozen=True)
class InvertedNoise(DPGAN):
    """The noise is divided by its multiplier instead of multiplied."""

    def spread(self, mechanism: SampledGaussian, limit: float) -> float:
        return limit / mechanism.noise


@dataclass(frozen=True)
class UnclippedSum(DPGAN):
    """Gradients are never clipped, while the noise is that of a clip."""

    def limited(self, norms: np.ndarray) -> tuple[np.ndarray, float]:
        return np.ones(len(norms)), self.clip


@dataclass(frozen=True)
class FittedEncoder(DPGAN):
    """Columns have the values that were seen, as an encoder fitted to the data gives them."""

    def fit(self, table: Table, rng: np.random.Generator | None) -> Any:
        seen = [np.unique(codes) for codes in table.codes.T]
        columns = tuple(
            replace(column, values=tuple(column.values[code] for code in codes))
            for column, codes in zip(table.schema.columns, seen, strict=True)
        )
        schema = Schema(columns)
        codes = np.stack([np.searchsorted(s, c) for s, c in zip(seen, table.codes.T, strict=True)], axis=1)
        small = Table(schema, np.asfortranarray(codes, dtype=schema.code_type), table.numbers)
        return Decoded(DPGAN.fit(self, small, rng), table.schema, tuple(seen))


@dataclass(frozen=True, eq=False)
class Decoded:
    """A model of recoded rows that gives back the codes of the schema."""

    model: Any
    schema: Schema
    seen: tuple[np.ndarray, ...]

    @property
    def claim(self) -> Claim | None:
        return self.model.claim

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        drawn = self.model.sample(rows, rng)
        codes = np.stack([s[c] for s, c in zip(self.seen, drawn.codes.T, strict=True)], axis=1)
        return Table(self.schema, np.asfortranarray(codes, dtype=self.schema.code_type), drawn.numbers)


@dataclass(frozen=True, eq=False)
class SharedParts(Parts):
    """Every teacher sees every row."""

    def seen(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.repeat(np.arange(self.teachers), len(codes)), np.tile(codes, (self.teachers, 1))


@dataclass(frozen=True)
class TeachersSeeAll(PATEGAN):
    """Teachers are trained on samples of the whole table instead of parts of their own."""

    def divided(self, teachers: int, rng: np.random.Generator) -> Parts:
        return SharedParts(teachers, int(rng.integers(2**63 - 1)))


@dataclass(frozen=True)
class CountsSteps(PATEGAN):
    """The accountant counts a whole batch of votes as one."""

    def accounted(self, teachers: int, epsilon: float) -> Ballot:
        once = PATEGAN.accounted(replace(self, batch=1), teachers, epsilon)
        return Ballot(once.votes * self.batch, once.scale)


@dataclass(frozen=True)
class InvertedVotes(PATEGAN):
    """The noise has the scale epsilon where 1/epsilon was meant."""

    def accounted(self, teachers: int, epsilon: float) -> Ballot:
        good = PATEGAN.accounted(self, teachers, epsilon)
        return Ballot(good.votes, 1 / good.scale)


# Small enough that an audit of a hundred runs takes seconds; the clip is so low that every gradient is as long as it.
SMALL_DPGAN: dict[str, Any] = {"steps": 50, "batch": 128, "hidden": 8, "width": 8, "clip": 0.1}
SMALL_PATEGAN: dict[str, Any] = {"teachers": 20, "batch": 64, "steps": 5, "width": 8, "hidden": 4}

# Defect -> most runs (median over 3 repetitions, pair `tiny`) in which a claim of 1 must fall.
AT_MOST: dict[type, int] = {
    FittedEncoder: 40, UnclippedSum: 60, InvertedNoise: 100, ForgetsSteps: 150, ClipFromGradients: 400,
    InvertedVotes: 40, TeachersSeeAll: 120, CountsSteps: 120,
}  # fmt: skip
