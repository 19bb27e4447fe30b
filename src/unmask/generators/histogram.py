"""One noisy count per combination of values: the yardstick whose epsilon is known exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from unmask.errors import ParameterError
from unmask.generators._counts import joint
from unmask.generators._generator import Measurement, check_fits, check_positive, claim_for
from unmask.generators._noise import noise_for
from unmask.generators._numbers import table_from_codes
from unmask.generators.claim import Claim, Neighbours
from unmask.tables.schema import Schema
from unmask.tables.table import Table

MAX_CELLS = 2_000_000


@dataclass(frozen=True)
class Histogram:
    """Count every possible row of a small table with noise, and draw rows from these counts.

    Adding or removing a row changes one cell by 1, so discrete Laplace noise of scale 1/epsilon on every cell, seen or not,
    is epsilon-DP, and exactly that: no smaller epsilon holds. Counts below 0 are taken as 0 when drawing. The number of
    rows is not kept.
    """

    name: ClassVar[str] = "histogram"
    row_level: ClassVar[bool] = False
    claims: ClassVar[str] = "epsilon, add-remove"

    epsilon: float = 1.0
    release: bool = False  # hardened noise that cannot be repeated

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon, self.name)

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon, neighbours=Neighbours.ADD_REMOVE)

    def fit(self, table: Table, rng: np.random.Generator | None) -> HistogramModel:
        check_fits(table, self.name)
        schema = table.schema
        if (cells := math.prod(schema.sizes.tolist())) > MAX_CELLS:
            raise ParameterError(
                f"histogram: the schema allows {cells:.3g} different rows; at most {MAX_CELLS:,} can be counted one by one.\n"
                "Keep fewer columns, use fewer bins, or choose privbayes or mst."
            )
        columns = tuple(range(len(schema.columns)))
        scale = 1 / self.epsilon
        counts = noise_for(self.release, rng).laplace(joint(table.codes, columns, schema.sizes), scale)
        measured = Measurement(columns, counts, scale, "laplace" if scale else "none")
        return HistogramModel(schema, claim_for(self.claim, schema), (measured,))


@dataclass(frozen=True, eq=False)
class HistogramModel:
    """Noisy counts of all possible rows."""

    schema: Schema
    claim: Claim | None
    measurements: tuple[Measurement, ...]

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        running = np.cumsum(self._weights)
        cells = np.searchsorted(running, rng.random(rows) * running[-1], side="right")
        codes = np.array(np.unravel_index(cells, self.schema.sizes.tolist()))
        return table_from_codes(self.schema, codes.T, rng)

    def log_likelihood(self, table: Table) -> np.ndarray:
        """Log-probability of each row's codes: minus infinity where the noisy count is not above 0."""
        weights = self._weights
        unlisted = np.any(table.codes >= self.schema.sizes, axis=1)
        codes = np.where(unlisted[:, None], 0, table.codes)
        cells = np.ravel_multi_index(tuple(codes.T.astype(np.int64)), self.schema.sizes.tolist())
        found = np.where(unlisted, 0, weights[cells]) / weights.sum()
        return np.log(found, out=np.full(len(table), -np.inf), where=found > 0)

    @cached_property
    def _weights(self) -> np.ndarray:
        """Counts without the negative ones; all equal if none is above 0."""
        weights = np.maximum(self.measurements[0].counts.ravel(), 0)
        return weights if weights.any() else np.ones_like(weights)
