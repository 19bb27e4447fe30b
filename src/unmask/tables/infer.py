"""A schema guessed from the data: convenient, never public, and said so wherever it is used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from unmask.errors import InputError, SchemaError
from unmask.tables._dates import dates_of_texts
from unmask.tables._raw import RawColumn, count_dates, raw_column
from unmask.tables.schema import LARGEST_INTEGER, MAX_VALUES, Column, Kind, Origin, Schema, quoted

# Texts that mean "missing" when everything else in the column is a number.
MISSING_TEXTS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?", "-", ".")
INTEGER = re.compile(r"\s*[+-]?(0|[1-9]\d*)\s*")
NUMBER = re.compile(r"\s*[+-]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?([eE][+-]?\d+)?\s*")
DIGITS = re.compile(r"\s*[+-]?[\d.]+([eE][+-]?\d+)?\s*")  # a number, or a code with leading zeros
DATE_LAYOUTS = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S.%f",
)

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
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Hints:
    """What the caller knows already. A person-id column is always declared here, never guessed."""

    person: str | None = None
    identifiers: tuple[str, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    layouts: Mapping[str, str] = field(default_factory=dict)  # how dates are written, as in strptime


def infer_schema(
    frame: pd.DataFrame,
    where: str = "table",
    *,
    hints: Hints = Hints(),
    binning: Binning = Binning(),
    from_file: bool = False,
    guess_identifiers: bool = True,
) -> Inferred:
    """Guess kinds, domains, bins, keys and identifiers (nearly unique text)."""
    identifiers = list(hints.identifiers)
    for name in [*identifiers, *hints.kinds, *([hints.person] if hints.person else [])]:
        if name not in frame.columns:
            raise InputError(f"{where}: there is no column '{name}'. Columns: {quoted(frame.columns)}.")
    columns, notes = [], []
    for name in frame.columns:
        if name == hints.person or name in identifiers:
            continue
        raw = raw_column(frame[name], where, from_file=from_file)
        kind, layout = hints.kinds.get(name), hints.layouts.get(name, "")
        if guess_identifiers and kind is None and (reason := _identifies(raw, len(frame))):
            identifiers.append(name)
            notes.append(f"{where}: column '{name}' is left out as an identifier: {reason}.")
            continue
        try:
            column = _infer_column(raw, kind, layout, where, binning)
        except SchemaError as problem:  # of the column itself, which does not know its table
            told = str(problem)
            raise SchemaError(told if told.startswith(where) else f"{where}: {told}") from None
        columns.append(column)
        notes += _remarks(column, raw, len(frame), where)
    if not columns:
        raise InputError(f"{where}: every column identifies people, nothing is left to analyse.")
    keys = tuple(column.name for column in columns if KEY_NAME.search(_words(column.name)))
    schema = Schema(tuple(columns), keys, (), tuple(identifiers), hints.person, Origin.INFERRED)
    return Inferred(schema, tuple(notes))


def identifiers_in(frame: pd.DataFrame, where: str, hints: Hints, *, from_file: bool) -> tuple[str, ...]:
    """The columns that identify people: those that hints name, nearly unique text, and numbers of people or rows.

    Such numbers are columns like any other to a generator, which must give them back; an attack learns nothing from them.
    """
    found = list(hints.identifiers)
    for name in frame.columns:
        if name != hints.person and name not in {*hints.identifiers, *hints.kinds}:
            raw = raw_column(frame[name], where, from_file=from_file)
            found += [name] if _identifies(raw, len(frame)) or _numbers_people(raw) else []
    return tuple(found)


def _words(name: str) -> str:
    """A column name in lower case with CamelCase taken apart."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _identifies(raw: RawColumn, rows: int) -> str:
    """Why the column looks like an identifier ("" if it does not)."""
    if raw.numbers is not None or raw.fixed:
        return ""
    distinct, present = len(raw.values), rows - raw.missing_count
    if _date_layout(raw) or (raw.from_file and _numbers_in(raw) is not None):
        return ""
    if distinct > MAX_VALUES:
        return f"it has {distinct:,} distinct values"
    if present >= FEW_ROWS and distinct >= NEARLY_UNIQUE * present:
        return f"{distinct:,} of its {present:,} values are distinct"
    return ""


def _numbers_people(raw: RawColumn) -> bool:
    """Whether whole numbers are those of people or rows: all differ, and they run from 1 to n or the name says so."""
    numbers = raw.numbers
    if numbers is None and raw.from_file and (found := _numbers_in(raw)) is not None:
        numbers = np.append(found[0], np.nan)[raw.index]
    if numbers is None or raw.resolution or raw.fixed:
        return False
    present = np.sort(numbers[~np.isnan(numbers)])
    if len(present) < FEW_ROWS or (np.diff(present) <= 0).any() or (present != np.floor(present)).any():
        return False
    return bool(present[-1] - present[0] < 2 * len(present)) or bool(ID_NAME.search(_words(raw.name)))


def _infer_column(raw: RawColumn, kind: Kind | None, layout: str, where: str, binning: Binning) -> Column:
    if kind is Kind.CATEGORICAL:
        return _categorical(raw.as_categories())
    if raw.resolution:
        missing = ("",) if raw.missing_count else ()
        column = _range(raw.name, Kind.DATETIME, raw.numbers, binning)
        return replace(column, missing=missing, dtype=raw.dtype, resolution=raw.resolution)
    if raw.numbers is not None:
        return _numeric(raw.name, raw.numbers, raw.dtype, ("",) if raw.missing_count else (), binning)
    if kind is Kind.DATETIME or (kind is None and _date_layout(raw)):
        return _date_column(raw, layout or _date_layout(raw), where, binning)
    found = _numbers_in(raw) if raw.from_file or kind else None
    if found is not None:
        by_text, missing_texts = found
        numbers = np.append(by_text, np.nan)[raw.index]  # index -1 reads the appended NaN
        whole = all(INTEGER.fullmatch(text) for text in raw.texts if text not in missing_texts)
        return _numeric(raw.name, numbers, "int64" if whole else "float64", missing_texts, binning)
    if kind is None:
        return _categorical(raw)
    strange = [text for text in raw.texts if not NUMBER.fullmatch(text)]
    raise SchemaError(
        f"{where}: column '{raw.name}' is declared as a number, but holds {quoted(strange)}.\n"
        "Declare it as categorical, or remove those values."
    )


def _numbers_in(raw: RawColumn) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """The number of each distinct text, and which texts mean missing; None unless every other text is a number."""
    texts = [text for text in raw.texts if text not in MISSING_TEXTS]
    if not texts or not all(NUMBER.fullmatch(text) for text in texts):
        return None
    numbers = np.array([np.nan if text in MISSING_TEXTS else float(text) for text in raw.texts])
    present = numbers[~np.isnan(numbers)]
    if np.isinf(present).any() or (all(map(INTEGER.fullmatch, texts)) and np.abs(present).max() > LARGEST_INTEGER):
        return None
    missing = [text for text in raw.texts if text in MISSING_TEXTS]
    if raw.missing_count:
        missing.insert(0, "")
    return numbers, tuple(dict.fromkeys(missing))


def _date_layout(raw: RawColumn) -> str:
    """The one ISO layout in which every text is a date, or ""."""
    texts = raw.texts
    if not texts or not raw.is_text or raw.fixed or not all(text[:4].isdigit() and text[4:5] == "-" for text in texts):
        return ""
    return next((layout for layout in DATE_LAYOUTS if not np.isnat(dates_of_texts(texts, layout)).any()), "")


def _date_column(raw: RawColumn, layout: str, where: str, binning: Binning) -> Column:
    stamps = dates_of_texts(raw.texts, layout) if layout else np.full(len(raw.texts), np.datetime64("NaT"))
    if np.isnat(stamps).any():
        strange = [text for text, stamp in zip(raw.texts, stamps, strict=True) if np.isnat(stamp)]
        raise SchemaError(
            f"{where}: column '{raw.name}' is declared as a date, but {quoted(strange)} is not written as "
            f"'{layout or '%Y-%m-%d'}'.\nGive the right format, or declare it as categorical."
        )
    numbers, resolution = count_dates(stamps)
    column = _range(raw.name, Kind.DATETIME, numbers, binning)
    missing = _free_text(raw) if raw.missing_count else ()
    return replace(column, missing=missing, dtype=raw.dtype, format=layout, resolution=resolution)


def _categorical(raw: RawColumn) -> Column:
    values = raw.values if raw.fixed else tuple(sorted(raw.values, key=lambda value: (str(type(value)), value)))
    missing = _free_text(raw) if raw.missing_count else ()
    return Column(raw.name, Kind.CATEGORICAL, values=values, ordered=raw.ordered, missing=missing, dtype=raw.dtype)


def _free_text(raw: RawColumn) -> tuple[str, ...]:
    """A text for "missing" that is not a value of the column."""
    return (next(text for text in (*MISSING_TEXTS, "(missing)", "(no value)") if text not in raw.texts),)


def _numeric(name: str, numbers: np.ndarray, dtype: str, missing: tuple[str, ...], binning: Binning) -> Column:
    present = numbers[~np.isnan(numbers)]
    whole = len(present) > 0 and bool(np.all(present == np.floor(present))) and np.abs(present).max() <= LARGEST_INTEGER
    column = _range(name, Kind.INTEGER if whole else Kind.CONTINUOUS, numbers, binning)
    column = replace(column, dtype=dtype, missing=missing)
    short = whole and column.upper - column.lower < ONE_BIN_EACH
    cuts = quantile_cuts(column, present, binning.bins) if binning.quantile and not short else ()
    return replace(column, cuts=cuts)


def _range(name: str, kind: Kind, numbers: np.ndarray | None, binning: Binning) -> Column:
    present = numbers[~np.isnan(numbers)] if numbers is not None else np.empty(0)
    lower, upper = (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)
    short = kind is Kind.INTEGER and upper - lower < ONE_BIN_EACH
    return Column(name, kind, lower=lower, upper=upper, bins=int(upper - lower) + 1 if short else binning.bins)


def quantile_cuts(column: Column, present: np.ndarray, bins: int) -> tuple[float, ...]:
    """Inner cut points that give bins of about equally many rows; a value that fills a bin alone gets one of its own."""
    if not len(present):
        return ()
    distinct, counts = np.unique(present, return_counts=True)
    cuts = set(np.quantile(present, np.arange(1, bins) / bins, method="inverted_cdf"))
    heavy = np.flatnonzero(counts > len(present) / bins)
    cuts |= {distinct[i] for i in heavy} | {distinct[i + 1] for i in heavy if i + 1 < len(distinct)}
    return tuple(sorted(float(cut) for cut in cuts if cut > column.lower))


def _remarks(column: Column, raw: RawColumn, rows: int, where: str) -> list[str]:
    """What a person should check about a guessed column."""
    name, notes = f"{where}: column '{column.name}'", []
    if raw.missing_count == rows:
        notes.append(f"{name} has no values at all.")
    elif rows > 1 and not raw.missing_count and _is_constant(column):
        notes.append(f"{name} has the same value in every row.")
    if column.kind is Kind.INTEGER and rows >= FEW_ROWS and _distinct(column, raw) == rows:
        notes.append(f"{name} differs in every row; if it identifies people, list it under identifiers.")
    if column.kind is Kind.CATEGORICAL and raw.from_file:
        others = [text for text in raw.texts if not DIGITS.fullmatch(text)]
        if len(raw.texts) > 2 * len(others) > 0:
            notes.append(
                f"{name} is mostly numbers, but {len(others)} of its texts are not, so it is taken as categories. "
                "If it is a number, set its kind in the schema and list those texts under missing."
            )
    return notes


def _is_constant(column: Column) -> bool:
    return column.lower == column.upper if column.is_numeric else len(column.values) == 1


def _distinct(column: Column, raw: RawColumn) -> int:
    return len(raw.values) if raw.numbers is None else len(np.unique(raw.numbers))
