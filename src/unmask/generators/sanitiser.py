"""Row-level sanitisation as NHS England does it (stadler2022, section 6): what synthetic data wants to replace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from unmask.errors import ParameterError
from unmask.generators._generator import check_fits
from unmask.generators.claim import Claim
from unmask.tables.encode import stamps_of
from unmask.tables.schema import Column, Kind, Schema, quoted
from unmask.tables.table import Table
from unmask.tables.units import units

PERIODS = ("day", "week", "month", "quarter", "year")

NO_KEYS = "sanitiser: no keys are declared, so k-anonymity was not enforced. List them under keys in the schema."


@dataclass(frozen=True)
class Sanitiser:
    """Group categories, coarsen dates, cap large numbers, drop rare and identifiable rows; publish what is left.

    In this order: values with a group in the schema become that group; dates become the start of their period;
    rows with a rare category are dropped; numbers above the quantile become the quantile; numbers among the keys
    become the start of their bin. Then rows are suppressed until every category is held by at least `rare` people and every
    combination of published keys by at least `k`: the largest such set of rows, and there is only one, since a union of
    two such sets is one too. People are counted, not rows, where the schema names persons.
    """

    name: ClassVar[str] = "sanitiser"
    row_level: ClassVar[bool] = True
    claim: ClassVar[Claim | None] = None

    k: int = 10  # 1 = no k-anonymity
    keys: tuple[str, ...] | str = ()  # or "age+sex"; () = the keys of the schema
    rare: int = 10  # categories held by fewer people than this are rare; 1 = none is
    cap: float = 0.95  # quantile at which numbers are capped; 1 = nowhere
    dates: str = "month"  # day, week, month, quarter, year or none
    group: bool = True  # use the groups of the schema
    bands: bool = True  # publish numbers among the keys as the start of their bin

    def __post_init__(self) -> None:
        names = self.keys.split("+") if isinstance(self.keys, str) else self.keys
        object.__setattr__(self, "keys", tuple(name.strip() for name in names if name.strip()))
        _check_count("k", self.k)
        _check_count("rare", self.rare)
        if isinstance(self.cap, bool) or not isinstance(self.cap, int | float) or not 0 < self.cap <= 1:
            raise ParameterError(f"sanitiser: cap is {self.cap!r}; it is a quantile above 0, at most 1 (no capping).")
        if self.dates is None:
            object.__setattr__(self, "dates", "none")
        if self.dates not in (*PERIODS, "none"):
            raise ParameterError(f"sanitiser: dates is {self.dates!r}; use {quoted(PERIODS)} or 'none'.")
        for name in ("group", "bands"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"sanitiser: {name} is {getattr(self, name)!r}; use true or false.")

    def fit(self, table: Table, rng: np.random.Generator | None) -> SanitiserModel:
        """Sanitise; `rng` is not used, since the procedure is deterministic."""
        check_fits(table, self.name)
        keys = self._key_positions(table.schema)
        people = units(table)
        self._check_enough(people.count, table.schema, keys)
        work = _Work.on(table)
        if self.group:
            work.group()
        if self.dates != "none":
            work.coarsen_dates(self.dates)
        kept, _ = _largest(work.categories(), self.rare, [], 1, people.of_row)
        work.cap(self.cap, kept)
        if self.bands:
            work.start_of_bins(keys)
        classes = work.classes(keys) if keys and self.k > 1 else []
        kept, dropped = _largest(work.categories(), self.rare, classes, self.k, people.of_row)
        counts = Removed(
            rows=len(table),
            rare=int(dropped[0]),
            k_anonymity=int(dropped[1]),
            capped=int(work.capped[kept].sum()),
            grouped=int(work.grouped[kept].sum()),
            coarsened=int(work.coarsened[kept].sum()),
            banded=int(work.banded[kept].sum()),
        )
        notes = (*table.notes, f"sanitiser: {counts}.", *(() if keys or self.k == 1 else (NO_KEYS,)))
        published = replace(work.table(), persons=None, notes=notes)
        return SanitiserModel(published.take(kept), counts)

    def _key_positions(self, schema: Schema) -> list[int]:
        if unknown := [name for name in self.keys if name not in schema.names]:
            raise ParameterError(
                f"sanitiser: keys: there is no column {quoted(unknown)}. Columns: {quoted(schema.names)}."
            )
        return [schema.position(name) for name in self.keys or schema.keys]

    def _check_enough(self, people: int, schema: Schema, keys: list[int]) -> None:
        what = ("person" if schema.person else "row") + ("s" if people > 1 else "")
        if keys and self.k > people:
            raise ParameterError(
                f"sanitiser: k is {self.k}, but the table has {people:,} {what}, so nothing could be published. Lower k."
            )
        if self.rare > people and len(schema.numeric) < len(schema.columns):
            raise ParameterError(
                f"sanitiser: rare is {self.rare}, but the table has {people:,} {what}, so every category is rare. "
                "Lower rare (1 drops nothing)."
            )


@dataclass(frozen=True)
class Removed:
    """What a sanitiser took away: rows by reason, and how many published values are not the real ones."""

    rows: int  # of the real table
    rare: int  # rows dropped since a category was rare
    k_anonymity: int  # rows dropped since too few people shared their keys
    capped: int  # numbers lowered to the quantile
    grouped: int  # categories replaced by their group
    coarsened: int  # dates moved to the start of their period
    banded: int  # numbers among the keys moved to the start of their bin

    @property
    def published(self) -> int:
        """Rows that are left."""
        return self.rows - self.rare - self.k_anonymity

    def __str__(self) -> str:
        return (
            f"{self.published:,} of {self.rows:,} rows published; dropped: {self.rare:,} for rare categories, "
            f"{self.k_anonymity:,} for k-anonymity; changed: {self.grouped:,} categories grouped, {self.capped:,} numbers "
            f"capped, {self.banded:,} banded, {self.coarsened:,} dates coarsened"
        )


@dataclass(frozen=True, eq=False)
class SanitiserModel:
    """The sanitised rows, and what was removed on the way."""

    table: Table
    removed: Removed
    claim: ClassVar[Claim | None] = None

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        """All surviving rows, shuffled; `rows` is not used, since a row-level release publishes everyone left."""
        return self.table.take(rng.permutation(len(self.table)))


class _Work:
    """A copy of a table under change, and where it changed (rows; counts of values)."""

    def __init__(self, schema: Schema, codes: np.ndarray, numbers: np.ndarray, original: Table) -> None:
        self.schema, self.codes, self.numbers, self._original = schema, codes, numbers, original
        self.capped, self.grouped, self.coarsened, self.banded = np.zeros((4, len(codes)), dtype=np.int64)

    @classmethod
    def on(cls, table: Table) -> _Work:
        return cls(table.schema, table.codes.copy(order="F"), table.numbers.copy(order="F"), table)

    def table(self) -> Table:
        return replace(self._original, codes=self.codes, numbers=self.numbers)

    def group(self) -> None:
        for position, column in enumerate(self.schema.columns):
            if column.groups:
                codes = _group_codes(column)[self.codes[:, position]]
                self.grouped += codes != self.codes[:, position]
                self.codes[:, position] = codes

    def coarsen_dates(self, period: str) -> None:
        for place, column in self._numbers():
            if column.kind is Kind.DATETIME:
                starts = np.maximum(start_of_period(self.numbers[:, place], column.resolution, period), column.lower)
                self._set(place, starts, self.coarsened)

    def cap(self, quantile: float, rows: np.ndarray) -> None:
        """Lower numbers above the quantile of these rows to it; it is a value that occurs, so whole numbers stay whole."""
        for place, column in self._numbers():
            numbers = self.numbers[:, place]
            present = numbers[rows][~np.isnan(numbers[rows])]
            if column.kind is not Kind.DATETIME and len(present):
                top = np.quantile(present, quantile, method="inverted_cdf")
                self._set(place, np.minimum(numbers, top), self.capped)

    def start_of_bins(self, keys: list[int]) -> None:
        for place, column in self._numbers():
            position = self.schema.numeric[place]
            if position in keys and column.kind is not Kind.DATETIME:
                starts = np.append(column.edges[:-1], np.nan)
                self._set(place, starts[self.codes[:, position]], self.banded)

    def categories(self) -> list[np.ndarray]:
        """The codes of each categorical column."""
        return [self.codes[:, i] for i, column in enumerate(self.schema.columns) if not column.is_numeric]

    def classes(self, keys: list[int]) -> list[np.ndarray]:
        """The class of each row: rows share one if and only if all their published keys are equal."""
        place = {position: i for i, position in enumerate(self.schema.numeric)}
        label = np.zeros(len(self.codes), dtype=np.int64)
        for position in keys:
            values = self.numbers[:, place[position]] if position in place else self.codes[:, position]
            _, index = np.unique(values, return_inverse=True)  # missing numbers count as equal
            _, label = np.unique(label * (index.max() + 1) + index, return_inverse=True)
        return [label]

    def _numbers(self) -> list[tuple[int, Column]]:
        return [(place, self.schema.columns[position]) for place, position in enumerate(self.schema.numeric)]

    def _set(self, place: int, numbers: np.ndarray, changed: np.ndarray) -> None:
        """Replace a column of numbers, its codes too, and count what changed."""
        position, old = self.schema.numeric[place], self.numbers[:, place]
        moved = (numbers != old) & ~np.isnan(old)
        changed += moved
        self.codes[moved, position] = self.schema.columns[position].bin_of(numbers[moved])
        self.numbers[moved, place] = numbers[moved]


def _group_codes(column: Column) -> np.ndarray:
    """From each code to the code of its group, or to itself where there is none."""
    codes = np.arange(column.code_count)
    for position, (group, members) in enumerate(column.groups):
        for member in members:
            code = column.values.index(member)
            if codes[code] != code:
                other = column.groups[codes[code] - column.size - 1][0]
                raise ParameterError(
                    f"sanitiser: columns.{column.name}.groups: '{member}' is in '{other}' and in '{group}'. Keep it in one."
                )
            codes[code] = column.size + 1 + position
    return codes


def start_of_period(numbers: np.ndarray, resolution: str, period: str) -> np.ndarray:
    """Dates (counts of `resolution` since 1970) moved back to the start of their period; NaN stays."""
    stamps = stamps_of(numbers, resolution)
    if period == "week":  # 1970-01-01 was a Thursday; numpy's weeks start on Thursday, people's on Monday
        starts = (stamps.astype("M8[D]") + 3).astype("M8[W]").astype("M8[D]") - 3
    elif period == "quarter":
        months = stamps.astype("M8[M]")
        starts = months - (months.astype(np.int64) % 3).astype("m8[M]")
    else:
        starts = stamps.astype({"day": "M8[D]", "month": "M8[M]", "year": "M8[Y]"}[period])
    counts = starts.astype(f"M8[{resolution}]").astype(np.int64)
    return np.where(np.isnan(numbers), np.nan, counts)


def _largest(
    categories: list[np.ndarray], rare: int, classes: list[np.ndarray], k: int, people: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The largest set of rows in which no category is rare and no class small, and how many rows went for which reason.

    Dropping rows makes other categories rare and other classes small, so both are enforced again until both hold.
    """
    kept = np.ones(len(people), dtype=bool)
    dropped = np.zeros(2, dtype=np.int64)
    while True:
        before = dropped.sum()
        for reason, (labels, least) in enumerate(((categories, rare), (classes, k))):
            for label in labels if least > 1 else ():
                small = _people_per_label(label, people, kept)[label] < least
                dropped[reason] += (small & kept).sum()
                kept &= ~small
        if dropped.sum() == before:
            return np.flatnonzero(kept), dropped


def _people_per_label(label: np.ndarray, people: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """How many different people have each label among the kept rows."""
    count = int(label.max()) + 1
    pairs = label[kept].astype(np.int64) * (int(people.max()) + 1) + people[kept]
    if len(people) > int(people.max()) + 1:  # somebody has several rows
        pairs = np.unique(pairs)
    return np.bincount(pairs // (int(people.max()) + 1), minlength=count)


def _check_count(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(
            f"sanitiser: {name} is {value!r}; it is a whole number of people, 1 or more (1 switches it off)."
        )
