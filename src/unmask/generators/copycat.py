"""A leak of known size: some training rows copied verbatim, everything else made up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from unmask.errors import ParameterError
from unmask.generators._generator import check_fits
from unmask.generators.claim import Claim
from unmask.generators.random import RandomModel
from unmask.tables.table import Table, concatenate


@dataclass(frozen=True)
class Copycat:
    """Copy each training row, or each of the chosen ones, with probability p; fill up with uniform rows.

    The positive control with a dial: a person is given away with probability p and not at all otherwise, which is
    exactly (0, p)-differential privacy. The coins fall in `fit`, so that several samples of one model show the same people.
    """

    name: ClassVar[str] = "copycat"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None

    p: float
    only: tuple[int, ...] | None = None  # row numbers in the table that is fitted, from 0; None = all rows
    where: str | None = None  # column=value: only rows with this value, whatever their number

    def __post_init__(self) -> None:
        if isinstance(self.p, bool) or not isinstance(self.p, int | float) or not 0 <= self.p <= 1:
            raise ParameterError(f"copycat: p is {self.p!r}; it must be a probability from 0 to 1.")
        object.__setattr__(self, "only", _row_numbers(self.only))
        if self.where is not None and "=" not in str(self.where):
            raise ParameterError(f"copycat: where is {self.where!r}; write column=value, such as vip=yes.")

    def fit(self, table: Table, rng: np.random.Generator) -> CopycatModel:
        check_fits(table, self.name)
        named = np.arange(len(table)) if self.only is None else np.array(self.only, dtype=np.int64)
        if len(named) and named.max() >= len(table):
            raise ParameterError(
                f"copycat: only names row {named.max()}, but the table has {len(table):,} rows, numbered from 0."
            )
        if self.where is not None:
            named = named[_holds(table, self.where)[named]]
        copied = named[rng.random(len(named)) < self.p]
        return CopycatModel(replace(table.take(copied), persons=None, notes=()))


@dataclass(frozen=True, eq=False)
class CopycatModel:
    """The rows that were copied."""

    copies: Table
    claim: ClassVar[Claim | None] = None

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        """The copies among uniform rows, in random order; a random part of the copies if there are more than `rows`."""
        shown = self.copies.take(rng.permutation(len(self.copies))[:rows])
        fill = RandomModel(self.copies.schema).sample(rows - len(shown), rng)
        return concatenate([shown, fill]).take(rng.permutation(rows))


def _row_numbers(only: Any) -> tuple[int, ...] | None:
    if only is None:
        return None
    numbers = tuple(only) if isinstance(only, tuple | list | range | np.ndarray) else (only,)
    if not all(
        isinstance(number, int | np.integer) and not isinstance(number, bool) and number >= 0 for number in numbers
    ):
        raise ParameterError(f"copycat: only is {only!r}; it must list row numbers from 0, such as (3, 17).")
    return tuple(dict.fromkeys(int(number) for number in numbers))


def _holds(table: Table, where: str) -> np.ndarray:
    """Which rows have this value in this column."""
    name, _, value = where.partition("=")
    column = table.schema.column(name)
    if column.is_numeric:
        numbers = table.numbers[:, table.schema.numeric.index(table.schema.position(name))]
        return np.asarray(numbers == _number(value, where))
    codes = [code for code, known in enumerate(column.values) if str(known) == value]
    if not codes:
        raise ParameterError(f"copycat: where is '{where}', but the schema lists no such value of '{name}'.")
    return np.asarray(table.codes[:, table.schema.position(name)] == codes[0])


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"copycat: where is '{where}', but the column holds numbers.") from None
