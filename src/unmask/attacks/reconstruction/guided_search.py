"""A search that asks far less than the paper's, and always arrives.

A row at distance d whose nearest found record is further away proves that there is a record not found yet; a row whose
distance is that of a found record proves nothing and is skipped. From a row that proves one, columns are probed one by one, each
with its likeliest other value:

    further away    the column is right for every nearest record: settled
    nearer          the value is right: taken, and no longer probed
    as far          try the next value; if the column is wrong for some nearest record, one of them is right

Each step leaves some of the nearest records nearest, so what is settled stays settled and the search ends at a record, whatever the
distance it began at. Which column and value come first is decided by how often they go with the rest of the row among the
generator's own samples. Distances that are known are looked up. Every row read on the way joins the history, so that records
that no sample came near are found as well (a live list).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from unmask.attacks.reconstruction.history import EMPTY, History
from unmask.attacks.reconstruction.padding import Reader
from unmask.attacks.reconstruction.sample import Found
from unmask.tables.schema import Schema

WIDEST = 4000  # codes of all columns together, beyond which pairs are not counted
PRIOR = 0.1  # rows that each pair of codes is thought to have been seen in


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """How often codes occur among sampled rows, and how often other codes go with them (naive Bayes)."""

    starts: np.ndarray
    single: np.ndarray  # log of the share of rows with a code
    pairs: np.ndarray  # log of the share of rows with code b among those with code a; empty: not counted

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
        pairs = np.log((pairs + np.float32(PRIOR)) / (single[:, None] + PRIOR).astype(np.float32))
        return cls(starts, np.log(single), np.ascontiguousarray(pairs))

    def scores(self, row: np.ndarray) -> np.ndarray:
        """For each code of each column how well it goes with the rest of the row; higher = more likely."""
        found = self.single.copy()
        if len(self.pairs):
            _add_pairs(row.astype(np.int64) + self.starts[:-1], self.starts, self.pairs, found)
        return found


def guided_search(
    reader: Reader,
    history: History,
    likelihoods: Likelihoods,
    *,
    found: np.ndarray,
    distance: int,
    watch: Callable[[int], None] = lambda count: None,
) -> Found:
    """Every record that rows of the history at most `distance` away prove, directly or by way of others.

    `found` are the records that are known already. Ends early where the calls are used up.
    """
    records = _Records(found)
    queues = _Queues(history, distance)
    read: list[int] = []
    while not reader.spent and (start := queues.next_unexplained(records.codes)) is not None:
        arrived = _repair(reader, history, likelihoods, start)
        if arrived is not None:
            records.add(arrived)
            read.append(reader.read)
            watch(len(records.codes))
        queues.fill()
    new = records.codes[len(found) :].copy()
    return Found(new, np.full(len(new), -1), np.array(read, dtype=np.int64))


def _repair(reader: Reader, history: History, likelihoods: Likelihoods, start: int) -> np.ndarray | None:
    """From a row of the history to a record; None where distances could not be read."""
    row, gap = history.codes[start].copy(), int(history.distances[start])
    settled = np.zeros(len(row), dtype=bool)
    while gap > 0:
        if settled.all():
            return None
        scores = likelihoods.scores(row)
        column, values = _next_column(scores, likelihoods.starts, row, settled)
        settled[column] = True
        for value in values:
            trial = row.copy()
            trial[column] = value
            to = _distance(reader, history, trial)
            if reader.spent:
                return None
            if to > gap:
                break
            if 0 <= to < gap:
                row, gap = trial, to
                break
    return row


def _distance(reader: Reader, history: History, row: np.ndarray) -> int:
    at = int(history.known(row[None])[0])
    if at != EMPTY:
        return int(history.distances[at])
    to = reader.distances(row[None])
    history.add(row[None], to)
    return int(to[0])


def _next_column(
    scores: np.ndarray, starts: np.ndarray, row: np.ndarray, settled: np.ndarray
) -> tuple[int, np.ndarray]:
    """The column that most likely holds a wrong value, and its other values, likeliest first."""
    best, chosen = -np.inf, 0
    for column in np.flatnonzero(~settled):
        own = scores[starts[column] : starts[column + 1]]
        if len(own) == 1:
            gain = -1e300
        else:
            gain = np.delete(own, row[column]).max() - own[row[column]]
        if gain > best:
            best, chosen = gain, int(column)
    order = np.argsort(-scores[starts[chosen] : starts[chosen + 1]], kind="stable")
    return chosen, order[order != row[chosen]]


class _Records:
    """Found records in one growing array."""

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
    """Rows of the history by distance, nearest first; rows that join later are taken in."""

    def __init__(self, history: History, distance: int) -> None:
        self._history, self._taken = history, 0
        self._rows: list[list[np.ndarray]] = [[] for _ in range(distance + 1)]
        self.fill()

    def fill(self) -> None:
        """Take in what was asked since."""
        new = self._history.distances[self._taken :]
        for gap in range(1, len(self._rows)):
            at = np.flatnonzero(new == gap)
            if len(at):
                self._rows[gap].append(at + self._taken)
        self._taken = self._history.count

    def next_unexplained(self, records: np.ndarray) -> int | None:
        """The nearest row whose distance no found record explains. Rows that are passed over never come again."""
        for gap, parts in enumerate(self._rows):
            while parts:
                at = _first_unexplained(self._history.codes, parts[0], gap, records)
                if at < len(parts[0]):
                    place = int(parts[0][at])
                    parts[0] = parts[0][at + 1 :]
                    return place
                parts.pop(0)
        return None


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
def _count_pairs(flat, pairs):
    columns = flat.shape[1]
    for row in range(len(flat)):
        for a in range(columns):
            for b in range(columns):
                pairs[flat[row, a], flat[row, b]] += 1


@njit(cache=True)
def _add_pairs(row, starts, pairs, found):
    columns = len(row)
    for column in range(columns):
        for code in range(starts[column], starts[column + 1]):
            total = 0.0
            for other in range(columns):
                if other != column:
                    total += pairs[code, row[other]]
            found[code] += total
