"""How many rows of a table have the codes of given points in sets of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unmask.compiled import inner, njit
from unmask.tables.table import Table

FEW_POINTS = 32  # beyond, rows are counted before points are looked up
MOST_KEYS = 4_000_000  # that are counted without looking them up
WIDEST_KEY = 2**62
AT_ONCE = 2**18  # rows that are counted at a time


def agreeing(rows: Table, points: Table, sets: Sequence[tuple[int, ...]]) -> np.ndarray:
    """How many rows have the codes of each point in all columns of each set (points x sets)."""
    if len(points) > FEW_POINTS:
        return np.stack([_counted(rows, points, positions) for positions in sets], axis=1)
    ends = np.cumsum([len(positions) for positions in sets])
    flat = np.array([position for positions in sets for position in positions], dtype=np.int64)
    return _agreeing(np.ascontiguousarray(rows.codes.T), np.ascontiguousarray(points.codes), flat, ends)


def _counted(rows: Table, points: Table, positions: tuple[int, ...]) -> np.ndarray:
    """The same for one set: rows are counted by their codes, some at a time, and points look their own up."""
    counts = [rows.schema.columns[position].code_count for position in positions]
    size = math.prod(counts)
    if size > WIDEST_KEY:
        return _counted_in_turn(rows, points, positions)
    asked = _keys(points.codes, positions, counts)
    known = None if size <= MOST_KEYS else np.unique(asked)
    found = np.zeros(size if known is None else len(known) + 1, dtype=np.int64)
    for low in range(0, len(rows), AT_ONCE):
        keys = _keys(rows.codes[low : low + AT_ONCE], positions, counts)
        if known is not None:  # the place among those of points; behind them what no point has
            place = np.searchsorted(known, keys)
            keys = np.where(known[np.minimum(place, len(known) - 1)] == keys, place, len(known))
        found += np.bincount(keys, minlength=len(found))
    return found[asked if known is None else np.searchsorted(known, asked)]


def _keys(codes: np.ndarray, positions: tuple[int, ...], counts: list[int]) -> np.ndarray:
    """A number for each combination of codes."""
    keys = np.zeros(len(codes), dtype=np.int64)
    for position, count in zip(positions, counts, strict=True):
        keys = keys * count + codes[:, position]
    return keys


def _counted_in_turn(rows: Table, points: Table, positions: tuple[int, ...]) -> np.ndarray:
    """The same for combinations that no whole number tells apart: the groups so far are numbered before each column."""
    keys = np.zeros(len(rows) + len(points), dtype=np.int64)
    for position in positions:
        _, keys = np.unique(keys, return_inverse=True)
        codes = np.concatenate([rows.codes[:, position], points.codes[:, position]])
        keys = keys * rows.schema.columns[position].code_count + codes
    _, keys = np.unique(keys, return_inverse=True)
    return np.bincount(keys[: len(rows)], minlength=int(keys.max(initial=0)) + 1)[keys[len(rows) :]]


@inner()
def _compare(agree, column, code):
    for i in range(agree.size):
        agree[i] = column[i] == code


@inner()
def _and(together, agree):
    for i in range(agree.size):
        together[i] &= agree[i]


@njit(nogil=True, cache=True)
def _agreeing(columns, points, flat, ends):
    width, rows = columns.shape
    counts = np.empty((len(points), len(ends)), dtype=np.int64)
    agree = np.empty((width, rows), dtype=np.uint8)
    together = np.empty(rows, dtype=np.uint8)
    for p in range(len(points)):
        for j in range(width):
            _compare(agree[j], columns[j], points[p, j])
        start = 0
        for f in range(len(ends)):
            together[:] = 1
            for k in range(start, ends[f]):
                _and(together, agree[flat[k]])
            counts[p, f] = together.sum()
            start = ends[f]
    return counts
