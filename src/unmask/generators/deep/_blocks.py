"""Rows as one block of zeros and a one per column, against the public schema: nothing is looked up in the data.

Numbers stand by the bins of the schema, as in the other private generators.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.tables.schema import Schema


@dataclass(frozen=True, eq=False)
class Blocks:
    """Where the codes of each column stand in a long row."""

    sizes: np.ndarray  # codes of each column

    @classmethod
    def of(cls, schema: Schema) -> Blocks:
        return cls(schema.sizes)

    @property
    def width(self) -> int:
        return int(self.sizes.sum())

    @cached_property
    def starts(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    def places(self, codes: np.ndarray) -> np.ndarray:
        """Where the ones stand (rows x columns). Codes that the schema does not list must have been refused before."""
        return codes.astype(np.int64) + self.starts

    def encode(self, codes: np.ndarray) -> np.ndarray:
        """Zeros and ones (rows x width); a code that the schema does not list leaves its block empty."""
        found = np.zeros((len(codes), self.width), dtype=np.float32)
        listed = codes < self.sizes
        rows, _ = np.nonzero(listed)
        found[rows, self.places(codes)[listed]] = 1
        return found

    def softmax(self, logits: np.ndarray) -> np.ndarray:
        """Shares within each block."""
        top = np.maximum.reduceat(logits, self.starts, axis=1)
        found = np.exp(logits - self._spread(top))
        return np.asarray(found / self._spread(np.add.reduceat(found, self.starts, axis=1)))

    def pull(self, shares: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """The slope with respect to logits, from the slope with respect to the shares."""
        mean = np.add.reduceat(shares * slope, self.starts, axis=1)
        return np.asarray(shares * (slope - self._spread(mean)))

    def choose(self, logits: np.ndarray) -> np.ndarray:
        """The code with the largest logit in each block; with Gumbel noise on the logits, a draw from the shares."""
        found = np.empty((len(logits), len(self.sizes)), dtype=np.int64)
        for column, (start, size) in enumerate(zip(self.starts, self.sizes, strict=True)):
            found[:, column] = np.argmax(logits[:, start : start + size], axis=1)
        return found

    def _spread(self, values: np.ndarray) -> np.ndarray:
        return np.repeat(values, self.sizes, axis=1)
