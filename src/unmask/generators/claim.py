"""What a generator promises: differential privacy with these parameters, for these neighbours, per this unit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from unmask.errors import ParameterError


class Neighbours(StrEnum):
    """Which two tables count as neighbours; never implied, since the same noise means different things."""

    REPLACE = "replace"  # one unit has other values; the number of units is public
    ADD_REMOVE = "add-remove"  # one unit is there or not


@dataclass(frozen=True)
class Claim:
    """A differential-privacy claim. `void` says why it does not hold, and is empty where it does."""

    epsilon: float
    delta: float = 0.0
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    unit: str = "row"
    void: str = ""

    def __post_init__(self) -> None:
        if not self.epsilon >= 0:
            raise ParameterError(f"A claim needs an epsilon of at least 0, not {self.epsilon}.")
        if not 0 <= self.delta < 1:
            raise ParameterError(f"A claim needs a delta from 0 to below 1, not {self.delta}.")

    def __str__(self) -> str:
        delta = f", delta {self.delta:g}" if self.delta else ""
        epsilon = "no privacy (epsilon infinite)" if math.isinf(self.epsilon) else f"epsilon {self.epsilon:g}{delta}"
        text = f"{epsilon}, {self.neighbours} neighbours, per {self.unit}"
        return f"{text}; void: {self.void}" if self.void else text
