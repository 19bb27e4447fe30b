"""The rows of a table whose kernels are largest at some points, without adding up most of them.

Rows with equal categories share what categories add to their log kernels, and their numbers lie within a box. So groups of rows
(`tables.search.groups`) are bounded by both, and only rows of groups that can reach the k-th largest kernel are measured. Where
there are no groups, or too many of them can, all rows are measured block by block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.attacks._density import FARTHEST, Kernel, scaled
from unmask.compiled import njit
from unmask.tables.search.groups import FEWEST_QUERIES, GroupedRows, grouped_rows
from unmask.tables.table import Table

FEWEST_ROWS = 60_000  # of a table that is searched by groups
AT_ONCE = 2**18  # rows that are measured at a time
CHUNK = 64  # points at a time, fewer where there are more rows than
MOST_KERNELS = 8_000_000  # kernels of points and rows at a time: 64 MB
MOST_MEASURED = 1 / 8  # of the rows, by groups: beyond, all are measured
FIRST = 8  # times as many rows as are wanted are measured first: those of the groups that can be nearest
SLACK = 1e-9  # sums of the same logs in another order differ by less


@dataclass(frozen=True, eq=False)
class NearestRows:
    """Of each point the rows with the largest kernels, in no order."""

    rows: np.ndarray  # points x k
    logs: np.ndarray  # their log kernels


def nearest_rows(kernel: Kernel, rows: Table, points: Table, k: int) -> NearestRows:
    """The k rows whose kernels are largest at each point; of equal ones any."""
    groups = grouped_rows(rows, FEWEST_QUERIES) if len(rows) >= FEWEST_ROWS else None
    found, logs = np.empty((len(points), k), dtype=np.int64), np.empty((len(points), k))
    left = np.ones(len(points), dtype=bool)
    if groups is not None:
        bounds = _Bounds.of(kernel, rows, groups)
        for point in range(len(points)):
            one = points.take([point])
            near = bounds.candidates(kernel, rows, one, k)
            if near is not None:
                measured = kernel.log_kernels(rows.take(near), one)[0]
                best = _largest(measured[None], k)[0]
                found[point], logs[point], left[point] = near[best], measured[best], False
    others = np.flatnonzero(left)
    size = max(1, min(CHUNK, MOST_KERNELS // max(1, min(len(rows), AT_ONCE))))
    for low in range(0, len(others), size):
        some = others[low : low + size]
        found[some], logs[some] = _among_all(kernel, rows, points.take(some), k)
    return NearestRows(found, logs)


def _among_all(kernel: Kernel, rows: Table, points: Table, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Block by block: the best so far against those of each block."""
    found, logs = np.empty((len(points), 0), dtype=np.int64), np.empty((len(points), 0))
    for low in range(0, len(rows), AT_ONCE):
        part = rows if len(rows) <= AT_ONCE else rows.between(low, low + AT_ONCE)
        measured = kernel.log_kernels(part, points)
        best = _largest(measured, k)
        found = np.concatenate([found, low + best], axis=1)
        logs = np.concatenate([logs, np.take_along_axis(measured, best, axis=1)], axis=1)
        if found.shape[1] > k:
            kept = _largest(logs, k)
            found, logs = np.take_along_axis(found, kept, axis=1), np.take_along_axis(logs, kept, axis=1)
    return found, logs


def _largest(values: np.ndarray, k: int) -> np.ndarray:
    """Places of the k largest of each row; of all, where there are no more."""
    width = values.shape[1]
    if width <= k:
        return np.broadcast_to(np.arange(width), values.shape)
    return np.argpartition(values, width - k, axis=1)[:, width - k :]


@dataclass(frozen=True, eq=False)
class _Bounds:
    """Groups of rows, and what columns can add to a log kernel."""

    codes: np.ndarray  # columns x groups: the categories that a group shares
    positions: list[int]  # of those columns
    starts: np.ndarray
    order: np.ndarray
    equal: np.ndarray  # of each of those columns: what an equal value adds,
    other: np.ndarray  # and another one
    boxes: (
        np.ndarray
    )  # 2 x numbers x groups: the least and the largest, as shares of the public range; NaN where one is missing
    gaussians: np.ndarray  # of numbers: `Kernel.terms`
    rest: float  # the most that all other columns add

    @classmethod
    def of(cls, kernel: Kernel, rows: Table, grouped: GroupedRows) -> _Bounds:
        groups, positions = grouped.groups, list(grouped.shared)
        categories, gaussians = kernel.terms
        places = [place for place in range(len(rows.schema.columns)) if place not in rows.schema.numeric]
        shared = [places.index(position) for position in positions]
        others = [place for place in range(len(places)) if place not in shared]
        rest = float(categories[:, others].max(axis=0).sum())
        codes = groups.codes[:, : len(groups.starts) - 1]
        columns = [rows.schema.columns[position] for position in rows.schema.numeric]
        boxes = np.empty((2, len(columns), codes.shape[1]))
        for place, column in enumerate(columns):
            numbers = np.ascontiguousarray(groups.numbers[:, place])
            for end, most in enumerate((np.minimum, np.maximum)):
                bound = most.reduceat(numbers, groups.starts[:-1]).astype(np.float64)
                boxes[end, place] = (bound - column.lower) / ((column.upper - column.lower) or 1.0)
        equal, other = categories[:, shared]
        return cls(codes, positions, groups.starts, groups.order, equal, other, boxes, gaussians, rest)

    def candidates(self, kernel: Kernel, rows: Table, point: Table, k: int) -> np.ndarray | None:
        """All rows that may be among the k nearest to a point; None where they are a good part of the table."""
        bounds = self._at(point)
        wanted = FIRST * k  # the k-th largest of many is a closer bound than the least of k
        nearest = _largest(bounds[None], wanted)[0]  # no group is empty: they have as many rows at least
        nearest = nearest[np.argsort(-bounds[nearest], kind="stable")]
        held = np.cumsum(self.starts[nearest + 1] - self.starts[nearest])
        first = self._rows(nearest[: np.searchsorted(held, wanted) + 1])
        if len(first) < k or len(first) > MOST_MEASURED * len(rows):
            return None
        reached = np.partition(kernel.log_kernels(rows.take(first), point)[0], len(first) - k)[len(first) - k]
        near = np.flatnonzero(bounds >= reached - SLACK)
        if (self.starts[near + 1] - self.starts[near]).sum() > MOST_MEASURED * len(rows):
            return None
        return np.sort(self._rows(near))

    def _at(self, point: Table) -> np.ndarray:
        """The largest log kernel that a row of each group can have."""
        found = np.full(self.codes.shape[1], self.rest)
        codes, numbers = point.codes[0, self.positions].astype(np.int64), scaled(point)[0]
        _add_bounds(found, self.codes, codes, self.equal, self.other, self.boxes, numbers, self.gaussians)
        return found

    def _rows(self, groups: np.ndarray) -> np.ndarray:
        """The rows of some groups."""
        sizes = self.starts[groups + 1] - self.starts[groups]
        ends = np.cumsum(sizes)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.starts[groups] - ends + sizes, sizes)
        return self.order[places].astype(np.int64)


@njit(nogil=True, cache=True)
def _add_bounds(found, codes, asked, equal, other, boxes, numbers, gaussians):
    for column in range(codes.shape[0]):
        for group in range(found.size):
            found[group] += equal[column] if codes[column, group] == asked[column] else other[column]
    for column in range(numbers.size):
        low, high, number = boxes[0, column], boxes[1, column], numbers[column]
        top, inverse, kept, lost = gaussians[:, column]
        most = max(top, kept, lost)
        for group in range(found.size):
            gap = min(max(low[group] - number, number - high[group], 0.0) * inverse, FARTHEST)
            found[group] += top - 0.5 * gap * gap if gap >= 0.0 else most  # a gap to what is missing is no number
