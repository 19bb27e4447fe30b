"""F_naive of Stadler et al. (2022): a few plain statistics of every column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks.features._cells import scaled_numbers
from unmask.compiled import inner, njit
from unmask.tables.table import Table


@dataclass(frozen=True)
class NaiveFeatures:
    """Mean, median and variance of numbers; how many values of a category occur, the most and the least frequent one.

    Numbers are taken in units of the public range; missing ones are left out, those outside the range are not. Missing is
    a value of a category like any other. Ties go to the lower code; a column without any value gives 0 (numbers) or
    -1 (codes).
    """

    name: ClassVar[str] = "naive"

    @property
    def key(self) -> str:
        return self.name

    def compute(self, synthetic: Table, targets: Table) -> np.ndarray:
        """Three features per column: numbers first, then categories, each in the order of the schema."""
        columns = synthetic.schema.columns
        numbers = scaled_numbers(synthetic)
        categories = np.array([j for j, column in enumerate(columns) if not column.is_numeric], dtype=np.int64)
        most = max((columns[j].code_count for j in categories), default=1)
        features = np.empty((len(numbers) + len(categories), 3))
        _statistics(numbers, features[: len(numbers)])
        _frequencies(np.ascontiguousarray(synthetic.codes.T), categories, most, features[len(numbers) :])
        return features.ravel()


@njit(nogil=True, cache=True)
def _statistics(numbers, features):
    present = np.empty(numbers.shape[1])
    for j in range(numbers.shape[0]):
        count = 0
        for i in range(numbers.shape[1]):
            if not np.isnan(numbers[j, i]):
                present[count] = numbers[j, i]
                count += 1
        if count == 0:
            features[j] = 0.0
            continue
        total = 0.0
        for i in range(count):
            total += present[i]
        mean = total / count
        square = 0.0
        for i in range(count):
            square += (present[i] - mean) * (present[i] - mean)
        features[j, 0] = mean
        features[j, 1] = _median(present, count)
        features[j, 2] = square / count


@inner()
def _median(numbers, count):
    """Of the first so many numbers, which change places: numpy's own would load numba's linear algebra with it."""
    high = _smallest(numbers, count, count // 2)
    if count % 2:
        return high
    low = numbers[0]
    for i in range(count // 2):  # those before it do not exceed it
        low = max(low, numbers[i])
    return (low + high) / 2


@inner()
def _smallest(numbers, count, rank):
    """The number that so many do not exceed, and these before it (Hoare's search)."""
    first, last = 0, count - 1
    while first < last:
        middle, low, high = numbers[(first + last) // 2], first, last
        while low <= high:
            while numbers[low] < middle:
                low += 1
            while numbers[high] > middle:
                high -= 1
            if low <= high:
                numbers[low], numbers[high] = numbers[high], numbers[low]
                low += 1
                high -= 1
        if rank <= high:
            last = high
        elif rank >= low:
            first = low
        else:
            break
    return numbers[rank]


@njit(nogil=True, cache=True)
def _frequencies(columns, positions, codes, features):
    counts = np.empty(codes, dtype=np.int64)
    for place in range(positions.size):
        counts[:] = 0
        for code in columns[positions[place]]:
            counts[code] += 1
        distinct, most, least = 0, -1, -1
        for code in range(codes):
            if counts[code] == 0:
                continue
            distinct += 1
            if most < 0 or counts[code] > counts[most]:
                most = code
            if least < 0 or counts[code] < counts[least]:
                least = code
        features[place, 0] = distinct
        features[place, 1] = most
        features[place, 2] = least
