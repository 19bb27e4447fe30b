"""Compiled loops behind the Gower distances of `kth_distances` for many queries: few candidates are measured in full.

A Gower sum is at least its number of mismatches, which rows of bits tell (`_bit_kernels`). Candidates with no
more of them than the k-th sum are measured as `_kernels` does it, so that the results are equal bit for bit. They are the same
for all queries with the same codes, so their numbers are copied once, to lie next to each other: what is measured
then is whole vectors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.compiled import inner, njit
from unmask.tables.search._bit_kernels import LEVELS, collect, fill_planes, mismatches_of, ones, room, spelt
from unmask.tables.search._kernels import _count_upto
from unmask.tables.search._kth_kernels import ROOM, _sort

HALVINGS = 16  # at most, to find a limit that few sums are below
LANES = 16  # candidates of a number of mismatches are padded to a multiple
NOWHERE = 2**62  # a row behind all others


class Near(NamedTuple):
    """Candidates of some queries with the same codes, those with few mismatches first."""

    rows: np.ndarray  # of the block; what pads is -1
    mismatches: np.ndarray  # float64; of what pads, infinite
    numbers: np.ndarray  # columns x candidates
    ends: np.ndarray  # ends[m + 1]: where all with up to m mismatches are before
    words: np.ndarray  # room for two rows of bits


@inner()
def _among(planes, width, k):
    """The number of mismatches within which there are k candidates of the block; that of columns if there are fewer."""
    together, a, b, c, d, e = 0, planes[0], planes[1], planes[2], planes[3], planes[4]
    for level in range(width):
        v, w, x, y, z = spelt(level)
        found = np.uint64(0)
        for i in range(a.size):
            found += ones(~((a[i] ^ v) | (b[i] ^ w) | (c[i] ^ x) | (d[i] ^ y) | (e[i] ^ z)))
        together += int(found)
        if together >= k:
            return level
    return width


@inner()
def _gather(pairs, planes, gathered, level, near):
    """Put the candidates with up to so many mismatches into `near`, which holds those with up to `gathered`; returns the larger
    of the two."""
    if level <= gathered:
        return gathered
    candidates, numbers, first = pairs.candidates, near.numbers, near.ends[gathered + 1]
    last = collect(planes, pairs.total, gathered + 1, level, near.words, near.rows, first)
    end = -(-last // LANES) * LANES
    for place in range(np.uint64(first), np.uint64(last)):
        row = np.uint64(near.rows[place])
        near.mismatches[place] = mismatches_of(planes, row, level)
        for j in range(np.uint64(numbers.shape[0])):
            numbers[j, place] = candidates[row, j]
    for place in range(last, end):
        near.rows[place], near.mismatches[place] = -1, np.inf
    for mismatches in range(gathered + 1, level + 1):
        near.ends[mismatches + 1] = end
    return level


@inner()
def _measure(pairs, query, near, start, end, sums):
    """Gower sums of some candidates: mismatches first, then numbers in the order of the schema."""
    own, weights, part, mismatches = pairs.numbers[query], pairs.weights, sums[start:end], near.mismatches[start:end]
    for i in range(np.uint64(part.size)):
        part[i] = mismatches[i]
    for j in range(weights.size):
        column, number, weight = near.numbers[j, start:end], own[j], weights[j]
        for i in range(np.uint64(part.size)):
            gap = abs(column[i] - number) * weight
            part[i] += gap if gap < 1.0 else 1.0
    if pairs.exclude_same_row:
        for place in range(start, end):
            if near.rows[place] == query - pairs.first:
                sums[place] = np.inf


@inner()
def _take_least(values, most, k, best, scratch):
    """Sort the k least values into `best`, or those up to `most` if they are fewer; returns how many.

    Halving finds a limit that few others are below. What is left where many are equal is taken value by value.
    """
    low, high, within = -1.0, most, _count_upto(values, most)
    for _ in range(HALVINGS):
        if within <= k + LEVELS:
            break
        middle = (low + high) / 2
        count = _count_upto(values, middle)
        if count < k:
            low = middle
        else:
            high, within = middle, count
    if within > ROOM:
        return _take_equal(values, k, best)
    size = 0
    for i in range(values.size):
        best[size] = values[i]
        size += values[i] <= high
    _sort(best, size, scratch)
    return min(size, k)


@inner()
def _take_equal(values, k, best):
    """The same, by passing over all values for each one that is different."""
    size, last = 0, -1.0
    while size < k:
        least, count = np.inf, 0
        for i in range(values.size):
            value = values[i] if values[i] > last else np.inf
            count = 1 if value < least else count + (value == least)
            least = min(least, value)
        for place in range(size, min(size + count, k)):
            best[place] = least
        size, last = min(size + count, k), least
    return size


@inner()
def _first_at(near, end, sums, least):
    """The first candidate whose Gower sum is the least one."""
    first = NOWHERE
    for place in range(end):
        if sums[place] == least:
            first = min(first, near.rows[place])
    return first


@njit(nogil=True, cache=True)
def by_measuring(pairs, order, start, stop, sums, rows):
    """Keep the k least Gower sums of each query (queries x k, rising) up to date; returns how many candidates were measured.

    Candidates are taken by their mismatches, fewest first, until the k-th sum is no more than the next number of them. In `order`
    queries with the same codes stand together: their candidates are found once. `rows` gets the first candidate with the least
    sum, unless it is empty.
    """
    k, measured, width, columns = sums.shape[1], 0, pairs.width, pairs.weights.size
    near = _room_for_near(pairs)
    found, best, scratch = np.empty(k + near.rows.size), np.empty(ROOM + 1), np.empty(ROOM)
    planes, carries, straight = room(pairs)
    gathered, among = -1, -1
    for place in range(start, stop):
        query = order[place]
        if place == start or not _alike(pairs.places[query], pairs.places[order[place - 1]]):
            fill_planes(pairs, query, planes, carries, straight)
            gathered, among = -1, -1
        least, worst = sums[query, 0], sums[query, k - 1]
        found[:k] = sums[query]  # of earlier blocks
        level, end = 0, 0
        if worst > 1.0:  # else only candidates without a mismatch come into question
            if among < 0:
                among = _among(planes, width, k + pairs.exclude_same_row)  # the same row may be among them
            level = among if worst > among else int(np.ceil(worst)) - 1
        while True:
            gathered = _gather(pairs, planes, gathered, level, near)
            _measure(pairs, query, near, end, near.ends[level + 1], found[k:])
            end = near.ends[level + 1]
            if level == width or _count_upto(found[: k + end], level + 1.0) >= k:
                break
            level += 1
        measured += end
        size = _take_least(found[: k + end], level + 1.0 if level < width else float(width + columns), k, best, scratch)
        if rows.size and size and best[0] < least:
            if level < min(width, int(best[0])):  # as many mismatches may be the whole of an equal sum
                gathered = _gather(pairs, planes, gathered, level + 1, near)
                _measure(pairs, query, near, end, near.ends[level + 2], found[k:])
                end = near.ends[level + 2]
            rows[query] = pairs.first + _first_at(near, end, found[k:], best[0])
        sums[query, :size] = best[:size]
    return measured


@inner()
def _room_for_near(pairs):
    most = pairs.total + LANES * (pairs.width + 1)
    return Near(
        np.empty(most, np.int64),
        np.empty(most),
        np.empty((pairs.weights.size, most)),
        np.zeros(pairs.width + 2, np.int64),
        np.empty((2, pairs.bits.shape[1]), np.uint64),
    )


@inner()
def _alike(one, other):
    same = True
    for i in range(one.size):
        same &= one[i] == other[i]
    return same
