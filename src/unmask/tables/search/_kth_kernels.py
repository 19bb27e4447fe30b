"""Compiled loops behind `kth_distances`: the k-th least distance without the list of neighbours.

Numbers of mismatches are small integers, so counting how many candidates lie within 0, 1, 2, ... gives every k-th distance.
Gower sums are floats; sixteen-bit sums in whole steps bound them from below, so only rows that may be among the nearest
are measured in full, in the order of `_kernels`, and the results are equal bit for bit.

Columns are taken four (or two) at a time, so that sums stay in registers, and tables are padded with zeros, which never
differ. Rows are counted by unsigned integers: an index that cannot be negative is what lets LLVM vectorise these loops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.compiled import inner, njit

BLOCK = 2048  # candidates at a time: their columns stay in the first-level cache while a group of queries passes
TILE = 16_384  # candidates whose sums stay in the second-level cache for a group of queries
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


class Room(NamedTuple):
    """Arrays that `by_steps` works in: made by its caller, since numba takes a second to compile what makes and copies arrays."""

    mismatches: np.ndarray  # queries of a group x candidates of a tile
    steps: np.ndarray  # the same shape, uint16
    found: np.ndarray  # rows of a tile, and one more
    least: np.ndarray  # LANES, uint16
    groups: np.ndarray  # LANES + 1
    sums: np.ndarray  # GROUP x ROOM: the least sums so far
    sizes: np.ndarray  # how many of them there are
    scratch: np.ndarray  # ROOM
    earlier: np.ndarray  # ROOM

    @classmethod
    def of(cls, width: int, mismatch_type: np.dtype) -> Room:
        return cls(
            np.empty((GROUP, width), mismatch_type),
            np.empty((GROUP, width), np.uint16),
            np.empty(width + 1, np.int64),
            np.empty(LANES, np.uint16),
            np.empty(LANES + 1, np.int64),
            np.empty((GROUP, ROOM)),
            np.empty(GROUP, np.int64),
            np.empty(ROOM),
            np.empty(ROOM),
        )


@inner()
def _add_mismatches(sums, place, columns, codes, row, tile, low, high):
    for j in range(0, columns.shape[0], CODES_AT_ONCE):
        a, b, c, d = codes[j, row], codes[j + 1, row], codes[j + 2, row], codes[j + 3, row]
        for i in range(low, high):
            at = tile + i
            sums[place, i] += (
                (columns[j, at] != a)
                + (columns[j + 1, at] != b)
                + (columns[j + 2, at] != c)
                + (columns[j + 3, at] != d)
            )


@inner()
def _add_steps(sums, place, mismatches, columns, steps, row, unit, tile, low, high):
    cap = np.uint16(unit)
    for i in range(low, high):
        sums[place, i] = np.uint16(mismatches[place, i]) * cap
    for j in range(0, columns.shape[0], STEPS_AT_ONCE):
        a, b = steps[j, row], steps[j + 1, row]
        for i in range(low, high):
            one, other = columns[j, tile + i], columns[j + 1, tile + i]
            first, second = np.uint16(max(one, a) - min(one, a)), np.uint16(max(other, b) - min(other, b))
            sums[place, i] += min(first, cap) + min(second, cap)


@inner()
def _count_mismatches(pairs, mismatches, tile, width, first, last):
    """Fill the rows of `mismatches` for queries first, first + 1, ... up to last, and so many candidates from `tile` on."""
    queries, candidates, offset = pairs.queries, pairs.candidates, np.uint64(tile)
    mismatches[:] = 0
    for low in range(0, width, BLOCK):
        high = min(low + BLOCK, width)
        for row in range(first, last):
            place, start, stop = row - first, np.uint64(low), np.uint64(high)
            _add_mismatches(mismatches, place, candidates.narrow, queries.narrow, row, offset, start, stop)
            if candidates.wide.shape[0]:
                _add_mismatches(mismatches, place, candidates.wide, queries.wide, row, offset, start, stop)


@inner()
def _count_steps(pairs, steps, mismatches, tile, width, first, last):
    """The same of steps: mismatches and numbers."""
    columns, asked, offset = pairs.candidates.steps, pairs.queries.steps, np.uint64(tile)
    for low in range(0, width, BLOCK):
        high = min(low + BLOCK, width)
        for row in range(first, last):
            place, start, stop = row - first, np.uint64(low), np.uint64(high)
            _add_steps(steps, place, mismatches, columns, asked, row, pairs.unit, offset, start, stop)


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
        _count_mismatches(pairs, mismatches, 0, mismatches.shape[1], first, last)
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
def _copy(values, size, target):
    for i in range(size):
        target[i] = values[i]


@inner()
def _gower_sum(pairs, row, mismatches, candidate):
    """Mismatches first, then numbers in the order of the schema."""
    queries, candidates, weights = pairs.queries.numbers, pairs.candidates.numbers, pairs.weights
    total = float(mismatches)
    for j in range(weights.size):
        gap = abs(candidates[candidate, j] - queries[row, j]) * weights[j]
        total += gap if gap < 1.0 else 1.0
    return total


@inner()
def _measure(pairs, row, mismatches, low, found, k, sums, size, scratch):
    """Put the Gower sums of these rows of a tile among `sums`: the k least ones in rising order, or all; returns how many."""
    worst = sums[k - 1] if size >= k else np.inf
    for place in found:
        total = _gower_sum(pairs, row, mismatches[place], low + place)
        if total < worst:
            sums[size] = total
            size += 1
            if size == ROOM:
                _sort(sums, size, scratch)
                size, worst = k, sums[k - 1]
                if worst == 0.0:  # coarse tables: a crowd of equal rows
                    break
    _sort(sums, size, scratch)
    return min(size, k)


@inner()
def _first_at(pairs, row, mismatches, low, found, least):
    """The lowest of these rows of a tile whose Gower sum is the least one; -1 if none has it."""
    lowest = mismatches.size
    for place in found:
        if place < lowest and _gower_sum(pairs, row, mismatches[place], low + place) == least:
            lowest = place
    return low + lowest if lowest < mismatches.size else -1


@njit(nogil=True, cache=True)
def by_steps(pairs, start, stop, ks, room, best, rows):
    """Fill `best` (queries x ks, full of infinity) with the k-th least Gower sum, for each k of rising `ks`.

    `rows` gets the first candidate with the least one, unless it is empty. Candidates are taken a tile at a time, whose sums
    stay in the cache. Rounding adds at most one step per column of numbers, so what is nearer than a sum has at most
    sum * unit + columns steps; one more for the rounding of floats.
    """
    mismatches, steps, found, least, groups, sums, sizes, scratch, earlier = room
    slack, k, whole = pairs.weights.size + 1, ks[-1], pairs.candidates.steps.shape[1]
    for first in range(start, stop, GROUP):
        last = min(first + GROUP, stop)
        sizes[:] = 0
        for low in range(0, whole, TILE):
            width = min(TILE, whole - low)
            _count_mismatches(pairs, mismatches, low, width, first, last)
            _count_steps(pairs, steps, mismatches, low, width, first, last)
            for row in range(first, last):
                place = row - first
                near, mine, size = steps[place, :width], mismatches[place, :width], sizes[place]
                near[max(0, pairs.total - low) :] = OUT_OF_REACH
                if pairs.exclude_same_row and low <= row < low + width:
                    near[row - low] = OUT_OF_REACH
                _group_minima(near, least)
                before = sums[place, 0] if size else np.inf
                if size >= k:
                    needed = min(int(sums[place, k - 1] * pairs.unit) + slack, OUT_OF_REACH - 1)
                    if _least(least) > needed:
                        continue
                else:
                    needed = min(_reach(least, k, pairs.unit) + 2 * slack, OUT_OF_REACH - 1)
                kept, limit = size, -1
                _copy(sums[place], kept, earlier)
                while needed > limit:  # a second time where numbers lie outside their range: steps say little there
                    limit = needed
                    _copy(earlier, kept, sums[place])
                    count = _collect(near, least, limit, groups, found)
                    size = _measure(pairs, row, mine, low, found[:count], k, sums[place], kept, scratch)
                    if size < k:
                        needed = OUT_OF_REACH - 1
                    elif kept < k:
                        needed = min(int(sums[place, k - 1] * pairs.unit) + slack, OUT_OF_REACH - 1)
                sizes[place] = size
                if rows.size and size and sums[place, 0] < before:
                    rows[row] = _first_at(pairs, row, mine, low, found[:count], sums[place, 0])
        for row in range(first, last):
            for place in range(ks.size):
                if ks[place] <= sizes[row - first]:
                    best[row, place] = sums[row - first, ks[place] - 1]
