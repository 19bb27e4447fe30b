"""One column of a frame before it meets a schema: distinct values with an index, or plain numbers."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.errors import InputError
from unmask.tables.narrow import AT_ONCE, spread
from unmask.tables.schema import Value, quoted, text_of

if TYPE_CHECKING:
    import pandas as pd

UNITS = ("D", "s", "us")  # coarsest first


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column as it came: `values` or `numbers` (NaN = missing), and by `index` which of them each row has (-1 = missing).

    Without an index there is a number for each row.
    """

    name: str
    dtype: str
    values: tuple[Value, ...] = ()
    index: np.ndarray | None = None
    numbers: np.ndarray | None = None
    resolution: str = ""  # set for dates
    from_file: bool = False  # texts may be numbers
    fixed: bool = False  # `values` is a declared list of categories
    ordered: bool = False
    note: str = ""

    @cached_property
    def counts(self) -> np.ndarray:
        """How many rows have each value, and at the end how many have none."""
        many = len(self.values) if self.numbers is None else len(self.numbers)
        return np.append(np.ones(many, dtype=np.int64), 0) if self.index is None else counts_of(self.index, many)

    @property
    def missing_count(self) -> int:
        if self.numbers is None:
            return int(self.counts[-1])
        gone = np.isnan(self.numbers)
        return int(gone.sum() if self.index is None else self.counts[:-1][gone].sum() + self.counts[-1])

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The text of each distinct value."""
        return tuple(text_of(value) for value in self.values)

    @property
    def is_text(self) -> bool:
        return self.numbers is None and all(isinstance(value, str) for value in self.values)

    def as_categories(self) -> RawColumn:
        """The same column with numbers turned into distinct values."""
        if self.numbers is None:
            return self
        import pandas as pd

        index, found = pd.factorize(self.numbers, use_na_sentinel=True)
        if self.index is not None:
            index = spread(np.append(index, -1), self.index)
        values = tuple(int(number) if float(number).is_integer() else float(number) for number in found)
        return RawColumn(self.name, self.dtype, values=values, index=index)


def counts_of(index: np.ndarray, many: int) -> np.ndarray:
    """How often each of so many values occurs, and at the end how often none does."""
    found = np.zeros(many + 1, dtype=np.int64)
    for low in range(0, len(index), AT_ONCE):
        part = index[low : low + AT_ONCE].astype(np.int64)
        found += np.bincount(np.where(part < 0, many, part), minlength=many + 1)
    return found


def raw_column(series: pd.Series | RawColumn, where: str, *, from_file: bool = False) -> RawColumn:
    """Read a pandas column of any type; an error that says what to do for those that have no meaning in a table."""
    if isinstance(series, RawColumn):
        return series
    import pandas as pd

    from unmask.tables._packed import is_packed

    name, dtype = str(series.name), series.dtype
    if isinstance(dtype, pd.CategoricalDtype) and from_file:
        return _streamed(series, name)
    if is_packed(series):
        return _packed(series, name, where)
    if isinstance(dtype, pd.CategoricalDtype):
        return _categories(series, name, where)
    if pd.api.types.is_bool_dtype(dtype):
        missing = series.isna().to_numpy()
        index = np.where(missing, -1, series.fillna(False).to_numpy(dtype=bool).astype(np.int64))
        return RawColumn(name, str(dtype), values=(False, True), index=index, fixed=True)
    if pd.api.types.is_complex_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype):
        raise InputError(f"{where}: column '{name}' has type {dtype}. Turn it into a plain number first.")
    if pd.api.types.is_numeric_dtype(dtype):
        return _numbers(series, name, where)
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return _dates(series, name, where)
    return _objects(series, name, where, from_file)


def _streamed(series: pd.Series, name: str) -> RawColumn:
    """Texts of a file that was read some rows at a time (`_streamed.py`): categories in order of first appearance."""
    index, found = _that_occur(series.cat.codes.to_numpy(), series.cat.categories)
    return RawColumn(name, "str", values=tuple(map(str, found)), index=index, from_file=True)


def _packed(series: pd.Series, name: str, where: str) -> RawColumn:
    """A column held as distinct values (`_packed.py`): what is read of them, and which of them each row has."""
    import pandas as pd

    from unmask.tables._packed import plain, unpacked

    distinct, index = unpacked(series)
    if pd.api.types.is_float_dtype(distinct.dtype) and np.isinf(distinct).any():
        return raw_column(plain(series), where)  # which says in which row
    index, distinct = _that_occur(index, distinct)
    raw = raw_column(distinct, where)
    return replace(raw, name=name, index=index if raw.index is None else spread(np.append(raw.index, -1), index))


def _that_occur(index: np.ndarray, values: Any) -> tuple[np.ndarray, Any]:
    """Without the values that no row has: those of a frame of which rows were taken out."""
    used = counts_of(index, len(values))[:-1] > 0
    if used.all():
        return index, values
    return spread(np.append(np.cumsum(used) - 1, -1), index), values[used]


def _categories(series: pd.Series, name: str, where: str) -> RawColumn:
    categories = series.cat.categories
    values = tuple(_plain(value) for value in categories)
    if len({text_of(value) for value in values}) < len(values) or not all(_is_value(value) for value in values):
        return _by_text(series.astype(object), name, "category", where)
    index = series.cat.codes.to_numpy(dtype=np.int64)
    return RawColumn(name, "category", values=values, index=index, fixed=True, ordered=bool(series.cat.ordered))


def _numbers(series: pd.Series, name: str, where: str) -> RawColumn:
    import pandas as pd

    numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
    if str(series.dtype).lower() in ("float16", "float32"):  # 39.1 is 39.1, as a file would say it, and not 39.09999847
        short = numbers.astype(str(series.dtype).lower())
        numbers = short.astype(str).astype(np.float64)
    if np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0])
        raise InputError(
            f"{where}: column '{name}' holds an infinite number (row {row}).\n"
            "Replace it by a missing value or by a finite number."
        )
    dtype = str(series.dtype)
    if (
        pd.api.types.is_integer_dtype(series.dtype)
        and len(numbers)
        and np.nanmax(np.abs(numbers), initial=0) >= 2.0**53
    ):
        index, found = pd.factorize(series, use_na_sentinel=True)
        return RawColumn(name, dtype, values=tuple(int(value) for value in found), index=index)
    return RawColumn(name, dtype, numbers=numbers)


def _dates(series: pd.Series, name: str, where: str) -> RawColumn:
    naive = series.dt.tz_convert("UTC").dt.tz_localize(None) if series.dt.tz is not None else series
    return _date_raw(naive.to_numpy(), name, str(series.dtype), where)


def _date_raw(stamps: np.ndarray, name: str, dtype: str, where: str) -> RawColumn:
    numbers, resolution = count_dates(stamps)
    if not resolution:
        raise InputError(f"{where}: column '{name}' counts nanoseconds. Round it to microseconds.")
    return RawColumn(name, dtype, numbers=numbers, resolution=resolution)


def count_dates(stamps: np.ndarray) -> tuple[np.ndarray, str]:
    """Dates as whole counts of the coarsest unit that loses nothing, and that unit ("" if there is none)."""
    present = ~np.isnat(stamps)
    for unit in UNITS:
        counts = stamps.astype(f"datetime64[{unit}]")
        if np.array_equal(counts[present].astype(stamps.dtype), stamps[present]):
            numbers = np.full(len(stamps), np.nan)
            numbers[present] = counts[present].astype(np.int64)
            return numbers, unit
    return np.empty(0), ""


def _objects(series: pd.Series, name: str, where: str, from_file: bool) -> RawColumn:
    """Text, or Python objects: all dates, all true/false, or values that text tells apart."""
    import pandas as pd

    if from_file or isinstance(series.dtype, pd.StringDtype):
        index, found = pd.factorize(series, use_na_sentinel=True)
        dtype = "str" if from_file else str(series.dtype)  # pandas 2 reads texts as objects: a file has one schema
        return RawColumn(name, dtype, values=tuple(map(str, found)), index=index, from_file=from_file)
    present = series[series.notna()]
    types = set(present.map(type).unique()) if len(present) else set()
    if types == {str}:
        index, found = pd.factorize(series, use_na_sentinel=True)
        return RawColumn(name, str(series.dtype), values=tuple(map(str, found)), index=index)
    if types and types <= {datetime.date}:
        days = [day if known else None for day, known in zip(series, series.notna(), strict=True)]
        return _date_raw(np.array(days, dtype="datetime64[D]"), name, "date", where)
    if strange := sorted(kind.__name__ for kind in types if not _is_value_type(kind)):
        raise InputError(
            f"{where}: column '{name}' holds objects of type {quoted(strange)}.\n"
            "A table holds text, numbers, dates, true/false and missing values: convert the column first."
        )
    return _by_text(series, name, str(series.dtype), where)


def _by_text(series: pd.Series, name: str, dtype: str, where: str) -> RawColumn:
    """Distinct values told apart by their text, since Python holds 1, 1.0 and True to be equal."""
    place: dict[str, int] = {}
    values: list[Any] = []
    index = np.full(len(series), -1)
    note = ""
    for row, (value, missing) in enumerate(zip(map(_plain, series), series.isna(), strict=True)):
        if missing:
            continue
        text = text_of(value)
        if text not in place:
            place[text] = len(values)
            values.append(value)
        elif type(value) is not type(values[place[text]]):
            note = f"{where}: column '{name}' mixes types: the same value occurs as text and as a number, taken as one."
        index[row] = place[text]
    return RawColumn(name, dtype, values=tuple(values), index=index, note=note)


def _plain(value: Any) -> Any:
    """A numpy scalar as the Python value it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def _is_value(value: object) -> bool:
    return isinstance(value, str | int | float | bool)


def _is_value_type(kind: type) -> bool:
    return issubclass(kind, str | int | float | bool | np.integer | np.floating | np.bool_)
