"""Nearest neighbours, counts within a radius and all rows at the least distance: exact, threaded, in bounded memory.

    Hamming   number of columns whose codes differ (numbers by their bin)
    Gower     mean over columns of |a - b| / (upper - lower), at most 1; categories 0 or 1
    Euclid    root of the summed squares of standardised differences
    Ranks     sum, max, min or euclid of absolute rank differences, on plain arrays of ranks

Missing against missing is 0; missing against a value is a mismatch (Gower 1, Euclid 2 before the root). Categories that
the schema does not list share one code: two of them in the same column count as equal, though their texts may differ.
Ties go to the lowest row number. Threads share the queries chunk by chunk; the results do not depend on how many.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TypeVar

import numpy as np

from unmask.errors import ParameterError
from unmask.tables import _kernels
from unmask.tables._kernels import BLOCK, CAPPED, FAR, LARGEST, SMALLEST, SQUARED, Packed, Work
from unmask.tables.matching import shared_columns
from unmask.tables.schema import Column, quoted
from unmask.tables.table import Table

MOST_NEIGHBOURS = 64
CHUNK = 512  # queries at a time: an interrupt and the next thread wait no longer than that
NOWHERE = -(2**62)  # "row number" of a first query that may meet its own row

Rows = Table | np.ndarray
Result = TypeVar("Result")


@dataclass(frozen=True)
class Hamming:
    """Number of columns in which two rows differ, numbers compared by their bin."""


@dataclass(frozen=True)
class Gower:
    """Mean over columns of the difference on the column's public range, 0 to 1.

    Numbers give |a - b| / (upper - lower), at most 1; categories 0 or 1; missing against a value 1. A column whose
    range is a single number counts as a category. The gap of the plain numbers is taken first, so equal gaps tie exactly.
    """


@dataclass(frozen=True)
class Euclid:
    """Root of the sum over columns of ((a - b) / sd)^2; categories by the position of their value in the schema.

    A missing value, or a category outside the listed ones, against anything else adds 2: the mean squared difference
    of two unrelated standardised values. A column that is constant in the fitted table adds nothing.
    """

    deviations: tuple[tuple[str, float], ...]  # (column, standard deviation)

    @classmethod
    def fitted_to(cls, table: Table) -> Euclid:
        """Standard deviations (population) of the values present in this table. The means cancel."""
        found = []
        for position, column in enumerate(table.schema.columns):
            labels = _labels(table, position)
            present = labels[labels < FAR]
            constant = len(present) == 0 or present.min() == present.max()
            found.append((column.name, 0.0 if constant else float(present.std())))
        return cls(tuple(found))


class Criterion(StrEnum):
    """How absolute rank differences of the columns become one number."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    EUCLID = "euclid"


@dataclass(frozen=True)
class Ranks:
    """Absolute rank differences, for rank linkage. Takes arrays of ranks (rows x columns), not tables."""

    criterion: Criterion = Criterion.SUM


Metric = Hamming | Gower | Euclid | Ranks
HAMMING = Hamming()


@dataclass(frozen=True, eq=False)
class Neighbours:
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
) -> Neighbours:
    """The k nearest candidates of each query and their distances; ties go to the lowest row number.

    `exclude_same_row` leaves candidate i out for query i, for a table against itself.
    """
    if not 1 <= k <= MOST_NEIGHBOURS:
        raise ParameterError(f"k is {k}; choose 1 to {MOST_NEIGHBOURS} neighbours.")
    task = _prepare(queries, candidates, metric, columns, exclude_same_row, needed=k)
    best = np.full((task.rows, k), task.far)
    rows = np.full((task.rows, k), -1, dtype=np.int64)

    def run(low: int, high: int) -> None:
        _kernels.nearest(task.part(low, high), *task.buffers(), best[low:high], rows[low:high])

    _in_chunks(run, task.rows, workers)
    return Neighbours(task.distances(best), rows)


def count_within(
    queries: Rows,
    candidates: Rows,
    *,
    radius: float,
    metric: Metric = HAMMING,
    columns: Sequence[str] | None = None,
    exclude_same_row: bool = False,
    workers: int = 1,
) -> np.ndarray:
    """How many candidates lie at a distance of at most `radius` of each query (int64)."""
    if not radius >= 0:
        raise ParameterError(f"radius is {radius}; give a distance of 0 or more, in the unit of {metric}.")
    task = _prepare(queries, candidates, metric, columns, exclude_same_row, needed=0)
    counts = np.zeros(task.rows, dtype=np.int64)
    limit = task.largest_sum_within(radius)

    def run(low: int, high: int) -> None:
        _kernels.within(task.part(low, high), *task.buffers(), limit, counts[low:high])

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
    task = _prepare(queries, candidates, metric, columns, exclude_same_row, needed=1)
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


@dataclass(frozen=True, eq=False)
class _Task:
    """Queries and candidates packed for the kernels, and the way from their sums to distances."""

    queries: Packed
    candidates: Packed
    exclude_same_row: bool
    weights: np.ndarray
    rule: int = CAPPED
    cap: float = 1.0
    divisor: int = 1
    root: bool = False

    @property
    def rows(self) -> int:
        return len(self.queries.narrow)

    @property
    def total(self) -> int:
        return self.candidates.narrow.shape[1]

    @property
    def mismatch_type(self) -> np.dtype:
        """Smallest type for a number of columns and one more value, out of reach."""
        return np.min_scalar_type(len(self.candidates.narrow) + len(self.candidates.wide) + 1)

    @property
    def far(self) -> np.generic:
        """A sum that no pair reaches."""
        if self.queries.numbers is not None:
            return np.float64(np.inf)
        return self.mismatch_type.type(np.iinfo(self.mismatch_type).max)

    def part(self, low: int, high: int) -> Work:
        numbers = None if self.queries.numbers is None else self.queries.numbers[low:high]
        queries = Packed(self.queries.narrow[low:high], self.queries.wide[low:high], numbers)
        first = low if self.exclude_same_row else NOWHERE
        return Work(queries, self.candidates, self.weights, self.rule, self.cap, self.total, first, self.far)

    def buffers(self) -> tuple[np.ndarray, np.ndarray]:
        mismatches = np.empty(BLOCK, dtype=self.mismatch_type)
        return (mismatches if self.queries.numbers is None else np.empty(BLOCK)), mismatches

    def distances(self, sums: np.ndarray) -> np.ndarray:
        values = sums.astype(np.float64)
        return np.sqrt(values) if self.root else values / self.divisor

    def largest_sum_within(self, radius: float) -> np.generic:
        """The largest sum whose distance is at most `radius`, so that rounding decides as it does for distances."""
        if self.queries.numbers is None:
            return self.mismatch_type.type(min(radius, np.iinfo(self.mismatch_type).max - 1))
        limit = min(radius * radius if self.root else radius * self.divisor, sys.float_info.max)
        while self._distance(limit) > radius:
            limit = math.nextafter(limit, 0)
        while math.isfinite(above := math.nextafter(limit, math.inf)) and self._distance(above) <= radius:
            limit = above
        return np.float64(limit)

    def _distance(self, total: float) -> float:
        return math.sqrt(total) if self.root else total / self.divisor


def _in_chunks(run: Callable[[int, int], Result], rows: int, workers: int) -> list[Result]:
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


def _prepare(
    queries: Rows,
    candidates: Rows,
    metric: Metric,
    names: Sequence[str] | None,
    exclude_same_row: bool,
    *,
    needed: int,
) -> _Task:
    if exclude_same_row and len(queries) != len(candidates):
        raise ParameterError(
            f"exclude_same_row leaves candidate i out for query i, but there are {len(queries):,} queries and "
            f"{len(candidates):,} candidates. Pass the same table twice."
        )
    available = len(candidates) - exclude_same_row
    if available < needed and len(queries):
        raise ParameterError(
            f"{needed} neighbours are asked for, but each query has only {max(available, 0)} candidates.\n"
            "Lower k, or give a table with more rows."
        )
    if isinstance(metric, Ranks):
        return _rank_task(queries, candidates, metric, names, exclude_same_row)
    if not (isinstance(queries, Table) and isinstance(candidates, Table)):
        raise ParameterError(f"{metric} compares tables; for plain arrays of ranks use metric=Ranks(...).")
    chosen = shared_columns((queries, candidates), names)
    measured = [
        column for column in chosen if isinstance(metric, Euclid) or (isinstance(metric, Gower) and column.is_numeric)
    ]
    counted = [column for column in chosen if column not in measured]
    make = partial(
        _Task,
        _pack(queries, counted, measured, metric),
        _transposed(_pack(candidates, counted, measured, metric)),
        exclude_same_row,
    )
    if isinstance(metric, Euclid):
        return make(_inverse(_deviations(metric, measured), constant=0.0), SQUARED, root=True)
    if isinstance(metric, Gower):
        ranges = np.array([column.upper - column.lower for column in measured])
        return make(_inverse(ranges, constant=np.finfo(float).max), CAPPED, divisor=len(chosen))
    return make(np.empty(0))


def _rank_task(
    queries: Rows, candidates: Rows, metric: Ranks, names: Sequence[str] | None, exclude_same_row: bool
) -> _Task:
    if isinstance(queries, Table) or isinstance(candidates, Table):
        raise ParameterError("Ranks compares arrays of ranks, not tables. Make them with unmask.tables.ranks.")
    if names is not None:
        raise ParameterError("Ranks takes plain arrays, which have no column names: pass only the columns to compare.")
    queries, candidates, packed = np.asarray(queries), np.asarray(candidates), []
    for what, ranks in (("queries", queries), ("candidates", candidates)):
        if ranks.ndim != 2 or ranks.shape[1] != queries.shape[1] or ranks.shape[1] == 0:
            raise ParameterError(
                f"The ranks have shapes {queries.shape} and {candidates.shape}; give two arrays of rows x columns "
                "with the same columns."
            )
        numbers = np.ascontiguousarray(ranks, dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise ParameterError(
                f"The ranks of the {what} hold NaN or infinity. Give every value a rank, missing ones too."
            )
        packed.append(Packed(np.empty((len(ranks), 0), np.uint8), np.empty((len(ranks), 0), np.uint16), numbers))
    rule = {
        Criterion.SUM: CAPPED,
        Criterion.MAX: LARGEST,
        Criterion.MIN: SMALLEST,
        Criterion.EUCLID: SQUARED,
    }[metric.criterion]
    weights = np.ones(queries.shape[1])
    root = metric.criterion is Criterion.EUCLID
    return _Task(packed[0], _transposed(packed[1]), exclude_same_row, weights, rule, cap=np.inf, root=root)


def _pack(table: Table, counted: list[Column], measured: list[Column], metric: Metric) -> Packed:
    position = table.schema.position
    narrow = [position(column.name) for column in counted if column.code_count <= 256]
    wide = [position(column.name) for column in counted if column.code_count > 256]
    numbers = np.empty((len(table), len(measured)))
    for place, column in enumerate(measured):
        numbers[:, place] = _labels(table, position(column.name))
    return Packed(
        np.ascontiguousarray(table.codes[:, narrow], dtype=np.uint8),
        np.ascontiguousarray(table.codes[:, wide], dtype=np.uint16),
        None if isinstance(metric, Hamming) else numbers,
    )


def _transposed(packed: Packed) -> Packed:
    numbers = None if packed.numbers is None else np.ascontiguousarray(packed.numbers.T)
    return Packed(np.ascontiguousarray(packed.narrow.T), np.ascontiguousarray(packed.wide.T), numbers)


def _labels(table: Table, position: int) -> np.ndarray:
    """A column as numbers: its own, or the codes of its categories; what is on no scale is FAR from the rest."""
    column = table.schema.columns[position]
    if column.is_numeric:
        numbers = table.numbers[:, table.schema.numeric.index(position)]
        return np.where(np.isnan(numbers), FAR, numbers)
    beyond = table.codes[:, position].astype(np.float64) - column.listed
    return np.where(beyond >= 0, FAR * (1 + beyond), beyond + column.listed)


def _deviations(metric: Euclid, columns: list[Column]) -> np.ndarray:
    known = dict(metric.deviations)
    if unknown := [column.name for column in columns if column.name not in known]:
        raise ParameterError(
            f"Euclid has no standard deviation for {quoted(unknown)}. Use Euclid.fitted_to(table) on a table "
            "that has the column, or name the columns to compare."
        )
    return np.array([known[column.name] for column in columns])


def _inverse(spans: np.ndarray, *, constant: float) -> np.ndarray:
    """1 / span, kept finite; `constant` where the span is 0."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(spans > 0, np.minimum(1 / spans, np.finfo(float).max), constant)
