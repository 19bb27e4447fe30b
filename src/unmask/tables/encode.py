"""From raw columns to codes and numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from unmask.errors import SchemaError
from unmask.tables._dates import ISO, SHAPE, dates_of_texts, layouts_of
from unmask.tables._numerals import ALL_NUMERALS, Numerals, rounded, stay_apart
from unmask.tables._raw import RawColumn
from unmask.tables.narrow import spread
from unmask.tables.schema import Column, Kind, quoted

Way = Numerals | str  # how numbers are written, or the layout of dates
ROUNDED = (
    "has numbers with more digits than a calculation keeps (about 16). They are rounded ({:,} distinct text{}), and {} become "
    "equal."
)


class Unlisted(StrEnum):
    """What to do with values that the schema does not list."""

    ERROR = "error"  # the real table: the schema is wrong
    NOTE = "note"  # a synthetic table: give it a code that matches nothing, and say so


@dataclass(frozen=True, eq=False)
class Encoded:
    """The code of each value of a column, its number if it has any, which value each row has, and what happened on the way."""

    code_of: np.ndarray
    number_of: np.ndarray | None
    index: np.ndarray | None  # None = a value for each row
    notes: tuple[str, ...] = ()

    @property
    def codes(self) -> np.ndarray:
        """The code of each row."""
        return self.code_of if self.index is None else spread(self.code_of, self.index)


def encode(raw: RawColumn, column: Column, where: str, *, unlisted: Unlisted = Unlisted.ERROR) -> Encoded:
    """Codes and numbers of a column against its schema; nothing is coerced or dropped in silence.

    All is done once for each value: a million rows have few, and only in the end each row is given those of its own.
    """
    texts_may_be_missing = raw.numbers is None
    if raw.numbers is None or not column.is_numeric or (column.kind is Kind.DATETIME) != bool(raw.resolution):
        raw = raw.as_categories()
    missing = _missing_mask(raw, column if texts_may_be_missing else None)
    numbers = None
    problems, notes = [], []
    if column.kind is Kind.CATEGORICAL:
        codes, strange = _category_codes(raw, column)
    else:
        numbers, no_numbers, remarks = _numbers(raw, column, any_layout=unlisted is Unlisted.NOTE)
        notes += [f"{where}: column '{column.name}' {remark}" for remark in remarks]
        codes, outside = _bin_codes(numbers, missing, column)
        strange = no_numbers + _listed(numbers[outside & _used(raw)], column)
    if strange:
        problems.append(_unlisted_message(column, strange, where))
        notes.append(f"{where}: column '{column.name}' has {_many(strange)} outside the schema; they match nothing.")
    if not column.missing and (missing & _used(raw)).any():
        problems.append(
            f"{where}: column '{column.name}' has missing values, and the schema does not allow them.\n"
            f'If they are valid, set columns.{column.name}.missing to the texts that mean missing, such as [""].'
        )
        notes.append(f"{where}: column '{column.name}' has missing values, which the schema does not allow.")
    if problems and unlisted is Unlisted.ERROR:
        raise SchemaError("\n".join(problems))
    small = np.min_scalar_type(column.code_count)
    return Encoded(
        codes.astype(small), numbers, raw.index, tuple(notes)
    )  # errors show values to their owner; notes go into results, so they do not


def _used(raw: RawColumn) -> np.ndarray:
    """Which values some row has, as `_missing_mask` lists them."""
    return raw.counts > 0 if raw.index is not None else np.ones(1, dtype=bool)


def _missing_mask(raw: RawColumn, column: Column | None) -> np.ndarray:
    """Which values mean missing, and at the end that there is none, where rows have values by an index."""
    if raw.numbers is not None:
        gone = np.isnan(raw.numbers)
        return gone if raw.index is None else np.append(gone, True)
    return np.array([column is not None and text in column.missing for text in raw.texts] + [True])


def _category_codes(raw: RawColumn, column: Column) -> tuple[np.ndarray, list[str]]:
    known = column.code_of_text
    by_value, strange = [], []
    for text in raw.texts:
        if text in known:
            by_value.append(known[text])
        elif text in column.missing:
            by_value.append(column.missing_code)
        else:
            by_value.append(column.unlisted_code)
            strange.append(text)
    return np.array([*by_value, column.missing_code], dtype=np.int64), strange


def _numbers(raw: RawColumn, column: Column, *, any_layout: bool) -> tuple[np.ndarray, list[str], list[str]]:
    """The number of each value, the texts that are none, and what to say about their reading."""
    if raw.numbers is not None:
        numbers = _rescaled(raw, column)
        return (numbers if raw.index is None else np.append(numbers, np.nan)), [], []
    texts = tuple(text for text in raw.texts if text not in column.missing)
    counts, way = _read(texts, column, any_layout=any_layout)
    remarks = []
    if way != _own(column):
        remarks.append(f"is written {_told(way)} here and not {_told(_own(column))}; it was read so.")
    if isinstance(way, Numerals) and len(long := rounded(plain := way.plain_texts(texts), counts)):
        if column.is_integral:  # it is not the number that it would be rounded to
            counts[long] = np.nan
        else:
            equal = "no two" if stay_apart(plain, counts, long) else "some"
            remarks.append(ROUNDED.format(len(long), "s" if len(long) > 1 else "", equal))
    strange = [text for text, number in zip(texts, counts, strict=True) if np.isnan(number)]
    if len(texts) == len(raw.texts):
        return np.append(counts, np.nan), strange, remarks
    number_of = dict(zip(texts, counts, strict=True))
    return np.array([number_of.get(text, np.nan) for text in raw.texts] + [np.nan]), strange, remarks


def _own(column: Column) -> Way:
    """How a column is written by its schema."""
    return (column.format or ISO) if column.kind is Kind.DATETIME else column.numerals


def _told(way: Way) -> str:
    return f"with {way}" if isinstance(way, Numerals) else f"as '{way}'"


def _read(texts: tuple[str, ...], column: Column, *, any_layout: bool) -> tuple[np.ndarray, Way]:
    """The number of each text as the schema says it is written, or in the way in which more of them are in its range."""
    best, way = _counts_of(texts, column, _own(column)), _own(column)
    if not np.isnan(best).any():
        return best, way
    others: Iterable[Way] = ALL_NUMERALS
    if column.kind is Kind.DATETIME:  # where a schema names a layout, a real table has to keep to it
        free = any_layout or not column.format
        others = layouts_of([text for text in texts if SHAPE.fullmatch(text)]) if free else ()
    for other in others:
        counts = _counts_of(texts, column, other)
        if _inside(counts, column).sum() > _inside(best, column).sum():
            best, way = counts, other
    return best, way


def _counts_of(texts: tuple[str, ...], column: Column, way: Way) -> np.ndarray:
    """The number of each text, or how many units of time its date counts; NaN where these are not whole."""
    if isinstance(way, Numerals):
        return way.numbers(texts)
    counts = _counts(stamps := dates_of_texts(texts, way), column)
    return np.where(stamps_of(counts, column.resolution) == stamps, counts, np.nan)


def _counts(stamps: np.ndarray, column: Column) -> np.ndarray:
    numbers = np.full(len(stamps), np.nan)
    present = ~np.isnat(stamps)
    numbers[present] = stamps[present].astype(f"datetime64[{column.resolution}]").astype(np.int64)
    return numbers


def _rescaled(raw: RawColumn, column: Column) -> np.ndarray:
    if not raw.resolution or raw.resolution == column.resolution:
        return raw.numbers if raw.numbers is not None else np.empty(0)
    return _counts(stamps_of(raw.numbers, raw.resolution), column)


def stamps_of(numbers: np.ndarray | None, resolution: str) -> np.ndarray:
    """Dates from their counts; NaN becomes NaT."""
    numbers = np.empty(0) if numbers is None else numbers
    stamps = np.full(len(numbers), np.datetime64("NaT"), dtype=f"datetime64[{resolution}]")
    present = ~np.isnan(numbers)
    stamps[present] = numbers[present].astype(np.int64).astype(stamps.dtype)
    return stamps


def _bin_codes(numbers: np.ndarray, missing: np.ndarray, column: Column) -> tuple[np.ndarray, np.ndarray]:
    """The bin of each number, and which numbers are outside the range (or not whole where they must be)."""
    outside = ~np.isnan(numbers) & ~_inside(numbers, column)
    codes = column.bin_of(numbers)
    codes[outside | np.isnan(numbers)] = column.unlisted_code
    codes[missing] = column.missing_code
    return codes, outside


def _listed(numbers: np.ndarray, column: Column) -> list[str]:
    return [format_number(number, column) for number in np.unique(numbers)]


def _inside(numbers: np.ndarray, column: Column) -> np.ndarray:
    """Which numbers are in the range (and whole where they must be)."""
    inside = (numbers >= column.lower) & (numbers <= column.upper)
    return inside & (numbers == np.floor(numbers)) if column.is_integral else inside


def format_number(number: float, column: Column) -> str:
    """A number or date as a person writes it."""
    if column.kind is Kind.DATETIME:
        return str(stamps_of(np.array([number]), column.resolution)[0])
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _unlisted_message(column: Column, strange: list[str], where: str) -> str:
    many = _many(strange)
    if column.kind is Kind.CATEGORICAL:
        return (
            f"{where}: column '{column.name}' has {many} that the schema does not list: {quoted(strange)}.\n"
            f"Listed: {quoted(map(str, column.values))}.\n"
            f"If they are valid, add them under columns.{column.name}.values in the schema; if '{column.name}' is a "
            "number, set its kind there."
        )
    low, high = format_number(column.lower, column), format_number(column.upper, column)
    whole = " whole" if column.kind is Kind.INTEGER else ""
    are = "is" if len(strange) == 1 else "are"
    layout = "if they are written in another layout, set its format; " if column.kind is Kind.DATETIME else ""
    return (
        f"{where}: column '{column.name}' has {many} that {are} no{whole} {_noun(column, strange)} from {low} to {high}: "
        f"{quoted(strange)}.\n"
        f"If they are valid, widen columns.{column.name}.lower and .upper in the schema; if they mean missing, list them "
        f"under columns.{column.name}.missing; {layout}if '{column.name}' is text, set its kind to 'categorical'."
    )


def _many(strange: list[str]) -> str:
    return f"{len(strange):,} value{'s' if len(strange) > 1 else ''}"


def _noun(column: Column, strange: list[str]) -> str:
    return ("date" if column.kind is Kind.DATETIME else "number") + "s" * (len(strange) > 1)
