"""How well each person agrees with the rows of a table, value by value: the best match by weight, and how many are near.

Cost: people x rows x columns, about a tenth of a nanosecond each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

NEAR = 5  # rows with 0, 1, .. 4 unequal columns are counted
BLOCK = 4096  # rows whose sums stay in the fastest cache


@dataclass(frozen=True, eq=False)
class Agreement:
    """What some rows say about each person."""

    best: np.ndarray  # largest sum of weights over the columns in which a row agrees; -inf without rows
    near: np.ndarray  # people x NEAR: rows with exactly so many unequal columns


def agreement(people: np.ndarray, weights: np.ndarray, rows: np.ndarray, *, own: np.ndarray | None = None) -> Agreement:
    """Compare codes of people with codes of rows (both of `ExactValues`); weights are people x columns.

    `own` is the place of each person among the rows, which is passed over; -1 or None where they are not among them.
    """
    best = np.full(len(people), -np.inf, dtype=np.float32)
    near = np.zeros((len(people), NEAR), dtype=np.int32)
    places = np.full(len(people), -1, dtype=np.int64) if own is None else own.astype(np.int64)
    _compare(
        np.ascontiguousarray(people, dtype=np.int32), np.ascontiguousarray(weights, dtype=np.float32),
        np.ascontiguousarray(rows.T, dtype=np.int32), places, best, near,
    )  # fmt: skip
    return Agreement(best, near)


def best_agreement(people: np.ndarray, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The best match by weight alone, for half the price of `agreement`."""
    best = np.full(len(people), -np.inf, dtype=np.float32)
    codes, columns = np.ascontiguousarray(people, dtype=np.int32), np.ascontiguousarray(rows.T, dtype=np.int32)
    _compare_weights(codes, np.ascontiguousarray(weights, dtype=np.float32), columns, best)
    return best


@njit(nogil=True, cache=True)
def add_weight(column, code, weight, sums):
    """Add a weight to the sum of each row that has this code; compiled, for those who search rows by agreement."""
    for row in range(column.size):
        sums[row] += weight if column[row] == code else np.float32(0.0)


@njit(nogil=True, cache=True, fastmath=True)
def _compare_weights(people, weights, columns, best):
    width, total = columns.shape
    sums = np.empty(BLOCK, dtype=np.float32)
    for first in range(0, total, BLOCK):
        size = min(BLOCK, total - first)
        for person in range(people.shape[0]):
            sums[:size] = np.float32(0.0)
            for column in range(width):
                if people[person, column] >= 0:
                    add_weight(
                        columns[column, first : first + size],
                        people[person, column],
                        weights[person, column],
                        sums[:size],
                    )
            most = best[person]
            for row in range(size):
                most = max(most, sums[row])
            best[person] = most


@njit(nogil=True, cache=True)
def _add(column, code, weight, sums, equal):
    for row in range(column.size):
        same = column[row] == code
        sums[row] += weight if same else np.float32(0.0)
        equal[row] += np.int32(1) if same else np.int32(0)


@njit(nogil=True, cache=True)
def _compare(people, weights, columns, own, best, near):
    width, total = columns.shape
    sums, equal = np.empty(BLOCK, dtype=np.float32), np.empty(BLOCK, dtype=np.int32)
    for first in range(0, total, BLOCK):
        size = min(BLOCK, total - first)
        for person in range(people.shape[0]):
            sums[:size] = np.float32(0.0)
            equal[:size] = np.int32(0)
            for column in range(width):
                if people[person, column] >= 0:
                    _add(
                        columns[column, first : first + size],
                        people[person, column],
                        weights[person, column],
                        sums[:size],
                        equal[:size],
                    )
            if first <= own[person] < first + size:
                sums[own[person] - first] = -np.float32(np.inf)
                equal[own[person] - first] = -NEAR
            most = best[person]
            for row in range(size):
                most = max(most, sums[row])
                unequal = width - equal[row]
                if unequal < NEAR:
                    near[person, unequal] += 1
            best[person] = most
