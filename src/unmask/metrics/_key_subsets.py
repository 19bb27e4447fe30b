"""All keys of a length out of the columns that an attacker may know; a random part of them where there are too many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unmask.errors import ParameterError

MOST_KEYS = 100


@dataclass(frozen=True)
class KeySubsets:
    """The keys to try, and how many of the length there are."""

    chosen: tuple[tuple[str, ...], ...]
    total: int

    @property
    def note(self) -> str:
        """What to say where not all are tried; empty if all are."""
        if len(self.chosen) == self.total:
            return ""
        length = len(self.chosen[0])
        return f"{len(self.chosen):,} of the {self.total:,} keys of length {length} were tried, drawn at random."


def key_subsets(
    names: Sequence[str], length: int | None, *, most: int = MOST_KEYS, rng: np.random.Generator | None = None
) -> KeySubsets:
    """Every key of this `length` (None = all columns together), or `most` of them drawn by `rng`, in the order of the columns."""
    length = len(names) if length is None else length
    if not 1 <= length <= len(names):
        raise ParameterError(
            f"length is {length}, but there are {len(names)} keys to choose from. Use 1 to {len(names)}."
        )
    total = math.comb(len(names), length)
    if total <= most:
        return KeySubsets(tuple(combinations(names, length)), total)
    if rng is None:
        raise ParameterError(
            f"There are {total:,} keys of length {length}, more than the {most:,} that are tried. Pass rng to draw some."
        )
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < most:
        drawn.add(tuple(sorted(int(place) for place in rng.choice(len(names), length, replace=False))))
    return KeySubsets(tuple(tuple(names[place] for place in each) for each in sorted(drawn)), total)
