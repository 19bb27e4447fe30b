"""A schema guessed from the data: convenient, never public, and said so wherever it is used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import InputError, SchemaError
from unmask.tables._dates import ISO, dates_of_texts
from unmask.tables._numerals import LARGEST_INTEGER, NUMBER
from unmask.tables._raw import RawColumn, count_dates, raw_column
from unmask.tables._texts import MISSING_TEXTS, Texts, texts_of
from unmask.tables.noticed import Noticed, sentences
from unmask.tables.schema import MAX_VALUES, Column, Kind, Origin, Schema, quoted

if TYPE_CHECKING:
    import pandas as pd

    from unmask.tables._text_columns import TextColumns

DIGITS = re.compile(r"\s*[+-]?[\d.]+([eE][+-]?\d+)?\s*")  # a number, or a code with leading zeros

# Words in column names that an acquaintance, an employer or a neighbour often knows. Only a proposal: people edit it.
KEY_WORDS = (
    "age sex gender race ethnic ethnicity birth birthday dob zip zipcode postcode postal region state county city country "
    "nationality marital education occupation job profession industry employer religion language children household"
)
KEY_NAME = re.compile(rf"(^|[^a-z])({'|'.join(KEY_WORDS.split())})([^a-z]|$)")

# Words in names of columns that number people.
ID_WORDS = (
    "id ids uid uuid guid pid nr no num number key index idx record row rownum rowid code mrn ssn nhs ahv iban account passport "
    "phone telephone tel mobile fax patientid personid userid customerid clientid memberid recordid"
)
ID_NAME = re.compile(rf"(^|[^a-z])({'|'.join(ID_WORDS.split())})([^a-z]|$)")

# Words in names of columns whose texts name people, also where some share them.
PERSON_WORDS = (
    "name surname lastname firstname forename fullname familyname maidenname username email mail address street phone telephone "
    "mobile"
)
PERSON_NAME = re.compile(rf"(^|[^a-z])({'|'.join(PERSON_WORDS.split())})([^a-z]|$)")
SEVERAL = 20  # texts from which on they name people and not kinds of things

NEARLY_UNIQUE = 0.9  # share of distinct values from which text identifies people
FEW_ROWS = 50  # below this many rows, distinct text proves nothing
ONE_BIN_EACH = 32  # integers with a range this short keep one bin per value


@dataclass(frozen=True)
class Binning:
    """How many bins numbers get, and whether they are equally full or equally wide."""

    bins: int = 20
    quantile: bool = True


@dataclass(frozen=True)
class Inferred:
    """A guessed schema, and what a person should know about the guess."""

    schema: Schema
    noticed: tuple[Noticed, ...]
    readings: tuple[Noticed, ...] = ()  # those that say how texts were read as dates and numbers

    @property
    def notes(self) -> tuple[str, ...]:
        """For people."""
        return sentences(self.noticed)


@dataclass(frozen=True, eq=False)
class Counted:
    """The different numbers of a column in order, and how many rows have each; missing ones are left out."""

    numbers: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, raw: RawColumn, numbers: np.ndarray | None) -> Counted:
        """From the number of each value of a column."""
        numbers = np.empty(0) if numbers is None else numbers
        if raw.index is None:
            return cls(*np.unique(numbers[~np.isnan(numbers)], return_counts=True))
        counts = raw.counts[:-1]
        there = ~np.isnan(numbers) & (counts > 0)
        distinct, place = np.unique(numbers[there], return_inverse=True)
        return cls(distinct, np.bincount(place, counts[there], len(distinct)).astype(np.int64))

    @property
    def rows(self) -> int:
        """How many rows have a number."""
        return int(self.counts.sum())

    def quantiles(self, shares: np.ndarray) -> np.ndarray:
        """The least numbers that so many of all rows do not exceed: numpy's "inverted_cdf", with its rounding."""
        before = self.rows * shares - 1
        places = np.maximum(np.floor(before) + (before > np.floor(before)), 0)
        return self.numbers[np.searchsorted(np.cumsum(self.counts), places, side="right")]


@dataclass(frozen=True)
class Hints:
    """What the caller knows already. A person-id column is always declared here, never guessed."""

    person: str | None = None
    identifiers: tuple[str, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    layouts: Mapping[str, str] = field(default_factory=dict)  # how dates are written, as in strptime


def infer_schema(
    frame: pd.DataFrame | TextColumns,
    where: str = "table",
    *,
    hints: Hints = Hints(),
    binning: Binning = Binning(),
    from_file: bool = False,
    decimal: str = ".",
) -> Inferred:
    """Guess kinds, domains, bins, keys and identifiers (nearly unique text); `decimal` is the file's mark before decimals."""
    identifiers = list(hints.identifiers)
    for name in [*identifiers, *hints.kinds, *([hints.person] if hints.person else [])]:
        if name not in frame.columns:
            raise InputError(f"{where}: there is no column '{name}'. Columns: {quoted(frame.columns)}.")
    columns: list[Column] = []
    notes: list[Noticed] = []
    readings: list[Noticed] = []
    for name in frame.columns:
        if name == hints.person or name in identifiers:
            continue
        raw = raw_column(frame[name], where, from_file=from_file)
        kind, layout = hints.kinds.get(name), hints.layouts.get(name, "")
        texts = texts_of(raw, kind, decimal)
        remarks = [] if layout else [(code, f"{where}: column '{name}' {told}") for code, told in texts.remarks()]
        readings += [Noticed(code, told, (name,)) for code, told in remarks]
        notes += [Noticed(code, told, (name,)) for code, told in remarks]
        if kind is None and (reason := _identifies(raw, texts, len(frame))):
            identifiers.append(name)
            told = f"{where}: column '{name}' is left out as an identifier: {reason}."
            notes.append(Noticed("identifier", told, (name,)))
            continue
        try:
            column = _infer_column(raw, texts, kind, layout or texts.layout, where, binning)
        except SchemaError as problem:  # of the column itself, which does not know its table
            told = str(problem)
            raise SchemaError(told if told.startswith(where) else f"{where}: {told}") from None
        columns.append(column)
        notes += _remarks(column, raw, len(frame), where)
    if not columns:
        raise InputError(f"{where}: every column identifies people, nothing is left to analyse.")
    keys = tuple(column.name for column in columns if KEY_NAME.search(_words(column.name)))
    schema = Schema(tuple(columns), keys, (), tuple(identifiers), hints.person, Origin.INFERRED)
    return Inferred(schema, tuple(notes), tuple(readings))


def identifying_columns(
    frame: pd.DataFrame | TextColumns, where: str, hints: Hints, *, from_file: bool, decimal: str
) -> tuple[str, ...]:
    """The columns that identify people: those that hints name, nearly unique text, and numbers of people or rows.

    Such numbers are columns like any other to a generator, which must give them back; an attack learns nothing from them.
    """
    found = list(hints.identifiers)
    for name in frame.columns:
        if name != hints.person and name not in {*hints.identifiers, *hints.kinds}:
            raw = raw_column(frame[name], where, from_file=from_file)
            texts = texts_of(raw, None, decimal)
            tests = _identifies(raw, texts, len(frame)), _numbers_people(raw, texts), _names_people(raw, texts)
            found += [name] if any(tests) else []
    return tuple(found)


def _words(name: str) -> str:
    """A column name in lower case with CamelCase taken apart."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _identifies(raw: RawColumn, texts: Texts, rows: int) -> str:
    """Why the column looks like an identifier ("" if it does not)."""
    if raw.numbers is not None or raw.fixed:
        return ""
    distinct, present = len(raw.values), rows - raw.missing_count
    if texts.layout or texts.are_numbers:
        return ""
    if distinct > MAX_VALUES:
        return f"it has {distinct:,} distinct values"
    if present >= FEW_ROWS and distinct >= NEARLY_UNIQUE * present:
        return f"{distinct:,} of its {present:,} values are distinct"
    return ""


def _names_people(raw: RawColumn, texts: Texts) -> bool:
    """Whether texts name people: the column is called so, and a tenth of its texts or more are different."""
    if raw.numbers is not None or raw.fixed or texts.layout or texts.are_numbers:
        return False
    distinct, present = len(raw.values), len(raw.index) - raw.missing_count if raw.index is not None else 0
    return distinct >= max(SEVERAL, present / 10) and bool(PERSON_NAME.search(_words(raw.name)))


def _numbers_people(raw: RawColumn, texts: Texts) -> bool:
    """Whether whole numbers are those of people or rows: all differ, and they run from 1 to n or the name says so."""
    found = None if raw.numbers is None else Counted.of(raw, raw.numbers)
    if found is None and texts.numbers is not None and texts.are_numbers:
        found = Counted.of(raw, _by_value(raw, texts, texts.numbers.numbers))
    if found is None or raw.resolution or raw.fixed:
        return False
    if found.rows < FEW_ROWS or (found.counts > 1).any() or (found.numbers != np.floor(found.numbers)).any():
        return False
    return bool(found.numbers[-1] - found.numbers[0] < 2 * found.rows) or bool(ID_NAME.search(_words(raw.name)))


def _infer_column(raw: RawColumn, texts: Texts, kind: Kind | None, layout: str, where: str, binning: Binning) -> Column:
    if kind is Kind.CATEGORICAL:
        return _categorical(raw.as_categories())
    if raw.resolution:
        missing = ("",) if raw.missing_count else ()
        column = _range(raw.name, Kind.DATETIME, Counted.of(raw, raw.numbers), binning)
        return replace(column, missing=missing, dtype=raw.dtype, resolution=raw.resolution)
    if raw.numbers is not None:
        found = Counted.of(raw, raw.numbers)
        return _numeric(raw.name, found, raw.dtype, ("",) if raw.missing_count else (), binning)
    if kind is Kind.DATETIME or texts.layout:
        return _date_column(raw, texts, layout, where, binning)
    if texts.numbers is not None and texts.are_numbers:
        found = Counted.of(raw, _by_value(raw, texts, texts.numbers.numbers))
        column = _numeric(raw.name, found, "int64" if texts.numbers.whole else "float64", texts.missing, binning)
        numerals = texts.numbers.numerals
        return replace(column, decimal=numerals.decimal, thousands=numerals.thousands)
    if kind is None:
        return _categorical(raw)
    strange = [text for text in raw.texts if not NUMBER.fullmatch(text)] or texts.present
    raise SchemaError(
        f"{where}: column '{raw.name}' is declared as a number, but holds {quoted(strange)}.\n"
        "Declare it as categorical, or remove those values."
    )


def _by_value(raw: RawColumn, texts: Texts, numbers: np.ndarray) -> np.ndarray:
    """The number of each text of a column, from that of each that is present; NaN for those that mean missing."""
    if len(texts.present) == len(raw.texts):
        return numbers
    number_of = dict(zip(texts.present, numbers, strict=True))
    return np.array([number_of.get(text, np.nan) for text in raw.texts])


def _date_column(raw: RawColumn, texts: Texts, layout: str, where: str, binning: Binning) -> Column:
    stamps = dates_of_texts(texts.present, layout or ISO)
    if np.isnat(stamps).any():
        strange = [text for text, stamp in zip(texts.present, stamps, strict=True) if np.isnat(stamp)]
        raise SchemaError(
            f"{where}: column '{raw.name}' is declared as a date, but {quoted(strange)} is not written as "
            f"'{layout or ISO}'.\nGive the right format, or declare it as categorical."
        )
    numbers, resolution = count_dates(stamps)
    column = _range(raw.name, Kind.DATETIME, Counted.of(raw, _by_value(raw, texts, numbers)), binning)
    return replace(column, missing=texts.missing, dtype=raw.dtype, format=layout, resolution=resolution)


def _categorical(raw: RawColumn) -> Column:
    values = raw.values if raw.fixed else tuple(sorted(raw.values, key=lambda value: (str(type(value)), value)))
    missing = _free_text(raw) if raw.missing_count else ()
    return Column(raw.name, Kind.CATEGORICAL, values=values, ordered=raw.ordered, missing=missing, dtype=raw.dtype)


def _free_text(raw: RawColumn) -> tuple[str, ...]:
    """A text for "missing" that is not a value of the column."""
    return (next(text for text in (*MISSING_TEXTS, "(missing)", "(no value)") if text not in raw.texts),)


def _numeric(name: str, found: Counted, dtype: str, missing: tuple[str, ...], binning: Binning) -> Column:
    numbers = found.numbers
    whole = len(numbers) > 0 and bool(np.all(numbers == np.floor(numbers))) and np.abs(numbers).max() <= LARGEST_INTEGER
    column = _range(name, Kind.INTEGER if whole else Kind.CONTINUOUS, found, binning)
    column = replace(column, dtype=dtype, missing=missing)
    short = whole and column.upper - column.lower < ONE_BIN_EACH
    cuts = quantile_cuts(column, found, binning.bins) if binning.quantile and not short else ()
    return replace(column, cuts=cuts)


def _range(name: str, kind: Kind, found: Counted, binning: Binning) -> Column:
    lower, upper = (float(found.numbers[0]), float(found.numbers[-1])) if found.rows else (0.0, 0.0)
    short = kind is Kind.INTEGER and upper - lower < ONE_BIN_EACH
    return Column(name, kind, lower=lower, upper=upper, bins=int(upper - lower) + 1 if short else binning.bins)


def quantile_cuts(column: Column, found: Counted, bins: int) -> tuple[float, ...]:
    """Inner cut points that give bins of about equally many rows; a value that fills a bin alone gets one of its own."""
    if not found.rows:
        return ()
    distinct = found.numbers
    cuts = set(found.quantiles(np.arange(1, bins) / bins))
    heavy = np.flatnonzero(found.counts > found.rows / bins)
    cuts |= {distinct[i] for i in heavy} | {distinct[i + 1] for i in heavy if i + 1 < len(distinct)}
    return tuple(sorted(float(cut) for cut in cuts if cut > column.lower))


def _remarks(column: Column, raw: RawColumn, rows: int, where: str) -> list[Noticed]:
    """What a person should check about a guessed column."""
    name, notes = f"{where}: column '{column.name}'", list[Noticed]()

    def add(code: str, told: str) -> None:
        notes.append(Noticed(code, f"{name} {told}", (column.name,)))

    if raw.missing_count == rows:
        add("all-missing", "has no values at all.")
    elif rows > 1 and not raw.missing_count and _is_constant(column):
        add("constant", "has the same value in every row.")
    if column.kind is Kind.INTEGER and rows >= FEW_ROWS and _distinct(column, raw) == rows:
        add("all-different", "differs in every row; if it identifies people, list it under identifiers.")
    if column.kind is Kind.CATEGORICAL and raw.from_file:
        others = [text for text in raw.texts if not DIGITS.fullmatch(text)]
        if len(raw.texts) > 2 * len(others) > 0:
            add(
                "mostly-numbers",
                f"is mostly numbers, but {len(others)} of its texts are not, so it is taken as categories. "
                "If it is a number, set its kind in the schema and list those texts under missing.",
            )
    return notes


def _is_constant(column: Column) -> bool:
    return column.lower == column.upper if column.is_numeric else len(column.values) == 1


def _distinct(column: Column, raw: RawColumn) -> int:
    if raw.numbers is None:
        return len(raw.values)
    return len(Counted.of(raw, raw.numbers).numbers) + bool(raw.missing_count)
