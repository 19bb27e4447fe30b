"""Membership and attributes by differencing (ganev2023, appendix H): ask with and without a person, and compare.

A row that joins a table that passes makes IMS rise, or the call fail, if and only if it is a train row. So one call per person
tells membership. Of a person of whom some columns are unknown each completion can be asked about; a distance says more: no train
row is nearer to a completion than its distance, so all completions nearer than that are excluded unasked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unmask.attacks.reconstruction.padding import UNKNOWN, Reader
from unmask.compiled import njit
from unmask.errors import ParameterError

MOST_COMPLETIONS = 1_000_000


def members(reader: Reader, codes: np.ndarray) -> np.ndarray:
    """Whether each row is in the train table: 1 yes, 0 no, UNKNOWN where the oracle did not say."""
    distances = reader.distances(codes)
    return np.where(distances == UNKNOWN, UNKNOWN, (distances == 0).astype(np.int16))


@dataclass(frozen=True, eq=False)
class Completions:
    """All train rows that agree with what is known of a person, and how many rows were read for them."""

    rows: np.ndarray
    read: int
    of: int  # completions that there are


def complete(reader: Reader, known: np.ndarray, unknown: tuple[int, ...]) -> Completions:
    """Every train row that equals `known` outside the unknown columns; an error where there are too many to try."""
    sizes = reader.oracle.schema.sizes[list(unknown)]
    total = math.prod(int(size) for size in sizes)
    if total > MOST_COMPLETIONS:
        names = [reader.oracle.schema.names[place] for place in unknown]
        raise ParameterError(
            f"{', '.join(names)} have {total:,} values together; at most {MOST_COMPLETIONS:,} are tried. Leave fewer unknown."
        )
    values = np.stack(np.unravel_index(np.arange(total), tuple(sizes)), axis=1).astype(known.dtype)
    alive, before, found = np.ones(total, dtype=bool), reader.read, []
    place = _next(alive, 0)
    while place < total and not reader.spent:
        row = known.copy()
        row[list(unknown)] = values[place]
        distance = int(reader.distances(row[None])[0])
        alive[place] = False
        if distance == 0:
            found.append(row)
        elif distance > 0:
            _exclude(values, values[place], distance, alive)
        place = _next(alive, place)
    rows = np.array(found, dtype=known.dtype).reshape(-1, len(known))
    return Completions(rows, reader.read - before, total)


@njit(cache=True)
def _next(alive, start):
    for place in range(start, len(alive)):
        if alive[place]:
            return place
    return len(alive)


@njit(cache=True)
def _exclude(values, centre, distance, alive):
    for place in range(len(values)):
        if alive[place]:
            gap = 0
            for column in range(len(centre)):
                gap += values[place, column] != centre[column]
            alive[place] = gap >= distance
