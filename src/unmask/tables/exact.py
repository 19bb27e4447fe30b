"""Exact values beside bins: a second code space, in which a number is itself and no bin.

Generators that draw donors publish people's own amounts. Bins hide that, and a distance hardly weighs one equal value, so
attacks that ask "does this very value occur?" work on these codes. A missing value is no agreement, nor is a category that the
schema does not list, since its text is gone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unmask.tables.schema import Column
from unmask.tables.table import Table

MISSING = -2  # of the people themselves: equals nothing, not even what is missing elsewhere
NOBODY = -1  # elsewhere: a value that none of the people has
DIGITS = 12  # significant ones of a number that is not whole: 0.1 + 0.2 is 0.3
ROUGH = 3  # significant digits, beside all of them: releases round, and add noise
AT_ONCE = 2**16  # numbers that are divided at a time
MOST_CODES = 2**22  # of whole numbers that are looked up
STEPS = 10.0 ** np.arange(12, -10, -1)  # to which a release may be rounded, the coarsest first


@dataclass(frozen=True, eq=False)
class ExactValues:
    """The values that some people have, a code for each, and a way to find them in any other table.

    With `digits`, numbers are compared at so many significant digits only, since releases round and add noise.
    """

    people: Table
    digits: int = DIGITS

    @cached_property
    def codes(self) -> np.ndarray:
        """The people's own codes (rows x columns, int32); MISSING where there is no value."""
        found = self.find(self.people)
        found[found == NOBODY] = MISSING
        return found

    def find(self, table: Table, kind: type[np.signedinteger] = np.int32) -> np.ndarray:
        """The same codes in another table of this schema; NOBODY where none of the people has the value."""
        found = np.empty((len(table), len(table.schema.columns)), dtype=kind, order="F")
        for position, column in enumerate(table.schema.columns):
            found[:, position] = self._found(table, position, column)
        return found

    def find_column(self, table: Table, position: int) -> np.ndarray:
        """The codes of one column."""
        return self._found(table, position, table.schema.columns[position])

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many codes each column has."""
        return tuple(
            len(self._distinct[place]) if column.is_numeric else column.code_count
            for place, column in enumerate(self.people.schema.columns)
        )

    def _found(self, table: Table, position: int, column: Column) -> np.ndarray:
        if not column.is_numeric:
            codes = table.codes[:, position].astype(np.int32)
            absent = codes == column.unlisted_code
            if column.missing:
                absent |= codes == column.missing_code
            return np.where(absent, np.int32(NOBODY), codes)
        distinct = self._distinct[position]
        if not len(distinct):
            return np.full(len(table), NOBODY, dtype=np.int32)
        numbers = self.numbers(table, position)
        if position in self._codes_of_whole:
            return _looked_up(numbers, distinct[0], self._codes_of_whole[position])
        place = np.minimum(np.searchsorted(distinct, numbers), len(distinct) - 1)
        return np.where(distinct[place] == numbers, place, NOBODY).astype(np.int32)

    @cached_property
    def _distinct(self) -> dict[int, np.ndarray]:
        """The distinct numbers of each numeric column, in order."""
        found = {}
        for position in self.people.schema.numeric:
            numbers = self.numbers(self.people, position)
            found[position] = np.unique(numbers[~np.isnan(numbers)])
        return found

    @cached_property
    def _codes_of_whole(self) -> dict[int, np.ndarray]:
        """The codes of whole numbers from the least to the largest, where these are not too many: faster than a search."""
        found = {}
        for position, distinct in self._distinct.items():
            if len(distinct) and distinct[-1] - distinct[0] < MOST_CODES and (np.rint(distinct) == distinct).all():
                codes = np.full(int(distinct[-1] - distinct[0]) + 1, NOBODY, dtype=np.int32)
                codes[(distinct - distinct[0]).astype(np.int64)] = np.arange(len(distinct), dtype=np.int32)
                found[position] = codes
        return found

    def numbers(self, table: Table, position: int) -> np.ndarray:
        """A numeric column of a table as it is compared: at so many digits, NaN where there is none."""
        numbers = table.numbers[:, table.schema.numeric.index(position)] + 0.0  # -0.0 is 0.0
        whole = table.schema.columns[position].is_integral
        return numbers if whole and self.digits >= DIGITS else significant(numbers, self.digits)


def _looked_up(numbers: np.ndarray, least: float, codes: np.ndarray) -> np.ndarray:
    """The code of each number; NOBODY for those that are outside, missing or not whole."""
    with np.errstate(invalid="ignore"):
        place = numbers - least
        inside = (place >= 0) & (place < len(codes)) & (np.rint(place) == place)
    found = codes[np.where(inside, place, 0.0).astype(np.int64)]
    found[~inside] = NOBODY
    return found


def is_wide(column: Column) -> bool:
    """Whether it has more digits than are compared roughly: by the schema, so that it is so for all people alike."""
    return column.is_numeric and (not column.is_integral or column.upper - column.lower >= 10**ROUGH)


def significant(numbers: np.ndarray, digits: int) -> np.ndarray:
    """Numbers at so many significant digits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        magnitude = np.floor(np.log10(np.abs(numbers)))
        factor = 10.0 ** (digits - 1 - np.where(np.isfinite(magnitude), magnitude, 0.0))
        return np.asarray(np.where(np.isfinite(factor), np.rint(numbers * factor) / factor, numbers) + 0.0)


def rounded_like(people: Table, release: Table) -> Table:
    """People as a release would write them: numbers rounded to the step of the release where that is coarser than theirs."""
    numbers = people.numbers
    for place in range(numbers.shape[1]):
        step = step_of(release.numbers[:, place])
        if step > step_of(numbers[:, place]):
            numbers = numbers.copy(order="F") if numbers is people.numbers else numbers
            numbers[:, place] = np.rint(numbers[:, place] / step) * step
    return people if numbers is people.numbers else replace(people, numbers=numbers)


def step_of(numbers: np.ndarray) -> float:
    """The largest power of ten of which all these numbers are multiples; 0 if there is none, or nothing to tell it by."""
    gone = np.isnan(numbers)
    present = numbers[~gone] if gone.any() else numbers
    if len(present) < 2 or present.min() == present.max():
        return 0.0
    blocks = [present[low : low + AT_ONCE] for low in range(0, len(present), AT_ONCE)]
    return next((float(step) for step in STEPS if all(_multiples(block, step) for block in blocks)), 0.0)


def _multiples(numbers: np.ndarray, step: float) -> bool:
    multiples = numbers / step
    return bool((np.abs(multiples - np.rint(multiples)) <= 1e-13 * np.abs(multiples)).all())
