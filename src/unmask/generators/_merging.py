"""Merging rare values of each column into one cell, and spreading them out again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Merging:
    """Which codes of each column share a cell: rare ones do, in the column's last cell; every other one has its own."""

    cell_of: tuple[np.ndarray, ...]  # per column: from code to cell
    rare: tuple[np.ndarray, ...]  # per column: the codes in the last cell; empty if no code is rare
    sizes: np.ndarray  # cells of each column

    @classmethod
    def of(cls, noisy: Sequence[np.ndarray], limit: float) -> Merging:
        """Merge codes whose noisy count is below the limit or not above zero. Sees no exact count, so it costs no privacy."""
        cell_of, rare, sizes = [], [], []
        for counts in noisy:
            common = (counts >= limit) & (counts > 0)
            kept = int(np.count_nonzero(common))
            cell_of.append(np.where(common, np.cumsum(common) - 1, kept))
            rare.append(np.flatnonzero(~common))
            sizes.append(kept + (kept < len(counts)))
        return cls(tuple(cell_of), tuple(rare), np.array(sizes, dtype=np.int64))

    @property
    def spread(self) -> list[np.ndarray]:
        """How many codes each cell of each column stands for."""
        return [np.bincount(cell_of, minlength=size) for cell_of, size in zip(self.cell_of, self.sizes, strict=True)]

    def add_up(self, counts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Counts of cells from counts of codes, column by column."""
        return [
            np.bincount(cell_of, weights=column, minlength=size)
            for cell_of, column, size in zip(self.cell_of, counts, self.sizes, strict=True)
        ]

    def cells_of(self, codes: np.ndarray) -> np.ndarray:
        """The cells of codes, both rows x columns and of the same type."""
        cells = np.empty(codes.shape, dtype=codes.dtype, order="F")
        for j, cell_of in enumerate(self.cell_of):
            cells[:, j] = cell_of.astype(codes.dtype)[codes[:, j]]
        return cells

    def codes_of(self, cells: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Codes of cells; the codes of a merged cell are equally likely."""
        codes = np.empty(cells.shape, dtype=np.int64, order="F")
        for j, (cell_of, rare, size) in enumerate(zip(self.cell_of, self.rare, self.sizes, strict=True)):
            code_of = np.zeros(size, dtype=np.int64)
            code_of[cell_of] = np.arange(len(cell_of))
            codes[:, j] = code_of[cells[:, j]]
            if len(rare) > 1:
                merged = np.flatnonzero(cells[:, j] == size - 1)
                codes[merged, j] = rare[rng.integers(len(rare), size=len(merged))]
        return codes

    def log_share(self, codes: np.ndarray) -> np.ndarray:
        """Per row: log probability of these codes given their cells."""
        shares = np.zeros(len(codes))
        for j, (cell_of, rare) in enumerate(zip(self.cell_of, self.rare, strict=True)):
            if len(rare) > 1:
                shares[cell_of[codes[:, j]] == self.sizes[j] - 1] -= math.log(len(rare))
        return shares
