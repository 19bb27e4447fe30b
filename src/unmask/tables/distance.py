"""Nearest neighbours, k-th distances, counts within a radius, all rows at the least distance: exact, in bounded memory.

    Hamming   number of columns whose codes differ (numbers by their bin)
    Gower     mean over columns of |a - b| / (upper - lower), at most 1; categories 0 or 1
    Euclid    root of the summed squares of standardised differences
    Ranks     sum, max, min or euclid of absolute rank differences, on plain arrays of ranks

Missing against missing is 0; missing against a value is a mismatch (Gower 1, Euclid 2 before the root). Categories that
the schema does not list share one code: two of them in the same column count as equal, though their texts may differ.
Ties go to the lowest row number. Threads share the queries chunk by chunk; the results do not depend on how many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from unmask.errors import ParameterError
from unmask.tables import _kernels, _kth_kernels
from unmask.tables._bit_search import kth_by_bits
from unmask.tables._kernels import BLOCK
from unmask.tables._packing import KthTables, KthTask, PackedSearch, Rows, check_enough, compared, prepare, prepare_kth
from unmask.tables.metric import HAMMING, Euclid, Gower, Hamming, Metric, RankCriterion, Ranks

__all__ = [
    "Euclid",
    "Gower",
    "Hamming",
    "Metric",
    "Nearest",
    "RankCriterion",
    "Ranks",
    "Tied",
    "all_nearest",
    "count_within",
    "kth_distances",
    "nearest",
    "nearest_row",
]  # fmt: skip

MOST_NEIGHBOURS = 64
CHUNK = 512  # queries at a time: an interrupt and the next thread wait no longer than that

Part = TypeVar("Part")


@dataclass(frozen=True, eq=False)
class Nearest:
    """The k nearest candidates of each query, nearest first."""

    distances: np.ndarray  # (queries, k) float64
    rows: np.ndarray  # (queries, k) int64, row numbers of candidates


@dataclass(frozen=True, eq=False)
class Tied:
    """All candidates at the least distance: those of query i are rows[starts[i]:starts[i + 1]], in rising order."""

    distances: np.ndarray  # (queries,) float64
    starts: np.ndarray  # (queries + 1,) int64
    rows: np.ndarray  # int64; 8 bytes for each tie, so coarse tables with many ties are best asked in parts

    @property
    def counts(self) -> np.ndarray:
        """How many candidates tie for each query."""
        return np.diff(self.starts)

    def __iter__(self) -> Iterator[np.ndarray]:
        """The tied rows, query by query."""
        return (self.rows[low:high] for low, high in zip(self.starts[:-1], self.starts[1:], strict=True))


def nearest(
    queries: Rows,
    candidates: Rows,
    *,
    k: int = 1,
    metric: Metric = HAMMING,
    columns: Sequence[str] | None = None,
    exclude_same_row: bool = False,
    workers: int = 1,
) -> Nearest:
    """The k nearest candidates of each query and their distances; ties go to the lowest row number.

    `exclude_same_row` leaves candidate i out for query i, for a table against itself.
    """
    if not 1 <= k <= MOST_NEIGHBOURS:
        raise ParameterError(f"k is {k}; choose 1 to {MOST_NEIGHBOURS} neighbours.")
    if k == 1 and isinstance(metric, Hamming | Gower):
        check_enough(queries, candidates, exclude_same_row, needed=1)
        return nearest_row(
            queries,
            candidates,
            ks=(1,),
            metric=metric,
            columns=columns,
            exclude_same_row=exclude_same_row,
            workers=workers,
        )
    task = prepare(queries, candidates, metric, columns, exclude_same_row, needed=k)
    best = np.full((task.rows, k), task.far)
    rows = np.full((task.rows, k), -1, dtype=np.int64)

    def run(low: int, high: int) -> None:
        _kernels.nearest(task.part(low, high), *task.buffers(), best[low:high], rows[low:high])

    _in_chunks(run, task.rows, workers)
    return Nearest(task.distances(best), rows)


def kth_distances(
    queries: Rows,
    candidates: Rows,
    *,
    ks: Sequence[int] = (1, 5, 20),
    metric: Metric = HAMMING,
    columns: Sequence[str] | None = None,
    exclude_same_row: bool = False,
    workers: int = 1,
) -> np.ndarray:
    """Distance of each query to its k-th nearest candidate, for several k in one pass (queries x ks, float64).

    The same numbers as `nearest(...).distances[:, k - 1]`, some four times sooner for Hamming and Gower, since no row
    numbers are kept. Where a query has fewer than k candidates the distance is infinite: nothing is that near.
    """
    wanted = _wanted(ks)
    if not isinstance(metric, Hamming | Gower):
        lists = prepare(queries, candidates, metric, columns, exclude_same_row, needed=0)
        return _kth_of_nearest(lists, wanted, workers)
    tables = compared(queries, candidates, metric, columns, exclude_same_row)
    return _kth(tables, wanted, np.empty(0, dtype=np.int64), workers)


def nearest_row(
    queries: Rows,
    candidates: Rows,
    *,
    ks: Sequence[int],
    metric: Hamming | Gower = HAMMING,
    columns: Sequence[str] | None = None,
    exclude_same_row: bool = False,
    workers: int = 1,
) -> Nearest:
    """`kth_distances`, and the nearest candidate of each query (the lowest row number of several), in one pass."""
    tables = compared(queries, candidates, metric, columns, exclude_same_row)
    rows = np.full(len(tables.queries), -1, dtype=np.int64)
    return Nearest(_kth(tables, _wanted(ks), rows, workers), rows[:, None])


def _wanted(ks: Sequence[int]) -> np.ndarray:
    wanted = np.asarray(ks, dtype=np.int64)
    if wanted.ndim != 1 or not wanted.size or not 1 <= wanted.min() <= wanted.max() <= MOST_NEIGHBOURS:
        raise ParameterError(f"ks is {ks}; list one or more numbers of neighbours from 1 to {MOST_NEIGHBOURS}.")
    return wanted


def _kth(tables: KthTables, wanted: np.ndarray, rows: np.ndarray, workers: int) -> np.ndarray:
    """The distances; `rows` is filled unless it is empty."""
    rising, place = np.unique(wanted, return_inverse=True)
    best = kth_by_bits(tables, rising, rows, lambda run, count: _in_chunks(run, count, workers))
    if best is None:
        best = _kth_by_codes(prepare_kth(tables), rising, rows, workers)
    return best[:, place] / tables.divisor


def _kth_by_codes(task: KthTask, rising: np.ndarray, rows: np.ndarray, workers: int) -> np.ndarray:
    """The sums, by comparing the codes of all pairs."""
    best = np.full((task.rows, rising.size), np.inf)

    def run(low: int, high: int) -> None:
        mismatches, steps, found = task.buffers()
        if task.measured:
            _kth_kernels.by_steps(task.pairs, low, high, rising, mismatches, steps, found, best, rows)
        else:
            _kth_kernels.by_counting(task.pairs, low, high, rising, mismatches, best, rows)

    _in_chunks(run, task.rows, workers)
    return best


def count_within(
    queries: Rows,
    candidates: Rows,
    *,
    radius: float | np.ndarray,
    metric: Metric = HAMMING,
    columns: Sequence[str] | None = None,
    exclude_same_row: bool = False,
    workers: int = 1,
) -> np.ndarray:
    """How many candidates lie at a distance of at most `radius` (one for all, or one each) of each query (int64)."""
    radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), (len(queries),))
    if not (radii >= 0).all():
        raise ParameterError(f"radius is {radii.min()}; give a distance of 0 or more, in the unit of {metric}.")
    task = prepare(queries, candidates, metric, columns, exclude_same_row, needed=0)
    counts = np.zeros(task.rows, dtype=np.int64)
    distinct, place = np.unique(radii, return_inverse=True)
    limits = np.array([task.largest_sum_within(float(each)) for each in distinct], dtype=type(task.far))[place]

    def run(low: int, high: int) -> None:
        _kernels.within(task.part(low, high), *task.buffers(), limits[low:high], counts[low:high])

    _in_chunks(run, task.rows, workers)
    return counts


def all_nearest(
    queries: Rows,
    candidates: Rows,
    *,
    metric: Metric = HAMMING,
    columns: Sequence[str] | None = None,
    exclude_same_row: bool = False,
    workers: int = 1,
) -> Tied:
    """Every candidate at the least distance of each query, not only the first."""
    task = prepare(queries, candidates, metric, columns, exclude_same_row, needed=1)
    best = np.full(task.rows, task.far)

    def run(low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
        work, buffers = task.part(low, high), task.buffers()
        found = np.zeros((high - low, -(-task.total // BLOCK)), dtype=np.int32)
        _kernels.ties(work, *buffers, best[low:high], found)
        rows = np.empty(found.sum(), dtype=np.int64)
        _kernels.tied_rows(work, *buffers, best[low:high], found, rows)
        return found.sum(axis=1, dtype=np.int64), rows

    parts = _in_chunks(run, task.rows, workers)
    none = np.zeros(1, dtype=np.int64)
    starts = np.concatenate([none, *(counts for counts, _ in parts)]).cumsum()
    return Tied(task.distances(best), starts, np.concatenate([none[:0], *(rows for _, rows in parts)]))


def _kth_of_nearest(task: PackedSearch, ks: np.ndarray, workers: int) -> np.ndarray:
    """`kth_distances` of the other metrics: the lists of `nearest`."""
    best = np.full((task.rows, ks.max()), task.far)

    def run(low: int, high: int) -> None:
        rows = np.empty((high - low, best.shape[1]), dtype=np.int64)
        _kernels.nearest(task.part(low, high), *task.buffers(), best[low:high], rows)

    _in_chunks(run, task.rows, workers)
    return task.distances(best[:, ks - 1])


def _in_chunks(run: Callable[[int, int], Part], rows: int, workers: int) -> list[Part]:
    """`run` on consecutive ranges of queries, the results in order; threads, since the kernels release the GIL."""
    if workers < 1:
        raise ParameterError(f"workers is {workers}; use 1 or more threads.")
    size = max(1, min(CHUNK, -(-rows // workers)))
    lows = range(0, rows, size)
    highs = [min(low + size, rows) for low in lows]
    if workers == 1 or len(lows) < 2:
        return [run(low, high) for low, high in zip(lows, highs, strict=True)]
    pool = ThreadPoolExecutor(workers)
    try:
        return list(pool.map(run, lows, highs))
    finally:
        pool.shutdown(cancel_futures=True)
