"""The k-th least distances by Hamming or Gower: by groups of a large table where that helps, else row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unmask.tables.metric import Gower, Hamming
from unmask.tables.search import _kth_kernels
from unmask.tables.search._bit_search import kth_by_bits
from unmask.tables.search._chunks import in_chunks
from unmask.tables.search._grouped import MOST_OF_TABLE, MOST_READ, TRIED, asked, grouped_rows, search
from unmask.tables.search._packing import KthTables, Rows, chosen_columns, compared, prepare_kth
from unmask.tables.table import Table

AT_ONCE = 2**20  # candidates that are copied at a time, where all have to be looked at


@dataclass(frozen=True, eq=False)
class KthQuestion:
    """Which distances are asked for."""

    queries: Rows
    candidates: Rows
    metric: Hamming | Gower
    columns: Sequence[str] | None
    exclude_same_row: bool
    order: np.ndarray | None = None  # candidates are those of `candidates.take(order)`

    def distances(self, ks: np.ndarray, workers: int) -> np.ndarray:
        """Queries x ks; infinite where there are fewer candidates."""
        return self._answer(ks, np.empty(0, dtype=np.int64), workers)

    def distances_and_rows(self, ks: np.ndarray, workers: int) -> tuple[np.ndarray, np.ndarray]:
        """The same, and the nearest candidate: the lowest row number of several, -1 without candidates."""
        rows = np.full(len(self.queries), -1, dtype=np.int64)
        return self._answer(ks, rows, workers), rows

    def _answer(self, ks: np.ndarray, rows: np.ndarray, workers: int) -> np.ndarray:
        rising, place = np.unique(ks, return_inverse=True)
        best = np.full((len(self.queries), rising.size), np.inf)
        done = self._by_groups(rising, best, rows, workers)
        if done is None:
            best = self._by_rows(rising, rows, workers)
        elif not done.all() and isinstance(self.queries, Table):
            left = np.flatnonzero(~done)
            found = np.full(len(left) if rows.size else 0, -1)
            best[left] = replace(self, queries=self.queries.take(left))._by_rows(rising, found, workers)
            if rows.size:
                rows[left] = found
        return best[:, place]

    def _by_groups(self, ks: np.ndarray, best: np.ndarray, rows: np.ndarray, workers: int) -> np.ndarray | None:
        """Which queries were answered; None where groups are of no use."""
        queries, candidates = self.queries, self.candidates
        if not (isinstance(self.metric, Gower) and isinstance(queries, Table) and isinstance(candidates, Table)):
            return None
        if self.exclude_same_row or queries.schema.columns != candidates.schema.columns:
            return None
        chosen = chosen_columns(queries, candidates, self.columns)
        if (grouped := grouped_rows(candidates, len(queries))) is None:
            return None
        positions = [candidates.schema.position(each.name) for each in chosen]
        ranks = np.arange(len(candidates), dtype=np.int32)
        if self.order is not None:
            ranks[self.order] = np.arange(len(candidates), dtype=np.int32)

        def run(some: Table, best: np.ndarray, rows: np.ndarray) -> np.ndarray | None:
            """How many rows were read for each query; None where groups tell too little about these columns."""
            if (question := asked(grouped, some, candidates, positions)) is None:
                return None
            seen = np.zeros(len(some), dtype=np.int64)
            in_chunks(
                lambda low, high: search(grouped.groups, question, ranks, ks, low, high, best, rows, seen),
                len(some),
                workers,
            )
            return seen

        tried = queries.take(np.linspace(0, len(queries), min(TRIED, len(queries)), endpoint=False).astype(np.int64))
        seen = run(tried, np.empty((len(tried), ks.size)), np.empty(min(rows.size, len(tried)), dtype=np.int64))
        if seen is None or seen.mean() > MOST_READ * len(candidates):
            return None
        done = np.asarray(run(queries, best, rows)) <= MOST_OF_TABLE * len(candidates)
        best /= len(chosen)
        if rows.size:
            rows[done] = ranks[rows[done]]
        return done

    def _by_rows(self, ks: np.ndarray, rows: np.ndarray, workers: int) -> np.ndarray:
        """All candidates, of a very large table some at a time. `rows` is filled unless it is empty."""
        total = len(self.candidates)
        if total <= AT_ONCE or self.exclude_same_row or not isinstance(self.candidates, Table):
            return self._by_all_rows(ks, rows, workers)
        best = np.full((len(self.queries), int(ks[-1])), np.inf)
        for low in range(0, total, AT_ONCE):
            part = np.arange(low, min(low + AT_ONCE, total)) if self.order is None else self.order[low : low + AT_ONCE]
            first = np.full(rows.size, -1)
            some = replace(self, candidates=self.candidates.take(part), order=None)
            found = some._by_all_rows(np.arange(1, ks[-1] + 1), first, workers)
            if rows.size:
                nearer = found[:, 0] < best[:, 0]  # of equal ones the first counts
                rows[nearer] = low + first[nearer]
            best = np.sort(np.concatenate([best, found], axis=1), axis=1)[:, : ks[-1]]
        return best[:, ks - 1]

    def _by_all_rows(self, ks: np.ndarray, rows: np.ndarray, workers: int) -> np.ndarray:
        """By rows of bits where that pays, else code by code."""
        candidates = self.candidates
        if self.order is not None:
            candidates = candidates.take(self.order) if isinstance(candidates, Table) else candidates[self.order]
        tables = compared(self.queries, candidates, self.metric, self.columns, self.exclude_same_row)
        sums = kth_by_bits(tables, ks, rows, lambda run, count: in_chunks(run, count, workers))
        return (by_codes(tables, ks, rows, workers) if sums is None else sums) / tables.divisor


def by_codes(tables: KthTables, ks: np.ndarray, rows: np.ndarray, workers: int) -> np.ndarray:
    """The k-th least sums."""
    task = prepare_kth(tables)
    best = np.full((task.rows, ks.size), np.inf)

    def run(low: int, high: int) -> None:
        if task.measured:
            _kth_kernels.by_steps(task.pairs, low, high, ks, task.room(), best, rows)
        else:
            _kth_kernels.by_counting(task.pairs, low, high, ks, task.mismatches(), best, rows)

    in_chunks(run, task.rows, workers)
    return best
