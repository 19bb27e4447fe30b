"""k-th distances of many queries by rows of bits: when that pays, and block by block, so that bits stay in a near cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from unmask.tables.metric import labels
from unmask.tables.schema import Column
from unmask.tables.search import _bit_kernels as kernels
from unmask.tables.search._bit_sums import by_measuring
from unmask.tables.search._packing import KthTables
from unmask.tables.table import Table

BLOCK = 8192  # candidates at a time
MOST_COLUMNS = 2 * kernels.INPUTS
MOST_CODES = 2048  # of all columns together: 2 MB of bits
ENOUGH_QUERIES = 128  # bits have to be set before they are read
ENOUGH_PAIRS = 2_000_000  # some milliseconds: fewer are not worth the compiling of more loops
TRIED = 64  # queries that tell whether most candidates are passed over
MOST_MEASURED = 1 / 16  # of the pairs: where more have to be measured in full, comparing codes is as fast

Share = Callable[[Callable[[int, int], object], int], object]  # runs a function on consecutive ranges of queries


def kth_by_bits(compared: KthTables, ks: np.ndarray, rows: np.ndarray, share: Share) -> np.ndarray | None:
    """The k-th least sum of each query for rising `ks` (infinite where there are fewer candidates); None where this does not pay.

    `rows` gets the first candidate with the least sum, unless it is empty.
    """
    if not _pays(compared):
        return None
    places = _places(compared)
    return (_measured if compared.measured else _counted)(compared, places, ks, rows, share)


def _pays(compared: KthTables) -> bool:
    queries, candidates, counted = compared.queries, compared.candidates, compared.counted
    return (
        0 < len(counted) <= MOST_COLUMNS
        and len(queries) >= ENOUGH_QUERIES
        and len(queries) * len(candidates) >= ENOUGH_PAIRS
        and sum(column.code_count for column in counted) <= MOST_CODES
        and all(
            table.codes[:, table.schema.position(column.name)].max() < column.code_count
            for table in (queries, candidates)
            for column in counted
        )
    )


def _counted(compared: KthTables, places: np.ndarray, ks: np.ndarray, rows: np.ndarray, share: Share) -> np.ndarray:
    """Mismatches alone: how many candidates have 0, 1, 2, ... of them."""
    wide = 1 if len(compared.counted) > kernels.INPUTS else None
    counts = np.zeros((len(compared.queries), len(compared.counted) + 1), dtype=np.int32)
    for pairs in _blocks(compared, places):
        share(partial(_count_part, pairs, wide, int(ks[-1]), counts, rows), len(counts))
    within = counts.cumsum(axis=1)
    best = np.stack([(within >= k).argmax(axis=1) for k in ks], axis=1).astype(np.float64)
    best[within[:, -1:] < ks] = np.inf
    return best


def _measured(
    compared: KthTables, places: np.ndarray, ks: np.ndarray, rows: np.ndarray, share: Share
) -> np.ndarray | None:
    """Mismatches and numbers."""
    sums, order = np.full((len(compared.queries), ks[-1]), np.inf), _alike_together(places[:, : len(compared.counted)])
    for pairs in _blocks(compared, places):
        if pairs.first == 0 and not _passes_over_most(pairs, order, sums):
            return None
        share(partial(_measure_part, pairs, order, sums, rows), len(sums))
    return sums[:, ks - 1]


def _alike_together(places: np.ndarray) -> np.ndarray:
    """An order in which queries with the same codes follow one another: sorted by a hash, which is faster than by columns."""
    key = np.zeros(len(places), dtype=np.uint64)
    for column in places.T.astype(np.uint64):
        key = key * np.uint64(0x9E3779B97F4A7C15) + column
    return np.argsort(key)


def _count_part(
    pairs: kernels.BitPairs, wide: int | None, k: int, counts: np.ndarray, rows: np.ndarray, low: int, high: int
) -> None:
    kernels.by_levels(pairs, low, high, wide, k, counts, rows)


def _measure_part(
    pairs: kernels.BitPairs, order: np.ndarray, sums: np.ndarray, rows: np.ndarray, low: int, high: int
) -> None:
    by_measuring(pairs, order, low, high, sums, rows)


def _passes_over_most(pairs: kernels.BitPairs, order: np.ndarray, sums: np.ndarray) -> bool:
    """Try some queries; what they find is forgotten."""
    tried = order[np.linspace(0, len(sums), TRIED, endpoint=False).astype(np.int64)]
    aside = np.empty_like(sums)
    aside[tried] = np.inf
    measured = by_measuring(pairs, tried, 0, TRIED, aside, np.empty(0, dtype=np.int64))
    return bool(measured <= MOST_MEASURED * TRIED * pairs.total)


def _blocks(compared: KthTables, places: np.ndarray) -> Iterator[kernels.BitPairs]:
    """All queries against one block of candidates after another."""
    counted, measured = compared.counted, compared.measured
    codes, starts = _codes(compared.candidates, counted), _starts(counted)
    numbers, theirs = (_numbers(table, measured) for table in (compared.queries, compared.candidates))
    for first in range(0, len(compared.candidates), BLOCK):
        part = codes[:, first : first + BLOCK]
        bits = np.full((starts[-1] + 1, -(-part.shape[1] // 64)), ~np.uint64(0))
        bits[-1] = 0
        kernels.spread(part, starts, bits)
        yield kernels.BitPairs(
            bits, places, len(counted), first, part.shape[1], compared.exclude_same_row,
            numbers, theirs[first : first + BLOCK], compared.weights,
        )  # fmt: skip


def _places(compared: KthTables) -> np.ndarray:
    """The row of bits of each code of each query; the empty one for columns that are not there."""
    starts, columns = _starts(compared.counted), len(compared.counted)
    padded = kernels.INPUTS if columns <= kernels.INPUTS else MOST_COLUMNS
    places = np.full((len(compared.queries), padded), starts[-1], dtype=np.int64)
    places[:, :columns] = _codes(compared.queries, compared.counted).T + starts[:-1]
    return places


def _starts(counted: Sequence[Column]) -> np.ndarray:
    return np.cumsum([0, *(column.code_count for column in counted)])


def _codes(table: Table, counted: Sequence[Column]) -> np.ndarray:
    """Columns x rows."""
    position = {name: place for place, name in enumerate(table.schema.names)}
    return np.ascontiguousarray(table.codes.T[[position[column.name] for column in counted]])


def _numbers(table: Table, measured: Sequence[Column]) -> np.ndarray:
    """Rows x columns."""
    numbers = np.empty((len(table), len(measured)))
    for place, column in enumerate(measured):
        numbers[:, place] = labels(table, table.schema.position(column.name))
    return numbers
