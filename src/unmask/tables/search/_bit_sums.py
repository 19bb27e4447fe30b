"""Compiled loops behind the Gower distances of `kth_distances` for many queries: few candidates are measured in full.

A Gower sum is at least its number of mismatches, which rows of bits tell (`_bit_kernels`). Candidates with no
more of them than the k-th sum are measured as `_kernels` does it, so that the results are equal bit for bit.
"""

from __future__ import annotations

import numpy as np

from unmask.compiled import inner, njit
from unmask.tables.search._bit_kernels import LEVELS, collect, fill_planes, ones, room, spelt
from unmask.tables.search._kernels import _count_upto
from unmask.tables.search._kth_kernels import ROOM, _sort

HALVINGS = 16  # at most, to find a limit that few sums are below
FINITE, NOWHERE = 1e300, 2**62  # sums are at most the number of columns; a row behind all others


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
def _least(values, size, k, scratch):
    """Sort the k least of the first `size` values to the front: halving finds a limit that few others are below."""
    part, low, high = values[:size], 0.0, values[0]
    for i in range(size):
        high = max(high, part[i])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        count = _count_upto(part, middle)
        if count < k:
            low = middle
        else:
            high = middle
            if count <= k + LEVELS:
                break
    count = 0
    for i in range(size):
        value = part[i]
        values[count] = value
        count += value <= high
    _sort(values, count, scratch)


@inner()
def _take_in(pairs, query, found, mismatches, k, best, size, scratch):
    """Sort the Gower sums of these candidates into `best`, which holds `size` sums; returns how many it holds then, k at most."""
    numbers, weights, candidates = pairs.numbers[query], pairs.weights, pairs.candidates
    same = query - pairs.first if pairs.exclude_same_row else -1
    worst = best[k - 1] if size == k else np.inf
    for row in found:
        total = mismatches
        for j in range(weights.size):
            gap = abs(candidates[row, j] - numbers[j]) * weights[j]
            total += gap if gap < 1.0 else 1.0
        best[size] = total
        size += total < worst and row != same
        if size == ROOM:
            _least(best, size, k, scratch)
            size, worst = k, best[k - 1]
            if worst == 0.0:  # coarse tables: a crowd of equal rows
                break
    if size > k:
        _least(best, size, k, scratch)
        return k
    _sort(best, size, scratch)
    return size


@inner()
def _first_at(pairs, query, found, mismatches, least):
    """The first of these candidates whose Gower sum is the least one, as a row number of all blocks; NOWHERE if there is none."""
    numbers, weights, candidates = pairs.numbers[query], pairs.weights, pairs.candidates
    for row in found:
        total = mismatches
        for j in range(weights.size):
            gap = abs(candidates[row, j] - numbers[j]) * weights[j]
            total += gap if gap < 1.0 else 1.0
        if total == least and not (pairs.exclude_same_row and row == query - pairs.first):
            return pairs.first + row
    return NOWHERE


@njit(nogil=True, cache=True)
def by_measuring(pairs, order, start, stop, sums, rows):
    """Keep the k least Gower sums of each query (queries x k, rising) up to date; returns how many candidates were measured.

    Candidates are taken by their mismatches, fewest first, until the k-th sum is no more than the next number of them. In `order`
    queries with the same codes stand together: their candidates are found once. `rows` gets the first candidate with the least
    sum, unless it is empty.
    """
    k, measured, width, found = sums.shape[1], 0, pairs.width, np.empty(pairs.total, np.int64)
    best, scratch, ends = np.empty(ROOM), np.empty(ROOM), np.zeros(width + 2, np.int64)  # ends[m + 1]: of m mismatches
    planes, carries, straight = room(pairs)
    collected, among = -1, -1
    for place in range(start, stop):
        query = order[place]
        if place == start or not _alike(pairs.places[query], pairs.places[order[place - 1]]):
            fill_planes(pairs, query, planes, carries, straight)
            collected, among = -1, -1
        best[:k] = sums[query]
        size, least, worst = _count_upto(best[:k], FINITE), best[0], best[k - 1]
        level, taken = 0, -1
        if worst > 1.0:  # else only candidates without a mismatch come into question
            if among < 0:
                among = _among(planes, width, k + pairs.exclude_same_row)  # the same row may be among them
            level = among if worst > among else int(np.ceil(worst)) - 1
        while taken < level:
            taken += 1
            if collected < taken:
                ends[taken + 1] = collect(planes, pairs.total, taken, found, ends[taken])
                collected = taken
            some = found[ends[taken] : ends[taken + 1]]
            size = _take_in(pairs, query, some, float(taken), k, best, size, scratch)
            measured += some.size
            if taken == level < width and (size < k or best[k - 1] > level + 1):
                level += 1
        if rows.size and size and best[0] < least:
            rows[query] = NOWHERE
            for level in range(
                min(width, np.int64(best[0])) + 1
            ):  # as many mismatches may be the whole of an equal sum
                if collected < level:
                    ends[level + 1] = collect(planes, pairs.total, level, found, ends[level])
                    collected = level
                some = found[ends[level] : ends[level + 1]]
                rows[query] = min(rows[query], _first_at(pairs, query, some, float(level), best[0]))
        sums[query, :size] = best[:size]
    return measured


@inner()
def _alike(one, other):
    same = True
    for i in range(one.size):
        same &= one[i] == other[i]
    return same
