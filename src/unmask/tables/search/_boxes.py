"""Candidates in boxes, so that most of them need not be measured: compiled loops behind `unmask.tables.distance`.

Numbers only: Euclid and ranks. Rows are split at medians of the widest column until a box holds few of them. No row of a box is
nearer than the box itself, whose distance is found by the steps that measure a row (the same differences, factors and sums in the
same order), and each step rounds greater numbers to numbers that are no less. So the bound holds bit by bit, without any slack,
and what is found equals what a search of all rows finds, ties included. Pays where columns are few or tell of each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.compiled import inner, njit
from unmask.tables.search._kernels import FAR, LARGEST, SQUARED, _add_capped, _add_squared, _keep_largest

ROWS = 128  # of a box, at most, unless they are all equal
TRIED = 4, 24  # queries that show how many rows are measured: a few among some rows, then more of them among all
SOME = 2048  # rows; fewer rows are further apart, so that more boxes are looked at
WORTH = 0.3  # share of the rows below which boxes are faster than a search of all
HOPELESS = 0.8  # share of some rows above which that of all will not be small either
NEAREST_FIRST = 8  # boxes that are looked at in the order of their bounds; the rest as they come
SEEN = 128  # rows of a box that show which column is the widest
ABSENT = FAR / 2  # what is on no scale


class Boxes(NamedTuple):
    """Candidates, box by box; rows of one box in rising order."""

    order: np.ndarray  # row numbers
    columns: np.ndarray  # columns x rows, in this order
    starts: np.ndarray  # boxes + 1
    low: np.ndarray  # columns x boxes: the least number; all numbers, where a row of the box has none
    high: np.ndarray
    widest: int  # rows of the largest box


def boxes_of(columns: np.ndarray, weights: np.ndarray) -> Boxes:
    """Boxes around the rows of columns x rows; `weights` make columns comparable."""
    order, starts = _split(columns, weights)
    sorted_columns = np.ascontiguousarray(columns[:, order])
    low = np.minimum.reduceat(sorted_columns, starts[:-1], axis=1)
    high = np.maximum.reduceat(sorted_columns, starts[:-1], axis=1)
    absent = high >= ABSENT
    low[absent], high[absent] = -np.inf, np.inf
    return Boxes(order, sorted_columns, starts, low, high, int(np.diff(starts).max()))


@inner()
def _widest(columns, weights, rows):
    """The column in which these rows differ most; -1 if they are equal."""
    chosen, widest = -1, 0.0
    for j in range(len(columns)):
        low, high = np.inf, -np.inf
        for row in rows:
            low, high = min(low, columns[j, row]), max(high, columns[j, row])
        spread = (high - low) * weights[j]
        if spread > widest:
            chosen, widest = j, spread
    return chosen


@njit(nogil=True, cache=True)
def _split(columns, weights):
    """Row numbers box by box, and where boxes start."""
    rows = columns.shape[1]
    order, scratch = np.arange(rows), np.empty(rows, dtype=np.int64)
    starts = [0]
    waiting = [(0, rows)]  # stretches that are still to be split, the first one last
    while len(waiting):
        begin, end = waiting.pop()
        chosen = -1
        if end - begin > ROWS:
            chosen = _widest(columns, weights, order[begin : end : max(1, (end - begin) // SEEN)])
            if chosen < 0:
                chosen = _widest(columns, weights, order[begin:end])
        if chosen < 0:
            starts.append(end)
            continue
        column = columns[chosen]
        inside = column[order[begin:end]]
        pivot, least = np.partition(inside, inside.size // 2)[inside.size // 2], inside.min()
        left, right = begin, 0
        for i in range(begin, end):  # keeps the order of rows on either side
            row = order[i]
            if column[row] < pivot or (pivot == least and column[row] == pivot):
                order[left] = row
                left += 1
            else:
                scratch[right] = row
                right += 1
        order[left:end] = scratch[:right]
        waiting.append((left, end))
        waiting.append((begin, left))
    return order, np.array(starts)


@inner()
def _add_gaps(bounds, low, high, number, weight):
    for i in range(bounds.size):
        bounds[i] += max(max(low[i] - number, number - high[i]), 0.0) * weight


@inner()
def _add_squared_gaps(bounds, low, high, number, weight):
    for i in range(bounds.size):
        gap = max(max(low[i] - number, number - high[i]), 0.0) * weight
        bounds[i] += gap * gap


@inner()
def _keep_largest_gaps(bounds, low, high, number, weight):
    for i in range(bounds.size):
        gap = max(max(low[i] - number, number - high[i]), 0.0) * weight
        bounds[i] = max(bounds[i], gap)


@inner()
def _bound(boxes, query, weights, rule, bounds):
    """Fill `bounds` with sums that no row of a box is below."""
    bounds[:] = 0.0
    for j in range(query.size):
        if query[j] >= ABSENT:
            continue  # far from what is on the scale, by a fixed sum
        if rule == SQUARED:
            _add_squared_gaps(bounds, boxes.low[j], boxes.high[j], query[j], weights[j])
        elif rule == LARGEST:
            _keep_largest_gaps(bounds, boxes.low[j], boxes.high[j], query[j], weights[j])
        else:
            _add_gaps(bounds, boxes.low[j], boxes.high[j], query[j], weights[j])


@inner()
def _measure(boxes, box, query, weights, rule, sums):
    """Fill `sums` for the rows of a box, as `_kernels` does; returns that part of it."""
    begin, end = boxes.starts[box], boxes.starts[box + 1]
    part = sums[: end - begin]
    part[:] = 0.0
    for j in range(query.size):
        column = boxes.columns[j, begin:end]
        if rule == SQUARED:
            _add_squared(part, column, query[j], weights[j])
        elif rule == LARGEST:
            _keep_largest(part, column, query[j], weights[j])
        else:
            _add_capped(part, column, query[j], weights[j], np.inf)
    return part


@inner()
def _next(bounds, done, visited, limit):
    """The box to look at next, -1 if none can hold anything: the nearest ones first, then all others in order.

    Boxes that were looked at have infinite bounds; `done` is the first one that was not passed. Returns both anew.
    """
    in_order = visited >= NEAREST_FIRST
    first = done if in_order else np.argmin(bounds)
    for box in range(first, bounds.size if in_order else first + 1):
        if bounds[box] <= limit and bounds[box] < np.inf:
            bounds[box] = np.inf
            return box, box + 1 if in_order else 0, visited + 1
    return -1, done, visited


@njit(nogil=True, cache=True)
def nearest(boxes, queries, weights, rule, first, best, rows):
    """Fill `best` and `rows` (queries x k, `best` full of infinity); returns how many rows were measured.

    `first` is the row number of the first query if the same row is to be left out, else far below 0.
    """
    bounds, sums = np.empty(boxes.starts.size - 1), np.empty(boxes.widest)
    last = best.shape[1] - 1
    measured = 0
    for row in range(len(queries)):
        query, found, places, own = queries[row], best[row], rows[row], first + row
        _bound(boxes, query, weights, rule, bounds)
        done, visited = 0, 0
        while True:
            box, done, visited = _next(bounds, done, visited, found[last])
            if box < 0:
                break
            part = _measure(boxes, box, query, weights, rule, sums)
            measured += part.size
            for i in range(part.size):
                value, place = part[i], last
                if value > found[last]:
                    continue
                number = boxes.order[boxes.starts[box] + i]
                if number == own or (value == found[last] and number > places[last] >= 0):
                    continue
                while place > 0 and (
                    found[place - 1] > value or (found[place - 1] == value and places[place - 1] > number)
                ):
                    found[place], places[place] = found[place - 1], places[place - 1]
                    place -= 1
                found[place], places[place] = value, number
    return measured


@njit(nogil=True, cache=True)
def ties(boxes, queries, weights, rule, first, best):
    """Fill `best` (full of infinity); returns how many rows have it, query by query, and which, in rising order."""
    bounds, sums = np.empty(boxes.starts.size - 1), np.empty(boxes.widest)
    counts = np.zeros(len(queries), dtype=np.int64)
    rows, used = np.empty(4 * len(queries) + 64, dtype=np.int64), 0
    for row in range(len(queries)):
        query, own, least, begin = queries[row], first + row, np.inf, used
        _bound(boxes, query, weights, rule, bounds)
        done, visited = 0, 0
        while True:
            box, done, visited = _next(bounds, done, visited, least)
            if box < 0:
                break
            part = _measure(boxes, box, query, weights, rule, sums)
            if used + part.size > rows.size:
                rows = np.concatenate((rows, np.empty(rows.size + part.size, dtype=np.int64)))
            for i in range(part.size):
                if part[i] > least:
                    continue
                number = boxes.order[boxes.starts[box] + i]
                if number == own:
                    continue
                if part[i] < least:
                    least, used = part[i], begin
                rows[used] = number
                used += 1
        rows[begin:used].sort()
        best[row], counts[row] = least, used - begin
    return counts, rows[:used]
