"""The best match of each person among the rows of a table, agreements weighted, without looking at most rows.

A row that agrees in none of a person's heaviest columns can be worth no more than the others together. So rows are sorted by
each column, a person's values are looked up heaviest first, and the search ends once the best match found is worth what is
left. On Adult one pair in twenty is looked at. Sums in single precision and a fixed order grow with every agreement added,
however they are rounded, so what is passed over could never have won: the results are those of plain sums over all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from unmask.compiled import inner, njit
from unmask.tables.search.agreement import NEAR, Agreement, agreement, best_agreement
from unmask.tables.search.near_counts import FEWEST_PAIRS, near_counts

ROWS = (
    32768  # sorted at a time: fifteen copies of fifteen columns are 15 MB; fewer rows mean more passes over all people
)
MOST_PEOPLE = 50_000  # at a time: the values of so many, "any other" and "none" fit two bytes
TOGETHER = 64  # rows looked at together: whole vectors, so that no loop has an end of its own
AT_ONCE = 2  # columns are padded to a multiple
MOST_COLUMNS = 32  # sorted copies grow with their square: wider tables are compared row by row
OTHER, NONE = 2**16 - 1, 2**16 - 2  # a value that none of the people has; asked for where there is nothing to ask
WHOLE = 2**16 - 2  # units that a match in every column may be worth: what two bytes hold, rounding allowed for


class Asked(NamedTuple):
    """Some people, their columns padded."""

    codes: np.ndarray  # people x columns, uint16
    weights: np.ndarray  # the same shape, float32; 0 where there is no value
    units: np.ndarray  # the same, uint16: weights rounded up
    unit: np.ndarray  # of each person: what a unit is worth
    order: np.ndarray  # people x columns, uint16: the heaviest first
    rest: np.ndarray  # people x columns + 1, float32: the most that this column and all lighter ones can be worth


class SortedRows(NamedTuple):
    """Up to ROWS rows, once for each column, sorted by it; rows are padded to a multiple of TOGETHER."""

    columns: np.ndarray  # sorting column x column x rows, uint16
    order: np.ndarray  # sorting column x rows: their numbers
    starts: np.ndarray  # for each sorting column: where each code begins, and where the last one ends
    total: int


@dataclass(frozen=True, eq=False)
class BestMatch:
    """People whose best matches are asked for again and again, prepared once."""

    people: np.ndarray  # codes (rows x columns); anything below 0 is no value
    weights: np.ndarray  # the same shape: what agreement is worth

    @cached_property
    def _parts(self) -> tuple[tuple[tuple[np.ndarray, ...], Asked], ...]:
        """Some people each: the codes that they have in each column, and what they ask for."""
        parts = []
        for low in range(0, len(self.people), MOST_PEOPLE):
            people, weights = self.people[low : low + MOST_PEOPLE], self.weights[low : low + MOST_PEOPLE]
            known = tuple(np.unique(codes[codes >= 0]) for codes in people.T)
            parts.append((known, _asked(people, weights, known)))
        return tuple(parts)

    @cached_property
    def _all_pairs(self) -> bool:
        """Whether all pairs have to be compared: what is said above holds for weights of 0 or more."""
        return self.people.shape[1] > MOST_COLUMNS or bool((self.weights < 0).any())

    def among(self, rows: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
        """The largest sum of weights over these rows, as float32; -inf without rows.

        `own` is the place of each person among the rows, which is passed over; -1 or None where they are not among them.
        """
        if self._all_pairs or len(self.people) * len(rows) < FEWEST_PAIRS:
            return best_agreement(self.people, self.weights, rows, own=own)
        found = []
        for part, (known, asked) in enumerate(self._parts):
            best = np.full(len(asked.codes), -np.inf, dtype=np.float32)
            low = part * MOST_PEOPLE
            places = np.full(len(best), -1, dtype=np.int64) if own is None else own[low : low + len(best)]
            for first in range(0, len(rows), ROWS):
                some = _sorted_rows(rows[first : first + ROWS], known)
                _search(asked, some, places.astype(np.int64) - first, best)
            found.append(best)
        return np.concatenate([np.empty(0, dtype=np.float32), *found])

    def agreement(self, rows: np.ndarray, own: np.ndarray | None = None, *, fully: int) -> Agreement:
        """The best match of everybody, and how many rows are near each of the first so many people."""
        first, places = self.people[:fully], None if own is None else own[:fully]
        if not fully:
            return Agreement(self.among(rows, own), np.zeros((0, NEAR), dtype=np.int32))
        near = None if self._all_pairs else near_counts(first, rows, NEAR, places)
        if near is not None:
            return Agreement(self.among(rows, own), near)
        found = agreement(first, self.weights[:fully], rows, own=places)
        if fully == len(self.people):
            return found
        rest = best_agreement(self.people[fully:], self.weights[fully:], rows, own=None if own is None else own[fully:])
        return Agreement(np.concatenate([found.best, rest]), found.near)


def _asked(people: np.ndarray, weights: np.ndarray, known: tuple[np.ndarray, ...]) -> Asked:
    width = -(-max(len(known), 1) // AT_ONCE) * AT_ONCE
    codes = np.full((len(people), width), NONE, dtype=np.uint16)
    worth = np.zeros((len(people), width), dtype=np.float32)
    for place, each in enumerate(known):
        there = people[:, place] >= 0
        codes[there, place] = np.searchsorted(each, people[there, place])
        worth[there, place] = weights[there, place]
    unit = np.maximum(worth.sum(axis=1, dtype=np.float64), 1e-30) / max(1, WHOLE - width)
    units = np.ceil(worth / unit[:, None] * (1 + 1e-6)).astype(np.uint16)
    order = np.argsort(-worth, axis=1, kind="stable").astype(np.uint16)
    rest = np.zeros((len(people), width + 1), dtype=np.float32)
    _fill_rest(worth, order, rest)
    return Asked(codes, worth, units, unit, order, rest)


def _sorted_rows(rows: np.ndarray, known: tuple[np.ndarray, ...]) -> SortedRows:
    width, padded = -(-max(len(known), 1) // AT_ONCE) * AT_ONCE, -(-len(rows) // TOGETHER) * TOGETHER
    plain = np.full((width, padded), OTHER, dtype=np.uint16)
    starts = np.zeros((width, max((len(each) for each in known), default=0) + 2), dtype=np.int64)
    for place, each in enumerate(known):
        plain[place, : len(rows)] = _renumbered(rows[:, place], each)
    columns = np.empty((width, width, padded + TOGETHER), dtype=np.uint16)
    order = np.empty((width, padded), dtype=np.int64)
    _sort_by_each(plain, len(rows), columns, order, starts)
    return SortedRows(columns, order, starts, len(rows))


def _renumbered(codes: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The place of each code among the known ones; one number for all others."""
    if not len(known):
        return np.full(len(codes), OTHER, dtype=np.uint16)
    table = np.full(int(known[-1]) + 2, OTHER, dtype=np.uint16)
    table[known] = np.arange(len(known))
    return table[np.where((codes < 0) | (codes > known[-1]), len(table) - 1, codes)]


@njit(nogil=True, cache=True)
def _fill_rest(weights, order, rest):
    """Plain sums in the order of the columns, as a row's are."""
    left = np.empty(weights.shape[1], dtype=np.bool_)
    for person in range(weights.shape[0]):
        left[:] = True
        for rank in range(weights.shape[1]):
            total = np.float32(0.0)
            for column in range(weights.shape[1]):
                if left[column]:
                    total += weights[person, column]
            rest[person, rank] = total
            left[order[person, rank]] = False


@njit(nogil=True, cache=True)
def _sort_by_each(plain, count, columns, order, starts):
    """Sort by counting. Codes that nobody asks for come last and are in no list."""
    last = starts.shape[1] - 2
    for by in range(plain.shape[0]):
        begin = starts[by]
        for row in range(count):
            code = min(np.int64(plain[by, row]), last)
            begin[code + 1] += 1
        for code in range(last + 1):
            begin[code + 1] += begin[code]
        for row in range(count):
            code = min(np.int64(plain[by, row]), last)
            order[by, begin[code]] = row
            begin[code] += 1
        for code in range(last + 1, 0, -1):  # each begin has moved to its end: the begin of the next
            begin[code] = begin[code - 1]
        begin[0] = 0
        listed = begin[last]  # rows behind them are in no list
        for column in range(plain.shape[0]):
            for place in range(listed):
                columns[by, column, place] = plain[column, order[by, place]]
            columns[by, column, listed : listed + TOGETHER] = OTHER  # lists are read up to a multiple of TOGETHER


@inner()
def _add_units(columns, asked, units, first, sums):
    none = np.uint16(0)
    for j in range(0, columns.shape[0], AT_ONCE):
        one, other = columns[j, first : first + sums.size], columns[j + 1, first : first + sums.size]
        a, b, c, d = asked[j], asked[j + 1], units[j], units[j + 1]
        for row in range(sums.size):
            sums[row] += (c if one[row] == a else none) + (d if other[row] == b else none)


@inner()
def _largest(sums):
    most = sums[0]
    for row in range(sums.size):
        most = sums[row] if sums[row] > most else most
    return most


@inner()
def _weighed(columns, asked, weights, row):
    """The plain sum of the weights of the columns in which a row agrees, in the order of the columns."""
    total = np.float32(0.0)
    for column in range(asked.size):
        if columns[column, row] == asked[column]:
            total += weights[column]
    return total


@njit(nogil=True, cache=True)
def _search(asked, rows, own, best):
    width = asked.codes.shape[1]
    sums = np.empty(rows.order.shape[1], dtype=np.uint16)
    for person in range(best.size):
        codes, units, unit, most = asked.codes[person], asked.units[person], asked.unit[person], best[person]
        others = rows.total - (0 <= own[person] < rows.total)
        if others == 0:
            continue
        most = max(most, np.float32(0.0))  # a row that agrees in nothing
        for rank in range(width):
            if asked.rest[person, rank] <= most:
                break
            by = np.int64(asked.order[person, rank])
            if codes[by] == NONE:
                continue
            first, last = rows.starts[by, codes[by]], rows.starts[by, codes[by] + 1]
            if first == last:
                continue
            size = -(-(last - first) // TOGETHER) * TOGETHER
            part = sums[:size]
            part[:] = 0
            _add_units(rows.columns[by], codes, units, first, part)
            if _largest(part) * unit > most:
                for row in range(last - first):
                    if part[row] * unit > most and rows.order[by, first + row] != own[person]:
                        most = max(most, _weighed(rows.columns[by], codes, asked.weights[person], first + row))
        best[person] = most
