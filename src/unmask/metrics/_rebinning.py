"""Other bins for the numbers of a table than those of its schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unmask.errors import ParameterError
from unmask.tables.schema import MAX_VALUES, Column
from unmask.tables.table import Table


@dataclass(frozen=True)
class Uniform:
    """Equal bins over the public range of each column."""

    bins: int = 20

    def __post_init__(self) -> None:
        check_bins(self.bins)

    def column(self, column: Column, numbers: np.ndarray) -> Column:
        """The column with these bins; the numbers are not looked at."""
        return replace(column, bins=self.bins, cuts=())


@dataclass(frozen=True)
class Quantile:
    """Bins that hold about equally many rows of the real table; fewer where values repeat."""

    bins: int = 20

    def __post_init__(self) -> None:
        check_bins(self.bins)

    def column(self, column: Column, numbers: np.ndarray) -> Column:
        """The column with cuts at the quantiles of these numbers, missing ones left out."""
        present = numbers[~np.isnan(numbers)]
        if not len(present):
            return replace(column, bins=1, cuts=())
        cuts = np.quantile(present, np.linspace(0, 1, self.bins + 1)[1:-1])
        cuts = np.unique(np.ceil(cuts) if column.is_integral else cuts)
        inside = cuts[(cuts > column.lower) & (cuts <= column.upper)]
        return replace(column, bins=1, cuts=tuple(inside))


Binning = Uniform | Quantile


def check_bins(bins: int) -> None:
    """Refuse numbers of bins that no table can have."""
    if not 1 <= bins <= MAX_VALUES:
        raise ParameterError(f"bins is {bins}; use 1 to {MAX_VALUES:,}.")


def rebinned(tables: Sequence[Table], binning: Binning) -> list[Table]:
    """The tables with these bins; quantiles are those of the first one."""
    first = tables[0]
    columns = list(first.schema.columns)
    for place, position in enumerate(first.schema.numeric):
        columns[position] = binning.column(columns[position], first.numbers[:, place])
    return [with_numeric_columns(table, columns) for table in tables]


def with_numeric_columns(table: Table, columns: Sequence[Column]) -> Table:
    """The table against other descriptions of its numeric columns: the numbers stay, the bins are found anew."""
    schema = table.schema.with_columns(columns)
    codes = np.empty(table.codes.shape, dtype=schema.code_type, order="F")
    for position, (old, new) in enumerate(zip(table.schema.columns, columns, strict=True)):
        if not old.is_numeric:
            codes[:, position] = table.codes[:, position]
            continue
        before = table.codes[:, position]
        numbers = table.numbers[:, table.schema.numeric.index(position)]
        found = new.bin_of(np.where(np.isnan(numbers), new.lower, numbers))
        found[np.isnan(numbers) | (before == old.unlisted_code)] = new.unlisted_code
        if old.missing:
            found[before == old.missing_code] = new.missing_code
        codes[:, position] = found
    return replace(table, schema=schema, codes=codes)
