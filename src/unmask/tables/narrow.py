"""Numbers of large tables in as few bytes as they need, read as float64.

People's ages are whole numbers below 255: a byte holds them, where a float64 takes eight. So a column of a large table is kept as
whole numbers of the smallest type and what they are divided by (100 where amounts have two decimals), provided that this gives
every float64 back bit by bit. IEEE division rounds correctly, so 1234 / 100 is the float64 that "12.34" is read as.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

FROM_ROWS = 1_000_000  # below, a plain array takes little and is read without being made
AT_ONCE = 1 << 18  # rows that are looked up at a time: numpy makes eight bytes of every index
DIVISORS = (1.0, 10.0, 100.0, 1000.0)
TYPES = (np.uint8, np.int16, np.uint16, np.int32, np.uint32)


@dataclass(frozen=True, eq=False)
class NarrowColumn:
    """Whole numbers, the largest of their type where a value is missing; float64 where nothing smaller holds a column."""

    held: np.ndarray
    divisor: float = 1.0

    def numbers(self, rows: Any = slice(None)) -> Any:
        """The float64 of these rows; NaN = missing."""
        held = self.held[rows]
        if held.dtype == np.float64:
            return held
        found = np.asarray(held, dtype=np.float64)
        if self.divisor != 1:
            found = np.asarray(found / self.divisor)
        np.copyto(found, np.nan, where=held == np.iinfo(held.dtype).max)
        return found[()]  # of one row a number


def narrow(numbers: np.ndarray, index: np.ndarray | None = None) -> NarrowColumn:
    """The column `numbers` (with an index `numbers[index]`) in the smallest type that gives every number back bit by bit.

    One of fewer rows than makes a difference stays as it is.
    """
    for divisor in DIVISORS if len(numbers if index is None else index) >= FROM_ROWS else ():
        if (kind := _type_of(numbers, divisor)) is None:
            break
        held: np.ndarray = np.empty(len(numbers), dtype=kind)
        parts = (slice(low, low + AT_ONCE) for low in range(0, len(numbers), AT_ONCE))
        if all(_hold(numbers[part], held[part], divisor) for part in parts):
            return NarrowColumn(held if index is None else spread(held, index), divisor)
    return NarrowColumn(numbers.copy() if index is None else spread(numbers, index))


def _type_of(numbers: np.ndarray, divisor: float) -> type | None:
    """The smallest type whose range holds the numbers, its largest number not among them; None if there is none."""
    low = float(np.fmin.reduce(numbers, initial=0.0)) * divisor  # fmin passes over NaN
    high = float(np.fmax.reduce(numbers, initial=0.0)) * divisor
    fitting = (kind for kind in TYPES if np.iinfo(kind).min <= np.rint(low) and np.rint(high) < np.iinfo(kind).max)
    return next(fitting, None)


def _hold(numbers: np.ndarray, held: np.ndarray, divisor: float) -> bool:
    """Write numbers as whole ones, and tell whether they come back as they were."""
    missing = np.isnan(numbers)
    held[:] = np.rint(np.where(missing, 0.0, numbers) * divisor)
    held[missing] = np.iinfo(held.dtype).max
    back = NarrowColumn(held, divisor).numbers()
    return bool((missing | (back.view(np.int64) == numbers.view(np.int64))).all())  # bits: -0.0 is not 0.0


def spread(by_value: np.ndarray, index: np.ndarray) -> np.ndarray:
    """`by_value[index]`, some rows at a time."""
    found = np.empty(len(index), dtype=by_value.dtype)
    for low in range(0, len(index), AT_ONCE):
        found[low : low + AT_ONCE] = by_value[index[low : low + AT_ONCE]]
    return found


class NarrowNumbers(NDArrayOperatorsMixin):
    """The numbers of a large table: reads like the float64 array of rows x columns that it stands for, and takes no writing.

    `numbers[rows, place]` makes one column; anything else that numpy does with an array makes all of them first.
    """

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, columns: Sequence[NarrowColumn], rows: int) -> None:
        self.columns = tuple(columns)
        self.shape = rows, len(self.columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], int | np.integer):
            return self.columns[key[1]].numbers(key[0])
        return np.asarray(self)[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self._filled(lambda column: column.numbers(), self.shape[0]).astype(dtype or np.float64, copy=False)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(each) if isinstance(each, NarrowNumbers) else each for each in inputs]
        return getattr(ufunc, method)(*plain, **options)

    def __getattr__(self, name: str) -> Any:
        """Whatever else an array has: people's own attacks may ask for anything."""
        if name.startswith("_") or name in ("columns", "shape"):  # not there yet while it is unpickled
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def _filled(self, made: Callable[[NarrowColumn], np.ndarray], rows: int) -> np.ndarray:
        found = np.empty((rows, len(self.columns)), order="F")
        for place, column in enumerate(self.columns):
            found[:, place] = made(column)
        return found

    def take_rows(self, rows: np.ndarray) -> np.ndarray:
        """These rows, in that order."""
        if len(rows) < FROM_ROWS:
            return self._filled(lambda column: column.numbers(rows), len(rows))
        return together(
            [NarrowColumn(np.take(column.held, rows), column.divisor) for column in self.columns], len(rows)
        )


def together(columns: Sequence[NarrowColumn], rows: int) -> np.ndarray:
    """The numbers of a table: a plain array, or for many rows what reads like one, whoever holds the table."""
    numbers = NarrowNumbers(columns, rows)
    return np.asarray(numbers) if rows < FROM_ROWS else cast(np.ndarray, numbers)


def rows_of(numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The numbers of some rows; columns stay contiguous."""
    return numbers.take_rows(rows) if isinstance(numbers, NarrowNumbers) else np.take(numbers.T, rows, axis=1).T


def numbers_between(numbers: np.ndarray, low: int, high: int) -> np.ndarray:
    """The numbers of the rows from one place to another."""
    if not isinstance(numbers, NarrowNumbers):
        return numbers[low:high]
    high = min(high, len(numbers))
    return together([NarrowColumn(column.held[low:high], column.divisor) for column in numbers.columns], high - low)


def columns_of(numbers: np.ndarray, places: Sequence[int]) -> np.ndarray:
    """Some columns of all rows."""
    if isinstance(numbers, NarrowNumbers):
        return together([numbers.columns[place] for place in places], len(numbers))
    return np.asfortranarray(numbers[:, places])


def stacked_numbers(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Numbers of the same columns, one below the other."""
    if not any(isinstance(part, NarrowNumbers) for part in parts):
        return np.concatenate([part.T for part in parts], axis=1).T
    places = range(parts[0].shape[1])
    columns = [narrow(np.concatenate([part[:, place] for part in parts])) for place in places]
    return together(columns, sum(map(len, parts)))
