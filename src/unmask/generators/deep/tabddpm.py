"""TabDDPM: a diffusion model for tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.errors import ParameterError
from unmask.generators._generator import check_fits
from unmask.generators.claim import Claim
from unmask.generators.deep._coding import Coding
from unmask.generators.deep._quantiles import quantiles_of
from unmask.generators.deep._settings import check_training, layers_from, steps_for
from unmask.generators.deep._torch import EXTRA, Progress, StepWatch, Weights, check_whole, need_torch, quiet_torch
from unmask.tables.schema import Schema
from unmask.tables.table import Table

DRAWS = 8  # of noise, over which the loss of a record is averaged


@dataclass(frozen=True)
class TabDdpm:
    """Learn to undo noise step by step: normal noise on numbers, random categories on categories.

    As in TabDDPM (Kotelnikov et al. 2023): numbers become normal scores by their quantiles; a network of plain layers sees
    a noisy row and its step on a cosine schedule, and says the noise in the numbers and the categories without it. The loss
    is the squared error of the noise plus the cross-entropy of the categories, each a mean over columns. (The paper has a
    divergence between one-step posteriors in place of the cross-entropy: it weighs steps otherwise, and the same answer is best.)
    A column with missing numbers has a second, categorical one that says which.

    Quantiles and the categories that occur are learnt from the data; synthetic numbers lie between quantiles, within the schema's
    ranges, except that a number that many rows have comes out as often. No privacy is claimed.
    """

    name: ClassVar[str] = "tabddpm"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None
    emits_real_values: ClassVar[bool] = False
    extra: ClassVar[str] = EXTRA

    steps: int = 1000
    epochs: int | None = None  # instead of steps: for each as many as batches fit into the table
    batch: int = 500
    diffusion_steps: int = 50  # from a clean row to noise
    layers: tuple[int, ...] = (256, 256)  # as text: 256+256
    l2: float = 0.0
    rate: float = 2e-3
    time_budget: float | None = None  # seconds; training ends then, finished or not

    def __post_init__(self) -> None:
        check_training(self)
        check_whole("diffusion_steps", self.diffusion_steps, self.name, least=2)
        object.__setattr__(self, "layers", layers_from("layers", self.layers, self.name))

    def fit(self, table: Table, rng: np.random.Generator, *, progress: Progress | None = None) -> TabDdpmModel:
        """Train for the steps or epochs; `progress` hears of every step."""
        check_fits(table, self.name)
        need_torch(self.name)
        from unmask.generators.deep import _tabddpm

        coding = quantiles_of(table)
        coded = coding.encode(table)
        watch = StepWatch(steps_for(self, len(table)), self.time_budget, progress)
        with quiet_torch(rng) as stream:
            weights = _tabddpm.train(self, coding, coded, watch, stream)
        return TabDdpmModel(self, coding, weights, watch.done, watch.notes)


@dataclass(frozen=True, eq=False)
class TabDdpmModel:
    """A trained denoiser."""

    parameters: TabDdpm
    coding: Coding
    weights: Weights
    steps: int  # done in training
    notes: tuple[str, ...] = ()
    claim: ClassVar[Claim | None] = None

    @property
    def schema(self) -> Schema:
        return self.coding.schema

    @property
    def diffusion_steps(self) -> int:
        """Steps from a clean row to noise: `losses` knows 0 to this less one."""
        return self.parameters.diffusion_steps

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        """Rows denoised from nothing but noise."""
        need_torch(self.parameters.name)
        from unmask.generators.deep import _tabddpm

        with quiet_torch(rng) as stream:
            return self.coding.decode(_tabddpm.draw(self, rows, stream), self.notes)

    def losses(self, table: Table, steps: Sequence[int], rng: np.random.Generator) -> np.ndarray:
        """The denoising loss of each row at these diffusion steps: white-box knowledge for attacks; lower = better learnt.

        Rows x len(steps); step 0 has almost no noise, the last one nothing else. Mean over 8 draws of noise from `rng`.
        """
        if wrong := [step for step in steps if not 0 <= step < self.diffusion_steps]:
            raise ParameterError(
                f"tabddpm: there is no diffusion step {wrong[0]}; steps are 0 to {self.diffusion_steps - 1}."
            )
        need_torch(self.parameters.name)
        from unmask.generators.deep import _tabddpm

        with quiet_torch(rng) as stream:
            return _tabddpm.losses(self, self.coding.encode(table), list(steps), DRAWS, stream)
