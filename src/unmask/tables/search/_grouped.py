"""Large tables grouped by the categories of their rows, so that a nearest row in Gower's sense is sought in few of them.

A row that differs in m categories is at a sum of m at least. So groups are looked at by how many categories they differ in, and
no further than the k-th least sum so far; the rest of the table is never read. Results are those of `_kth_kernels`, bit for bit.
Cost of a query: its groups (an eighth of a nanosecond each) and the rows of the nearest ones (some nanoseconds each). Where
that would be a good part of the table, the query is left to the kernels that look at everybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from unmask.compiled import inner, njit
from unmask.tables.metric import labels
from unmask.tables.narrow import for_loops
from unmask.tables.search._kernels import FAR
from unmask.tables.table import Table

FEWEST_ROWS = 20_000  # of a table that is grouped,
FEWEST_QUERIES = 200  # and queries for which that pays
ROWS_OF_A_GROUP = 4  # on average at least: else there is nothing to gain
MOST_OF_TABLE = 1 / 16  # that one query may read: all others are left alone
USUAL_SHARE = (
    1 / 100
)  # of the table that shares its categories with a row, on average: where it is more, nothing is gained
TRIED = 64  # queries that tell how much of the table is read
MOST_READ = (
    1 / 128
)  # of it, by them, on average: a row that is read costs as much as some fifty that are passed over in turn
UNIT = 4096  # steps of one mismatch
BLOCK = 256  # groups whose least number of mismatches is known
WIDEST_KEY = 2**62


class Groups(NamedTuple):
    """Rows in the order of their groups."""

    codes: np.ndarray  # columns x groups (padded to whole blocks), uint16: the categories that a group shares
    starts: np.ndarray  # of each group among the rows, and the end of the last
    order: np.ndarray  # of each place: the row of the table
    steps: np.ndarray  # places x numeric columns, uint16: numbers rounded down to whole steps
    numbers: np.ndarray  # numeric columns x rows of the table, as they are (float32 if that is all there is to them)


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Groups of a table, and which of its columns they are made of."""

    groups: Groups
    shared: tuple[int, ...]  # columns that the rows of a group share, by position

    @classmethod
    def of(cls, table: Table) -> GroupedRows | None:
        """None where hardly any row has its categories in common with others."""
        columns = table.schema.columns
        categories = (place for place, each in enumerate(columns) if not each.is_numeric)
        shared = sorted(categories, key=lambda place: columns[place].code_count)
        while shared:
            order, starts = _sorted_by(table, shared)
            sizes = np.diff(starts)
            if len(sizes) * ROWS_OF_A_GROUP <= len(table):
                break
            shared = shared[: len(shared) // 2]  # those of few values
        if not shared:
            return None
        padded = -(-len(sizes) // BLOCK) * BLOCK
        codes = np.zeros((len(shared), padded), dtype=np.uint16)
        for at, place in enumerate(shared):
            codes[at, : len(sizes)] = table.codes[order[starts[:-1]], place]
        steps = np.empty((len(table), len(table.schema.numeric)), dtype=np.uint16)
        for at, place in enumerate(table.schema.numeric):
            steps[:, at] = _steps(table, place)[order]
        return cls(Groups(codes, starts, order, steps, for_loops(table.numbers)), tuple(shared))

    def usual_share(self, which: list[int]) -> float:
        """The share of the table that has the same categories as a row in some of the columns that groups share."""
        sizes = np.diff(self.groups.starts)
        key, width = np.zeros(len(sizes), dtype=np.int64), 1
        for column in self.groups.codes[which, : len(sizes)]:
            count = int(column.max()) + 1
            if width * count >= WIDEST_KEY:
                key, width = np.unique(key, return_inverse=True)[1], len(sizes)
            key, width = key * count + column, width * count
        merged = np.unique(key, return_inverse=True)[1]
        return float((np.bincount(merged, weights=sizes) ** 2).sum() / sizes.sum() ** 2)


_KNOWN: WeakKeyDictionary[Table, GroupedRows | None] = WeakKeyDictionary()


def grouped_rows(table: Table, queries: int) -> GroupedRows | None:
    """The groups of a table, made once; None where it is small, or where they would not help so many queries."""
    if len(table) < FEWEST_ROWS:
        return None
    if table not in _KNOWN:
        if queries < FEWEST_QUERIES:
            return None
        _KNOWN[table] = GroupedRows.of(table)
    return _KNOWN[table]


def _sorted_by(table: Table, columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Rows in an order in which those with equal codes stand together, and where each group starts."""
    key, width = np.zeros(len(table), dtype=np.int64), 1
    for place in columns:
        count = table.schema.columns[place].code_count
        if width * count >= WIDEST_KEY:
            key = np.unique(key, return_inverse=True)[1]
            width = len(table)
        key, width = key * count + table.codes[:, place], width * count
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1], [True]]))
    return order.astype(np.int32 if len(table) < 2**31 else np.int64), starts


def _steps(table: Table, place: int) -> np.ndarray:
    """Numbers as whole steps, clipped one range below and above their own, so that no gap grows by it."""
    column = table.schema.columns[place]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scaled = (labels(table, place) - column.lower) * _weight(column.upper - column.lower)
        return np.asarray(((scaled.clip(-1, 2) + 1) * UNIT).astype(np.uint16))


def _weight(span: float) -> float:
    return min(1 / span, np.finfo(float).max) if span > 0 else np.finfo(float).max


class GroupQueries(NamedTuple):
    """Queries, and the columns on which they are compared."""

    shared: np.ndarray  # of the columns that groups share: which
    codes: np.ndarray  # queries x those
    counted: np.ndarray  # queries x other categories
    others: np.ndarray  # those columns x rows of the table
    measured: np.ndarray  # of the numeric columns: which
    steps: np.ndarray  # queries x those
    numbers: np.ndarray  # the same, as they are
    weights: np.ndarray  # of those


def asked(rows: GroupedRows, queries: Table, candidates: Table, positions: list[int]) -> GroupQueries | None:
    """Queries on some columns, which have the same positions in both tables; None where groups tell too little about them."""
    columns, numeric = candidates.schema.columns, candidates.schema.numeric
    chosen = set(positions)
    shared = [at for at, place in enumerate(rows.shared) if place in chosen]
    if rows.usual_share(shared) > USUAL_SHARE:
        return None
    counted = [place for place in positions if not columns[place].is_numeric and place not in rows.shared]
    measured = [place for place in positions if columns[place].is_numeric]
    steps = np.empty((len(queries), len(measured)), dtype=np.uint16)
    numbers = np.empty(steps.shape)
    for at, place in enumerate(measured):
        steps[:, at], numbers[:, at] = _steps(queries, place), labels(queries, place)
    return GroupQueries(
        np.array(shared, dtype=np.int64),
        np.ascontiguousarray(queries.codes[:, [rows.shared[at] for at in shared]], dtype=np.uint16),
        np.ascontiguousarray(queries.codes[:, counted], dtype=np.uint16),
        np.ascontiguousarray(candidates.codes.T[counted], dtype=np.uint16),
        np.array([numeric.index(place) for place in measured], dtype=np.int64),
        steps,
        numbers,
        np.array([_weight(columns[place].upper - columns[place].lower) for place in measured], dtype=np.float64),
    )


@inner()
def _count(groups, which, codes, mismatches, least):
    """How many of the columns differ, group by group; and the least number of each block."""
    for block in range(least.size):
        low = np.uint64(block * BLOCK)
        part = mismatches[low : low + np.uint64(BLOCK)]
        part[:] = 0
        for j in range(which.size):
            column, code = groups[which[j], low : low + np.uint64(BLOCK)], codes[j]
            for i in range(part.size):
                part[i] += column[i] != code
        smallest = part[0]
        for i in range(part.size):
            smallest = min(smallest, part[i])
        least[block] = smallest


@inner()
def _fewest_steps(groups, asked, query, place, level):
    """A lower bound of the sum of a row, in whole steps."""
    steps = np.int64(level * UNIT)
    for j in range(asked.measured.size):
        one, other = groups.steps[place, asked.measured[j]], asked.steps[query, j]
        gap = np.int64(one - other) if one > other else np.int64(other - one)
        steps += gap if gap < UNIT else UNIT
    return steps


@inner()
def _sum_of(groups, asked, query, row, level):
    """The Gower sum of a row, added up in the order of `_kth_kernels`: mismatches, then numbers."""
    mismatches = np.int64(level)
    for j in range(asked.others.shape[0]):
        mismatches += asked.others[j, row] != asked.counted[query, j]
    total = float(mismatches)
    for j in range(asked.measured.size):
        value = groups.numbers[asked.measured[j], row]
        gap = abs((FAR if np.isnan(value) else value) - asked.numbers[query, j]) * asked.weights[j]
        total += gap if gap < 1.0 else 1.0
    return total


@inner()
def _kept(sums, size, total):
    """Put a sum among the least ones, which are in rising order; returns how many there are now."""
    place = min(size, sums.size - 1)
    while place > 0 and sums[place - 1] > total:
        sums[place] = sums[place - 1]
        place -= 1
    sums[place] = total
    return min(size + 1, sums.size)


@njit(nogil=True, cache=True)
def search(groups, asked, ranks, ks, start, stop, best, rows, seen):
    """Fill `best` (queries x ks) with k-th least sums, and `rows` with the nearest row (that of the lowest rank of several).

    `seen` gets how many rows were read. Where that is more than MOST_OF_TABLE the query is not answered.
    """
    mismatches = np.empty(groups.codes.shape[1], np.uint8)
    least = np.empty(groups.codes.shape[1] // BLOCK, np.uint8)
    sums, slack, most = np.empty(ks[-1]), asked.measured.size + 1, MOST_OF_TABLE * groups.order.size
    for query in range(start, stop):
        _count(groups.codes, asked.shared, asked.codes[query], mismatches, least)
        size, read, level, worst = 0, 0, 0, np.inf
        first, nearest = -1, np.inf
        # One level after the other; a tie with the nearest may stand at the next one.
        while level <= asked.shared.size and read <= most and (worst > level or (rows.size and nearest >= level)):
            for block in range(least.size):
                if least[block] > level or read > most:
                    continue
                for group in range(block * BLOCK, min(groups.starts.size - 1, (block + 1) * BLOCK)):
                    if mismatches[group] != level:
                        continue
                    read += groups.starts[group + 1] - groups.starts[group]
                    for place in range(groups.starts[group], groups.starts[group + 1]):
                        if worst < np.inf and _fewest_steps(groups, asked, query, place, level) > worst * UNIT + slack:
                            continue
                        row = groups.order[place]
                        total = _sum_of(groups, asked, query, row, level)
                        if total < worst:
                            size = _kept(sums, size, total)
                            worst = sums[size - 1] if size == sums.size else np.inf
                        if total < nearest or (total == nearest and ranks[row] < ranks[first]):
                            first, nearest = row, total
            level += 1
        seen[query] = read
        if read <= most:
            for place in range(ks.size):
                if ks[place] <= size:
                    best[query, place] = sums[ks[place] - 1]
            if rows.size:
                rows[query] = first
