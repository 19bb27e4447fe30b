"""How many rows of a release are the target's, by all that is known of the person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._known import Coarsening
from unmask.attacks.features.queries import hidden_column
from unmask.attacks.record_linkage import matching_rows
from unmask.tables.table import Table


@dataclass(frozen=True)
class MatchFeatures:
    """The number of rows that equal the target, coarsened as the release is; the secret aside."""

    name: ClassVar[str] = "matches"

    @property
    def key(self) -> str:
        return "matches"

    def compute(self, synthetic: Table, targets: Table) -> np.ndarray:
        """Targets x 1."""
        secret = hidden_column(targets)
        known = [position for position in range(len(targets.schema.columns)) if position != secret]
        people = Coarsening.of(synthetic).apply(targets)
        return np.array([[len(rows)] for rows in matching_rows(people, synthetic, known)], dtype=np.float64)
