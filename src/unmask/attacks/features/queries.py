"""Targeted counting queries of Houssiau et al. (2022): how many rows look like the target in some columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np

from unmask.compiled import inner, njit
from unmask.errors import ParameterError
from unmask.tables.exact import ExactValues
from unmask.tables.table import Table

NUMBERS = ("equal", "bin", "both", "at-most")
MOST = 10_000  # features per target where every query is asked once for each value of a secret
WORD = 64


@dataclass(frozen=True)
class QueryFeatures:
    """Q(t, S): the share of synthetic rows that agree with target t in all columns of S.

    The presence of a target raises just these counts, so a few of them tell more than all marginals. Order 1 asks for every
    column; a higher one for `count` random sets of so many columns, the same ones for every release and target.
    A number agrees if it is *equal*, as in the authors' program: generators that draw from people's own amounts publish the
    very number, and a bin buries it among everybody near. Missing then agrees with nothing, nor does a category that the schema
    does not list. With "bin" a number agrees if it is in the target's bin, which sees more of generators that draw numbers anew
    within bins; "both" asks every query either way. With "at-most" a number agrees if it does not exceed the target's. Under
    bins and at-most, missing agrees with missing.

    In the attribute game every set includes the secret column (order 1: the secret alone), and the query is asked for each
    of its values.
    """

    name: ClassVar[str] = "queries"

    order: int | str = "1-3"  # one order, or a range such as "1-3"
    count: int = 100  # sets of columns per order above 1; all of them where there are fewer
    numbers: str = "equal"  # or "bin", "both", "at-most"
    subsets: int = 0  # another number draws other sets of columns

    def __post_init__(self) -> None:
        _orders(self.order)
        for name, least in (("count", 1), ("subsets", 0)):
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ParameterError(f"queries: {name} is {value!r}; it must be a whole number from {least}.")
        if self.numbers not in NUMBERS:
            raise ParameterError(f"queries: numbers is {self.numbers!r}; it must be one of {', '.join(NUMBERS)}.")

    @property
    def key(self) -> str:
        return f"queries:order={self.order},count={self.count},numbers={self.numbers},subsets={self.subsets}"

    def compute(self, synthetic: Table, targets: Table) -> np.ndarray:
        """Targets x queries (x values of the secret, one after the other)."""
        ways = ("equal", "bin") if self.numbers == "both" else (self.numbers,)
        found = [self._counts(synthetic, targets, way) for way in ways]
        return np.concatenate(found, axis=1) / max(len(synthetic), 1)

    def _counts(self, synthetic: Table, targets: Table, way: str) -> np.ndarray:
        columns = np.ascontiguousarray(synthetic.codes.T)
        matches = _matches(synthetic, targets, columns, way)
        low, high = _orders(self.order)
        secret = hidden_column(targets)
        if secret is None:
            return np.asarray(_count(matches, _chosen(columns.shape[0], None, low, high, self.count, self.subsets)))
        levels = synthetic.schema.columns[secret].size
        chosen = _chosen(columns.shape[0], secret, low, high, self.count, self.subsets)[: max(1, MOST // levels)]
        held = np.zeros((levels, matches.shape[2]), dtype=np.uint64)
        _match_levels(columns[secret], held)
        return np.asarray(_count_levels(matches, chosen, held))


def _matches(synthetic: Table, targets: Table, columns: np.ndarray, way: str) -> np.ndarray:
    """Bit i of [t, j]: row i agrees with target t in column j."""
    matches = np.zeros((len(targets), *_words(columns)), dtype=np.uint64)
    if way == "equal":
        exact = ExactValues(targets)
        _match_codes(np.ascontiguousarray(exact.find(synthetic).T), np.ascontiguousarray(exact.codes), matches)
        return matches
    _match_codes(columns, np.ascontiguousarray(targets.codes), matches)
    if way == "at-most":
        places = np.array(synthetic.schema.numeric, dtype=np.int64)
        numbers, limits = np.ascontiguousarray(synthetic.numbers.T), np.ascontiguousarray(targets.numbers)
        _match_numbers(numbers, limits, places, matches)
    return matches


def hidden_column(targets: Table) -> int | None:
    """The secret of the attribute game: the column that is masked in all targets; None in the membership game.

    A real table holds listed values only, so nothing but masking makes a column unlisted throughout.
    """
    if len(targets) == 0:
        return None
    unlisted = np.array([column.unlisted_code for column in targets.schema.columns])
    masked = np.flatnonzero((targets.codes == unlisted).all(axis=0))
    return int(masked[0]) if len(masked) else None


def _orders(order: Any) -> tuple[int, int]:
    """The lowest and the highest order."""
    parts = str(order).split("-")
    if isinstance(order, bool) or len(parts) > 2 or not all(part.strip().isdecimal() for part in parts):
        raise ParameterError(f"queries: order is {order!r}; it must be a whole number from 1, or a range such as 1-3.")
    low, high = int(parts[0]), int(parts[-1])
    if not 1 <= low <= high:
        raise ParameterError(f"queries: order is {order!r}; orders start at 1 and a range goes up.")
    return low, high


@cache
def _chosen(columns: int, secret: int | None, low: int, high: int, count: int, number: int) -> np.ndarray:
    """Sets of columns besides the secret one, one per row, filled up with -1."""
    known = [column for column in range(columns) if column != secret]
    sizes = {min(order - (secret is not None), len(known)) for order in range(low, high + 1)}
    rows = [
        [known[k] for k in subset] for size in sorted(sizes) for subset in _subsets(len(known), size, count, number)
    ]
    width = max(sizes)
    return np.array([row + [-1] * (width - len(row)) for row in rows], dtype=np.int64).reshape(len(rows), width)


def _subsets(columns: int, size: int, count: int, number: int) -> list[tuple[int, ...]]:
    total = comb(columns, size)
    if size <= 1 or total <= count:
        return list(combinations(range(columns), size))
    rng = np.random.default_rng([number, size])
    if total <= 100 * count:
        everything = list(combinations(range(columns), size))
        return [everything[place] for place in np.sort(rng.choice(total, count, replace=False))]
    found: dict[tuple[int, ...], None] = {}
    while len(found) < count:
        found[tuple(sorted(rng.choice(columns, size, replace=False).tolist()))] = None
    return sorted(found)


def _words(columns: np.ndarray) -> tuple[int, int]:
    """Columns, and words of 64 rows each."""
    return columns.shape[0], -(-columns.shape[1] // WORD)


@njit(nogil=True, cache=True)
def _match_codes(columns, wanted, matches):
    """Bit i of matches[t, j]: row i has the code of target t in column j."""
    rows = columns.shape[1]
    for t in range(wanted.shape[0]):
        for j in range(columns.shape[0]):
            code = wanted[t, j]
            for word in range(matches.shape[2]):
                first = word * WORD
                bits = np.uint64(0)
                for i in range(min(WORD, rows - first)):
                    bits |= np.uint64(columns[j, first + i] == code) << np.uint64(i)
                matches[t, j, word] = bits


@njit(nogil=True, cache=True)
def _match_numbers(numbers, limits, positions, matches):
    """The same for numbers: those that do not exceed the target's; missing with missing."""
    rows = numbers.shape[1]
    for t in range(limits.shape[0]):
        for j in range(positions.size):
            limit = limits[t, j]
            absent = np.isnan(limit)
            for word in range(matches.shape[2]):
                first = word * WORD
                bits = np.uint64(0)
                for i in range(min(WORD, rows - first)):
                    number = numbers[j, first + i]
                    bits |= np.uint64(np.isnan(number) if absent else number <= limit) << np.uint64(i)
                matches[t, positions[j], word] = bits


@njit(nogil=True, cache=True)
def _match_levels(column, held):
    """Bit i of held[v]: row i has secret v; values that the schema does not list are nowhere."""
    for i in range(column.size):
        if column[i] < held.shape[0]:
            held[column[i], i // WORD] |= np.uint64(1) << np.uint64(i % WORD)


@inner()
def _ones(bits):
    """How many bits are 1."""
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(nogil=True, cache=True)
def _count(matches, chosen):
    counts = np.zeros((matches.shape[0], chosen.shape[0]))
    for t in range(matches.shape[0]):
        for q in range(chosen.shape[0]):
            total = np.uint64(0)
            for word in range(matches.shape[2]):
                bits = matches[t, chosen[q, 0], word]
                for k in range(1, chosen.shape[1]):
                    if chosen[q, k] >= 0:
                        bits &= matches[t, chosen[q, k], word]
                total += _ones(bits)
            counts[t, q] = total
    return counts


@njit(nogil=True, cache=True)
def _count_levels(matches, chosen, held):
    levels = held.shape[0]
    counts = np.zeros((matches.shape[0], chosen.shape[0] * levels))
    for t in range(matches.shape[0]):
        for q in range(chosen.shape[0]):
            for word in range(matches.shape[2]):
                bits = ~np.uint64(0)
                for k in range(chosen.shape[1]):
                    if chosen[q, k] >= 0:
                        bits &= matches[t, chosen[q, k], word]
                if bits == 0:
                    continue
                for level in range(levels):
                    counts[t, q * levels + level] += _ones(bits & held[level, word])
    return counts
