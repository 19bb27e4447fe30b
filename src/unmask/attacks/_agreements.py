"""How people agree with the rows of two tables, value by value: with a release, and with the others of a reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import combinations
from operator import add

import numpy as np

from unmask.attacks.everyone.subset_counts import count_keys, keys_of
from unmask.compiled import njit
from unmask.tables.exact import ExactValues
from unmask.tables.search.best_match import BestMatch
from unmask.tables.table import Table

MOST_PAIRS = 120  # of columns, about which people are asked together
MOST_CELLS = 4_000_000  # of two columns: counted directly, beyond them by hashing
AT_ONCE = 2**18  # rows of a table that are read at a time
MOST_KEPT = 2**26  # bytes of codes that are kept instead of being found again
PENALTY = 1.0  # of a column that disagrees, beside the weight of the value that it should have


@dataclass(frozen=True, eq=False)
class CodedRows:
    """The rows of a table in the codes of people's values, block by block, again and again.

    With `like`, the same rows in codes that differ in some columns only: the others are taken from there.
    """

    values: ExactValues
    table: Table
    like: CodedRows | None = None
    differing: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[tuple[int, np.ndarray]]:
        """The place of the first row of each block, and the codes of its rows."""
        return iter(self._kept if self._kept is not None else self._found())

    @cached_property
    def _kept(self) -> list[tuple[int, np.ndarray]] | None:
        room = self.table.codes.size * np.dtype(self.kind).itemsize
        return list(self._found()) if room <= MOST_KEPT else None

    @property
    def kind(self) -> type[np.signedinteger]:
        """Two bytes where they hold all codes: half of the room."""
        values = self.values if self.like is None else self.like.values
        return np.int16 if max(values.counts, default=0) < np.iinfo(np.int16).max else np.int32

    def _found(self) -> Iterator[tuple[int, np.ndarray]]:
        if self.like is None:
            yield from ((low, self.values.find(part, self.kind)) for low, part in blocks(self.table))
            return
        for (low, part), (_, others) in zip(blocks(self.table), self.like, strict=True):
            rows = others.copy(order="F")
            for column in self.differing:
                rows[:, column] = self.values.find_column(part, column)
            yield low, rows


def blocks(table: Table) -> Iterator[tuple[int, Table]]:
    """Some rows at a time, and the place of the first of them; an empty table is one block."""
    for low in range(0, max(len(table), 1), AT_ONCE):
        yield low, table if len(table) <= AT_ONCE else table.between(low, low + AT_ONCE)


@dataclass(frozen=True, eq=False)
class SharedValues:
    """People in the code space of a comparison, with how often each value of a person occurs."""

    people: np.ndarray  # codes
    release_rows: int
    reference_rows: int
    in_release: np.ndarray  # people x columns: rows of the release with the same value
    in_reference: np.ndarray  # people x columns: other reference people with the same value

    @property
    def worth(self) -> np.ndarray:
        """What an agreement adds to a match: the weight, and the penalty that is not paid."""
        return self.weights + PENALTY

    def only(self, columns: list[int]) -> SharedValues:
        """Some of the columns."""
        return replace(
            self,
            people=self.people[:, columns],
            in_release=self.in_release[:, columns],
            in_reference=self.in_reference[:, columns],
        )

    def of_first(self, people: int) -> SharedValues:
        """Some of the people."""
        return replace(
            self,
            people=self.people[:people],
            in_release=self.in_release[:people],
            in_reference=self.in_reference[:people],
        )

    @property
    def weights(self) -> np.ndarray:
        """-log of the share of reference people who have the value: what an agreement is worth (people x columns)."""
        return -np.log((self.in_reference + 0.5) / (self.reference_rows + 1.0))

    @property
    def ratios(self) -> np.ndarray:
        """Log ratio of the shares of the release and of the reference that have the value; 0 where there is none."""
        ratio = np.log((self.in_release + 0.5) / (self.release_rows + 1.0)) + self.weights
        return np.where(self.people >= 0, ratio, 0.0)


@dataclass(frozen=True, eq=False)
class WeightedLinks:
    """The best match of each person in the release, and among the others of the reference.

    Linkage weights (Fellegi and Sunter 1969, for one table): what the release has more than others explain.
    """

    worth: np.ndarray  # people x columns: what an agreement adds to a match; 0 where there is no value
    best: np.ndarray  # of each person: weight of the best match in the release
    usual: np.ndarray  # the same among the others

    @property
    def weights(self) -> np.ndarray:
        return np.asarray(self.best - self.usual, dtype=np.float64)

    @property
    def found(self) -> np.ndarray:
        """The share of each person's own weight that the best match in the release has."""
        return np.asarray(self.best / np.maximum(self.worth.sum(axis=1), 1e-9))


@dataclass(frozen=True, eq=False)
class _Agreed:
    """What the rows of one table say about each person; adds up over blocks of rows."""

    alike: np.ndarray  # people x columns: rows with the same value
    best: np.ndarray  # the best match by weight
    near: np.ndarray  # rows with 0, 1, .. unequal columns, of people who are looked at fully
    pairs: np.ndarray  # rows that agree on both of two columns, of the same people

    def __add__(self, other: _Agreed) -> _Agreed:
        best = np.maximum(self.best, other.best)
        return _Agreed(self.alike + other.alike, best, self.near + other.near, self.pairs + other.pairs)


@dataclass(frozen=True, eq=False)
class Agreements:
    """How people agree with a release and with the others of a reference: both are read block by block."""

    shared: SharedValues
    own: np.ndarray | None  # place of each person in the reference
    pairs: tuple[tuple[int, int], ...]  # of columns
    found: _Agreed  # in the release
    others: _Agreed  # in the reference

    @classmethod
    def of(
        cls, people: np.ndarray, release: CodedRows, reference: CodedRows, own: np.ndarray | None, *, fully: int
    ) -> Agreements:
        """Codes of people: values and best matches of everybody, near rows and pairs of the first so many, looked at fully."""
        people = people.astype(reference.kind, copy=False)
        known = np.asarray(sum(alike(people, rows) for _, rows in reference))
        if own is not None:
            known -= people >= 0
        shared = SharedValues(people, len(release), len(reference), np.zeros_like(known), known)
        matches, pairs = BestMatch(people, shared.worth), _pairs_of(people.shape[1]) if fully else ()

        def seen(rows: np.ndarray, own: np.ndarray | None) -> _Agreed:
            agreed = matches.agreement(rows, own, fully=fully)
            return _Agreed(alike(people, rows), agreed.best, agreed.near, pair_counts(people[:fully], rows, pairs))

        found = reduce(add, (seen(rows, None) for _, rows in release))
        others = reduce(add, (seen(rows, None if own is None else own - low) for low, rows in reference))
        return cls(replace(shared, in_release=found.alike), own, pairs, found, others)

    @property
    def links(self) -> WeightedLinks:
        """Linkage weights; a match is worth nothing where there is none."""
        worth = np.where(self.shared.people >= 0, self.shared.worth, 0.0)
        return WeightedLinks(worth, np.maximum(self.found.best, 0.0), np.maximum(self.others.best, 0.0))


def alike(people: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """How many rows have the same value as each person, column by column."""
    found = np.zeros(people.shape, dtype=np.int64)
    for column in range(people.shape[1]):
        mine = people[:, column]
        counts = np.zeros(max(int(mine.max(initial=0)), 0) + 1, dtype=np.uint32)
        _count_codes(rows[:, column], counts)
        found[:, column] = np.where(mine >= 0, counts[np.maximum(mine, 0)], 0)
    return found


@njit(nogil=True, cache=True)
def _count_codes(codes, counts):
    for row in range(codes.size):
        code = np.int64(codes[row])
        if 0 <= code < counts.size:
            counts[code] += np.uint32(1)


def _pairs_of(width: int) -> tuple[tuple[int, int], ...]:
    """Pairs of columns; of very many some, spread evenly, the same for everybody."""
    pairs = tuple(combinations(range(width), 2))
    if len(pairs) > MOST_PAIRS:
        pairs = tuple(pairs[place] for place in np.linspace(0, len(pairs) - 1, MOST_PAIRS).astype(int))
    return pairs


def pair_counts(people: np.ndarray, rows: np.ndarray, pairs: tuple[tuple[int, int], ...]) -> np.ndarray:
    """How many rows agree with each person on each pair of columns (people x pairs)."""
    found = np.empty((len(people), len(pairs)))
    if not pairs:
        return found
    known = [np.unique(codes[codes >= 0]) for codes in people.T]
    asked, offered = (
        [_places(codes, each) for codes, each in zip(all_.T, known, strict=True)] for all_ in (people, rows)
    )
    for place, (first, second) in enumerate(pairs):
        width = len(known[second]) + 1
        cells = (len(known[first]) + 1) * width
        if cells > MOST_CELLS:  # hashed: two columns of which nearly everybody has a number of their own
            found[:, place] = count_keys(keys_of(people, ((first, second),)), keys_of(rows, ((first, second),)))[:, 0]
            continue
        counts = np.zeros((cells // width, width), dtype=np.uint32)
        _count_cells(offered[first], offered[second], width, counts.reshape(-1))
        counts[-1], counts[:, -1] = 0, 0  # of those who lack a value, or have one that nobody has
        found[:, place] = counts[asked[first], asked[second]]
    return found


def _places(codes: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The place of each code among the known ones; one behind the last for all others."""
    table = np.full(int(known.max(initial=-1)) + 2, len(known), dtype=np.uint32)
    table[known] = np.arange(len(known))
    return table[np.where((codes < 0) | (codes >= len(table)), len(table) - 1, codes)]


@njit(nogil=True, cache=True)
def _count_cells(first, second, width, counts):
    for row in range(first.size):
        counts[np.int64(first[row]) * width + second[row]] += np.uint32(1)
