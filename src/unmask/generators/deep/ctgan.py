"""CTGAN: a generator and a critic trained against each other, with conditions that make rare categories seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.errors import ParameterError
from unmask.generators._generator import check_fits
from unmask.generators.claim import Claim
from unmask.generators.deep._coding import Coded, Coding
from unmask.generators.deep._modes import modes_of
from unmask.generators.deep._settings import check_training, layers_from, steps_for
from unmask.generators.deep._torch import EXTRA, Progress, StepWatch, Weights, check_whole, need_torch, quiet_torch
from unmask.tables.schema import Schema
from unmask.tables.table import Table


@dataclass(frozen=True)
class Ctgan:
    """Train a generator against a critic on modes and categories, conditional on one category at a time.

    As in the CTGAN paper (Xu et al. 2019): numbers by mode-specific normalisation, a condition for each row with training
    by sampling, Wasserstein loss with gradient penalty on `pac` rows at a time, residual layers, Gumbel-softmax. A missing
    number is a mode of its own, a missing category a category. The defaults of embedding, layers and l2 are those of
    Stadler et al. 2022, table 1.

    Mixtures, their widths and the categories that occur are learnt from the data; synthetic numbers are new, within the
    schema's ranges. No privacy is claimed.
    """

    name: ClassVar[str] = "ctgan"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None
    emits_real_values: ClassVar[bool] = False
    extra: ClassVar[str] = EXTRA

    steps: int = 600
    epochs: int | None = None  # instead of steps: for each as many as batches fit into the table
    batch: int = 500
    embedding: int = 128
    generator_layers: tuple[int, ...] = (256, 256)  # as text: 256+256
    discriminator_layers: tuple[int, ...] = (256, 256)
    l2: float = 1e-6
    rate: float = 2e-4
    pac: int = 10
    averaged: bool = True  # release the mean of the generator over the last tenth of the steps; the paper has none
    time_budget: float | None = None  # seconds; training ends then, finished or not

    def __post_init__(self) -> None:
        check_training(self)
        check_whole("embedding", self.embedding, self.name)
        check_whole("pac", self.pac, self.name)
        for name in ("generator_layers", "discriminator_layers"):
            object.__setattr__(self, name, layers_from(name, getattr(self, name), self.name))
        if self.batch % self.pac:
            raise ParameterError(f"ctgan: batch is {self.batch}, pac is {self.pac}; batch must be a multiple of pac.")

    def fit(self, table: Table, rng: np.random.Generator, *, progress: Progress | None = None) -> CtganModel:
        """Train for the steps or epochs; `progress` hears of every step."""
        check_fits(table, self.name)
        need_torch(self.name)
        from unmask.generators.deep import _ctgan

        coding = modes_of(table, rng)
        coded = coding.encode(table, rng)
        counts = category_counts(coding, coded)
        watch = StepWatch(steps_for(self, len(table)), self.time_budget, progress)
        with quiet_torch(rng) as stream:
            generator, critic = _ctgan.train(self, coding, counts, coded, watch, stream)
        return CtganModel(self, coding, counts, generator, critic, watch.done, watch.notes)


@dataclass(frozen=True, eq=False)
class CtganModel:
    """A trained generator with its critic."""

    parameters: Ctgan
    coding: Coding
    counts: np.ndarray  # of every category that occurs, column by column
    generator: Weights
    critic: Weights
    steps: int  # done
    notes: tuple[str, ...] = ()
    claim: ClassVar[Claim | None] = None

    @property
    def schema(self) -> Schema:
        return self.coding.schema

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        """Rows for conditions drawn as often as they occur in the training table."""
        need_torch(self.parameters.name)
        from unmask.generators.deep import _ctgan

        with quiet_torch(rng) as stream:
            return self.coding.decode(_ctgan.draw(self, rows, stream), self.notes)

    def discriminator_score(self, table: Table) -> np.ndarray:
        """How real each row looks to the critic: white-box knowledge for attacks; higher = more real.

        The critic judges `pac` rows at a time under conditions: the row is shown that often, under each of its own categories
        in turn, and the mean counts. Nothing is random.
        """
        need_torch(self.parameters.name)
        from unmask.generators.deep import _ctgan

        with quiet_torch(np.random.default_rng(0)):
            return _ctgan.looks(self, self.coding.encode(table))


def category_counts(coding: Coding, coded: Coded) -> np.ndarray:
    """How often each category occurs, the categorical columns side by side."""
    first = len(coding.levelled)
    counts = [
        np.bincount(coded.levels[:, first + place], minlength=len(codes)) for place, codes in enumerate(coding.seen)
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *counts])
