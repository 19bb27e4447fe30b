"""The rows of a table whose kernels are largest at some points, without adding up most of them.

Rows with equal categories share what categories add to their log kernels. So groups of rows (`tables.search.groups`) are
bounded by that and by the most that numbers can add, and only rows of groups that can reach the k-th largest kernel are
measured. Where there are no groups, or too many of them can, all rows are measured block by block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.attacks._density import Kernel
from unmask.tables.search.groups import FEWEST_QUERIES, GroupedRows, grouped_rows
from unmask.tables.table import Table

FEWEST_ROWS = 60_000  # of a table that is searched by groups
AT_ONCE = 2**18  # rows that are measured at a time
MOST_MEASURED = 1 / 8  # of the rows, by groups: beyond, all are measured
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
    if left.any():
        found[left], logs[left] = _among_all(kernel, rows, points.take(np.flatnonzero(left)), k)
    return NearestRows(found, logs)


def _among_all(kernel: Kernel, rows: Table, points: Table, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Block by block: the best so far against those of each block."""
    found, logs = np.empty((len(points), 0), dtype=np.int64), np.empty((len(points), 0))
    for low in range(0, len(rows), AT_ONCE):
        part = rows if len(rows) <= AT_ONCE else rows.take(np.arange(low, min(low + AT_ONCE, len(rows))))
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
    rest: float  # the most that all other columns add

    @classmethod
    def of(cls, kernel: Kernel, rows: Table, grouped: GroupedRows) -> _Bounds:
        groups, positions = grouped.groups, list(grouped.shared)
        categories, gaussians = kernel.terms
        places = [place for place in range(len(rows.schema.columns)) if place not in rows.schema.numeric]
        shared = [places.index(position) for position in positions]
        others = [place for place in range(len(places)) if place not in shared]
        numbers = gaussians[[0, 2, 3]].max(axis=0).sum() if gaussians.size else 0.0
        rest = float(categories[:, others].max(axis=0).sum() + numbers)
        codes = groups.codes[:, : len(groups.starts) - 1]
        equal, other = categories[:, shared]
        return cls(codes, positions, groups.starts, groups.order, equal, other, rest)

    def candidates(self, kernel: Kernel, rows: Table, point: Table, k: int) -> np.ndarray | None:
        """All rows that may be among the k nearest to a point; None where they are a good part of the table."""
        partial = np.zeros(self.codes.shape[1])
        for at, position in enumerate(self.positions):
            partial += np.where(self.codes[at] == point.codes[0, position], self.equal[at], self.other[at])
        nearest = _largest(partial[None], k)[0]  # no group is empty: they have k rows at least
        nearest = nearest[np.argsort(-partial[nearest], kind="stable")]
        held = np.cumsum(self.starts[nearest + 1] - self.starts[nearest])
        first = self._rows(nearest[: np.searchsorted(held, k) + 1])
        if len(first) < k or len(first) > MOST_MEASURED * len(rows):
            return None
        reached = np.partition(kernel.log_kernels(rows.take(first), point)[0], len(first) - k)[len(first) - k]
        near = np.flatnonzero(partial + self.rest >= reached - SLACK)
        if (self.starts[near + 1] - self.starts[near]).sum() > MOST_MEASURED * len(rows):
            return None
        return np.sort(self._rows(near))

    def _rows(self, groups: np.ndarray) -> np.ndarray:
        """The rows of some groups."""
        sizes = self.starts[groups + 1] - self.starts[groups]
        ends = np.cumsum(sizes)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.starts[groups] - ends + sizes, sizes)
        return self.order[places].astype(np.int64)
