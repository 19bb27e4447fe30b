"""Tables packed for the compiled loops, and the way from their sums back to distances."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from unmask.errors import ParameterError
from unmask.tables.matching import shared_columns
from unmask.tables.metric import Euclid, Gower, Hamming, Metric, RankCriterion, Ranks, labels
from unmask.tables.schema import Column, quoted
from unmask.tables.search import _kth_kernels as kth
from unmask.tables.search._kernels import BLOCK, CAPPED, LARGEST, SMALLEST, SQUARED, Packed, Work
from unmask.tables.table import Table

NOWHERE = -(2**62)  # "row number" of a first query that may meet its own row

Rows = Table | np.ndarray


@dataclass(frozen=True, eq=False)
class PackedSearch:
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


def prepare(
    queries: Rows,
    candidates: Rows,
    metric: Metric,
    names: Sequence[str] | None,
    exclude_same_row: bool,
    *,
    needed: int,
) -> PackedSearch:
    check_enough(queries, candidates, exclude_same_row, needed=needed)
    if isinstance(metric, Ranks):
        return _rank_task(queries, candidates, metric, names, exclude_same_row)
    if not (isinstance(queries, Table) and isinstance(candidates, Table)):
        raise _tables_needed(metric)
    chosen = chosen_columns(queries, candidates, names)
    measured = [
        column for column in chosen if isinstance(metric, Euclid) or (isinstance(metric, Gower) and column.is_numeric)
    ]
    counted = [column for column in chosen if column not in measured]
    make = partial(
        PackedSearch,
        _pack(queries, counted, measured, metric),
        _transposed(_pack(candidates, counted, measured, metric)),
        exclude_same_row,
    )
    if isinstance(metric, Euclid):
        return make(_inverse(_deviations(metric, measured), constant=0.0), SQUARED, root=True)
    if isinstance(metric, Gower):
        return make(_gower_weights(measured), CAPPED, divisor=len(chosen))
    return make(np.empty(0))


def check_enough(queries: Rows, candidates: Rows, exclude_same_row: bool, *, needed: int) -> None:
    """Refuse searches for more neighbours than there are."""
    _check_same_row(queries, candidates, exclude_same_row)
    available = len(candidates) - exclude_same_row
    if available < needed and len(queries):
        raise ParameterError(
            f"{needed} neighbours are asked for, but each query has only {max(available, 0)} candidates.\n"
            "Lower k, or give a table with more rows."
        )


@dataclass(frozen=True, eq=False)
class KthTask:
    """Queries and candidates packed for the kernels of `kth_distances`."""

    pairs: kth.Pairs
    rows: int
    mismatch_type: np.dtype

    @property
    def measured(self) -> bool:
        """Whether there are numbers to measure, not only mismatches to count."""
        return self.pairs.weights.size > 0

    def room(self) -> kth.Room:
        """What `by_steps` works in."""
        return kth.Room.of(min(self.pairs.candidates.narrow.shape[1], kth.TILE), self.mismatch_type)

    def mismatches(self) -> np.ndarray:
        """Room for mismatches of a group of queries against all candidates."""
        return np.empty((kth.GROUP, self.pairs.candidates.narrow.shape[1]), self.mismatch_type)


@dataclass(frozen=True, eq=False)
class KthTables:
    """Two tables, the columns whose mismatches are counted, and those of numbers that are measured (Gower)."""

    queries: Table
    candidates: Table
    counted: list[Column]
    measured: list[Column]
    exclude_same_row: bool
    divisor: int  # of sums

    @cached_property
    def weights(self) -> np.ndarray:
        """One factor per column of numbers."""
        return _gower_weights(self.measured)


def compared(
    queries: Rows, candidates: Rows, metric: Hamming | Gower, names: Sequence[str] | None, exclude_same_row: bool
) -> KthTables:
    """What `kth_distances` is about."""
    _check_same_row(queries, candidates, exclude_same_row)
    if not (isinstance(queries, Table) and isinstance(candidates, Table)):
        raise _tables_needed(metric)
    chosen = chosen_columns(queries, candidates, names)
    if len(chosen) >= kth.OUT_OF_REACH:
        raise ParameterError(f"{len(chosen):,} columns are too many; compare fewer than {kth.OUT_OF_REACH:,}.")
    measured = [column for column in chosen if isinstance(metric, Gower) and column.is_numeric]
    counted = [column for column in chosen if not (isinstance(metric, Gower) and column.is_numeric)]
    divisor = len(chosen) if isinstance(metric, Gower) else 1
    return KthTables(queries, candidates, counted, measured, exclude_same_row, divisor)


def prepare_kth(tables: KthTables) -> KthTask:
    """Columns next to each other, padded, numbers also in steps."""
    counted, measured, weights = tables.counted, tables.measured, tables.weights
    unit = min(kth.MOST_STEPS, (kth.OUT_OF_REACH - 1) // (len(counted) + len(measured)))
    side = partial(_columns, counted=counted, measured=measured, weights=weights, unit=unit)
    queries, candidates = side(tables.queries), side(tables.candidates)
    return KthTask(
        kth.Pairs(queries, candidates, len(tables.candidates), tables.exclude_same_row, weights, unit),
        rows=len(tables.queries),
        mismatch_type=np.min_scalar_type(len(counted) + 1),
    )


def _columns(
    table: Table, *, counted: list[Column], measured: list[Column], weights: np.ndarray, unit: int
) -> kth.Columns:
    """One side. Numbers become steps, clipped one range below and above their own, so that no gap grows by it."""
    position = {name: place for place, name in enumerate(table.schema.names)}
    narrow = [position[column.name] for column in counted if column.code_count <= 256]
    wide = [position[column.name] for column in counted if column.code_count > 256]
    numbers, steps = np.empty((len(table), len(measured))), np.empty((len(measured), len(table)), np.uint16)
    with np.errstate(over="ignore"):
        for place, column in enumerate(measured):
            numbers[:, place] = values = labels(table, position[column.name])
            steps[place] = (((values - column.lower) * weights[place]).clip(-1, 2) + 1) * unit
    return kth.Columns(
        _padded(table.codes.T[narrow], kth.CODES_AT_ONCE, np.uint8),
        _padded(table.codes.T[wide], kth.CODES_AT_ONCE, np.uint16),
        _padded(steps, kth.STEPS_AT_ONCE, np.uint16),
        numbers,
    )


def _padded(columns: np.ndarray, at_once: int, kind: type[np.unsignedinteger]) -> np.ndarray:
    """Zeros below and to the right; at least one row, so that there is something to look at."""
    count, rows = columns.shape
    whole = np.zeros((-(-count // at_once) * at_once, -(-max(rows, 1) // kth.LANES) * kth.LANES), kind)
    whole[:count, :rows] = columns
    return whole


def _check_same_row(queries: Rows, candidates: Rows, exclude_same_row: bool) -> None:
    if exclude_same_row and len(queries) != len(candidates):
        raise ParameterError(
            f"exclude_same_row leaves candidate i out for query i, but there are {len(queries):,} queries and "
            f"{len(candidates):,} candidates. Pass the same table twice."
        )


def _tables_needed(metric: Metric) -> ParameterError:
    return ParameterError(f"{metric} compares tables; for plain arrays of ranks use metric=Ranks(...).")


def chosen_columns(queries: Table, candidates: Table, names: Sequence[str] | None) -> list[Column]:
    """The columns to compare, in the order of the schema."""
    if names is None and queries.schema is candidates.schema:
        return list(queries.schema.columns)  # nothing to check: spares a tenth of a millisecond
    return shared_columns((queries, candidates), names)


def _gower_weights(columns: list[Column]) -> np.ndarray:
    ranges = np.array([column.upper - column.lower for column in columns])
    return _inverse(ranges, constant=np.finfo(float).max)


def _rank_task(
    queries: Rows, candidates: Rows, metric: Ranks, names: Sequence[str] | None, exclude_same_row: bool
) -> PackedSearch:
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
        RankCriterion.SUM: CAPPED,
        RankCriterion.MAX: LARGEST,
        RankCriterion.MIN: SMALLEST,
        RankCriterion.EUCLID: SQUARED,
    }[metric.criterion]
    weights = np.ones(queries.shape[1])
    root = metric.criterion is RankCriterion.EUCLID
    return PackedSearch(packed[0], _transposed(packed[1]), exclude_same_row, weights, rule, cap=np.inf, root=root)


def _pack(table: Table, counted: list[Column], measured: list[Column], metric: Metric) -> Packed:
    position = table.schema.position
    narrow = [position(column.name) for column in counted if column.code_count <= 256]
    wide = [position(column.name) for column in counted if column.code_count > 256]
    numbers = np.empty((len(table), len(measured)))
    for place, column in enumerate(measured):
        numbers[:, place] = labels(table, position(column.name))
    return Packed(
        np.ascontiguousarray(table.codes[:, narrow], dtype=np.uint8),
        np.ascontiguousarray(table.codes[:, wide], dtype=np.uint16),
        None if isinstance(metric, Hamming) else numbers,
    )


def _transposed(packed: Packed) -> Packed:
    numbers = None if packed.numbers is None else np.ascontiguousarray(packed.numbers.T)
    return Packed(np.ascontiguousarray(packed.narrow.T), np.ascontiguousarray(packed.wide.T), numbers)


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
