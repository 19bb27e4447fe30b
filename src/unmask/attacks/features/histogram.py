"""F_hist of Stadler et al. (2022): the marginal distribution of every column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks.features._cells import cell_counts, cells_of, check_bins
from unmask.compiled import njit
from unmask.tables.table import Table


@dataclass(frozen=True)
class HistogramFeatures:
    """The share of rows in every cell of every column.

    Numbers are binned on the public range, never on the release: with its own bins the same bin would mean something else
    in each release. Missing values and what the schema does not list (numbers out of range, too) have cells of their own.
    """

    name: ClassVar[str] = "histogram"

    bins: int | None = None  # equal bins on the public range of each number; None = the bins of the schema

    def __post_init__(self) -> None:
        check_bins(self.bins, self.name)

    @property
    def key(self) -> str:
        return f"{self.name}:bins={self.bins}"

    def compute(self, synthetic: Table, targets: Table) -> np.ndarray:
        """One share per cell, column by column; zeros for a release without rows."""
        ends = np.cumsum(cell_counts(synthetic.schema, self.bins))
        starts = np.concatenate([[0], ends[:-1]])
        counts = _counts(cells_of(synthetic, self.bins), starts, ends[-1])
        return counts / max(len(synthetic), 1)


@njit(nogil=True, cache=True)
def _counts(columns, starts, cells):
    counts = np.zeros(cells)
    for j in range(columns.shape[0]):
        start = starts[j]
        for cell in columns[j]:
            counts[start + cell] += 1
    return counts
