"""Uniform over every domain: what a generator looks like that learns nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.generators._numbers import table_from_codes
from unmask.generators.claim import Claim
from unmask.tables.schema import Schema
from unmask.tables.table import Table


@dataclass(frozen=True)
class Random:
    """Draw each value uniformly from the column's public domain. Uses the schema and nothing else of the table."""

    name: ClassVar[str] = "random"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None

    def fit(self, table: Table, rng: np.random.Generator | None) -> RandomModel:
        return RandomModel(table.schema)


@dataclass(frozen=True)
class RandomModel:
    """Uniform and independent columns over a schema."""

    schema: Schema
    claim: ClassVar[Claim | None] = None

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        codes = rng.integers(0, self.schema.sizes, size=(rows, len(self.schema.columns)))
        return table_from_codes(self.schema, codes, rng)

    def log_likelihood(self, table: Table) -> np.ndarray:
        return np.full(len(table), -np.log(self.schema.sizes).sum())
