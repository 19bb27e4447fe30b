"""Cells of a table: the codes of its columns, with numbers in the schema's own bins or in equal ones.

A column has a cell for each value or bin, one for missing where the schema allows it, one for everything that the schema
does not list, and one for each group. Cells never move: the same cell means the same in every release.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unmask.errors import ParameterError
from unmask.tables.schema import Column, Schema
from unmask.tables.table import Table

MOST_BINS = 65_000  # with missing and unlisted they must fit sixteen bits
FARTHEST = (
    1e15  # public ranges away from the lower end: squares still fit the single precision of scikit-learn's forests
)


def check_bins(bins: Any, what: str) -> None:
    """Refuse a number of bins that is neither None nor a whole number from 1."""
    if bins is not None and (isinstance(bins, bool) or not isinstance(bins, int) or not 1 <= bins <= MOST_BINS):
        raise ParameterError(
            f"{what}: bins is {bins!r}; it must be a whole number from 1 to {MOST_BINS:,}, or none for the schema's bins."
        )


def cell_counts(schema: Schema, bins: int | None) -> np.ndarray:
    """How many cells each column has."""
    return np.array([_count(column, bins) for column in schema.columns], dtype=np.int64)


def _count(column: Column, bins: int | None) -> int:
    if bins is None or not column.is_numeric:
        return column.code_count
    return bins + bool(column.missing) + 1


def cells_of(table: Table, bins: int | None) -> np.ndarray:
    """The cell of every value, as columns x rows, contiguous; no copy where the schema's own bins are kept."""
    if bins is None or not table.schema.numeric:
        return np.ascontiguousarray(table.codes.T)
    cells = np.array(table.codes.T, dtype=np.uint16, order="C")
    for place, position in enumerate(table.schema.numeric):
        column = table.schema.columns[position]
        cells[position] = equal_bins(column, cells[position], table.numbers[:, place], bins)
    return cells


def equal_bins(column: Column, codes: np.ndarray, numbers: np.ndarray, bins: int) -> np.ndarray:
    """The bin of each number among equal ones on the public range; then missing (if allowed), then unlisted."""
    width = (column.upper - column.lower) / bins or 1.0
    unlisted = np.isnan(numbers) | (codes >= column.unlisted_code)
    found = ((np.where(unlisted, column.lower, numbers) - column.lower) / width).clip(0, bins - 1).astype(np.int64)
    found[unlisted] = bins + bool(column.missing)
    if column.missing:
        found[codes == column.missing_code] = bins
    return found


def scaled_numbers(table: Table) -> np.ndarray:
    """Numbers as columns x rows in units of the public range, 0 at its lower end; NaN = missing.

    Dates in microseconds would otherwise drown in the rounding of single precision.
    """
    numeric = [table.schema.columns[position] for position in table.schema.numeric]
    lower = np.array([column.lower for column in numeric])[:, None]
    width = np.array([column.upper - column.lower or 1.0 for column in numeric])[:, None]
    with np.errstate(over="ignore"):
        scaled = (table.numbers.T - lower) / width
    return np.ascontiguousarray(np.clip(scaled, -FARTHEST, FARTHEST, out=scaled))
