"""Levels inside a network: all segments side by side in one matrix, handled at once and not column by column."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

TINY = 1e-20  # keeps logarithms finite


class Segments:
    """Blocks of columns of one matrix: in each block a row has one level.

    A sum over each block is a product with the 0/1 matrix `member`; the way back from blocks to columns is `spread`.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = torch.tensor(sizes, dtype=torch.int64)
        self.count, self.width = len(sizes), int(self.sizes.sum())
        self.starts = self.sizes.cumsum(0) - self.sizes
        self.block = torch.arange(self.count).repeat_interleave(self.sizes)  # of each column
        self.member = torch.nn.functional.one_hot(self.block, max(self.count, 1)).float()[:, : self.count]

    def spread(self, by_block: Tensor) -> Tensor:
        """For each column the number of its block."""
        return by_block.index_select(1, self.block)

    def one_hot(self, levels: Tensor) -> Tensor:
        """A 1 in each block at the row's level; none where the level is negative (a value never seen)."""
        hot = torch.zeros(len(levels), self.width)
        return hot.scatter_add_(1, (levels + self.starts).clamp(min=0), (levels >= 0).float())

    def log_probabilities(self, logits: Tensor) -> Tensor:
        """Log-softmax within each block."""
        if not self.count:
            return logits
        largest = torch.segment_reduce(logits.detach().T.contiguous(), "max", lengths=self.sizes, axis=0).T
        shifted = logits - self.spread(largest)
        return shifted - self.spread((shifted.exp() @ self.member).log())

    def soft(self, logits: Tensor, temperature: float, stream: torch.Generator) -> Tensor:
        """Gumbel-softmax: almost one level per block, drawn by its probability, with a gradient."""
        uniform = torch.rand(logits.shape, generator=stream)
        gumbel = uniform.add_(TINY).log_().neg_().add_(TINY).log_().neg_()
        return self.log_probabilities((logits + gumbel) / temperature).exp()

    def draw(self, logits: Tensor, stream: torch.Generator) -> Tensor:
        """One level per row and block, drawn by its probability (rows x blocks)."""
        if not self.count:
            return torch.zeros(len(logits), 0, dtype=torch.int64)
        # Each block adds 1 to the running sum, so that block b lies between b and b + 1.
        sums = self.log_probabilities(logits).exp().double().cumsum(1)
        wanted = torch.rand(len(logits), self.count, generator=stream, dtype=torch.float64) + torch.arange(self.count)
        found = torch.searchsorted(sums, wanted, right=True) - self.starts
        return torch.minimum(found.clamp(min=0), self.sizes - 1)

    def chosen(self, by_column: Tensor, levels: Tensor, unseen: float) -> Tensor:
        """The number at each row's level in each block (rows x blocks); `unseen` where the level is negative."""
        taken = by_column.gather(1, (levels + self.starts).clamp(min=0))
        return taken.masked_fill(levels < 0, unseen)
