"""The real table itself, published: the positive control that every attack must beat."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from unmask.generators._generator import check_fits
from unmask.generators.claim import Claim
from unmask.tables.table import Table


@dataclass(frozen=True)
class Raw:
    """Publish the real rows in random order, without the person ids."""

    name: ClassVar[str] = "raw"
    row_level: ClassVar[bool] = True
    claim: ClassVar[Claim | None] = None

    def fit(self, table: Table, rng: np.random.Generator | None) -> RawModel:
        check_fits(table, self.name)
        return RawModel(replace(table, persons=None))


@dataclass(frozen=True, eq=False)
class RawModel:
    """All rows of the real table."""

    table: Table
    claim: ClassVar[Claim | None] = None

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        """All rows, shuffled; `rows` is not used, since a row-level release publishes everyone."""
        return self.table.take(rng.permutation(len(self.table)))
