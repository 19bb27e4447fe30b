"""A table as a chain of conditional tables: each column is drawn given a few columns drawn before it.

Independent columns are the case without parents. All tables hold whole (noisy, clipped) counts, summed up along each row, so
that drawing is a search and a probability is a difference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.compiled import njit
from unmask.generators._generator import Measurement
from unmask.generators._numbers import table_from_codes
from unmask.generators.claim import Claim
from unmask.tables.schema import Schema
from unmask.tables.table import Table


@dataclass(frozen=True, eq=False)
class Node:
    """One column given its parents: a row of running sums of counts for every combination of the parents' codes.

    A row that sums to 0 stands for the uniform distribution: nothing is known there.
    """

    child: int
    parents: tuple[int, ...]
    running: np.ndarray  # parent combinations x codes of the child, int64

    @classmethod
    def from_counts(cls, child: int, parents: tuple[int, ...], counts: np.ndarray) -> Node:
        """From counts with one axis per parent and the child's axis last; noise below 0 is clipped."""
        rows = np.maximum(counts, 0).reshape(-1, counts.shape[-1])
        return cls(child, parents, np.cumsum(rows, axis=1, dtype=np.int64))

    @property
    def conditional(self) -> np.ndarray:
        """Probability of each code of the child in every row of the table."""
        counts = np.diff(self.running, axis=1, prepend=0).astype(np.float64)
        counts[self.running[:, -1] == 0] = 1.0
        return counts / counts.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """Columns in an order in which parents come first."""

    schema: Schema
    nodes: tuple[Node, ...]
    claim: Claim | None = None
    measurements: tuple[Measurement, ...] = ()

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        codes = np.empty((len(self.nodes), rows), dtype=self.schema.code_type)
        for node in self.nodes:
            _draw(codes, node.child, *self._parents(node), node.running, rng.random(rows))
        return table_from_codes(self.schema, codes.T, rng)

    def log_likelihood(self, table: Table) -> np.ndarray:
        """Log-probability of each row's codes: minus infinity where the model cannot draw the row."""
        columns = np.ascontiguousarray(table.codes.T)
        total = np.zeros(len(table))
        impossible = np.any(table.codes >= self.schema.sizes, axis=1)  # values that the schema does not list
        for node in self.nodes:
            _add_log(total, impossible, columns, node.child, *self._parents(node), node.running)
        total[impossible] = -np.inf
        return total

    def _parents(self, node: Node) -> tuple[np.ndarray, np.ndarray]:
        parents = np.array(node.parents, dtype=np.int64)
        return parents, self.schema.sizes[parents]


@njit(nogil=True, cache=True)
def _draw(columns, child, parents, sizes, running, uniforms):
    """Fill the child's codes: the first code whose running sum exceeds a uniform share of the row's total."""
    last = running.shape[1] - 1
    for i in range(uniforms.size):
        row = np.int64(0)
        for k in range(parents.size):
            row = row * sizes[k] + columns[parents[k], i]
        total = running[row, last]
        if total == 0:
            columns[child, i] = np.int64(uniforms[i] * (last + 1))
            continue
        level = uniforms[i] * total
        low, high = 0, last
        while low < high:
            middle = (low + high) // 2
            if running[row, middle] > level:
                high = middle
            else:
                low = middle + 1
        columns[child, i] = low


@njit(nogil=True, cache=True)
def _add_log(logs, skip, columns, child, parents, sizes, running):
    last = running.shape[1] - 1
    for i in range(logs.size):
        if skip[i]:
            continue
        row = np.int64(0)
        for k in range(parents.size):
            row = row * sizes[k] + columns[parents[k], i]
        code = columns[child, i]
        count = running[row, code] - (running[row, code - 1] if code > 0 else 0)
        total = running[row, last]
        if total == 0:
            logs[i] -= np.log(last + 1.0)
        elif count == 0:
            skip[i] = True
        else:
            logs[i] += np.log(count / total)
