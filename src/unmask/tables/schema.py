"""What a table may hold: its columns, their public domains, and what each column is for.

A schema is meant to be public knowledge. One that was inferred from the data says so (`origin`), because a
differential-privacy claim does not survive it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from unmask.errors import SchemaError
from unmask.tables._numerals import DECIMAL_MARKS, LARGEST_INTEGER, THOUSANDS_MARKS, Numerals

Value = str | int | float | bool

MAX_VALUES = 65_000  # codes, the missing one and the groups must fit sixteen bits


class Kind(StrEnum):
    """What a column holds."""

    CATEGORICAL = "categorical"
    INTEGER = "integer"
    CONTINUOUS = "continuous"
    DATETIME = "datetime"


class Origin(StrEnum):
    """Where the domains of a schema come from."""

    PUBLIC = "public"
    INFERRED = "inferred from the data"


def text_of(value: object) -> str:
    """The text of a category: how a value is written in a file, whatever type it has in a frame."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


@dataclass(frozen=True)
class Column:
    """One column and its public domain.

    Its codes are: the values (or bins) in order, then one code for *missing* if allowed. The next code,
    `size`, stands for a value that the schema does not list, and the codes after that for the groups.
    """

    name: str
    kind: Kind
    values: tuple[Value, ...] = ()  # categorical: the categories, in order
    ordered: bool = False
    groups: tuple[tuple[str, tuple[Value, ...]], ...] = ()  # coarser values and what each stands for
    lower: float = 0.0  # numbers: the public range; dates count `resolution`s since 1970
    upper: float = 0.0
    bins: int = 20  # equal bins over the range, unless cuts are given
    cuts: tuple[float, ...] = ()  # inner cut points; a cut belongs to the bin on its right
    missing: tuple[str, ...] = ()  # texts that mean "missing" in a file; the first is written; () = not allowed
    dtype: str = ""  # pandas type to give back; "" = the natural one
    format: str = ""  # dates: how they are written in text, as in strptime; %-d and %-m for no leading zero
    resolution: str = ""  # dates: D, s or us
    decimal: str = "."  # numbers: the mark before decimals in text, a point or a comma
    thousands: str = ""  # numbers: the mark between thousands in text, if any

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            object.__setattr__(self, name, float(getattr(self, name)))
        object.__setattr__(self, "cuts", tuple(float(cut) for cut in self.cuts))
        _check_column(self)

    @property
    def is_numeric(self) -> bool:
        """Whether values are numbers or dates, kept in `Table.numbers` beside their bins."""
        return self.kind is not Kind.CATEGORICAL

    @property
    def is_integral(self) -> bool:
        """Whether only whole numbers occur (dates count whole units of their resolution)."""
        return self.kind in (Kind.INTEGER, Kind.DATETIME)

    @property
    def numerals(self) -> Numerals:
        """How numbers are written in text."""
        return Numerals(self.decimal, self.thousands)

    @cached_property
    def listed(self) -> int:
        """How many values or bins there are, the missing one not counted."""
        return len(self.values) if self.kind is Kind.CATEGORICAL else len(self.edges) - 1

    @property
    def size(self) -> int:
        """How many codes the public domain has, the missing one included."""
        return self.listed + bool(self.missing)

    @property
    def missing_code(self) -> int:
        """The code of a missing value; the unlisted code where missing values are not allowed."""
        return self.listed

    @property
    def unlisted_code(self) -> int:
        """The code of a value that the schema does not list: it matches no value of the domain."""
        return self.size

    @property
    def code_count(self) -> int:
        """How many codes can occur in any table: the domain, the unlisted one, the groups."""
        return self.size + 1 + len(self.groups)

    @cached_property
    def edges(self) -> np.ndarray:
        """Bin limits from the lower to the upper end: bin i holds edges[i] <= x < edges[i+1], the last one x = upper too.

        Whole numbers get limits that fall on whole numbers, one past the upper end included, so that each bin holds some.
        """
        top = self.upper + 1 if self.is_integral else self.upper
        if self.cuts:
            return np.array([self.lower, *self.cuts, top])
        if self.lower == self.upper:
            with np.errstate(over="ignore"):  # beyond the largest number there is infinity, which is a limit too
                return np.array([self.lower, max(top, np.nextafter(self.lower, np.inf))])
        if not self.is_integral:
            return np.linspace(self.lower, top, self.bins + 1)
        bins = int(min(self.bins, top - self.lower))
        return np.floor(np.linspace(self.lower, top, bins + 1))

    def bin_of(self, numbers: np.ndarray) -> np.ndarray:
        """The bin of each number; numbers below or above the range get the first or the last bin."""
        return np.searchsorted(self.edges[1:-1], numbers, side="right")

    @cached_property
    def code_of_text(self) -> dict[str, int]:
        """From the text of each value and group to its code (categorical columns)."""
        codes = {text_of(value): code for code, value in enumerate(self.values)}
        for position, (name, _) in enumerate(self.groups):
            codes[name] = self.size + 1 + position
        return codes


def _check_column(column: Column) -> None:
    where = f"columns.{column.name}"
    if column.kind is Kind.CATEGORICAL:
        _check_values(column, where)
        return
    if column.values or column.groups:
        raise SchemaError(
            f"{where}: a column of kind {column.kind} has no values or groups.\n"
            f"Remove them, or set {where}.kind to 'categorical'."
        )
    if not (np.isfinite(column.lower) and np.isfinite(column.upper)):
        raise SchemaError(f"{where}: lower and upper must be finite numbers. Write the widest range that is public.")
    if not np.isfinite(column.upper - column.lower):
        raise SchemaError(
            f"{where}: from {column.lower:g} to {column.upper:g} is wider than numbers can tell. Rescale the column, or make "
            "its largest values missing."
        )
    if column.lower > column.upper:
        raise SchemaError(f"{where}: lower {column.lower:g} is above upper {column.upper:g}. Swap them.")
    if column.is_integral and not (column.lower.is_integer() and column.upper.is_integer()):
        raise SchemaError(f"{where}: lower and upper of kind {column.kind} must be whole. Round them outwards.")
    if max(abs(column.lower), abs(column.upper)) > LARGEST_INTEGER and column.is_integral:
        raise SchemaError(f"{where}: whole numbers beyond 2^53 cannot be kept exactly. Make the column categorical.")
    if not 1 <= column.bins <= MAX_VALUES:
        raise SchemaError(f"{where}: bins is {column.bins}; use 1 to {MAX_VALUES}.")
    if column.decimal not in DECIMAL_MARKS or column.thousands not in ("", *THOUSANDS_MARKS):
        raise SchemaError(
            f"{where}: decimal is '{column.decimal}' and thousands '{column.thousands}'. Use a point or a comma for decimal, and "
            "nothing, a point, a comma, a space or an apostrophe for thousands."
        )
    if column.decimal == column.thousands:
        raise SchemaError(f"{where}: decimal and thousands are both '{column.decimal}'. Change one of them.")
    cuts = np.array(column.cuts)
    if len(cuts) and not (np.all(np.diff(cuts) > 0) and cuts[0] > column.lower and cuts[-1] <= column.upper):
        raise SchemaError(f"{where}: cuts must rise strictly, above lower and not above upper.")
    if column.is_integral and any(not cut.is_integer() for cut in column.cuts):
        raise SchemaError(f"{where}: cuts of a column of kind {column.kind} must be whole numbers.")


def _check_values(column: Column, where: str) -> None:
    texts = [text_of(value) for value in column.values] + [name for name, _ in column.groups]
    repeated = repeats(texts)
    if repeated:
        raise SchemaError(f"{where}.values: {quoted(repeated)} occurs more than once. Keep one of each.")
    if len(texts) > MAX_VALUES:
        raise SchemaError(
            f"{where}: {len(texts):,} values are too many for a categorical column (at most {MAX_VALUES:,}).\n"
            "If it identifies people, list it under identifiers; if it is a number, set its kind."
        )
    clash = sorted(set(texts) & set(column.missing))
    if clash:
        raise SchemaError(f"{where}: {quoted(clash)} is listed as a value and as missing. Keep it in one place.")
    listed = set(column.values)
    for name, members in column.groups:
        if stray := [member for member in members if member not in listed]:
            raise SchemaError(f"{where}.groups.{name}: {quoted(stray)} is not among the values.")


@dataclass(frozen=True)
class Schema:
    """The columns of a table, what they are for, and where their domains come from."""

    columns: tuple[Column, ...]
    keys: tuple[str, ...] = ()  # what an attacker may know about a person (quasi-identifiers)
    secrets: tuple[str, ...] = ()  # what nobody should learn
    identifiers: tuple[str, ...] = ()  # dropped at the door
    person: str | None = None  # all rows with the same value belong to one person, the unit of privacy
    origin: Origin = Origin.PUBLIC

    def __post_init__(self) -> None:
        names = list(self.names)
        if not names:
            raise SchemaError("The schema has no columns. List at least one under columns.")
        if doubled := repeats(names):
            raise SchemaError(f"The schema lists {quoted(doubled)} more than once. Keep one of each.")
        for use, listed in (("keys", self.keys), ("secrets", self.secrets)):
            if unknown := [name for name in listed if name not in names]:
                raise SchemaError(f"{use}: there is no column {quoted(unknown)}. Columns: {quoted(names)}.")
        outside = [*self.identifiers, *([self.person] if self.person else [])]
        if both := [name for name in outside if name in names]:
            raise SchemaError(
                f"{quoted(both)}: an identifier or person column is not analysed, so it may not stand under columns too.\n"
                "Remove it from one of the two places."
            )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def numeric(self) -> tuple[int, ...]:
        """Positions of the columns whose numbers are kept; their order is the order of `Table.numbers`."""
        return tuple(position for position, column in enumerate(self.columns) if column.is_numeric)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Size of each column's public domain, the missing code included."""
        return np.array([column.size for column in self.columns], dtype=np.int64)

    @cached_property
    def code_type(self) -> np.dtype:
        """Smallest unsigned integer that holds every code of every column."""
        return np.min_scalar_type(max(column.code_count - 1 for column in self.columns))

    def position(self, name: str) -> int:
        """Where the column stands; an error that lists the columns if there is none of that name."""
        if name not in self._places:
            raise SchemaError(f"There is no column '{name}'. Columns: {quoted(self.names)}.")
        return self._places[name]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def column(self, name: str) -> Column:
        """The column of that name."""
        return self.columns[self.position(name)]

    def with_columns(self, columns: Iterable[Column], **changes: object) -> Schema:
        """The same schema with other columns; keys and secrets that are gone are forgotten."""
        columns = tuple(columns)
        names = {column.name for column in columns}
        kept = replace(
            self,
            columns=columns,
            keys=tuple(name for name in self.keys if name in names),
            secrets=tuple(name for name in self.secrets if name in names),
        )
        return replace(kept, **changes) if changes else kept  # type: ignore[arg-type]


def repeats(names: Iterable[str]) -> list[str]:
    """Those that occur more than once."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def quoted(items: Iterable[object], most: int = 8) -> str:
    """Items for a message: quoted, shortened, at most a few, and each on one line."""
    texts = [str(item) for item in items]
    lines = [" ".join((text if len(text) <= 40 else text[:37] + "...").splitlines()) for text in texts[:most]]
    shown = ", ".join(f"'{line}'" for line in lines)
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most:,} more"
