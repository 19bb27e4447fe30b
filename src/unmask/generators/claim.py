"""What a generator promises: differential privacy with these parameters, for these neighbours, per this unit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from unmask.errors import ParameterError
from unmask.registry import settings_from


class Neighbours(StrEnum):
    """Which two tables count as neighbours; never implied, since the same noise means different things."""

    REPLACE = "replace"  # one unit has other values; the number of units is public
    ADD_REMOVE = "add-remove"  # one unit is there or not


@dataclass(frozen=True)
class Claim:
    """A differential-privacy claim. `void` says why it does not hold, and is empty where it does.

    `details` is the accounting behind it, for people to check: known of a fitted model only, and no part of what is claimed.
    """

    epsilon: float
    delta: float = 0.0
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    unit: str = "row"
    void: str = ""
    details: str = field(default="", compare=False)

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


def parse_claim(text: str, own: Claim | None = None) -> Claim:
    """A claim from text such as `epsilon=1,delta=1e-6,neighbours=replace`; what is left out is as in `own`."""
    given = settings_from(text.split(","))
    if unknown := [name for name in given if name not in ("epsilon", "delta", "neighbours")]:
        raise ParameterError(f"A claim has no {', '.join(unknown)}. It has: epsilon, delta, neighbours.")
    if "epsilon" not in given:
        raise ParameterError(
            f"The claim '{text}' names no epsilon. Write it as epsilon=1,delta=1e-6,neighbours=replace."
        )
    neighbours = str(given.get("neighbours", own.neighbours if own else Neighbours.ADD_REMOVE))
    if neighbours not in list(Neighbours):
        raise ParameterError(f"neighbours is '{neighbours}'; use one of {', '.join(Neighbours)}.")
    try:
        epsilon, delta = float(given["epsilon"]), float(given.get("delta", own.delta if own else 0.0))
    except (TypeError, ValueError):
        raise ParameterError(f"The claim '{text}' has an epsilon or delta that is no number.") from None
    return Claim(epsilon, delta, Neighbours(neighbours))


def as_claim(given: Any) -> Claim:
    """A claim as callers give it: itself, or a text."""
    return given if isinstance(given, Claim) else parse_claim(str(given))
