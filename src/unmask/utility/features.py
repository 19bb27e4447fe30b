"""Tables as matrices that learners take."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from unmask.tables.metric import labels
from unmask.tables.schema import Column
from unmask.tables.search._kernels import FAR
from unmask.tables.table import Table

FEWEST = 10  # rows that have a category, in the table that decides: rarer ones share a feature


class Encoding(StrEnum):
    """How categories become numbers."""

    ONE_HOT = "one-hot"  # a feature for each
    LABEL = "label"  # their place in the schema (hittmeir2020)


class FeatureScaling(StrEnum):
    """By whose mean and deviation features are standardised."""

    TRAINING = "training"  # those of the training rows
    EACH = "each"  # training and test rows each by their own (hittmeir2020)


@dataclass(frozen=True)
class FeatureMap:
    """From a table to a matrix, without the label."""

    encoding: Encoding = Encoding.ONE_HOT
    scaling: FeatureScaling = FeatureScaling.TRAINING

    def matrices(self, train: Table, test: Table, label: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Standardised features of training and test rows; what is missing is the mean, with a feature that says so."""
        first, second = self._raw(train, train, label), self._raw(test, train, label)
        scale = _scale(first)
        return _scaled(first, scale), _scaled(
            second, scale if self.scaling is FeatureScaling.TRAINING else _scale(second)
        )

    def _raw(self, table: Table, decides: Table, label: str | None) -> np.ndarray:
        """Features with NaN for what is missing."""
        found: list[np.ndarray] = []
        for position, column in enumerate(table.schema.columns):
            if column.name == label:
                continue
            if column.is_numeric or self.encoding is Encoding.LABEL:
                scale = labels(table, position)
                found.append(np.where(scale < FAR, scale, _groups(table.codes[:, position], column)))
                if column.missing and self.encoding is Encoding.ONE_HOT:
                    found.append((scale >= FAR).astype(np.float64))
            else:
                found += _one_hot(table.codes[:, position], decides.codes[:, position], column.code_count)
        return np.column_stack(found) if found else np.zeros((len(table), 0))


def _groups(codes: np.ndarray, column: Column) -> np.ndarray:
    """The codes of groups, which sanitisers publish in the place of categories; NaN for everything else."""
    return np.where(codes > column.unlisted_code, codes.astype(np.float64), np.nan)


def _one_hot(codes: np.ndarray, decides: np.ndarray, size: int) -> list[np.ndarray]:
    """A feature for each category that enough rows have, but the most frequent, and one for all others."""
    counts = np.bincount(decides, minlength=size)
    usual = np.flatnonzero(counts >= FEWEST)
    usual = usual[usual != counts.argmax()]
    rest = ~np.isin(codes, [*usual, counts.argmax()])
    return [*((codes == code).astype(np.float64) for code in usual), rest.astype(np.float64)]


def _scale(raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = ~np.isnan(raw)
    some = np.maximum(known.sum(axis=0), 1)
    largest = np.abs(np.where(known, raw, 0.0)).max(axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)  # keeps squares of large numbers finite
    mean = (np.where(known, raw, 0.0) / unit).sum(axis=0) / some
    deviation = np.sqrt(np.square(np.where(known, raw / unit - mean, 0.0)).sum(axis=0) / some)
    return mean * unit, np.where(deviation > 1e-12 * np.abs(mean), deviation * unit, 1.0)


def _scaled(raw: np.ndarray, scale: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    mean, deviation = scale
    return np.where(np.isnan(raw), 0.0, (raw - mean) / deviation)
