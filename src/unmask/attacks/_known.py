"""What is known of people, in the form in which a release shows it: coarsened like its rows, and as features.

A sanitiser publishes groups of categories, the start of a month, the start of a bin, or a cap in place of the value. The
attacker who wants to find a person among such rows does the same to what they know of the person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unmask.attacks._attack import Secret
from unmask.generators.sanitiser import PERIODS, start_of_period
from unmask.tables.schema import Column, Kind
from unmask.tables.table import Table

AT_ONCE = 2**16  # numbers that are looked up at a time: mostly the first show that they are no starts of bins


@dataclass(frozen=True)
class _Rounding:
    """How a column of numbers was made coarser."""

    period: str | None = None  # dates: they are the start of their day, week, month, quarter or year
    banded: bool = False  # numbers: they are the start of their bin
    cap: float = np.inf  # numbers: larger ones are this

    def of(self, numbers: np.ndarray, column: Column) -> np.ndarray:
        if self.period is not None:
            numbers = np.maximum(start_of_period(numbers, column.resolution, self.period), column.lower)
        if self.banded:
            starts = column.edges[np.minimum(column.bin_of(numbers), column.listed - 1)]
            numbers = np.where(np.isnan(numbers), np.nan, starts)
        return np.minimum(numbers, self.cap)


@dataclass(frozen=True, eq=False)
class Coarsening:
    """How the values of a release are coarser than those of people; read off the release and its schema alone.

    A category that never occurs while a group that holds it does is taken for grouped. Dates that all start a
    period, and numbers that all start a bin, are taken for rounded. A largest number that at least two rows share is
    taken for a cap. On a release that is not coarsened these rules change next to nothing: numbers above every published
    one, and columns that hardly vary.
    """

    groups: dict[int, np.ndarray]  # column -> from each code to the published one
    roundings: dict[int, _Rounding]  # place among the numbers -> how they were rounded

    @classmethod
    def of(cls, release: Table) -> Coarsening:
        groups = {
            position: codes
            for position, column in enumerate(release.schema.columns)
            if column.groups and (codes := _published_codes(column, release.codes[:, position])) is not None
        }
        found = {
            place: _rounding(release.schema.columns[position], release.numbers[:, place])
            for place, position in enumerate(release.schema.numeric)
        }
        return cls(groups, {place: rounding for place, rounding in found.items() if rounding != _Rounding()})

    def apply(self, people: Table) -> Table:
        """These people as the release would show them."""
        if not self.groups and not self.roundings:
            return people
        codes, numbers = people.codes.copy(order="F"), people.numbers.copy(order="F")
        for position, published in self.groups.items():
            codes[:, position] = published[codes[:, position]]
        for place, rounding in self.roundings.items():
            position = people.schema.numeric[place]
            column = people.schema.columns[position]
            rounded = rounding.of(numbers[:, place], column)
            moved = rounded != numbers[:, place]
            moved &= ~np.isnan(rounded)
            numbers[moved, place] = rounded[moved]
            codes[moved, position] = column.bin_of(rounded[moved])
        return replace(people, codes=codes, numbers=numbers)


def _published_codes(column: Column, codes: np.ndarray) -> np.ndarray | None:
    counts = np.bincount(codes, minlength=column.code_count)
    first = column.size + 1
    if not counts[first:].any():
        return None
    published = np.arange(column.code_count)
    code_of = {value: code for code, value in enumerate(column.values)}
    for group, (_, members) in enumerate(column.groups):
        for member in members if counts[first + group] else ():
            if counts[code_of[member]] == 0:
                published[code_of[member]] = first + group
    return published


def _rounding(column: Column, numbers: np.ndarray) -> _Rounding:
    gone = np.isnan(numbers)
    present = numbers[~gone] if gone.any() else numbers
    if len(present) < 2:
        return _Rounding()
    if column.kind is Kind.DATETIME:
        return _Rounding(period=_period(column, present))
    largest = present.max()
    cap = largest if np.count_nonzero(present == largest) > 1 else np.inf
    blocks = (present[low : low + AT_ONCE] for low in range(0, len(present), AT_ONCE))
    banded = all(np.isin(block, column.edges[:-1]).all() for block in blocks)
    return _Rounding(banded=banded, cap=float(cap))


def _period(column: Column, dates: np.ndarray) -> str | None:
    """The longest period of which every date is the start; the first one may have been cut off by the public range."""
    for period in reversed(PERIODS):
        starts = start_of_period(dates, column.resolution, period)
        if ((starts == dates) | (dates == column.lower)).all():
            return period
    return None


def secret_in(people: Table, name: str) -> Secret:
    """The column that an attribute attack is after."""
    column = people.schema.column(name)
    return Secret(name, people.schema.position(name), 0 if column.is_numeric else column.size)


def masked(people: Table, secret: Secret | None) -> Table:
    """People as attacks get them: their secret is overwritten, so that no attack can read it by accident."""
    if secret is None:
        return replace(people, persons=None)
    column = people.schema.columns[secret.position]
    codes, numbers = people.codes.copy(order="F"), people.numbers.copy(order="F")
    codes[:, secret.position] = column.unlisted_code
    if column.is_numeric:
        numbers[:, people.schema.numeric.index(secret.position)] = np.nan
    return replace(people, codes=codes, numbers=numbers, persons=None)


def known_positions(table: Table, secret: Secret | None) -> list[int]:
    """Positions of all columns but the secret."""
    return [position for position in range(len(table.schema.columns)) if secret is None or position != secret.position]


def scaled(table: Table, position: int) -> np.ndarray:
    """The numbers of a column on their public range, 0 to 1; NaN = missing."""
    column = table.schema.columns[position]
    numbers = table.numbers[:, table.schema.numeric.index(position)]
    width = column.upper - column.lower
    return np.clip((numbers - column.lower) / (width or 1.0), 0.0, 1.0)


def plain_features(table: Table, positions: Sequence[int]) -> np.ndarray:
    """Rows x columns for trees: the code of categories, numbers on their range, -1 where they are missing."""
    features = np.empty((len(table), len(positions)), dtype=np.float32)
    for place, position in enumerate(positions):
        if table.schema.columns[position].is_numeric:
            features[:, place] = np.nan_to_num(scaled(table, position), nan=-1.0)
        else:
            features[:, place] = table.codes[:, position]
    return features


def spread_features(table: Table, positions: Sequence[int]) -> np.ndarray:
    """Rows x features for linear models: a column of 0 and 1 per code of a category, numbers on their range.

    A missing number is the middle of the range, with a column of its own that says so.
    """
    parts: list[np.ndarray] = [np.empty((len(table), 0))]
    for position in positions:
        column = table.schema.columns[position]
        if column.is_numeric:
            numbers = scaled(table, position)
            missing = np.isnan(numbers)
            parts.append(np.where(missing, 0.5, numbers)[:, None])
            parts += [missing[:, None].astype(np.float64)] if column.missing else []
        else:
            parts.append((table.codes[:, position, None] == np.arange(column.code_count)).astype(np.float64))
    return np.concatenate(parts, axis=1)


def levels_of_codes(column: Column) -> np.ndarray:
    """Codes x levels: what each published code of a categorical secret says about its value.

    A value says itself, a group any of its members alike, a value outside the schema nothing.
    """
    says = np.zeros((column.code_count, column.size))
    says[: column.size] = np.eye(column.size)
    code_of = {value: code for code, value in enumerate(column.values)}
    for group, (_, members) in enumerate(column.groups):
        for member in members:
            says[column.size + 1 + group, code_of[member]] = 1 / len(members)
    return says
