"""A classifier between two tables: what it can tell apart, any attacker can."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from unmask.tables.table import Table

MOST_ROWS = 10_000  # of each table


def separate(first: Table, second: Table, rng: np.random.Generator) -> Callable[[Table], np.ndarray]:
    """A score that is higher for rows like the first table than for rows like the second."""
    first, second = _some(first, rng), _some(second, rng)
    rows = np.concatenate([as_features(first), as_features(second)])
    label = np.arange(len(rows)) < len(first)
    model = HistGradientBoostingClassifier(
        max_iter=60,
        max_leaf_nodes=15,
        min_samples_leaf=20,
        categorical_features=_categorical(first),
        early_stopping=False,
        random_state=int(rng.integers(2**31)),
    ).fit(rows, label)
    return lambda table: np.asarray(model.decision_function(as_features(table)), dtype=np.float64)


def _some(table: Table, rng: np.random.Generator) -> Table:
    return table.take(np.sort(rng.choice(len(table), MOST_ROWS, replace=False))) if len(table) > MOST_ROWS else table


def as_features(table: Table) -> np.ndarray:
    """Numbers as they are, categories as codes, missing numbers as NaN."""
    features = table.codes.astype(np.float64)
    for place, position in enumerate(table.schema.numeric):
        features[:, position] = table.numbers[:, place]
    return features


def _categorical(table: Table) -> list[bool]:
    """Columns of categories, as far as the classifier takes them (255 values); wider ones go by their order."""
    return [not column.is_numeric and column.code_count <= 255 for column in table.schema.columns]
