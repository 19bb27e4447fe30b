"""How many rows of a large table agree with each person in all columns but 0, 1, 2, ...: by rows of bits (`_bit_kernels`)."""

from __future__ import annotations

import numpy as np

from unmask.compiled import njit
from unmask.tables.search import _bit_kernels as kernels

BLOCK = 8192  # rows at a time: a person's bits of a column are a kilobyte
MOST_COLUMNS = 2 * kernels.INPUTS
FEWEST_PAIRS = 2_000_000  # fewer are not worth the compiling of more loops
MOST_CODES = 50_000  # of all columns together: 50 MB of bits


def near_counts(people: np.ndarray, rows: np.ndarray, levels: int, own: np.ndarray | None = None) -> np.ndarray | None:
    """People x levels: rows with exactly so many unequal columns, of codes in which anything below 0 equals nothing.

    `own` is the place of each person among the rows, which is passed over; -1 or None where they are not among them. None where
    there are too many columns or values for bits, or too few pairs. Cost: people x rows, about a tenth of a nanosecond each.
    """
    width = people.shape[1]
    if len(people) * len(rows) < FEWEST_PAIRS:
        return None
    known = [np.unique(codes[codes >= 0]) for codes in people.T]
    starts = np.cumsum([0, *(len(each) for each in known)])
    if width > MOST_COLUMNS or starts[-1] > MOST_CODES or levels > kernels.LEVELS:
        return None
    nothing, everything = (
        starts[-1],
        starts[-1] + 1,
    )  # rows of bits: a column that is not there, a value that nobody has
    places = np.full((len(people), MOST_COLUMNS), nothing, dtype=np.int64)
    for column, each in enumerate(known):
        codes = people[:, column]
        places[:, column] = np.where(codes >= 0, starts[column] + np.searchsorted(each, codes), everything)
    wide = 1 if width > kernels.INPUTS else None
    counts = np.zeros((len(people), levels), dtype=np.int32)
    skipped = np.full(len(people), -1, dtype=np.int64) if own is None else own.astype(np.int64)
    bits = np.empty((starts[-1] + 2, -(-min(BLOCK, len(rows)) // 64)), dtype=np.uint64)
    places_of = [_places_of(each) for each in known]
    for first in range(0, len(rows), BLOCK):
        part = rows[first : first + BLOCK]
        bits[:] = ~np.uint64(0)
        bits[nothing] = 0
        for column, place_of in enumerate(places_of):
            if len(place_of):
                codes = part[:, column]
                place = place_of[np.where((codes < 0) | (codes >= len(place_of)), len(place_of) - 1, codes)]
                found = np.flatnonzero(place >= 0)
                _clear(bits, starts[column] + place[found], found)
        _count(bits, places, wide, width, len(part), skipped - first, counts)
    return counts


def _places_of(known: np.ndarray) -> np.ndarray:
    """By code: its place among the known ones, -1 for others; the last one is of all codes that are larger or below 0."""
    if not len(known):
        return np.empty(0, dtype=np.int64)
    places = np.full(int(known[-1]) + 2, -1, dtype=np.int64)
    places[known] = np.arange(len(known))
    return places


@njit(nogil=True, cache=True)
def _clear(bits, places, rows):
    for at in range(rows.size):
        bits[places[at], rows[at] >> 6] &= ~(np.uint64(1) << np.uint64(rows[at] & 63))


@njit(nogil=True, cache=True)
def _count(bits, places, wide, width, size, own, counts):
    """Add the rows of a block. What it lacks to whole words looks like rows that differ in every column."""
    levels = counts.shape[1]
    for person in range(counts.shape[0]):
        p = kernels._places(places[person], 0)
        if wide is None:  # decided when compiled
            found = kernels._count_six(bits, p, None, 0)
        else:
            found = kernels._count_six(bits, p, kernels._places(places[person], kernels.INPUTS), 0)
        skipped = -1
        if 0 <= own[person] < size:
            skipped = kernels._own_mismatches(bits, places[person], own[person])
        for level in range(min(levels, width + 1)):
            counts[person, level] += np.int64(found[level]) - (level == skipped)
        if width < levels:
            counts[person, width] -= bits.shape[1] * 64 - size
