"""Counting codes: marginals of one or several columns, and mutual information of all pairs.

Mutual information needs only sums of c log c over the cells: MI = log n + (sum_ab - sum_a - sum_b) / n. They are taken by
walking the records, so the cost is O(n) per pair, whatever the size of the domains.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unmask.compiled import inner, njit

DENSE = 1 << 22  # cells counted in an array; larger domains are sorted instead


def one_way(codes: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    """How often each code of each column occurs, as int64 arrays of the columns' sizes."""
    ends = np.cumsum(sizes)
    flat = _one_way(columns_of(codes), ends - sizes, int(ends[-1]))
    return np.split(flat, ends[:-1])


def joint(codes: np.ndarray, positions: Sequence[int], sizes: np.ndarray) -> np.ndarray:
    """How often each combination of codes occurs in these columns, as an int64 array with one axis per column."""
    places = np.asarray(positions, dtype=np.int64)
    shape = np.asarray(sizes, dtype=np.int64)[places]
    return _joint(columns_of(codes), places, shape, int(np.prod(shape))).reshape(shape)


def mutual_information(codes: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Mutual information of every pair of columns in nats; the diagonal holds the entropies."""
    columns = columns_of(codes)
    sums = pair_sums(columns, sizes)
    own = np.diag(sums)
    rows = columns.shape[1]
    information = (sums - own[:, None] - own[None, :]) / rows + np.log(rows)
    return np.maximum(information, 0.0)  # rounding can leave -1e-16


def columns_of(codes: np.ndarray) -> np.ndarray:
    """Codes as columns x rows, contiguous; no copy for the codes of a table."""
    return np.ascontiguousarray(codes.T)


def pair_sums(columns: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Sum of c log c over the cells of every pair of columns; the diagonal holds those of single columns."""
    sizes = np.asarray(sizes, dtype=np.int64)
    terms = c_log_c(columns.shape[1])
    sums = _pair_sums(columns, sizes, terms, work_space(int(sizes.max()) ** 2))
    for a, b in np.argwhere(np.isnan(np.tril(sums))):
        cells = columns[a] if a == b else columns[a].astype(np.int64) * sizes[b] + columns[b]
        sums[a, b] = sums[b, a] = _sum_by_sorting(cells, terms)
    return sums


def _sum_by_sorting(cells: np.ndarray, terms: np.ndarray) -> float:
    """As `_sum_of`, for domains of any size."""
    _, counts = np.unique(cells, return_counts=True)
    return float(np.cumsum(terms[counts])[-1:].sum())  # one after the other, as a loop adds


def triple_sums(columns: np.ndarray, sizes: np.ndarray, limit: int) -> np.ndarray:
    """Sum of c log c over the cells of every three columns, in any order; NaN for domains above `limit` cells.

    The limit is at most DENSE.
    """
    sizes, limit = np.asarray(sizes, dtype=np.int64), min(limit, DENSE)
    cells = min(limit, int(np.prod(np.sort(sizes)[-3:].astype(float))))
    return _triple_sums(columns, sizes, c_log_c(columns.shape[1]), work_space(cells), limit)


def c_log_c(rows: int) -> np.ndarray:
    """c log c for c = 0 .. rows."""
    counts = np.arange(rows + 1, dtype=np.float64)
    return counts * np.log(np.maximum(counts, 1.0))


def work_space(cells: int) -> np.ndarray:
    """Zeroed counters for domains of up to this many cells."""
    return np.zeros(min(cells, DENSE), dtype=np.int32)


@njit(nogil=True, cache=True)
def _one_way(columns, starts, cells):
    counts = np.zeros(cells, dtype=np.int64)
    for j in range(columns.shape[0]):
        for i in range(columns.shape[1]):
            counts[starts[j] + columns[j, i]] += 1
    return counts


@njit(nogil=True, cache=True)
def _joint(columns, positions, shape, cells):
    counts = np.zeros(cells, dtype=np.int64)
    for i in range(columns.shape[1]):
        cell = np.int64(0)
        for k in range(positions.size):
            cell = cell * shape[k] + columns[positions[k], i]
        counts[cell] += 1
    return counts


@inner()
def _sum_of(cells, terms, counters):
    """Sum of c log c over the counts of these cell numbers; leaves the counters zeroed."""
    total = 0.0
    for i in range(cells.size):
        counters[cells[i]] += 1
    for i in range(cells.size):
        total += terms[counters[cells[i]]]
        counters[cells[i]] = 0
    return total


@njit(nogil=True, cache=True)
def _pair_sums(columns, sizes, terms, counters):
    """NaN where there are fewer counters than cells."""
    width, rows = columns.shape
    sums = np.full((width, width), np.nan)
    cells = np.empty(rows, dtype=np.int64)
    for a in range(width):
        if sizes[a] <= counters.size:
            for i in range(rows):
                cells[i] = columns[a, i]
            sums[a, a] = _sum_of(cells, terms, counters)
        for b in range(a):
            if sizes[a] * sizes[b] <= counters.size:
                for i in range(rows):
                    cells[i] = np.int64(columns[a, i]) * sizes[b] + columns[b, i]
                sums[a, b] = sums[b, a] = _sum_of(cells, terms, counters)
    return sums


@njit(nogil=True, cache=True)
def _triple_sums(columns, sizes, terms, counters, limit):
    width, rows = columns.shape
    sums = np.full((width, width, width), np.nan)
    pairs = np.empty(rows, dtype=np.int64)
    cells = np.empty(rows, dtype=np.int64)
    for a in range(width):
        for b in range(a):
            for i in range(rows):
                pairs[i] = np.int64(columns[a, i]) * sizes[b] + columns[b, i]
            for c in range(b):
                size = sizes[a] * sizes[b] * sizes[c]
                if size > limit:
                    continue
                for i in range(rows):
                    cells[i] = pairs[i] * sizes[c] + columns[c, i]
                total = _sum_of(cells, terms, counters)
                sums[a, b, c] = sums[a, c, b] = sums[b, a, c] = total
                sums[b, c, a] = sums[c, a, b] = sums[c, b, a] = total
    return sums
