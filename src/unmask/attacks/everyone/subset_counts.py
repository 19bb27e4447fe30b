"""How many synthetic rows agree with each person on each of many sets of columns, by hashing.

Cost per set: one pass over the synthetic rows and one over the people, not people x rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from unmask.compiled import inner, njit
from unmask.generators._counts import mutual_information
from unmask.tables.table import Table

# How many sets of each size. All pairs of up to 16 columns; beyond, half of them by mutual information, half at random.
SETS = ((1, 60), (2, 120), (3, 40), (4, 40), (6, 10))

AT_ONCE = 8  # sets whose published keys are made before they are counted: they stay in a near cache
PART = 256  # rows whose products stay in the second-level cache

Subset = tuple[int, ...]


def choose_subsets(candidates: Table, rng: np.random.Generator) -> tuple[Subset, ...]:
    """Sets of columns to ask about, the same for everybody and every run; the last one holds all columns."""
    width = len(candidates.schema.columns)
    chosen: list[Subset] = []
    for size, count in SETS:
        if size < width:
            chosen += _of_size(candidates, size, count, rng)
    return (*chosen, tuple(range(width)))


def _of_size(candidates: Table, size: int, count: int, rng: np.random.Generator) -> list[Subset]:
    width = len(candidates.schema.columns)
    if comb(width, size) <= count:
        return list(combinations(range(width), size))
    found: dict[Subset, None] = dict.fromkeys(_associated(candidates, count // 2) if size == 2 else ())
    while len(found) < count:
        found[tuple(sorted(rng.choice(width, size, replace=False).tolist()))] = None
    return sorted(found)


def _associated(candidates: Table, count: int) -> list[Subset]:
    """The pairs of columns that tell most about each other: what any good model must keep."""
    information = mutual_information(candidates.codes, candidates.schema.sizes)
    first, second = np.triu_indices(len(information), 1)
    best = np.argsort(-information[first, second], kind="stable")[:count]
    return [(int(first[place]), int(second[place])) for place in best]


def keys(table: Table, subsets: tuple[Subset, ...]) -> np.ndarray:
    """The keys of a table's own codes."""
    return keys_of(table.codes, subsets)


def keys_of(codes: np.ndarray, subsets: tuple[Subset, ...]) -> np.ndarray:
    """A 64-bit key of each row of codes on each set of columns (sets x rows): equal rows, equal keys.

    Different rows share a key with a chance of about 2^-64, which no audit will see.
    """
    found = np.empty((len(subsets), len(codes)), dtype=np.uint64)
    _fill_keys(np.ascontiguousarray(codes.T), *_spelt(subsets), 0, found)
    return found


def count_keys(asked: np.ndarray, published: np.ndarray) -> np.ndarray:
    """How often each asked key is published (asked rows x sets, uint32)."""
    counts, slots = np.empty(asked.shape, dtype=np.uint32), _slots(published.shape[1])
    _count(asked, published, *slots, counts)
    return counts.T.copy()


@dataclass(frozen=True, eq=False)
class AskedKeys:
    """Keys of rows that are counted again and again. Most rows share them, so that each is looked up once for all."""

    distinct: np.ndarray  # keys, those of one set after those of the other
    starts: np.ndarray  # of each set among them, and the end of the last
    places: np.ndarray  # rows x sets: which of the keys of the set it is

    @classmethod
    def of(cls, keys: np.ndarray) -> AskedKeys:
        """From keys (sets x rows)."""
        sets, rows = keys.shape
        distinct, starts = np.empty_like(keys), np.zeros(sets + 1, dtype=np.int64)
        places = np.empty((rows, sets), dtype=np.uint16 if rows <= 2**16 else np.uint32)
        _number(keys, *_slots(rows), distinct.reshape(-1), starts, places)
        return cls(distinct.reshape(-1)[: starts[-1]].copy(), starts, places)

    def count(self, published: np.ndarray, subsets: tuple[Subset, ...], first: int, counts: np.ndarray) -> None:
        """How many rows of these published codes have each row's key, into an array (asked rows x sets) from a set on.

        Its type may be any that holds the number of published rows.
        """
        columns, spelt, slots = np.ascontiguousarray(published.T), _spelt(subsets), _slots(len(published))
        keys = np.empty((min(AT_ONCE, len(subsets)), len(published)), dtype=np.uint64)
        found = np.empty(len(self.distinct), dtype=counts.dtype)
        for low in range(0, len(subsets), AT_ONCE):
            some = keys[: len(subsets) - low]
            _fill_keys(columns, *spelt, low, some)
            _count_distinct(self.distinct, self.starts[low:], some, *slots, found)
        _spread(found, self.starts, self.places, first, counts)


def _spelt(subsets: tuple[Subset, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Where each set begins, and the columns of all."""
    starts = np.cumsum([0, *(len(subset) for subset in subsets)])
    return starts, np.array([position for subset in subsets for position in subset], dtype=np.int64)


def _slots(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Empty places for so many keys, at most half of them taken, and for their counts."""
    size = 1 << int(2 * rows).bit_length()
    return np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.uint32)


def weighted_sums(counts: np.ndarray, weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Counts times weights, added up between starts (rows x starts, float32), in parts that stay in a near cache."""
    sums = np.empty((len(counts), len(starts)), dtype=np.float32)
    products = np.empty((PART, counts.shape[1]), dtype=np.float32)
    for low in range(0, len(counts), PART):
        some = slice(low, min(low + PART, len(counts)))
        part = products[: some.stop - low]
        part[:] = counts[some]
        part *= weights[some]
        np.add.reduceat(part, starts, axis=1, out=sums[some])
    return sums


def alike_in_unit(row_keys: np.ndarray, of_row: np.ndarray) -> np.ndarray:
    """How many other rows of the same unit share each row's key (rows x sets)."""
    alike = np.zeros(row_keys.T.shape, dtype=np.int64)
    if len(np.unique(of_row)) == len(of_row):
        return alike
    for subset, found in enumerate(row_keys):
        _, place, count = np.unique(
            np.stack([of_row.astype(np.uint64), found]), axis=1, return_inverse=True, return_counts=True
        )
        alike[:, subset] = count[place.ravel()] - 1
    return alike


@njit(nogil=True, cache=True)
def _fill_keys(codes, starts, columns, first, found):
    """Keys of some sets, from the first one on."""
    found[:] = 0
    for subset in range(found.shape[0]):
        keys = found[subset]
        for place in range(starts[first + subset], starts[first + subset + 1]):
            column, salt = codes[columns[place]], np.uint64(columns[place] + 1)
            for row in range(keys.size):
                # An odd multiplier and a shift after each column: every bit of every code reaches every bit of the key.
                key = (keys[row] ^ (np.uint64(column[row]) + (salt << np.uint64(20)))) * np.uint64(0x9E3779B97F4A7C15)
                keys[row] = key ^ (key >> np.uint64(29))


@inner()
def _slot_of(key, slot_keys, slot_counts):
    """Where a key stands, or the empty place where it would."""
    last = np.uint64(slot_keys.size - 1)
    slot = (key >> np.uint64(17)) & last
    while slot_counts[slot] > 0 and slot_keys[slot] != key:
        slot = (slot + np.uint64(1)) & last
    return slot


@inner()
def _enter(published, slot_keys, slot_counts):
    slot_counts[:] = 0
    for row in range(published.size):
        slot = _slot_of(published[row], slot_keys, slot_counts)
        slot_keys[slot] = published[row]
        slot_counts[slot] += np.uint32(1)


@njit(nogil=True, cache=True)
def _count(asked, published, slot_keys, slot_counts, counts):
    for subset in range(asked.shape[0]):
        _enter(published[subset], slot_keys, slot_counts)
        for row in range(asked.shape[1]):
            counts[subset, row] = slot_counts[_slot_of(asked[subset, row], slot_keys, slot_counts)]


@njit(nogil=True, cache=True)
def _number(keys, slot_keys, slot_numbers, distinct, starts, places):
    """Number the distinct keys of each set from 1 on, in the order in which they are met."""
    end = 0
    for subset in range(keys.shape[0]):
        slot_numbers[:] = 0
        for row in range(keys.shape[1]):
            key = keys[subset, row]
            slot = _slot_of(key, slot_keys, slot_numbers)
            if slot_numbers[slot] == 0:
                slot_keys[slot], distinct[end] = key, key
                end += 1
                slot_numbers[slot] = end - starts[subset]
            places[row, subset] = slot_numbers[slot] - 1
        starts[subset + 1] = end


@njit(nogil=True, cache=True)
def _count_distinct(distinct, starts, published, slot_keys, slot_counts, counts):
    for subset in range(published.shape[0]):
        _enter(published[subset], slot_keys, slot_counts)
        for place in range(starts[subset], starts[subset + 1]):
            counts[place] = slot_counts[_slot_of(distinct[place], slot_keys, slot_counts)]


@njit(nogil=True, cache=True)
def _spread(found, starts, places, first, counts):
    """From keys to rows. By rows: columns that are far apart would be written in turn."""
    for row in range(places.shape[0]):
        here, mine = counts[row, first : first + places.shape[1]], places[row]
        for subset in range(np.uint64(mine.size)):
            here[subset] = found[np.uint64(starts[subset]) + np.uint64(mine[subset])]
