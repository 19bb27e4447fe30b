"""Compiled loops behind `unmask.tables.distance`: blocks of candidates against one query after another.

A block of candidates, column by column, stays in the first-level cache while all queries of a chunk pass over it.
Each inner loop is a function of its own over contiguous slices: that is what makes LLVM vectorise it (one nested loop
over rows and columns is ten times slower). Sums run in a fixed order, mismatches first and then numbers as in
the schema, so they equal those of a naive loop bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.compiled import inner, njit

BLOCK = 2048  # candidates at a time: 15 one-byte columns and the sums fit 48 kB
TILE = 64  # rows looked through one by one once a tile is known to hold something better

CAPPED, SQUARED, LARGEST, SMALLEST = range(4)  # how a numeric column enters the sum

FAR = 1e300  # stands for missing: its difference to any number is beyond FAR_SQUARE, to itself 0
FAR_SQUARE = 1e200
MISSING_SQUARE = 2.0  # mean squared difference of two unrelated standardised values


class Packed(NamedTuple):
    """The columns of one table, sorted by width. Queries are rows x columns, candidates columns x rows."""

    narrow: np.ndarray  # uint8 codes
    wide: np.ndarray  # uint16 codes
    numbers: np.ndarray | None  # float64; None = the metric counts mismatches only, which drops the float code


class Work(NamedTuple):
    """Some queries against all candidates, and how to measure."""

    queries: Packed
    candidates: Packed
    weights: np.ndarray  # one factor per column of numbers
    rule: int
    cap: float  # CAPPED: the most that one column can add
    total: int  # number of candidates
    first: int  # row number of the first query if the same row is to be left out, else far below 0
    far: np.generic  # a sum that no pair reaches, of the type of the sums


@inner()
def _add_mismatches(sums, column, code):
    for i in range(sums.size):
        sums[i] += column[i] != code


@inner()
def _add_capped(sums, column, number, weight, cap):
    for i in range(sums.size):
        gap = abs(column[i] - number) * weight
        sums[i] += gap if gap < cap else cap


@inner()
def _add_squared(sums, column, number, weight):
    for i in range(sums.size):
        gap = (column[i] - number) * weight
        square = gap * gap
        sums[i] += square if square < FAR_SQUARE else MISSING_SQUARE


@inner()
def _keep_largest(sums, column, number, weight):
    for i in range(sums.size):
        gap = abs(column[i] - number) * weight
        sums[i] = gap if gap > sums[i] else sums[i]


@inner()
def _keep_smallest(sums, column, number, weight):
    for i in range(sums.size):
        gap = abs(column[i] - number) * weight
        sums[i] = gap if gap < sums[i] else sums[i]


@inner()
def _any_below(sums, limit):
    found = False
    for i in range(sums.size):
        found |= sums[i] < limit
    return found


@inner()
def _count_upto(sums, limit):
    count = 0
    for i in range(sums.size):
        count += sums[i] <= limit
    return count


@inner()
def _copy(sums, mismatches):
    for i in range(sums.size):
        sums[i] = mismatches[i]


@inner()
def _add_numbers(work, sums, mismatches, row, low, queries, candidates):
    if queries is None:  # decided when compiled: `sums` is `mismatches`
        return
    _copy(sums, mismatches)
    rule, weights = work.rule, work.weights
    if rule == SMALLEST:
        sums[:] = np.inf
    for j in range(candidates.shape[0]):
        column = candidates[j, low : low + sums.size]
        if rule == CAPPED:
            _add_capped(sums, column, queries[row, j], weights[j], work.cap)
        elif rule == SQUARED:
            _add_squared(sums, column, queries[row, j], weights[j])
        elif rule == LARGEST:
            _keep_largest(sums, column, queries[row, j], weights[j])
        else:
            _keep_smallest(sums, column, queries[row, j], weights[j])


@inner()
def _measure(work, sums, mismatches, row, low):
    """Fill `sums` with what separates query `row` from candidates low, low + 1, ...; put its own row out of reach."""
    queries, candidates = work.queries, work.candidates
    mismatches[:] = 0
    for j in range(candidates.narrow.shape[0]):
        _add_mismatches(mismatches, candidates.narrow[j, low : low + sums.size], queries.narrow[row, j])
    for j in range(candidates.wide.shape[0]):
        _add_mismatches(mismatches, candidates.wide[j, low : low + sums.size], queries.wide[row, j])
    _add_numbers(work, sums, mismatches, row, low, queries.numbers, candidates.numbers)
    same = work.first + row - low
    if 0 <= same < sums.size:
        sums[same] = work.far


@inner()
def _keep_best(best, rows, sums, low):
    """Sort what is better than the worst kept into the list; rows come in rising order, so ties keep the lowest."""
    last = best.size - 1
    if not _any_below(sums, best[last]):
        return
    for tile in range(0, sums.size, TILE):
        part = sums[tile : tile + TILE]
        if not _any_below(part, best[last]):
            continue
        for i in range(part.size):
            if part[i] < best[last]:
                place = last
                while place > 0 and best[place - 1] > part[i]:
                    best[place] = best[place - 1]
                    rows[place] = rows[place - 1]
                    place -= 1
                best[place] = part[i]
                rows[place] = low + tile + i


@njit(nogil=True, cache=True)
def nearest(work, sums, mismatches, best, rows):
    """Fill `best` and `rows` (queries x k, `best` full of out-of-reach values) with the k nearest candidates."""
    for low in range(0, work.total, BLOCK):
        size = min(BLOCK, work.total - low)
        part, mismatched = sums[:size], mismatches[:size]
        for row in range(best.shape[0]):
            _measure(work, part, mismatched, row, low)
            _keep_best(best[row], rows[row], part, low)


@njit(nogil=True, cache=True)
def within(work, sums, mismatches, limits, counts):
    """Add to `counts` how many candidates each query has at a sum of at most its limit."""
    for low in range(0, work.total, BLOCK):
        size = min(BLOCK, work.total - low)
        part, mismatched = sums[:size], mismatches[:size]
        for row in range(counts.size):
            _measure(work, part, mismatched, row, low)
            counts[row] += _count_upto(part, limits[row])


@njit(nogil=True, cache=True)
def ties(work, sums, mismatches, best, found):
    """Fill `best` with the least sum of each query, `found` (queries x blocks) with how often each block holds it."""
    for low in range(0, work.total, BLOCK):
        size = min(BLOCK, work.total - low)
        part, mismatched = sums[:size], mismatches[:size]
        for row in range(best.size):
            _measure(work, part, mismatched, row, low)
            if _any_below(part, best[row]):
                best[row] = part.min()
                found[row, : low // BLOCK] = 0
            if best[row] < work.far:
                found[row, low // BLOCK] = _count_upto(part, best[row])


@njit(nogil=True, cache=True)
def tied_rows(work, sums, mismatches, best, found, rows):
    """Fill `rows` with what `ties` counted, query by query in rising order; only blocks that hold some are measured."""
    place = 0
    for row in range(best.size):
        for low in range(0, work.total, BLOCK):
            if found[row, low // BLOCK] == 0:
                continue
            size = min(BLOCK, work.total - low)
            part, mismatched = sums[:size], mismatches[:size]
            _measure(work, part, mismatched, row, low)
            for i in range(size):
                if part[i] == best[row]:
                    rows[place] = low + i
                    place += 1
