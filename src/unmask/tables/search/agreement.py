"""How well each person agrees with the rows of a table, value by value: the best match by weight, and how many are near.

Every pair is looked at, in small whole numbers: codes are one or two bytes wide (a value that none of the people has needs no
code of its own), agreements are counted in a byte, and weights are rounded up to about 1/65,000 of a match in all columns.
Only rows whose rounded sum could beat the best so far are weighed exactly, so the results are those of plain sums.
Cost: people x rows x columns, about a thirtieth of a nanosecond each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unmask.compiled import inner, njit

NEAR = 5  # rows with 0, 1, .. 4 unequal columns are counted
BLOCK = 4096  # rows whose sums stay in the fastest cache
MOST_PEOPLE = 50_000  # at a time: the values of so many, "any other" and "none" fit two bytes
NARROW_AT_ONCE, WIDE_AT_ONCE = 4, 2  # columns are padded to a multiple, so that sums stay in registers
WHOLE = 2**16 - 2  # units that a match in every column may be worth: what two bytes hold, rounding allowed for


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
        pairs = narrow_pairs(people[part], worth[part], rows)
        equal = np.empty(BLOCK, dtype=np.min_scalar_type(people.shape[1]))
        _compare(pairs, places[part], best[part], counts[part], near, equal)
    return Agreement(best, counts)


class NarrowPairs(NamedTuple):
    """People and rows in as few bytes as tell the people's own values apart; columns of one byte, then those of two, padded."""

    place: np.ndarray  # of each column among those of one byte and, behind them, those of two
    weights: np.ndarray  # people x columns, as they were given
    unit: np.ndarray  # of each person: what a unit of the rounded weights is worth
    narrow_asked: np.ndarray  # people x padded columns, uint8
    narrow_units: np.ndarray  # the same shape, uint16: weights rounded up
    narrow: np.ndarray  # padded columns x rows, uint8
    wide_asked: np.ndarray  # the same of two bytes
    wide_units: np.ndarray
    wide: np.ndarray


def narrow_pairs(people: np.ndarray, weights: np.ndarray, rows: np.ndarray) -> NarrowPairs:
    """From codes, in which anything below 0 is no value.

    A sum of units times the unit is never below the plain sum in single precision, whose rounding errors are far below a unit.
    """
    people, rows = (codes.astype(np.int32, copy=False) for codes in (people, rows))
    counted = np.where(people >= 0, np.maximum(weights, 0.0), 0.0).astype(np.float64)
    unit = np.maximum(counted.sum(axis=1), 1e-30) / max(1, WHOLE - len(people.T))
    units = np.ceil(counted / unit[:, None] * (1 + 1e-6)).astype(np.uint16)
    known = [np.unique(codes[codes >= 0]) for codes in people.T]
    small = np.array([len(each) < np.iinfo(np.uint8).max for each in known], dtype=bool)
    place = np.empty(len(known), dtype=np.int64)
    sides: list[np.ndarray] = []
    first = 0
    for columns, kind, at_once in (
        (np.flatnonzero(small), np.uint8, NARROW_AT_ONCE),
        (np.flatnonzero(~small), np.uint16, WIDE_AT_ONCE),
    ):
        width = -(-len(columns) // at_once) * at_once
        none = np.iinfo(kind).max - 1  # asked for where there is nothing to ask: no row has it
        asked = np.full((len(people), width), none, dtype=kind)
        worth, theirs = np.zeros((len(people), width), dtype=np.uint16), np.zeros((width, len(rows)), dtype=kind)
        for at, column in enumerate(columns):
            there = people[:, column] >= 0
            asked[there, at] = np.searchsorted(known[column], people[there, column])
            worth[:, at], theirs[at] = units[:, column], _renumbered(rows[:, column], known[column], kind)
        place[columns] = first + np.arange(len(columns))
        first += width
        sides += [asked, worth, theirs]
    return NarrowPairs(place, np.ascontiguousarray(weights, dtype=np.float32), unit, *sides)


def _renumbered(codes: np.ndarray, known: np.ndarray, kind: type[np.unsignedinteger]) -> np.ndarray:
    """The place of each code among the known ones; one number for all others."""
    other = np.iinfo(kind).max
    if not len(known):
        return np.full(len(codes), other, dtype=kind)
    table = np.full(int(known[-1]) + 2, other, dtype=kind)
    table[known] = np.arange(len(known))
    return table[np.where((codes < 0) | (codes > known[-1]), len(table) - 1, codes)]


@inner()
def _add_units(columns, asked, units, first, sums):
    none = np.uint16(0)
    for j in range(0, columns.shape[0], 2):
        one, other = columns[j, first : first + sums.size], columns[j + 1, first : first + sums.size]
        a, b, c, d = asked[j], asked[j + 1], units[j], units[j + 1]
        for row in range(sums.size):
            sums[row] += (c if one[row] == a else none) + (d if other[row] == b else none)


@inner()
def _add_equal(columns, asked, first, equal):
    for j in range(0, columns.shape[0], 2):
        one, other = columns[j, first : first + equal.size], columns[j + 1, first : first + equal.size]
        a, b = asked[j], asked[j + 1]
        for row in range(equal.size):
            equal[row] += (one[row] == a) + (other[row] == b)


@inner()
def largest(values):
    """The largest of some values that are 0 or more."""
    most = values[0]
    for row in range(values.size):
        most = values[row] if values[row] > most else most
    return most


@inner()
def _occurrences(values, value):
    count, wanted = np.uint32(0), values.dtype.type(value)
    for row in range(values.size):
        count = np.uint32(count + np.uint32(values[row] == wanted))
    return count


@inner()
def fill_units(pairs, person, first, sums):
    """Sums of units of one person's agreements with rows first, first + 1, ..."""
    sums[:] = np.uint16(0)
    _add_units(pairs.narrow, pairs.narrow_asked[person], pairs.narrow_units[person], first, sums)
    _add_units(pairs.wide, pairs.wide_asked[person], pairs.wide_units[person], first, sums)


@inner()
def _agrees(pairs, person, column, row):
    at, count = pairs.place[column], pairs.narrow.shape[0]
    if at < count:
        return pairs.narrow[at, row] == pairs.narrow_asked[person, at]
    return pairs.wide[at - count, row] == pairs.wide_asked[person, at - count]


@inner()
def weighed(pairs, person, row):
    """The plain sum of the weights of the columns in which a row agrees, in the order of the columns."""
    total = np.float32(0.0)
    for column in range(pairs.place.size):
        if _agrees(pairs, person, column, row):
            total += pairs.weights[person, column]
    return total


@inner()
def weighed_whole(pairs, person):
    """The plain sum of all weights of columns in which a row could agree: no row is worth more."""
    total = np.float32(0.0)
    for column in range(pairs.place.size):
        weight = pairs.weights[person, column]
        total += weight if weight > 0 else np.float32(0.0)
    return total


@njit(nogil=True, cache=True)
def _compare(pairs, own, best, near, counting, equal):
    width, total = pairs.place.size, pairs.narrow.shape[1]
    sums = np.empty(BLOCK, dtype=np.uint16)
    for first in range(0, total, BLOCK):
        size = min(BLOCK, total - first)
        for person in range(best.size):
            skipped, unit, most = own[person] - first, pairs.unit[person], best[person]
            fill_units(pairs, person, first, sums[:size])
            if largest(sums[:size]) * unit > most:
                for row in range(size):
                    if sums[row] * unit > most and row != skipped:
                        most = max(most, weighed(pairs, person, first + row))
                best[person] = most
            if counting:
                equal[:size] = 0
                _add_equal(pairs.narrow, pairs.narrow_asked[person], first, equal[:size])
                _add_equal(pairs.wide, pairs.wide_asked[person], first, equal[:size])
                most_equal = np.int64(largest(equal[:size]))
                for unequal in range(max(0, width - most_equal), min(NEAR, width + 1)):
                    near[person, unequal] += _occurrences(equal[:size], width - unequal)
                if 0 <= skipped < size and width - np.int64(equal[skipped]) < NEAR:
                    near[person, width - np.int64(equal[skipped])] -= 1
