"""A search that asks far less than the paper's, and always arrives.

A row at distance d whose nearest found record is further away proves that there is a record not found yet; a row whose
distance is that of a found record proves nothing and is skipped. From a row that proves one, columns are probed one by one, each
with its likeliest other value:

    further away    the column is right for every nearest record: settled
    nearer          the value is right: taken, and no longer probed
    as far          try the next value; if the column is wrong for some nearest record, one of them is right

Each step leaves some of the nearest records nearest, so what is settled stays settled and the search ends at a record,
whatever the distance it began at. Which column and value come first is decided by how often they go with the rest of the row
among the generator's own samples. Distances that are known are looked up. Every row read on the way joins the history, so
that records that no sample came near are found as well (a live list).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unmask.attacks.reconstruction.asked_rows import EMPTY, AskedRows
from unmask.attacks.reconstruction.padding import Reader
from unmask.attacks.reconstruction.sample import Rebuilt
from unmask.compiled import njit
from unmask.tables.distance import kth_distances
from unmask.tables.regions import Region
from unmask.tables.schema import Schema
from unmask.threats.oracle import table_of

WIDEST = 4000  # codes of all columns together, beyond which pairs are not counted
FEW = 200  # rows for which the records are not packed anew
PRUNED_EVERY = 256  # new records
PRIOR = 0.1  # rows that each pair of codes is thought to have been seen in


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """How often codes occur among sampled rows, and how often other codes go with them (naive Bayes)."""

    starts: np.ndarray
    single: np.ndarray  # log of the share of rows with a code
    pairs: np.ndarray  # at b, a: log of the share of rows with code b among those with code a; empty: not counted

    @classmethod
    def of(cls, schema: Schema, codes: np.ndarray) -> Likelihoods:
        """From sampled rows."""
        starts = np.concatenate([[0], np.cumsum(schema.sizes)]).astype(np.int64)
        total = int(starts[-1])
        single = np.full(total, PRIOR)
        flat = np.ascontiguousarray(codes + starts[:-1])
        np.add.at(single, flat.ravel(), 1.0)
        if total > WIDEST:
            return cls(starts, np.log(single), np.empty((0, 0), dtype=np.float32))
        pairs = np.zeros((total, total), dtype=np.float32)
        _count_pairs(flat, pairs)
        pairs = np.log((pairs + np.float32(PRIOR)) / (single + PRIOR).astype(np.float32))
        return cls(starts, np.log(single), pairs)

    def scores(self, row: np.ndarray) -> np.ndarray:
        """For each code of each column how well it goes with the rest of the row; higher = more likely."""
        found = self.single.copy()
        if len(self.pairs):
            _add_pairs(row.astype(np.int64) + self.starts[:-1], self.starts, self.pairs, found)
        return found


def guided_search(
    reader: Reader,
    history: AskedRows,
    likelihoods: Likelihoods,
    *,
    found: np.ndarray,
    distance: int,
    region: Region | None = None,
    watch: Callable[[int], None] = lambda count: None,
) -> Rebuilt:
    """Every record that rows of the history at most `distance` away prove, directly or by way of others.

    `found` are the records that are known already; rows outside the region are not begun with. Ends
    early where the calls are used up.
    """
    records = _Records(found)
    queues = _Queues(history, reader.oracle.schema, distance, region)
    queues.fill(records.codes)
    read: list[int] = []
    while not reader.spent and (start := queues.next_unexplained(records.codes)) is not None:
        arrived = _repair(reader, history, likelihoods, start)
        if arrived is not None:
            records.add(arrived)
            read.append(reader.read)
            watch(len(records.codes))
        queues.fill(records.codes)
    new = records.codes[len(found) :].copy()
    return Rebuilt(new, np.full(len(new), -1), np.array(read, dtype=np.int64))


def _repair(reader: Reader, history: AskedRows, likelihoods: Likelihoods, start: int) -> np.ndarray | None:
    """From a row of the history to a record; None where distances could not be read."""
    row, gap = history.codes[start].copy(), int(history.distances[start])
    settled = np.zeros(len(row), dtype=bool)
    scores = likelihoods.scores(row)
    while gap > 0:
        if settled.all():
            return None
        column = _doubtful(scores, likelihoods.starts, row, settled)
        settled[column] = True
        order = np.argsort(-scores[likelihoods.starts[column] : likelihoods.starts[column + 1]], kind="stable")
        for value in order[order != row[column]]:
            trial = row.copy()
            trial[column] = value
            to = _distance(reader, history, trial)
            if reader.spent:
                return None
            if to > gap:
                break
            if 0 <= to < gap:
                row, gap = trial, to
                scores = likelihoods.scores(row)
                break
    return row


def _distance(reader: Reader, history: AskedRows, row: np.ndarray) -> int:
    at = int(history.known(row[None])[0])
    if at != EMPTY:
        return int(history.distances[at])
    to = reader.distances(row[None])
    history.add(row[None], to)
    return int(to[0])


class _Records:
    """Rebuilt records in one growing array."""

    def __init__(self, found: np.ndarray) -> None:
        self._kept = np.empty((max(256, 2 * len(found)), found.shape[1]), dtype=found.dtype)
        self._kept[: len(found)] = found
        self._count = len(found)

    @property
    def codes(self) -> np.ndarray:
        return self._kept[: self._count]

    def add(self, row: np.ndarray) -> None:
        if self._count == len(self._kept):
            self._kept = np.concatenate([self._kept, np.empty_like(self._kept)])
        self._kept[self._count] = row
        self._count += 1


class _Queues:
    """Rows of the history that no found record explains, by distance, nearest first; rows that join later are taken in."""

    def __init__(self, history: AskedRows, schema: Schema, distance: int, region: Region | None) -> None:
        self._history, self._schema, self._region = history, schema, region
        self._taken = self._pruned = 0
        self._rows = [np.empty(0, dtype=np.int64) for _ in range(distance + 1)]

    def fill(self, records: np.ndarray) -> None:
        """Take in what was asked since; from time to time throw out what records explain that were found since."""
        new = self._history.distances[self._taken :]
        for gap in range(1, len(self._rows)):
            at = np.flatnonzero(new == gap) + self._taken
            if len(at) and self._region is not None:
                at = at[self._region.holds(self._history.codes[at])]
            if len(at):
                self._rows[gap] = np.concatenate([self._rows[gap], self._unexplained(at, gap, records)])
        self._taken = self._history.count
        if len(records) - self._pruned >= PRUNED_EVERY:
            recent = records[self._pruned :]
            self._rows = [self._unexplained(at, gap, recent) for gap, at in enumerate(self._rows)]
            self._pruned = len(records)

    def next_unexplained(self, records: np.ndarray) -> int | None:
        """The nearest row whose distance no found record explains. Rows that are passed over never come again."""
        for gap, rows in enumerate(self._rows):
            if len(rows):
                at = _first_unexplained(self._history.codes, rows, gap, records[self._pruned :])
                self._rows[gap] = rows[at + 1 :]
                if at < len(rows):
                    return int(rows[at])
        return None

    def _unexplained(self, rows: np.ndarray, gap: int, records: np.ndarray) -> np.ndarray:
        if not len(rows) or not len(records):
            return rows
        if len(rows) < FEW:
            kept = np.empty(len(rows), dtype=bool)
            for place in range(len(rows)):
                kept[place] = _first_unexplained(self._history.codes, rows[place : place + 1], gap, records) == 0
            return rows[kept]
        asked, found = (table_of(self._schema, each) for each in (self._history.codes[rows], records))
        return rows[kth_distances(asked, found, ks=(1,))[:, 0] > gap]


@njit(cache=True)
def _first_unexplained(codes, positions, gap, records):
    columns = codes.shape[1]
    for at in range(len(positions)):
        row = codes[positions[at]]
        explained = False
        for record in range(len(records) - 1, -1, -1):
            differ = 0
            for column in range(columns):
                differ += row[column] != records[record, column]
                if differ > gap:
                    break
            if differ <= gap:
                explained = True
                break
        if not explained:
            return at
    return len(positions)


@njit(cache=True)
def _doubtful(scores, starts, row, settled):
    """The column of which another value is likeliest, against the one it has."""
    best, chosen = -np.inf, -1
    for column in range(len(row)):
        if settled[column]:
            continue
        own = starts[column] + row[column]
        gain = -1e300
        for code in range(starts[column], starts[column + 1]):
            if code != own:
                gain = max(gain, scores[code] - scores[own])
        if chosen < 0 or gain > best:
            best, chosen = gain, column
    return chosen


@njit(cache=True)
def _count_pairs(flat, pairs):
    columns = flat.shape[1]
    for row in range(len(flat)):
        for a in range(columns):
            for b in range(columns):
                pairs[flat[row, a], flat[row, b]] += 1


@njit(cache=True)
def _add_pairs(row, starts, pairs, found):
    for other in range(len(row)):
        own = pairs[row[other]]
        for code in range(starts[other]):
            found[code] += own[code]
        for code in range(starts[other + 1], len(found)):
            found[code] += own[code]
