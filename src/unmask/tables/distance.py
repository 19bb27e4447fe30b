"""Nearest neighbours, k-th distances, counts within a radius, all rows at the least distance: exact, in bounded memory.

    Hamming   number of columns whose codes differ (numbers by their bin)
    Gower     mean over columns of |a - b| / (upper - lower), at most 1; categories 0 or 1
    Euclid    root of the summed squares of standardised differences
    Ranks     sum, max, min or euclid of absolute rank differences, on plain arrays of ranks

Missing against missing is 0; missing against a value is a mismatch (Gower 1, Euclid 2 before the root). Categories that
the schema does not list share one code: two of them in the same column count as equal, though their texts may differ.
Ties go to the lowest row number. Threads share the queries chunk by chunk; the results do not depend on how many.

Euclid and ranks are searched in boxes (`_boxes`) where a trial shows that most rows need not be measured, Euclid otherwise by
matrix products (`_products`), small tables by loops over all pairs. All ways give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unmask.errors import ParameterError
from unmask.tables.metric import HAMMING, Euclid, Gower, Hamming, Metric, RankCriterion, Ranks
from unmask.tables.search import _kernels
from unmask.tables.search._chunks import in_chunks
from unmask.tables.search._kth_search import KthQuestion
from unmask.tables.search._list_search import Tying, lists, tying
from unmask.tables.search._packing import PackedSearch, Rows, check_enough, prepare
from unmask.tables.table import Table

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
    "all_nearest_in_parts",
    "count_within",
    "kth_distances",
    "nearest",
    "nearest_in_order",
    "nearest_row",
]  # fmt: skip

MOST_NEIGHBOURS = 64


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
    best, rows = lists(task, k, workers)
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
        task = prepare(queries, candidates, metric, columns, exclude_same_row, needed=0)
        return task.distances(lists(task, int(wanted.max()), workers)[0][:, wanted - 1])
    return KthQuestion(queries, candidates, metric, columns, exclude_same_row).distances(wanted, workers)


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
    question = KthQuestion(queries, candidates, metric, columns, exclude_same_row)
    found, rows = question.distances_and_rows(_wanted(ks), workers)
    return Nearest(found, rows[:, None])


def nearest_in_order(
    queries: Table,
    candidates: Table,
    order: np.ndarray,
    *,
    k: int = 1,
    columns: Sequence[str] | None = None,
    workers: int = 1,
) -> np.ndarray:
    """Row numbers of the k nearest candidates by Gower (queries x k); of equally near ones the first in `order` counts.

    A random order, so that ties do not hang on that of a file. Large tables are made ready for searches once, not for each order.
    """
    check_enough(queries, candidates, exclude_same_row=False, needed=k)
    if k > 1:
        return np.asarray(
            order[nearest(queries, candidates.take(order), k=k, metric=Gower(), columns=columns, workers=workers).rows]
        )
    question = KthQuestion(queries, candidates, Gower(), columns, False, order)
    _, rows = question.distances_and_rows(np.array([1]), workers)
    return np.asarray(order[rows[:, None]])


def _wanted(ks: Sequence[int]) -> np.ndarray:
    wanted = np.asarray(ks, dtype=np.int64)
    if wanted.ndim != 1 or not wanted.size or not 1 <= wanted.min() <= wanted.max() <= MOST_NEIGHBOURS:
        raise ParameterError(f"ks is {ks}; list one or more numbers of neighbours from 1 to {MOST_NEIGHBOURS}.")
    return wanted


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

    in_chunks(run, task.rows, workers)
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
    return _tied(task, tying(task), 0, task.rows, workers)


def all_nearest_in_parts(
    queries: np.ndarray, candidates: np.ndarray, *, at_once: int, metric: Ranks, workers: int = 1
) -> Iterator[Tied]:
    """`all_nearest` of ranks, so many queries at a time: many may tie. The candidates are prepared once."""
    task = prepare(queries, candidates, metric, None, False, needed=1)
    search = tying(task)
    for low in range(0, task.rows, at_once):
        yield _tied(task, search, low, min(low + at_once, task.rows), workers)


def _tied(task: PackedSearch, search: Tying, low: int, high: int, workers: int) -> Tied:
    parts = in_chunks(lambda begin, end: search(low + begin, low + end), high - low, workers)
    none = np.zeros(1, dtype=np.int64)
    starts = np.concatenate([none, *(counts for _, counts, _ in parts)]).cumsum()
    best = np.concatenate([np.full(0, task.far), *(best for best, _, _ in parts)])
    return Tied(task.distances(best), starts, np.concatenate([none[:0], *(rows for _, _, rows in parts)]))
