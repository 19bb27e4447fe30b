"""Two tables that a claim must not let anybody tell apart: with the target (D) and without it (D')."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from unmask.errors import ParameterError
from unmask.generators.claim import Neighbours
from unmask.registry import construct, settings_from
from unmask.stream import stream
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table, concatenate

HALF = 5_000.0  # of the range of numbers in the worst case

Row: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Pair:
    """Neighbouring tables. `target` is the row that only D has; `other` what stands there in D' (replacement)."""

    name: str
    inside: Table
    outside: Table
    target: Table
    other: Table | None

    def __post_init__(self) -> None:
        if self.inside.schema != self.outside.schema:
            raise ParameterError("The two tables of a pair must follow one schema. Encode both against it.")

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows of D and of D'."""
        return len(self.inside), len(self.outside)


class PairPlan(Protocol):
    """A frozen choice of how neighbours are made."""

    def build(self, neighbours: Neighbours, table: Table | None, seed: int) -> Pair:
        """The pair for these neighbours; `table` is the user's own, where there is one."""
        ...


@dataclass(frozen=True)
class WorstCase:
    """Few different rows that make one person matter most; needs no data.

    `rows` rows without the target: the first two columns are 0 everywhere, the others alternate between 0 and 1. The target is 1
    in every column, so its values in the first two are its own and its mutual information reaches the sensitivity that
    PrivBayes allows for. It replaces a row of zeros, or comes on top. `repeat` rows equal to the target stand in both
    tables, which keeps the changed cells off zero: what a black-box attacker needs, who sees no negative count. With `mixed` all
    values are common and only their combination is the target's own, for leaks that show when a generator makes up
    the target's row by itself (filters).

    The first `numbers` columns (two at most) are whole numbers from 0 to 9,999 in two bins, for leaks of a maximum or a range:
    in the first all others have the ends of the lower bin, and the target 9,999; in the second they have the ends of the
    upper one, and the target 0. Numbers that are drawn anew within bins hardly ever meet the target's.
    """

    columns: int = 5
    rows: int = 1000
    repeat: int = 0
    mixed: bool = False
    numbers: int = 2

    def __post_init__(self) -> None:
        if self.columns < 1 or self.rows < 2 or not 0 <= self.repeat < self.rows:
            raise ParameterError(
                f"worst-case: columns={self.columns}, rows={self.rows}, repeat={self.repeat} makes no pair. Use at least "
                "1 column and 2 rows, and fewer repeated rows than rows."
            )
        if not 0 <= self.numbers <= 2:
            raise ParameterError(f"worst-case: numbers={self.numbers} has no meaning. Use 0, 1 or 2 numeric columns.")

    def build(self, neighbours: Neighbours, table: Table | None, seed: int) -> Pair:
        numeric = min(self.numbers, self.columns)
        schema = Schema(tuple(_column(f"c{j + 1}", numeric=j < numeric) for j in range(self.columns)))
        common = np.zeros((self.rows, self.columns), dtype=np.int64)
        for j in range(2, self.columns):
            common[:, j] = (np.arange(self.rows) // (j - 1)) % 2
        if self.mixed:  # each row has one value less than the target, in turn
            common[:] = np.arange(self.columns) != (np.arange(self.rows) % self.columns)[:, None]
        common[1 : 1 + self.repeat] = 1
        target = np.ones((1, self.columns), dtype=np.int64)
        if numeric == 2:  # the target has the lowest number here, and the highest in the first
            common[:, 1], target[:, 1] = 1 - common[:, 1], 0
        parts = HALF * common[:, :numeric] + ((np.arange(self.rows) % 2) * (HALF - 1))[:, None]
        own = np.array([[2 * HALF - 1, 0.0][:numeric]])
        parts[1 : 1 + self.repeat] = own
        base, target_row = table_of(schema, common, parts), table_of(schema, target, own)
        name = f"worst case, {self.columns} columns, {self.rows} rows" + (
            f", {self.repeat} like the target" if self.repeat else ""
        )
        name += ", no value of its own" if self.mixed else ""
        return with_target(name, base, target_row, place=0, neighbours=neighbours)


def _column(name: str, *, numeric: bool) -> Column:
    if numeric:
        return Column(name, Kind.INTEGER, lower=0, upper=2 * HALF - 1, cuts=(HALF,))
    return Column(name, Kind.CATEGORICAL, values=("0", "1"))


@dataclass(frozen=True)
class Canary:
    """A row that stands out as much as the public domains allow, put into the user's own table.

    Each column gets a value that nobody has, if the schema lists one, else the rarest; numbers get the end of the public
    range that is further from everybody. Under replacement it takes the place of a random row.
    """

    def build(self, neighbours: Neighbours, table: Table | None, seed: int) -> Pair:
        own = replace(needed(table, "canary"), persons=None)
        schema = own.schema
        codes = np.array([_rarest(own.codes[:, j], column.listed) for j, column in enumerate(schema.columns)])
        numbers = np.empty((1, len(schema.numeric)), order="F")
        for i, j in enumerate(schema.numeric):
            column, seen = schema.columns[j], own.numbers[:, i]
            low = column.lower - np.nanmin(seen) if not np.isnan(seen).all() else 0.0
            high = column.upper - np.nanmax(seen) if not np.isnan(seen).all() else 0.0
            numbers[0, i] = column.lower if -low > high else column.upper
            codes[j] = int(column.bin_of(numbers[:, i])[0])
        target = Table(schema, np.asfortranarray(codes[None, :], dtype=schema.code_type), numbers)
        place = int(stream(seed, "pair", "canary").integers(len(own)))
        return with_target("a canary in the real table", own, target, place=place, neighbours=neighbours)


@dataclass(frozen=True)
class RandomPair:
    """A random person of the user's own table, there or not (replaced by a copy of another): the average case."""

    def build(self, neighbours: Neighbours, table: Table | None, seed: int) -> Pair:
        own = replace(needed(table, "random"), persons=None)
        if len(own) < 3:
            raise ParameterError(f"random: the real table has {len(own)} rows; a random pair needs at least 3.")
        first, second = stream(seed, "pair", "random").choice(len(own), 2, replace=False)
        rest = own.take(np.delete(np.arange(len(own)), first))
        target = own.take([int(first)])
        if neighbours is Neighbours.ADD_REMOVE:
            return Pair("a random person of the real table", concatenate([rest, target]), rest, target, None)
        other = own.take([int(second)])
        inside, outside = concatenate([rest, target]), concatenate([rest, other])
        return Pair("a random person of the real table", inside, outside, target, other)


@dataclass(frozen=True, eq=False)
class OwnPair:
    """Two tables that the caller says are neighbours: with the target, and without."""

    inside: Table
    outside: Table

    def build(self, neighbours: Neighbours, table: Table | None, seed: int) -> Pair:
        gained, lost = _surplus(self.inside, self.outside), _surplus(self.outside, self.inside)
        expected = 0 if neighbours is Neighbours.ADD_REMOVE else 1
        if len(gained) != 1 or len(lost) != expected:
            raise ParameterError(
                f"The two tables are no {neighbours} neighbours: {len(gained)} rows are only in the first and {len(lost)} only "
                f"in the second; it must be 1 and {expected}."
            )
        return Pair("the caller's own pair", self.inside, self.outside, gained, lost if len(lost) else None)


NAMED: dict[str, type] = {"worst-case": WorstCase, "canary": Canary, "random": RandomPair}
VARIANTS: dict[str, PairPlan] = {
    "worst-case": WorstCase(),
    "repeat": WorstCase(columns=2, repeat=30, numbers=0),
    "narrow": WorstCase(columns=2, numbers=0),
    "tiny": WorstCase(columns=3, rows=4, numbers=0),
    "mixed": WorstCase(columns=3, mixed=True, numbers=0),
}


def parse_pair(text: str) -> PairPlan:
    """A pair from text: worst-case, repeat, narrow, tiny, mixed, canary, random, or `worst-case:columns=2,rows=50,repeat=5`."""
    name, _, settings = text.partition(":")
    if not settings and name in VARIANTS:
        return VARIANTS[name]
    if name not in NAMED:
        raise ParameterError(f"There is no pair '{text}'. There are: {', '.join([*VARIANTS, 'canary', 'random'])}.")
    plan: PairPlan = construct(NAMED[name], f"pair '{name}'", settings_from(settings.split(",")) if settings else {})
    return plan


def with_target(name: str, base: Table, target: Table, *, place: int, neighbours: Neighbours) -> Pair:
    """The target on top of a table, or in the place of one of its rows."""
    if neighbours is Neighbours.ADD_REMOVE:
        return Pair(name, concatenate([base, target]), base, target, None)
    rest = base.take(np.delete(np.arange(len(base)), place))
    other = base.take([place])
    return Pair(name, concatenate([rest, target]), concatenate([rest, other]), target, other)


def table_of(schema: Schema, codes: np.ndarray, numbers: np.ndarray | None = None) -> Table:
    """A table with these codes; the numbers of its numeric columns, if it has some, come first to last."""
    held = np.empty((len(codes), 0)) if numbers is None else numbers
    return Table(schema, np.asfortranarray(codes, dtype=schema.code_type), np.asfortranarray(held, dtype=np.float64))


def needed(table: Table | None, who: str) -> Table:
    """The user's table, or an error that says what to do."""
    if table is None:
        raise ParameterError(f"The pair '{who}' needs a real table. Give one, or use the worst case.")
    return table


def _rarest(codes: np.ndarray, listed: int) -> int:
    counts = np.bincount(codes.astype(np.int64), minlength=listed)[: max(listed, 1)]
    return len(counts) - 1 - int(np.argmin(counts[::-1]))  # the last of the rarest


def _surplus(table: Table, without: Table) -> Table:
    """Rows that occur more often in the first table than in the second."""
    left: dict[Any, int] = {}
    for key in _keys(without):
        left[key] = left.get(key, 0) + 1
    extra = []
    for place, key in enumerate(_keys(table)):
        left[key] = left.get(key, 0) - 1
        if left[key] < 0:
            extra.append(place)
    return table.take(np.array(extra, dtype=np.int64))


def _keys(table: Table) -> list[tuple[bytes, bytes]]:
    return [(c.tobytes(), x.tobytes()) for c, x in zip(table.codes, table.numbers, strict=True)]
