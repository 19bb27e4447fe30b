"""TVAE: a variational autoencoder on the modes and categories of `ctgan`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.generators._generator import check_fits, check_positive
from unmask.generators.claim import Claim
from unmask.generators.deep._coding import Coding
from unmask.generators.deep._modes import modes_of
from unmask.generators.deep._settings import check_training, layers_from, steps_for
from unmask.generators.deep._torch import EXTRA, Progress, StepWatch, Weights, check_whole, need_torch, quiet_torch
from unmask.tables.schema import Schema
from unmask.tables.table import Table

DRAWS = 10  # of the hidden numbers, over which the loss of a record is averaged


@dataclass(frozen=True)
class Tvae:
    """Squeeze every row through a few hidden numbers that look normal, and draw rows from new ones.

    As in the CTGAN paper (Xu et al. 2019): the same modes and categories as `ctgan`, normal numbers around what the decoder
    says with a spread of their own per column, and a bound on the likelihood in which the reconstruction counts
    `loss_factor` times. Categories are drawn by their probabilities.

    Mixtures, their widths and the categories that occur are learnt from the data; synthetic numbers are new, within the
    schema's ranges. No privacy is claimed.
    """

    name: ClassVar[str] = "tvae"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None
    emits_real_values: ClassVar[bool] = False
    extra: ClassVar[str] = EXTRA

    steps: int = 1000
    epochs: int | None = None  # instead of steps: for each as many as batches fit into the table
    batch: int = 500
    embedding: int = 128
    encoder_layers: tuple[int, ...] = (128, 128)  # as text: 128+128
    decoder_layers: tuple[int, ...] = (128, 128)
    l2: float = 1e-5
    rate: float = 1e-3
    loss_factor: float = 2.0
    time_budget: float | None = None  # seconds; training ends then, finished or not

    def __post_init__(self) -> None:
        check_training(self)
        check_whole("embedding", self.embedding, self.name)
        check_positive("loss_factor", self.loss_factor, self.name)
        for name in ("encoder_layers", "decoder_layers"):
            object.__setattr__(self, name, layers_from(name, getattr(self, name), self.name))

    def fit(self, table: Table, rng: np.random.Generator, *, progress: Progress | None = None) -> TvaeModel:
        """Train for the steps or epochs; `progress` hears of every step."""
        check_fits(table, self.name)
        need_torch(self.name)
        from unmask.generators.deep import _tvae

        coding = modes_of(table, rng)
        coded = coding.encode(table, rng)
        watch = StepWatch(steps_for(self, len(table)), self.time_budget, progress)
        with quiet_torch(rng) as stream:
            weights = _tvae.train(self, coding, coded, watch, stream)
        return TvaeModel(self, coding, weights, watch.done, watch.notes)


@dataclass(frozen=True, eq=False)
class TvaeModel:
    """A trained autoencoder."""

    parameters: Tvae
    coding: Coding
    weights: Weights
    steps: int  # done
    notes: tuple[str, ...] = ()
    claim: ClassVar[Claim | None] = None

    @property
    def schema(self) -> Schema:
        return self.coding.schema

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        """Rows decoded from standard normal hidden numbers."""
        need_torch(self.parameters.name)
        from unmask.generators.deep import _tvae

        with quiet_torch(rng) as stream:
            return self.coding.decode(_tvae.draw(self, rows, stream), self.notes)

    def losses(self, table: Table, steps: Sequence[int], rng: np.random.Generator) -> np.ndarray:
        """Minus the evidence lower bound of each row: white-box knowledge for attacks; lower = better learnt.

        An autoencoder has no diffusion steps, so every step gets the same column (rows x len(steps)).
        """
        need_torch(self.parameters.name)
        from unmask.generators.deep import _tvae

        with quiet_torch(rng) as stream:
            found = _tvae.bounds(self, self.coding.encode(table), DRAWS, stream)
        return np.repeat(found[:, None], len(steps), axis=1)
