"""How well each person agrees with the rows of a table, value by value: the best match by weight, and how many are near.

Every pair is looked at, in small whole numbers: codes are one or two bytes wide (a value that none of the people has needs no
code of its own), agreements are counted in a byte, and weights are rounded up to 1/65,000 of what a match in all columns would be
worth. Only rows whose rounded sum could beat the best so far are weighed exactly, so the results are those of plain sums.
Cost: people x rows x columns, about a fortieth of a nanosecond each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

NEAR = 5  # rows with 0, 1, .. 4 unequal columns are counted
BLOCK = 4096  # rows whose sums stay in the fastest cache
MOST_PEOPLE = 50_000  # at a time: the values of so many, and "any other", fit two bytes
WHOLE = (
    65_000  # what a match in every column is worth, in rounded weights: below what two bytes hold, by a unit per column
)
MOST_COLUMNS = 250  # at a time: agreements are counted in a byte, and units stay below what two bytes hold


@dataclass(frozen=True, eq=False)
class Agreement:
    """What some rows say about each person."""

    best: np.ndarray  # largest sum of weights over the columns in which a row agrees; -inf without rows
    near: np.ndarray  # people x NEAR: rows with exactly so many unequal columns


def agreement(people: np.ndarray, weights: np.ndarray, rows: np.ndarray, *, own: np.ndarray | None = None) -> Agreement:
    """Compare codes of people with codes of rows (both of `ExactValues`); weights are people x columns.

    `own` is the place of each person among the rows, which is passed over; -1 or None where they are not among them.
    """
    return _agreement(people, weights, rows, own, near=True)


def best_agreement(
    people: np.ndarray, weights: np.ndarray, rows: np.ndarray, *, own: np.ndarray | None = None
) -> np.ndarray:
    """The best match by weight alone, for two thirds of the price of `agreement`."""
    return _agreement(people, weights, rows, own, near=False).best


def _agreement(
    people: np.ndarray, weights: np.ndarray, rows: np.ndarray, own: np.ndarray | None, *, near: bool
) -> Agreement:
    best = np.full(len(people), -np.inf, dtype=np.float32)
    counts = np.zeros((len(people), NEAR), dtype=np.int32)
    places = np.full(len(people), -1, dtype=np.int64) if own is None else own.astype(np.int64)
    worth = np.ascontiguousarray(weights, dtype=np.float32)
    for low in range(0, len(people), MOST_PEOPLE):
        part = slice(low, low + MOST_PEOPLE)
        pairs = NarrowPairs.of(people[part], rows)
        if pairs.width > MOST_COLUMNS:
            _compare_wide(*pairs, worth[part], places[part], best[part], counts[part])
        else:
            units, unit = rounded_up(people[part], worth[part])
            _compare(*pairs, units, unit, worth[part], places[part], best[part], counts[part], near)
    return Agreement(best, counts)


@dataclass(frozen=True, eq=False)
class NarrowPairs:
    """Codes of people and of rows in as few bytes as tell the people's own values apart, columns of one byte first."""

    order: np.ndarray  # of the columns: those of one byte, then those of two
    asked: np.ndarray  # people x columns; -1 where there is no value (int32)
    narrow: np.ndarray  # columns x rows, uint8
    wide: np.ndarray  # columns x rows, uint16

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter((self.order, self.asked, self.narrow, self.wide))

    @property
    def width(self) -> int:
        return len(self.order)

    @classmethod
    def of(cls, people: np.ndarray, rows: np.ndarray) -> NarrowPairs:
        """From codes, in which anything below 0 is no value."""
        people, rows = (codes.astype(np.int32, copy=False) for codes in (people, rows))
        asked = np.full(people.shape, -1, dtype=np.int32)
        distinct = []
        for column in range(people.shape[1]):
            codes = people[:, column]
            known = np.unique(codes[codes >= 0])
            distinct.append(known)
            asked[codes >= 0, column] = np.searchsorted(known, codes[codes >= 0])
        small = np.array([len(known) < 256 for known in distinct], dtype=bool)
        sides = []
        for places, kind in ((np.flatnonzero(small), np.uint8), (np.flatnonzero(~small), np.uint16)):
            side = np.empty((len(places), len(rows)), dtype=kind)
            for place, column in enumerate(places):
                side[place] = _renumbered(rows[:, column], distinct[column], kind)
            sides.append(side)
        return cls(np.concatenate([np.flatnonzero(small), np.flatnonzero(~small)]), asked, *sides)


def _renumbered(codes: np.ndarray, known: np.ndarray, kind: type[np.unsignedinteger]) -> np.ndarray:
    """The place of each code among the known ones; one number for all others."""
    other = np.iinfo(kind).max
    if not len(known):
        return np.full(len(codes), other, dtype=kind)
    table = np.full(int(known[-1]) + 2, other, dtype=kind)
    table[known] = np.arange(len(known))
    return table[np.where((codes < 0) | (codes > known[-1]), len(table) - 1, codes)]


def rounded_up(people: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights in units, rounded up (people x columns, uint16), and what a unit is worth to each person (float64).

    A sum of units times the unit is never below the plain sum in single precision, whose rounding errors are far below a unit.
    """
    counted = np.where(people >= 0, np.maximum(weights, 0.0), 0.0).astype(np.float64)
    unit = np.maximum(counted.sum(axis=1), 1e-30) / WHOLE
    return np.ceil(counted / unit[:, None] * (1 + 1e-6)).astype(np.uint16), unit


@njit(nogil=True, cache=True)
def add_units(column, code, units, sums):
    """Add units to the sum of each row that has this code."""
    for row in range(column.size):
        sums[row] += units if column[row] == code else np.uint16(0)


@njit(nogil=True, cache=True)
def _add_equal(column, code, equal):
    for row in range(column.size):
        equal[row] += np.uint8(1) if column[row] == code else np.uint8(0)


@njit(nogil=True, cache=True)
def largest(values):
    """The largest of some values that are 0 or more."""
    most = values[0]
    for row in range(values.size):
        most = values[row] if values[row] > most else most
    return most


@njit(nogil=True, cache=True)
def fill_units(order, asked, narrow, wide, units, first, sums):
    """Sums of units of one person's agreements with rows first, first + 1, ..."""
    sums[:] = np.uint16(0)
    count = narrow.shape[0]
    for place in range(order.size):
        column = order[place]
        code = asked[column]
        if code < 0:
            continue
        if place < count:
            add_units(narrow[place, first : first + sums.size], np.uint8(code), units[column], sums)
        else:
            add_units(wide[place - count, first : first + sums.size], np.uint16(code), units[column], sums)


@njit(nogil=True, cache=True)
def weighed(order, asked, narrow, wide, weights, row):
    """The plain sum of the weights of the columns in which a row agrees, in the order of the columns."""
    count = narrow.shape[0]
    total = np.float32(0.0)
    agrees = np.zeros(order.size, dtype=np.bool_)
    for place in range(order.size):
        column = order[place]
        code = asked[column]
        if code >= 0:
            theirs = np.int64(narrow[place, row]) if place < count else np.int64(wide[place - count, row])
            agrees[column] = theirs == code
    for column in range(order.size):
        if agrees[column]:
            total += weights[column]
    return total


@njit(nogil=True, cache=True)
def _fill_equal(order, asked, narrow, wide, first, equal):
    equal[:] = np.uint8(0)
    count = narrow.shape[0]
    for place in range(order.size):
        code = asked[order[place]]
        if code < 0:
            continue
        if place < count:
            _add_equal(narrow[place, first : first + equal.size], np.uint8(code), equal)
        else:
            _add_equal(wide[place - count, first : first + equal.size], np.uint16(code), equal)


@njit(nogil=True, cache=True)
def _compare(order, asked, narrow, wide, units, unit, weights, own, best, near, counting):
    width = order.size
    total = narrow.shape[1]
    sums, equal = np.empty(BLOCK, dtype=np.uint16), np.empty(BLOCK, dtype=np.uint8)
    for first in range(0, total, BLOCK):
        size = min(BLOCK, total - first)
        for person in range(asked.shape[0]):
            skipped = own[person] - first
            fill_units(order, asked[person], narrow, wide, units[person], first, sums[:size])
            most = best[person]
            if largest(sums[:size]) * unit[person] > most:
                for row in range(size):
                    if sums[row] * unit[person] > most and row != skipped:
                        exact = weighed(order, asked[person], narrow, wide, weights[person], first + row)
                        most = max(most, exact)
                best[person] = most
            if counting:
                _fill_equal(order, asked[person], narrow, wide, first, equal[:size])
                if largest(equal[:size]) + NEAR > width:
                    for row in range(size):
                        unequal = width - np.int64(equal[row])
                        if unequal < NEAR and row != skipped:
                            near[person, unequal] += 1


@njit(nogil=True, cache=True)
def _compare_wide(order, asked, narrow, wide, weights, own, best, near):
    """The same for more columns than a byte counts, by plain sums."""
    width, count = order.size, narrow.shape[0]
    total = narrow.shape[1]
    sums, equal = np.empty(BLOCK, dtype=np.float32), np.empty(BLOCK, dtype=np.int32)
    for first in range(0, total, BLOCK):
        size = min(BLOCK, total - first)
        for person in range(asked.shape[0]):
            sums[:size] = np.float32(0.0)
            equal[:size] = np.int32(0)
            for place in range(width):
                column = order[place]
                code = asked[person, column]
                if code < 0:
                    continue
                if place < count:
                    _add(narrow[place, first : first + size], np.uint8(code), weights[person, column], sums, equal)
                else:
                    _add(
                        wide[place - count, first : first + size], np.uint16(code), weights[person, column], sums, equal
                    )
            for row in range(size):
                if first + row == own[person]:
                    continue
                best[person] = max(best[person], sums[row])
                unequal = width - equal[row]
                if unequal < NEAR:
                    near[person, unequal] += 1


@njit(nogil=True, cache=True)
def _add(column, code, weight, sums, equal):
    for row in range(column.size):
        same = column[row] == code
        sums[row] += weight if same else np.float32(0.0)
        equal[row] += np.int32(1) if same else np.int32(0)
