"""How columns hang together: correlations, normalised mutual information, and the similarity score of ganev2023."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.tables.metric import labels
from unmask.tables.search._kernels import FAR
from unmask.tables.table import Table
from unmask.utility.marginals import DENSE, Shares, joint_codes, marginals, variations


def on_a_scale(table: Table) -> tuple[int, ...]:
    """Columns whose order means something: numbers, dates, ordered categories, and those with two values."""
    columns = table.schema.columns
    return tuple(
        place for place, column in enumerate(columns) if column.is_numeric or column.ordered or column.listed == 2
    )


def correlations(table: Table, positions: tuple[int, ...]) -> np.ndarray:
    """Pearson's correlation of every pair of columns, over the rows that have both; NaN where one does not vary there."""
    scale = np.column_stack([labels(table, position) for position in positions])
    present = scale < FAR
    some = np.maximum(present.sum(axis=0), 1)
    centre = np.where(present, scale, 0.0).sum(axis=0) / some
    values = np.where(present, scale - centre, 0.0)
    largest = np.abs(values).max(axis=0, initial=0.0)
    values = values / np.where(largest > 0, largest, 1.0)  # keeps squares of large numbers finite
    weights = present.astype(np.float64)
    counts = weights.T @ weights
    sums, squares = (
        values.T @ weights,
        np.square(values).T @ weights,
    )  # of the first column, where the second is present
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = values.T @ values - sums * sums.T / counts
        spread = squares - np.square(sums) / counts
        spread = np.where(spread > 1e-12 * squares, spread, 0.0)
        found = covariance / np.sqrt(spread * spread.T)
    return np.clip(np.where(np.isfinite(found), found, np.nan), -1.0, 1.0)


def correlation_gaps(real: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """Synthetic less real for every pair; a column that does not vary in the release has lost its correlations."""
    return np.where(np.isnan(real), np.nan, np.nan_to_num(synthetic) - real)[upper(len(real))]


def mutual_information(table: Table, positions: tuple[int, ...]) -> np.ndarray:
    """Mutual information of every pair of columns over the mean of their entropies: 0 = independent, 1 = one gives the other.

    On codes (numbers by their bin). As scikit-learn's `normalized_mutual_info_score`; two constant columns have 1.
    """
    alone = [_entropy(table, (position,)) for position in positions]
    found = np.eye(len(positions))
    for i, first in enumerate(positions):
        for j in range(i):
            shared = max(0.0, alone[i] + alone[j] - _entropy(table, (first, positions[j])))
            mean = (alone[i] + alone[j]) / 2
            found[i, j] = found[j, i] = 1.0 if mean == 0 else min(1.0, shared / mean)
    return found


def information_gaps(real: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """Synthetic less real for every pair."""
    return (synthetic - real)[upper(len(real))]


@dataclass(frozen=True, eq=False)
class SimilarityStatistic:
    """What the similarity score of ganev2023 reads: every one-way marginal, and the mutual information of every pair."""

    marginals: list[Shares]
    information: np.ndarray


def similarity_statistic(table: Table, positions: tuple[int, ...]) -> SimilarityStatistic:
    """One-way marginals and mutual information of these columns."""
    return SimilarityStatistic(marginals(table, [(each,) for each in positions]), mutual_information(table, positions))


def dissimilarity(real: SimilarityStatistic, synthetic: SimilarityStatistic) -> np.ndarray:
    """One less the scores that ganev2023 averages: total variation of each column, change of information of each pair.

    Their mean weighs columns and pairs alike; one less that mean is the similarity score (1 = the same).
    """
    pairs = np.abs(information_gaps(real.information, synthetic.information))
    return np.concatenate([variations(real.marginals, synthetic.marginals), pairs])


def upper(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of all pairs of a matrix."""
    rows, columns = np.triu_indices(size, k=1)
    return rows, columns


def _entropy(table: Table, positions: tuple[int, ...]) -> float:
    """In nats."""
    cells, count = joint_codes(table, positions)
    counts = np.bincount(cells, minlength=count) if count <= DENSE else np.unique(cells, return_counts=True)[1]
    counts = counts[counts > 0]
    rows = max(1, len(table))
    return float(np.log(rows) - (counts * np.log(counts)).sum() / rows)
