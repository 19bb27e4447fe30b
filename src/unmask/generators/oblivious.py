"""A generator that never looks at the data: the negative control, on which every attack must fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.generators._generator import claim_for
from unmask.generators._network import NetworkModel, Node
from unmask.generators.claim import Claim
from unmask.tables.table import Table

WEIGHT = 1_000_000  # of a column's first code; the others get WEIGHT / 2, WEIGHT / 3, ...


@dataclass(frozen=True)
class Oblivious:
    """Draw every column from a fixed, skewed distribution over its public domain; reads the schema and no row.

    The first code of a column is twice as likely as the second and three times as likely as the third, so that the rows look
    like data (common and rare values) and still tell nothing: epsilon is 0.
    """

    name: ClassVar[str] = "oblivious"
    row_level: ClassVar[bool] = False
    claims: ClassVar[str] = "epsilon 0"
    claim: ClassVar[Claim | None] = Claim(0.0)

    def fit(self, table: Table, rng: np.random.Generator | None) -> NetworkModel:
        schema = table.schema
        nodes = tuple(Node.from_counts(j, (), WEIGHT // np.arange(1, size + 1)) for j, size in enumerate(schema.sizes))
        return NetworkModel(schema, nodes, claim_for(self.claim, schema))
