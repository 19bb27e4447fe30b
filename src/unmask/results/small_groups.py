"""Which groups must not be told: those of few people, and as many more as it takes that nobody finds them by subtraction."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from unmask.tables.units import SMALLEST_GROUP


def hidden_places(sizes: Sequence[float], smallest: int = SMALLEST_GROUP) -> frozenset[int]:
    """Places of the groups to leave out of a table that divides people by one thing.

    All under ten go, then the next larger ones, until those left out hold ten people together: whoever knows the total
    learns only their sum.
    """
    hidden: list[int] = []
    for place in sorted(range(len(sizes)), key=lambda place: sizes[place]):
        together = sum(sizes[other] for other in hidden)
        if sizes[place] >= smallest and (not hidden or together >= smallest):
            break
        hidden.append(place)
    return frozenset(hidden)


def crowd_quantiles(values: np.ndarray, steps: int = 100) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Shares and the values below which they lie, of whole crowds only: ten people beyond each end and in each step.

    The largest value would be one person's own.
    """
    few = SMALLEST_GROUP / max(len(values), 1)
    count = min(steps + 1, len(values) // SMALLEST_GROUP - 1)
    if count < 2:
        return (), ()
    shares = np.linspace(few, 1 - few, count)
    found = np.quantile(values, shares)
    return tuple(round(float(share), 4) for share in shares), tuple(float(f"{value:.4g}") for value in found)


def place_text(place: int, many: int) -> str:
    """A category by its place in the schema, where its name is not public."""
    return f"value {place + 1} of {many}"


def is_place(cell: object) -> bool:
    """Whether a group is told by its place."""
    return isinstance(cell, str) and re.fullmatch(r"value \d+ of \d+", cell) is not None
