"""Numbers as people write them: decimal commas, marks between thousands, more digits than a float64 keeps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np

INTEGER = re.compile(r"\s*[+-]?(0|[1-9]\d*)\s*")
NUMBER = re.compile(r"\s*[+-]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?([eE][+-]?\d+)?\s*")
MARKED = re.compile(r"\s*[+-]?[0-9.,'’ \u00a0\u202f]+([eE][+-]?[0-9]+)?\s*")

DECIMAL_MARKS = (".", ",")
THOUSANDS_MARKS = (",", ".", "'", "’", " ", "\u00a0", "\u202f")
NAMES = {
    ",": "commas",
    ".": "points",
    "'": "apostrophes",
    "’": "apostrophes",
    " ": "spaces",
    "\u00a0": "spaces",
    "\u202f": "spaces",
}
LARGEST_INTEGER = 2.0**53  # beyond it a float64 skips integers
ALWAYS_KEPT = 15  # significant digits
TINY = 1e-300  # below, a float64 has fewer digits, and then none


@dataclass(frozen=True)
class Numerals:
    """How numbers are written: the mark before decimals, and the mark between thousands ("" for none)."""

    decimal: str = "."
    thousands: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What every number looks like; all thousands are marked, or none."""
        if self == PLAIN:
            return NUMBER
        decimal, thousands = re.escape(self.decimal), re.escape(self.thousands)
        whole = rf"[1-9][0-9]{{0,2}}(?:{thousands}[0-9]{{3}})*" if thousands else "[1-9][0-9]*"
        power = "" if thousands else "(?:[eE][+-]?[0-9]+)?"
        return re.compile(rf"\s*[+-]?(?:0|{whole}|(?={decimal}[0-9]))(?:{decimal}[0-9]*)?{power}\s*")

    def fit(self, texts: Iterable[str]) -> bool:
        """Whether every text is a number."""
        return all(map(self.pattern.fullmatch, texts))

    def plain_texts(self, texts: Sequence[str]) -> Sequence[str]:
        """Numbers as Python writes them; "" for texts that are none."""
        if self == PLAIN:
            return texts
        return [self._plain(text) if self.pattern.fullmatch(text) else "" for text in texts]

    def numbers(self, texts: Sequence[str]) -> np.ndarray:
        """The number of each text; NaN for those that are none."""
        return np.array([_float(text) for text in self.plain_texts(texts)], dtype=np.float64)

    def _plain(self, text: str) -> str:
        return text.strip().replace(self.thousands, "").replace(self.decimal, ".")

    def write(self, plain: str) -> str:
        """The text of a number that Python wrote."""
        if not self.thousands:
            return plain.replace(".", self.decimal)
        whole, point, rest = format(Decimal(plain), ",f").partition(".")
        return whole.replace(",", self.thousands) + (self.decimal if point else "") + rest

    def __str__(self) -> str:
        marks = [f"{NAMES[self.thousands]} between thousands"] if self.thousands else []
        if self.decimal == "," or not marks:
            marks.append(f"decimal {NAMES[self.decimal]}")
        return " and ".join(marks)


def _float(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return np.nan
    return number if np.isfinite(number) else np.nan


PLAIN = Numerals()
ALL_NUMERALS = tuple(
    Numerals(decimal, thousands)
    for thousands in ("", *THOUSANDS_MARKS)
    for decimal in DECIMAL_MARKS
    if decimal != thousands
)


def numerals_of(texts: Sequence[str], usual: str = ".") -> tuple[Numerals, ...]:
    """The ways to write in which every text is a number, the likelier first; `usual` is the decimal mark of the file.

    Two are given where all texts are such as 1,234, which is 1.234 or 1234.
    """
    if PLAIN.fit(texts):
        other = Numerals(",", ".")
        return (PLAIN, other) if usual == "," and "." in "".join(texts) and other.fit(texts) else (PLAIN,)
    if not all(map(MARKED.fullmatch, texts)):
        return ()
    marks = {mark for text in texts for mark in text.strip() if mark in NAMES}
    tried: tuple[Numerals, ...]
    if marks == {","}:
        both = (Numerals(","), Numerals(".", ","))
        tried = both if usual == "," else both[::-1]
    elif marks <= set(DECIMAL_MARKS):
        tried = tuple(Numerals(",", ".") if mark == "." else Numerals(".", ",") for mark in sorted(marks))
    else:
        decimal = "".join(marks & set(DECIMAL_MARKS)) or usual
        thousands = "".join(marks - set(DECIMAL_MARKS))
        tried = (Numerals(decimal, thousands),) if len(decimal) == len(thousands) == 1 else ()
    found = tuple(numerals for numerals in tried if numerals.fit(texts) and not _are_codes(texts, numerals))
    return found if len(found) < 2 or marks == {","} else ()  # 1,234 beside 1.234 is neither


def _are_codes(texts: Sequence[str], numerals: Numerals) -> bool:
    """Whether groups of digits may be codes (123 456 789 is a telephone number): all are of one length, none has decimals."""
    if numerals.thousands in ("", ",") or any(numerals.decimal in text for text in texts):
        return False
    return len({len(text.strip()) for text in texts}) == 1


@dataclass(frozen=True, eq=False)
class NumberTexts:
    """Texts that are numbers."""

    numbers: np.ndarray  # of each text
    numerals: Numerals
    other: Numerals | None  # in which they are numbers as well, but others
    whole: bool
    kept: bool  # whether different numbers stay different


def numbers_of_texts(texts: Sequence[str], usual: str = ".") -> NumberTexts | None:
    """What numbers the texts are; None unless all are."""
    if not texts or not (found := numerals_of(texts, usual)):
        return None
    plain = found[0].plain_texts(texts)
    numbers = np.array([float(text) for text in plain])
    whole = all(map(INTEGER.fullmatch, plain))
    kept = not np.isinf(numbers).any() and not (whole and np.abs(numbers).max() >= LARGEST_INTEGER)
    kept = kept and stay_apart(plain, numbers, rounded(plain, numbers))
    return NumberTexts(numbers, found[0], found[1] if len(found) > 1 else None, whole, kept)


def rounded(texts: Sequence[str], numbers: np.ndarray) -> list[int]:
    """Which texts, as Python writes numbers, have more digits than their float64 keeps."""
    long = [place for place, text in enumerate(texts) if len(text) > ALWAYS_KEPT or "e" in text or "E" in text]
    return [place for place in long if _is_rounded(texts[place], float(numbers[place]))]


def _is_rounded(text: str, number: float) -> bool:
    """Whether a float64 says something else than the text, at as many digits as the text has."""
    if text in (repr(number), f"{number:.17g}"):  # as programs write a float64
        return False
    digits = len(re.sub(r"[eE].*|\D", "", text).lstrip("0"))
    if np.isnan(number) or not digits or (digits <= ALWAYS_KEPT and abs(number) > TINY):
        return False
    return Decimal(f"{number:.{digits - 1}e}") != Decimal(text.strip())


def stay_apart(texts: Sequence[str], numbers: np.ndarray, long: list[int]) -> bool:
    """Whether no rounded number became equal to another one."""
    met: dict[float, Decimal] = {}
    for place in np.flatnonzero(np.isin(numbers, numbers[long])).tolist() if long else ():
        exact = Decimal(texts[place].strip())
        if met.setdefault(float(numbers[place]), exact) != exact:
            return False
    return True
