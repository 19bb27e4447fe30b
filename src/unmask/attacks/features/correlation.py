"""F_corr of Stadler et al. (2022): the correlation of every pair of columns, categories one by one."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks.features._cells import check_bins, equal_bins, scaled_numbers
from unmask.compiled import inner, njit
from unmask.errors import ParameterError
from unmask.tables.schema import Schema
from unmask.tables.table import Table

ROUNDING = 1e-12  # relative to the largest number: a column that varies less is constant


@dataclass(frozen=True)
class CorrelationFeatures:
    """Pearson correlations between numbers and indicators of categories (each value but a column's first has one).

    The upper triangle of the matrix, row by row: numbers first, then the indicators, each in the order of the schema. What
    does not vary correlates with nothing: 0. A missing number counts as the mean. The paper bins numbers
    first: with `bins`, a number stands for its bin on the public range.

    The indicators of all columns meet in one table of co-occurrences, so a release costs rows x columns^2 / 2
    increments however many values there are. Their number grows with the square of the values: where there would be more
    than `most` features, values of the largest columns share indicators, the same ones in every release.
    """

    name: ClassVar[str] = "correlation"

    bins: int | None = None  # None = numbers as they are
    most: int = 20_000  # features

    def __post_init__(self) -> None:
        check_bins(self.bins, self.name)
        if isinstance(self.most, bool) or not isinstance(self.most, int) or self.most < 1:
            raise ParameterError(f"{self.name}: most is {self.most!r}; it must be a whole number of features from 1.")

    @property
    def key(self) -> str:
        return f"{self.name}:bins={self.bins},most={self.most}"

    def compute(self, synthetic: Table, targets: Table) -> np.ndarray:
        """The correlations above the diagonal; zeros for a release without rows."""
        numbers = _standardised(self._numbers(synthetic))
        categories, starts, values = _indicators(synthetic.schema, self.most)
        columns = np.ascontiguousarray(synthetic.codes.T)
        width = len(numbers) + int(values.sum())
        return _correlations(numbers, columns, categories, starts + len(numbers), values, width)

    def _numbers(self, table: Table) -> np.ndarray:
        """Numbers or their bins as columns x rows; NaN where there is none."""
        if self.bins is None:
            return scaled_numbers(table)
        found = np.empty((len(table.schema.numeric), len(table)))
        for place, position in enumerate(table.schema.numeric):
            column, numbers = table.schema.columns[position], table.numbers[:, place]
            bins = equal_bins(column, table.codes[:, position], numbers, self.bins)
            found[place] = np.where(bins < self.bins, bins, np.nan)
        return found


def _indicators(schema: Schema, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions of the categories, where the indicators of each start, and how many it has."""
    positions = [position for position, column in enumerate(schema.columns) if not column.is_numeric]
    values = np.array([schema.columns[position].code_count - 1 for position in positions], dtype=np.int64)
    numeric, largest = len(schema.numeric), int(values.max(initial=1))
    limit = bisect_right(
        range(1, largest + 1), most, key=lambda limit: _pairs(numeric + int(np.minimum(values, limit).sum()))
    )
    values = np.minimum(values, max(limit, 1))
    return np.array(positions, dtype=np.int64), np.cumsum(values) - values, values


def _pairs(width: int) -> int:
    return width * (width - 1) // 2


@njit(nogil=True, cache=True)
def _standardised(numbers):
    """Columns of mean 0 and mean square 1, in place; 0 where a number is missing or the column does not vary."""
    for column in numbers:
        count, total, largest = 0, 0.0, 1.0
        for number in column:
            if not np.isnan(number):
                count += 1
                total += number
                largest = max(largest, abs(number))
        mean = total / max(count, 1)
        square = 0.0
        for i in range(column.size):
            column[i] = 0.0 if np.isnan(column[i]) else column[i] - mean
            square += column[i] * column[i]
        deviation = np.sqrt(square / max(column.size, 1))
        constant = deviation <= ROUNDING * largest
        for i in range(column.size):
            column[i] = 0.0 if constant else column[i] / deviation
    return numbers


@njit(nogil=True, cache=True)
def _correlations(numbers, columns, categories, starts, values, width):
    rows = columns.shape[1]
    products = np.zeros((width, width))  # above the diagonal: sums of products; on it: how often an indicator is 1
    present = np.empty(categories.size, dtype=np.int64)
    for i in range(rows):
        count = 0
        for k in range(categories.size):
            code = np.int64(columns[categories[k], i])
            if code > 0:
                present[count] = starts[k] + (code - 1) % values[k]
                count += 1
        for a in range(count):
            for b in range(a, count):
                products[present[a], present[b]] += 1
        for a in range(numbers.shape[0]):
            for b in range(count):
                products[a, present[b]] += numbers[a, i]
            for b in range(a + 1, numbers.shape[0]):
                products[a, b] += numbers[a, i] * numbers[b, i]
    return _normalised(products, numbers.shape[0], max(rows, 1))


@inner()
def _normalised(products, numeric, rows):
    width = products.shape[0]
    means, weights = np.zeros(width), np.ones(width)
    for a in range(numeric, width):
        means[a] = products[a, a] / rows
        variance = means[a] * (1 - means[a])
        weights[a] = 1 / np.sqrt(variance) if variance > 0 else 0.0
    found = np.empty(width * (width - 1) // 2)
    place = 0
    for a in range(width):
        for b in range(a + 1, width):
            found[place] = (products[a, b] / rows - means[a] * means[b]) * weights[a] * weights[b]
            place += 1
    return found
