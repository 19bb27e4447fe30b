"""Total variation of marginal tables: the largest difference that any question about these columns can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unmask.tables.table import Table

DENSE = 32_768  # cells up to which a table of counts is kept whole
MOST_SUBSETS = 300  # of columns, of one size; beyond, drawn at random


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of rows by cell. `cells` are the numbers of the cells that occur, None where all are kept in order."""

    shares: np.ndarray
    cells: np.ndarray | None


def shares_of(table: Table, positions: Sequence[int]) -> Shares:
    """Shares of rows by joint code of the columns at these positions; missing and unlisted values have cells of their own."""
    cells, count = joint_codes(table, positions)
    rows = max(1, len(table))
    if count <= DENSE:
        return Shares(np.bincount(cells, minlength=count) / rows, None)
    found, counts = np.unique(cells, return_counts=True)
    return Shares(counts / rows, found)


def total_variation(real: Shares, synthetic: Shares) -> float:
    """Half the sum of absolute differences: 0 = the same shares, 1 = no cell in common."""
    if real.cells is None or synthetic.cells is None:
        return float(np.abs(real.shares - synthetic.shares).sum() / 2)
    _, mine, theirs = np.intersect1d(real.cells, synthetic.cells, assume_unique=True, return_indices=True)
    return float(1 - np.minimum(real.shares[mine], synthetic.shares[theirs]).sum())


def marginals(table: Table, subsets: Sequence[tuple[int, ...]]) -> list[Shares]:
    """Every marginal table of the subsets of columns."""
    return [shares_of(table, subset) for subset in subsets]


def variations(real: Sequence[Shares], synthetic: Sequence[Shares]) -> np.ndarray:
    """Total variation, marginal by marginal."""
    return np.array([total_variation(mine, theirs) for mine, theirs in zip(real, synthetic, strict=True)])


def subsets_of(columns: Sequence[int], size: int, *, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """All subsets of this size, or as many as are looked at, drawn at random."""
    found = list(combinations(columns, size))
    if len(found) <= MOST_SUBSETS:
        return found
    return [found[place] for place in np.sort(rng.choice(len(found), MOST_SUBSETS, replace=False))]


def joint_codes(table: Table, positions: Sequence[int]) -> tuple[np.ndarray, int]:
    """One number per row for the codes in these columns, and how many numbers there can be."""
    cells, count = np.zeros(len(table), dtype=np.int64), 1
    for position in positions:
        size = table.schema.columns[position].code_count
        cells *= size
        cells += table.codes[:, position]
        count *= size
    return cells, count
