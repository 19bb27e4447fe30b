"""Large tables grouped by the categories of their rows, so that a nearest row in Gower's sense is sought in few of them.

A row that differs in m categories is at a sum of m at least. So groups are looked at by how many categories they differ in, and
no further than the k-th least sum so far; the rest of the table is never read. Results are those of `_kth_kernels`, bit for bit.
Cost of a query: the rows of the nearest groups (some nanoseconds each), and all groups (an eighth of a nanosecond each) unless
those with its very categories, which are looked up, hold what it asks for. Where that would be a good part of the table, the
query is left to the kernels that look at everybody.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from unmask.compiled import inner, njit
from unmask.tables.metric import labels
from unmask.tables.schema import Column
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
NARROW_FROM = 1_000_000  # rows of a table whose numbers are kept in four bytes where that loses nothing
AT_ONCE = 2**18  # rows that are looked up at a time: numpy makes eight bytes of every index
BLOCK = 256  # groups whose least number of mismatches is known
WIDEST_KEY = 2**62


class Groups(NamedTuple):
    """Rows in the order of their groups."""

    codes: np.ndarray  # columns x groups (padded to whole blocks), uint16: the categories that a group shares
    starts: np.ndarray  # of each group among the rows, and the end of the last
    order: np.ndarray  # of each place: the row of the table
    steps: np.ndarray  # places x numeric columns, uint16: numbers rounded down to whole steps
    numbers: np.ndarray  # the same as they are; in four bytes where these hold every number of a very large table


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Groups of a table, and which of its columns they are made of."""

    groups: Groups
    shared: tuple[int, ...]  # columns that the rows of a group share, by position
    _alike: dict[tuple[int, ...], AlikeGroups] = field(default_factory=dict)

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
        return cls(Groups(codes, starts, order, _steps(table, order), _numbers(table, order)), tuple(shared))

    def alike(self, which: tuple[int, ...]) -> AlikeGroups:
        """Groups by what they have in some of the columns that groups share; made once for these columns."""
        if which not in self._alike:
            self._alike[which] = AlikeGroups.of(self.groups, which)
        return self._alike[which]


@dataclass(frozen=True, eq=False)
class AlikeGroups:
    """Groups sorted by a key of some columns: equal codes, equal keys; different codes may share one."""

    keys: np.ndarray  # in rising order
    order: np.ndarray  # the group of each key
    usual_share: float  # of the table that has the same codes as a row

    @classmethod
    def of(cls, groups: Groups, which: tuple[int, ...]) -> AlikeGroups:
        sizes = np.diff(groups.starts)
        keys = _keys(groups.codes[list(which), : len(sizes)])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        firsts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        together = np.add.reduceat(sizes[order], firsts).astype(np.float64)
        return cls(keys, order, float((together**2).sum() / sizes.sum() ** 2))

    def of_queries(self, codes: np.ndarray) -> np.ndarray:
        """Where the groups with the key of each query (queries x columns) begin and end in the order."""
        keys = _keys(codes.T)
        return np.stack([np.searchsorted(self.keys, keys, side) for side in ("left", "right")], axis=1)


def _keys(columns: np.ndarray) -> np.ndarray:
    keys = np.zeros(columns.shape[1], dtype=np.uint64)
    for column in columns:
        keys = keys * np.uint64(0x9E3779B97F4A7C15) + column + np.uint64(1)
        keys ^= keys >> np.uint64(29)
    return keys


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


def forget(table: Table) -> None:
    """Drop what was made ready for searches of a table: as much room as the table itself takes."""
    _KNOWN.pop(table, None)


def _sorted_by(table: Table, columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Rows in an order in which those with equal codes stand together, and where each group starts."""
    key, width = np.zeros(len(table), dtype=np.int64), 1
    for place in columns:
        count = table.schema.columns[place].code_count
        if width * count >= WIDEST_KEY:
            key = np.unique(key, return_inverse=True)[1]
            width = len(table)
        key, width = key * count + table.codes[:, place], width * count
    order = np.argsort(key, kind="stable").astype(np.int32 if len(table) < 2**31 else np.int64)
    begins = np.ones(len(table) + 1, dtype=bool)
    for low in range(1, len(table), AT_ONCE):
        some = key[order[low - 1 : low + AT_ONCE]]
        begins[low : low + len(some) - 1] = some[1:] != some[:-1]
    return order, np.flatnonzero(begins)


def _steps(table: Table, order: np.ndarray) -> np.ndarray:
    """Numbers of the rows in this order as whole steps."""
    found = np.empty((len(table), len(table.schema.numeric)), dtype=np.uint16)
    for at, place in enumerate(table.schema.numeric):
        steps = np.empty(len(table), dtype=np.uint16)
        for low in range(0, len(table), AT_ONCE):
            steps[low : low + AT_ONCE] = _in_steps(table.numbers[low : low + AT_ONCE, at], table.schema.columns[place])
        for low in range(0, len(table), AT_ONCE):
            found[low : low + AT_ONCE, at] = steps[order[low : low + AT_ONCE]]
    return found


def _in_steps(numbers: np.ndarray, column: Column) -> np.ndarray:
    """Clipped one range below and above their own, so that no gap grows by it."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scaled = (np.where(np.isnan(numbers), FAR, numbers) - column.lower) * _weight(column.upper - column.lower)
        return np.asarray(((scaled.clip(-1, 2) + 1) * UNIT).astype(np.uint16))


def _numbers(table: Table, order: np.ndarray) -> np.ndarray:
    """Numbers of the rows in this order, NaN = missing, row by row: what is read together stands together."""
    shape = len(table), len(table.schema.numeric)
    found = np.empty(shape, dtype=np.float32 if len(table) >= NARROW_FROM and _fit_four_bytes(table) else np.float64)
    for at in range(shape[1]):
        numbers = table.numbers[:, at]
        for low in range(0, len(order), AT_ONCE):
            found[low : low + AT_ONCE, at] = numbers[order[low : low + AT_ONCE]]
    return found


def _fit_four_bytes(table: Table) -> bool:
    """Whether all numbers come back from four bytes as they were: whole ones up to sixteen million do."""
    for at in range(len(table.schema.numeric)):
        for low in range(0, len(table), AT_ONCE):
            numbers = table.numbers[low : low + AT_ONCE, at]
            with np.errstate(over="ignore"):
                if not ((numbers.astype(np.float32) == numbers) | np.isnan(numbers)).all():
                    return False
    return True


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
    alike: np.ndarray  # groups, those with equal codes in the shared columns next to each other,
    ends: np.ndarray  # queries x 2: and where among them those stand that may have the codes of a query


def asked(rows: GroupedRows, queries: Table, candidates: Table, positions: list[int]) -> GroupQueries | None:
    """Queries on some columns, which have the same positions in both tables; None where groups tell too little about them."""
    columns, numeric = candidates.schema.columns, candidates.schema.numeric
    chosen = set(positions)
    shared = [at for at, place in enumerate(rows.shared) if place in chosen]
    alike = rows.alike(tuple(shared))
    if alike.usual_share > USUAL_SHARE:
        return None
    codes = np.ascontiguousarray(queries.codes[:, [rows.shared[at] for at in shared]], dtype=np.uint16)
    counted = [place for place in positions if not columns[place].is_numeric and place not in rows.shared]
    measured = [place for place in positions if columns[place].is_numeric]
    steps, numbers = (np.empty((len(queries), len(measured)), dtype=kind) for kind in (np.uint16, np.float64))
    for at, place in enumerate(measured):
        steps[:, at] = _in_steps(queries.numbers[:, numeric.index(place)], columns[place])
        numbers[:, at] = labels(queries, place)
    return GroupQueries(
        np.array(shared, dtype=np.int64),
        codes,
        np.ascontiguousarray(queries.codes[:, counted], dtype=np.uint16),
        np.ascontiguousarray(candidates.codes.T[counted], dtype=np.uint16),
        np.array([numeric.index(place) for place in measured], dtype=np.int64),
        steps,
        numbers,
        np.array([_weight(columns[place].upper - columns[place].lower) for place in measured], dtype=np.float64),
        alike.order,
        alike.of_queries(codes),
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
def _sum_of(groups, asked, query, place, level):
    """The Gower sum of a row, added up in the order of `_kth_kernels`: mismatches, then numbers."""
    mismatches = np.int64(level)
    for j in range(asked.others.shape[0]):
        mismatches += asked.others[j, groups.order[place]] != asked.counted[query, j]
    total = float(mismatches)
    for j in range(asked.measured.size):
        value = np.float64(groups.numbers[place, asked.measured[j]])
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


@inner()
def _differs(groups, asked, query, group):
    """Whether a group has other codes than a query in the shared columns."""
    for j in range(asked.shared.size):  # noqa: SIM110 - compiled
        if groups.codes[asked.shared[j], group] != asked.codes[query, j]:
            return True
    return False


@inner()
def _read(groups, asked, ranks, query, group, level, sums, so_far):
    """Look at the rows of a group. `so_far`: how many sums are kept, the worst of them, the nearest row, and its sum."""
    size, worst, first, nearest = so_far
    slack = asked.measured.size + 1
    for place in range(groups.starts[group], groups.starts[group + 1]):
        if worst < np.inf and _fewest_steps(groups, asked, query, place, level) > worst * UNIT + slack:
            continue
        row = groups.order[place]
        if worst == 0.0 and ranks[row] >= ranks[first]:
            continue  # as near as can be, and behind the first of those
        total = _sum_of(groups, asked, query, place, level)
        if total < worst:
            size = _kept(sums, size, total)
            worst = sums[size - 1] if size == sums.size else np.inf
        if total < nearest or (total == nearest and ranks[row] < ranks[first]):
            first, nearest = row, total
    return size, worst, first, nearest


@njit(nogil=True, cache=True)
def search(groups, asked, ranks, ks, start, stop, best, rows, seen):
    """Fill `best` (queries x ks) with k-th least sums, and `rows` with the nearest row (that of the lowest rank of several).

    `seen` gets how many rows were read. Where that is more than MOST_OF_TABLE the query is not answered. Groups with the very
    codes of a query are looked up first: if enough of their rows are nearer than one mismatch, no other group is looked at.
    """
    mismatches = np.empty(groups.codes.shape[1], np.uint8)
    least = np.empty(groups.codes.shape[1] // BLOCK, np.uint8)
    sums, most = np.empty(ks[-1]), MOST_OF_TABLE * groups.order.size
    for query in range(start, stop):
        read, so_far = 0, (0, np.inf, np.int64(-1), np.inf)
        for at in range(asked.ends[query, 0], asked.ends[query, 1]):
            group = asked.alike[at]
            if read > most or _differs(groups, asked, query, group):
                continue
            read += groups.starts[group + 1] - groups.starts[group]
            so_far = _read(groups, asked, ranks, query, group, 0, sums, so_far)
        level = 1
        if so_far[1] >= 1.0 and read <= most:
            _count(groups.codes, asked.shared, asked.codes[query], mismatches, least)
        # One level after the other; a tie with the nearest may stand at the next one.
        while level <= asked.shared.size and read <= most:
            if so_far[1] <= level and not (rows.size and so_far[3] >= level):
                break
            for block in range(least.size):
                if least[block] > level or read > most:
                    continue
                for group in range(block * BLOCK, min(groups.starts.size - 1, (block + 1) * BLOCK)):
                    if mismatches[group] == level:
                        read += groups.starts[group + 1] - groups.starts[group]
                        so_far = _read(groups, asked, ranks, query, group, level, sums, so_far)
            level += 1
        seen[query] = read
        if read <= most:
            for place in range(ks.size):
                if ks[place] <= so_far[0]:
                    best[query, place] = sums[ks[place] - 1]
            if rows.size:
                rows[query] = so_far[2]
