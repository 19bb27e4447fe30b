"""Rows that were asked about, with their distances: found again by a 64-bit key, in the order in which they came.

Keys are sums of random words, one per column and code (Zobrist). Two rows that share one by accident, which happens once in some
million histories, cost a row that is not asked about; they never make a record.
"""

from __future__ import annotations

import numpy as np

from unmask.compiled import njit
from unmask.tables.schema import Schema

EMPTY = -1


class AskedRows:
    """Everything that was asked so far."""

    def __init__(self, schema: Schema, rng: np.random.Generator) -> None:
        sizes = schema.sizes
        self._starts = np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64)
        self._words = rng.integers(0, 2**63, size=int(sizes.sum()), dtype=np.int64)
        self._slots = np.full(1 << 12, EMPTY, dtype=np.int64)
        self._keys = np.empty(1 << 10, dtype=np.int64)
        self._codes = np.empty((1 << 10, len(sizes)), dtype=schema.code_type)
        self._distances = np.empty(1 << 10, dtype=np.int16)
        self.count = 0

    @property
    def codes(self) -> np.ndarray:
        return self._codes[: self.count]

    @property
    def distances(self) -> np.ndarray:
        return self._distances[: self.count]

    def fresh(self, codes: np.ndarray) -> np.ndarray:
        """Positions of the rows that are neither here nor twice among these: the first of each."""
        keys = self._keys_of(codes)
        _, first = np.unique(keys, return_index=True)
        first = np.sort(first)
        return first[self._found(keys[first]) == EMPTY]

    def known(self, codes: np.ndarray) -> np.ndarray:
        """Where each row stands here, EMPTY for those that do not."""
        return self._found(self._keys_of(codes))

    def add(self, codes: np.ndarray, distances: np.ndarray) -> None:
        """Take down rows that are not here yet (`fresh`)."""
        end = self.count + len(codes)
        if end > len(self._keys):
            room = max(end, 2 * len(self._keys))
            self._keys, self._distances = np.resize(self._keys, room), np.resize(self._distances, room)
            grown = np.empty((room, self._codes.shape[1]), dtype=self._codes.dtype)
            grown[: self.count] = self.codes
            self._codes = grown
        self._keys[self.count : end] = self._keys_of(codes)
        self._codes[self.count : end] = codes
        self._distances[self.count : end] = distances
        begin, self.count = self.count, end
        if 2 * end > len(self._slots):
            self._slots = np.full(1 << int(np.ceil(np.log2(4 * end))), EMPTY, dtype=np.int64)
            begin = 0
        _enter(self._slots, self._keys, begin, end)

    def _keys_of(self, codes: np.ndarray) -> np.ndarray:
        keys = np.empty(len(codes), dtype=np.int64)
        _sum_words(np.ascontiguousarray(codes), self._starts, self._words, keys)
        return keys

    def _found(self, keys: np.ndarray) -> np.ndarray:
        found = np.empty(len(keys), dtype=np.int64)
        _look_up(self._slots, self._keys, keys, found)
        return found


@njit(cache=True)
def _sum_words(codes, starts, words, keys):
    for row in range(len(codes)):
        key = np.int64(0)
        for column in range(codes.shape[1]):
            key ^= words[starts[column] + codes[row, column]]
        keys[row] = key


@njit(cache=True)
def _enter(slots, keys, begin, end):
    mask = len(slots) - 1
    for place in range(begin, end):
        at = keys[place] & mask
        while slots[at] != -1:
            at = (at + 1) & mask
        slots[at] = place


@njit(cache=True)
def _look_up(slots, kept, keys, found):
    mask = len(slots) - 1
    for place in range(len(keys)):
        at = keys[place] & mask
        found[place] = -1
        while slots[at] != -1:
            if kept[slots[at]] == keys[place]:
                found[place] = slots[at]
                break
            at = (at + 1) & mask
