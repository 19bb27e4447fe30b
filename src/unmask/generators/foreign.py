"""A generator that somebody else runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.errors import GeneratorError
from unmask.generators._generator import Model
from unmask.generators.claim import Claim
from unmask.tables.table import Table


@dataclass(frozen=True)
class Foreign:
    """It has a name and perhaps a claim, and cannot be fitted here: only its synthetic files can be attacked."""

    name: ClassVar[str] = "foreign"
    row_level: ClassVar[bool] = False

    called: str = "unnamed"
    claim: Claim | None = None

    def fit(self, table: Table, rng: np.random.Generator | None) -> Model:
        raise GeneratorError(
            f"'{self.called}' is run by its owner, so it cannot be fitted here. Only its synthetic files can be attacked."
        )
