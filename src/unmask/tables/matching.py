"""Exact matches by hashing: which rows are equal, and how often. No distances, milliseconds.

Each column becomes an integer, and the integers of a row one mixed-radix key. Where the key would overflow it is
replaced by the number of its group so far, which keeps equal rows equal and different rows different. For large tables there
are keys of 64 bits (`row_keys`), which take a third of the room: in 1 of 100,000 cases two of twenty million rows share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from unmask.errors import ParameterError
from unmask.tables.schema import Column, quoted
from unmask.tables.table import Table

LARGEST_KEY = 2**62
MANY_ROWS = 200_000  # in all tables together: from here on rows have keys of 64 bits
AT_ONCE = 2**15  # rows whose keys are made at a time, so that they stay near the processor


class By(StrEnum):
    """What two numbers must share to be equal. Categories always compare by value; missing equals missing.

    A category that the schema does not list equals nothing, not even itself in another row, since its text is gone.
    Under CODES the same holds for numbers outside the schema's range.
    """

    VALUES = "values"  # the number itself
    CODES = "codes"  # the bin


def group_ids(*tables: Table, columns: Sequence[str] | None = None, by: By = By.VALUES) -> list[np.ndarray]:
    """A group number for each row of each table: equal if and only if the rows are equal on these columns.

    Numbers run from 0 without gaps, across all tables.
    """
    if by not in list(By):
        raise ParameterError(f"by is '{by}'; choose one of {quoted(By)}.")
    if not tables:
        raise ParameterError("There are no tables to compare. Pass at least one.")
    chosen = shared_columns(tables, columns)
    rows = sum(len(table) for table in tables)
    keys, groups, unlisted = np.zeros(rows, dtype=np.int64), 1, np.zeros(rows, dtype=bool)
    for column in chosen:
        if column.is_numeric and by == By.VALUES:
            digits, size = _ranked(np.concatenate([_numbers(table, column) for table in tables]))
        else:
            codes = np.concatenate([table.codes[:, table.schema.position(column.name)] for table in tables])
            digits, size = codes, column.code_count
            unlisted |= codes == column.unlisted_code
        if groups * size > LARGEST_KEY:
            keys, groups = _ranked(keys)
        keys = keys * size + digits
        groups *= size
    ids, groups = _ranked(keys)
    if unlisted.any():
        ids[unlisted] = groups + np.arange(unlisted.sum())
        ids, _ = _ranked(ids)
    return np.split(ids, np.cumsum([len(table) for table in tables])[:-1])


def row_keys(*tables: Table, by: By = By.VALUES) -> list[np.ndarray]:
    """A key for each row of each table, equal if the rows are: by what they hold, from so many rows on as told above."""
    if sum(map(len, tables)) < MANY_ROWS:
        return group_ids(*tables, by=by)
    chosen = shared_columns(tables, None)
    return [_mixed(table, chosen, by, place) for place, table in enumerate(tables)]


def occur_once(values: np.ndarray) -> np.ndarray:
    """Which values occur once; what is missing (NaN) does not."""
    order = np.argsort(values)
    ordered = values[order]
    differs = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
    found = np.empty(len(values), dtype=bool)
    found[order] = differs[1:] & differs[:-1]
    return found & ~np.isnan(values) if values.dtype.kind == "f" else found


def occur_in(values: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Which values occur in the others."""
    found = np.zeros(len(values), dtype=bool)
    if not len(among):
        return found
    order = np.argsort(values)  # neighbours are found beside each other: several times as fast for large tables
    asked, ordered = values[order], np.sort(among)  # missing ones last
    place = np.searchsorted(ordered, asked)
    np.minimum(place, len(ordered) - 1, out=place)
    found[order] = ordered[place] == asked
    return found


def count_matches(
    queries: Table, candidates: Table, *, columns: Sequence[str] | None = None, by: By = By.VALUES
) -> np.ndarray:
    """How many candidates equal each query on these columns (int64)."""
    asked, found = group_ids(queries, candidates, columns=columns, by=by)
    return np.bincount(found, minlength=asked.max(initial=-1) + 1)[asked]


def duplicates(table: Table, *, columns: Sequence[str] | None = None, by: By = By.VALUES) -> np.ndarray:
    """How many rows of the table equal each row, itself included: 1 = unique (int64)."""
    (ids,) = group_ids(table, columns=columns, by=by)
    return np.bincount(ids)[ids]


def shared_columns(tables: Sequence[Table], names: Sequence[str] | None) -> list[Column]:
    """The columns to compare (None = all), in the order of the first schema; all tables must mean the same by them."""
    first = tables[0].schema
    if isinstance(names, str):
        raise ParameterError(f"columns is the text '{names}'; give a list of names, such as ['{names}'].")
    if names is None:
        if odd := set().union(*(set(first.names) ^ set(table.schema.names) for table in tables)):
            raise ParameterError(
                f"Not all tables have {quoted(sorted(odd))}. Name the columns to compare, or bring the "
                "tables to one schema."
            )
        names = first.names
    if len(names) == 0:
        raise ParameterError("There are no columns to compare: columns is empty. Leave it out to compare all.")
    chosen = [first.columns[position] for position in sorted({first.position(name) for name in names})]
    for table in tables[1:]:
        if different := [column.name for column in chosen if column != table.schema.column(column.name)]:
            raise ParameterError(
                f"The tables describe {quoted(different)} differently, so their codes cannot be compared.\n"
                "Encode all against one schema."
            )
    return chosen


def _mixed(table: Table, columns: Sequence[Column], by: By, salt: int) -> np.ndarray:
    """Keys of 64 bits from the values of the columns; rows with a value that the schema does not list have one of their own."""
    keys = np.zeros(len(table), dtype=np.uint64)
    places = [table.schema.position(column.name) for column in columns]
    for low in range(0, len(table), AT_ONCE):
        rows = slice(low, low + AT_ONCE)
        mixed, unlisted = keys[rows], np.zeros(len(keys[rows]), dtype=bool)
        for column, place in zip(columns, places, strict=True):
            if column.is_numeric and by == By.VALUES:
                numbers = table.numbers[rows, table.schema.numeric.index(place)] + 0.0  # -0.0 is 0.0
                numbers[np.isnan(numbers)] = np.nan
                _mix(mixed, numbers.view(np.uint64))
            else:
                codes = table.codes[rows, place]
                unlisted |= codes == column.unlisted_code
                _mix(mixed, codes.astype(np.uint64))
        if unlisted.any():
            own = (low + np.flatnonzero(unlisted)).astype(np.uint64)
            _mix(own, np.full(len(own), salt + 1, dtype=np.uint64))
            mixed[unlisted] = own
    return keys


def _mix(keys: np.ndarray, values: np.ndarray) -> None:
    """Take values into keys, each bit of which hangs on all bits before (the last steps of SplitMix64: Steele et al. 2014)."""
    keys += np.uint64(0x9E3779B97F4A7C15)
    keys ^= values
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys ^= keys >> np.uint64(shift)
        keys *= np.uint64(factor)
    keys ^= keys >> np.uint64(31)


def _numbers(table: Table, column: Column) -> np.ndarray:
    return table.numbers[:, table.schema.numeric.index(table.schema.position(column.name))]


def _ranked(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Each distinct value as a number from 0 (NaN equals NaN, -0.0 equals 0.0), and how many there are."""
    import pandas as pd

    found, distinct = pd.factorize(values, use_na_sentinel=False)
    return found.astype(np.int64, copy=False), max(len(distinct), 1)
