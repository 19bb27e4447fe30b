"""Compiled loops behind `kth_distances`: the k-th least distance without the list of neighbours.

Numbers of mismatches are small integers, so counting how many candidates lie within 0, 1, 2, ... gives every k-th distance.
Gower sums are floats; sixteen-bit sums in whole steps bound them from below, so only rows that may be among the nearest
are measured in full, in the order of `unmask.tables._kernels`, and the results are equal bit for bit.

Columns are taken four (or two) at a time, so that sums stay in registers, and tables are padded with zeros, which never
differ. Rows are counted by unsigned integers: an index that cannot be negative is what lets LLVM vectorise these loops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.compiled import inner, njit

BLOCK = 2048  # candidates at a time: their columns stay in the first-level cache while a group of queries passes
GROUP = 8  # queries at a time
LANES = 128  # rows are padded to a multiple: whole vectors on every machine, and at least as many as the largest k
CODES_AT_ONCE, STEPS_AT_ONCE = 4, 2  # columns are padded to a multiple
ROOM = 128  # sums sorted at a time: a multiple of 16, twice the largest k
FINE_ENOUGH = 32  # steps
OUT_OF_REACH = 2**16 - 1  # in steps; sums of real pairs stay below
MOST_STEPS = 4096  # per unit of distance


class Columns(NamedTuple):
    """The columns of one table (columns x rows, padded); its numbers also row by row."""

    narrow: np.ndarray  # uint8 codes
    wide: np.ndarray  # uint16 codes
    steps: np.ndarray  # uint16, numbers rounded down to whole steps
    numbers: np.ndarray  # rows x columns, float64, not padded


class Pairs(NamedTuple):
    """Queries against candidates, and how to measure."""

    queries: Columns
    candidates: Columns
    total: int  # number of candidates, without padding
    exclude_same_row: bool
    weights: np.ndarray  # one factor per column of numbers
    unit: int  # steps that one mismatch counts


@inner()
def _add_mismatches(sums, place, columns, codes, row, low, high):
    for j in range(0, columns.shape[0], CODES_AT_ONCE):
        a, b, c, d = codes[j, row], codes[j + 1, row], codes[j + 2, row], codes[j + 3, row]
        for i in range(low, high):
            sums[place, i] += (
                (columns[j, i] != a) + (columns[j + 1, i] != b) + (columns[j + 2, i] != c) + (columns[j + 3, i] != d)
            )


@inner()
def _add_steps(sums, place, mismatches, columns, steps, row, unit, low, high):
    cap = np.uint16(unit)
    for i in range(low, high):
        sums[place, i] = np.uint16(mismatches[place, i]) * cap
    for j in range(0, columns.shape[0], STEPS_AT_ONCE):
        a, b = steps[j, row], steps[j + 1, row]
        for i in range(low, high):
            first = np.uint16(max(columns[j, i], a) - min(columns[j, i], a))
            second = np.uint16(max(columns[j + 1, i], b) - min(columns[j + 1, i], b))
            sums[place, i] += min(first, cap) + min(second, cap)


@inner()
def _count_mismatches(pairs, mismatches, first, last):
    """Fill the rows of `mismatches` for queries first, first + 1, ... up to last."""
    queries, candidates = pairs.queries, pairs.candidates
    mismatches[:] = 0
    for low in range(0, mismatches.shape[1], BLOCK):
        high = min(low + BLOCK, mismatches.shape[1])
        for row in range(first, last):
            place, start, stop = row - first, np.uint64(low), np.uint64(high)
            _add_mismatches(mismatches, place, candidates.narrow, queries.narrow, row, start, stop)
            if candidates.wide.shape[0]:
                _add_mismatches(mismatches, place, candidates.wide, queries.wide, row, start, stop)


@inner()
def _least(sums):
    least = sums[0]
    for i in range(sums.size):
        least = min(least, sums[i])
    return least


@inner()
def _count_upto(sums, limit):
    count, most = np.uint32(0), sums.dtype.type(limit)
    for i in range(sums.size):
        count = np.uint32(count + np.uint32(sums[i] <= most))
    return count


@inner()
def _first(sums, value):
    for i in range(sums.size):
        if sums[i] == value:
            return i
    return -1


@njit(nogil=True, cache=True)
def by_counting(pairs, start, stop, ks, mismatches, best, rows):
    """Fill `best` (queries x ks, full of infinity) with the k-th least number of mismatches, for each k of rising `ks`.

    `rows` gets the first candidate with the least one, unless it is empty.
    """
    far = np.iinfo(mismatches.dtype).max
    for first in range(start, stop, GROUP):
        last = min(first + GROUP, stop)
        _count_mismatches(pairs, mismatches, first, last)
        for row in range(first, last):
            sums = mismatches[row - first]
            sums[pairs.total :] = far
            if pairs.exclude_same_row:
                sums[row] = far
            limit, place = np.int64(_least(sums)), 0
            if rows.size and limit < far:
                rows[row] = _first(sums, limit)
            while place < ks.size and limit < far:
                count = _count_upto(sums, limit)
                while place < ks.size and ks[place] <= count:
                    best[row, place] = limit
                    place += 1
                limit += 1


@inner()
def _group_minima(sums, least):
    """Least sum of rows i, i + LANES, i + 2 * LANES, ... for each i.

    At least k candidates lie within the k-th least of them, and few more: those that are near seldom share a group.
    """
    lanes = np.uint64(LANES)
    least[:] = OUT_OF_REACH
    for low in range(np.uint64(0), np.uint64(sums.size), lanes):
        for i in range(lanes):
            least[i] = min(least[i], sums[low + i])


@inner()
def _reach(least, k, unit):
    """A number of steps within which at least k groups lie (all, if there are fewer), at most FINE_ENOUGH too many."""
    low, high = 0, unit
    while high < OUT_OF_REACH and _count_upto(least, high) < k:
        low, high = high, 2 * high
    while high - low > FINE_ENOUGH:
        middle = (low + high) // 2
        if middle >= OUT_OF_REACH or _count_upto(least, middle) >= k:
            high = middle
        else:
            low = middle
    return high


@inner()
def _collect(steps, least, limit, near, found):
    """Put the rows with at most `limit` steps into `found`; returns how many. No branches: they would be guessed wrong."""
    groups, count, most = 0, 0, np.uint16(limit)
    for group in range(LANES):
        near[groups] = group
        groups += least[group] <= most
    for place in range(groups):
        for i in range(near[place], steps.size, LANES):
            found[count] = i
            count += steps[i] <= most
    return count


@inner()
def _sort(values, size, scratch):
    """Sort the first few values by counting how many are smaller, again without branches."""
    padded = -(-size // 16) * 16
    values[size:padded] = np.inf
    scratch[:padded] = -1.0
    for i in range(size):
        smaller, value = 0, values[i]
        for j in range(padded):
            smaller += values[j] < value
        scratch[smaller] = value
    highest = -1.0
    for i in range(size):
        highest = max(highest, scratch[i])  # equal values went to one place: the next ones are empty
        values[i] = highest


@inner()
def _measure(pairs, row, mismatches, place, rows, k, sums, scratch):
    """Fill `sums` with the k least Gower sums of these rows, or more of them, in rising order; returns how many."""
    queries, candidates, weights = pairs.queries.numbers, pairs.candidates.numbers, pairs.weights
    size, worst = 0, np.inf
    for i in rows:
        total = float(mismatches[place, i])
        for j in range(weights.size):
            gap = abs(candidates[i, j] - queries[row, j]) * weights[j]
            total += gap if gap < 1.0 else 1.0
        if total < worst:
            sums[size] = total
            size += 1
            if size == ROOM:
                _sort(sums, size, scratch)
                size, worst = k, sums[k - 1]
                if worst == 0.0:  # coarse tables: a crowd of equal rows
                    break
    _sort(sums, size, scratch)
    return size


@inner()
def _first_at(pairs, row, mismatches, place, rows, least):
    """The lowest of these rows whose Gower sum is the least one."""
    queries, candidates, weights = pairs.queries.numbers, pairs.candidates.numbers, pairs.weights
    lowest = pairs.total
    for i in rows:
        if i >= lowest:
            continue
        total = float(mismatches[place, i])
        for j in range(weights.size):
            gap = abs(candidates[i, j] - queries[row, j]) * weights[j]
            total += gap if gap < 1.0 else 1.0
        if total == least:
            lowest = i
    return lowest


@njit(nogil=True, cache=True)
def by_steps(pairs, start, stop, ks, mismatches, steps, found, best, rows):
    """Fill `best` (queries x ks, full of infinity) with the k-th least Gower sum, for each k of rising `ks`.

    `rows` gets the first candidate with the least one, unless it is empty.
    Rounding adds at most one step per column of numbers, so what is nearer than a sum has at most
    sum * unit + columns steps; one more for the rounding of floats.
    """
    slack, least, k = pairs.weights.size + 1, np.empty(LANES, np.uint16), ks[-1]
    sums, scratch, groups = np.empty(ROOM), np.empty(ROOM), np.empty(LANES + 1, np.int64)
    queries, candidates, unit = pairs.queries, pairs.candidates, pairs.unit
    for first in range(start, stop, GROUP):
        last = min(first + GROUP, stop)
        _count_mismatches(pairs, mismatches, first, last)
        for low in range(0, steps.shape[1], BLOCK):
            high = min(low + BLOCK, steps.shape[1])
            for row in range(first, last):
                place, begin, end = row - first, np.uint64(low), np.uint64(high)
                _add_steps(steps, place, mismatches, candidates.steps, queries.steps, row, unit, begin, end)
        for row in range(first, last):
            near = steps[row - first]
            near[pairs.total :] = OUT_OF_REACH
            if pairs.exclude_same_row:
                near[row] = OUT_OF_REACH
            _group_minima(near, least)
            needed, limit = min(_reach(least, k, unit) + 2 * slack, OUT_OF_REACH - 1), -1
            while needed > limit:  # a second time where numbers lie outside their range: steps say little there
                limit = needed
                count = _collect(near, least, limit, groups, found)
                size = _measure(pairs, row, mismatches, row - first, found[:count], k, sums, scratch)
                needed = OUT_OF_REACH - 1
                if size >= k:
                    needed = min(int(sums[k - 1] * unit) + slack, needed)
            if rows.size and size:
                rows[row] = _first_at(pairs, row, mismatches, row - first, found[:count], sums[0])
            for place in range(ks.size):
                if ks[place] <= size:
                    best[row, place] = sums[ks[place] - 1]
