"""What the texts of a column are: dates in a layout, numbers written in some way, or just texts; and what to say about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unmask.tables._dates import ISO, dates_of_texts, layouts_of
from unmask.tables._numerals import LARGEST_INTEGER, PLAIN, NumberTexts, numbers_of_texts
from unmask.tables._raw import RawColumn
from unmask.tables.schema import Kind

# Texts that mean "missing" when everything else in the column is a number or a date.
MISSING_TEXTS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?", "-", ".")
COMPACT = "%Y%m%d"
EIGHT_DIGITS = re.compile("(18|19|20)[0-9]{6}")


@dataclass(frozen=True, eq=False)
class Texts:
    """The texts of a column, those apart that mean missing."""

    present: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()  # in which all of them are dates, the likelier first
    numbers: NumberTexts | None = None
    long: bool = False  # whole numbers that only a text keeps

    @property
    def layout(self) -> str:
        """The layout of the dates; "" if there are none, or none that are certain (which century is 03?)."""
        return self.layouts[0] if self.layouts and "%y" not in self.layouts[0] else ""

    @property
    def are_numbers(self) -> bool:
        return self.numbers is not None and self.numbers.kept

    def remarks(self) -> Iterator[tuple[str, str]]:
        """What a person should know about the reading, with a code for each; layouts and marks, never a value."""
        if self.layouts:
            yield from self._about_dates()
        elif self.long or (self.numbers is not None and not self.numbers.kept):
            yield (
                "long-numbers",
                "holds numbers that are larger or have more digits than a calculation keeps (whole ones up to 2^53, others "
                "about 16 digits): it is taken as text, so that no two become equal.",
            )
        elif self.numbers is not None:
            yield from self._about_numbers(self.numbers)

    def _about_dates(self) -> Iterator[tuple[str, str]]:
        likely, *others = self.layouts
        if not self.layout:
            yield (
                "two-digit-years",
                f"looks like dates with years of two digits, which do not tell the century: it is taken as text. To have dates, "
                f"set its kind to 'datetime' and its format to '{likely}' in the schema, or write years with four digits.",
            )
        elif others:
            yield (
                "ambiguous-dates",
                f"holds dates that could be written day first or month first; they are read day first ('{likely}'). If months "
                f"come first, set its format to '{others[0]}' in the schema.",
            )
        elif not likely.startswith(ISO):
            yield "date-layout", f"holds dates written as '{likely}'."

    def _about_numbers(self, found: NumberTexts) -> Iterator[tuple[str, str]]:
        if found.other is not None:
            yield (
                "ambiguous-numbers",
                f"holds numbers that are read with {found.numerals}; they could be written with {found.other} as well. If so, "
                f"set its decimal to '{found.other.decimal}' and its thousands to '{found.other.thousands}' in the schema.",
            )
        elif found.numerals != PLAIN:
            yield "number-marks", f"holds numbers written with {found.numerals}."
        if found.whole and self._could_be_compact_dates():
            yield (
                "compact-dates",
                f"holds whole numbers that could be dates: it is taken as numbers. If they are dates, set its kind to 'datetime' "
                f"and its format to '{COMPACT}' in the schema.",
            )

    def _could_be_compact_dates(self) -> bool:
        plausible = all(map(EIGHT_DIGITS.fullmatch, self.present))
        return plausible and not np.isnat(dates_of_texts(self.present, COMPACT)).any()


def texts_of(raw: RawColumn, kind: Kind | None, decimal: str) -> Texts:
    """What the texts of a column are, if it may be this kind (None: any); `decimal` is the file's mark before decimals."""
    if raw.numbers is not None or kind is Kind.CATEGORICAL:
        return Texts()
    present = tuple(text for text in raw.texts if text not in MISSING_TEXTS)
    missing = [text for text in raw.texts if text in MISSING_TEXTS]
    if raw.missing_count:
        missing.insert(0, "")
    apart = present, tuple(dict.fromkeys(missing))
    if kind in (None, Kind.DATETIME) and raw.is_text and not raw.fixed and (layouts := layouts_of(present)):
        return Texts(*apart, layouts=layouts)
    if kind is Kind.DATETIME or (kind is None and not raw.from_file):
        return Texts(*apart, long=any(isinstance(value, int) and abs(value) >= LARGEST_INTEGER for value in raw.values))
    return Texts(*apart, numbers=numbers_of_texts(present, decimal))
