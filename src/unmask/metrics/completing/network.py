"""A tree-shaped Bayesian network (Chow and Liu 1968): exact posteriors of all hidden columns by message passing.

The tree that holds most mutual information (less its bias, (a - 1)(b - 1)/2n: Miller 1955) is the likeliest one. Rows of a
conditional table lean towards the column's own frequencies by one row's worth. Cost: people x the cells of the d - 1 tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.generators._counts import joint, mutual_information

LEAN = 1.0  # rows' worth of the column's own frequencies in each conditional table


@dataclass(frozen=True, eq=False)
class TreeNetwork:
    """Columns in an order in which parents come first; the first one is the root."""

    order: tuple[int, ...]
    parents: tuple[int, ...]  # of each column, -1 for the root
    tables: tuple[
        np.ndarray, ...
    ]  # of each column: P(value | parent's value), parent's values x values; one row for the root

    @classmethod
    def learnt(cls, columns: np.ndarray, sizes: np.ndarray) -> TreeNetwork:
        """From numbers (columns x rows), each below the size of its column."""
        rows = columns.shape[1]
        bias = np.outer(sizes - 1, sizes - 1) / (2 * rows)
        codes = columns.T.astype(
            np.min_scalar_type(int(sizes.max()) - 1)
        )  # as tables have them: loops are compiled for those
        order, parents = _spanning_tree(mutual_information(codes, sizes) - bias)
        own = [np.bincount(column, minlength=size) + 1 / size for column, size in zip(columns, sizes, strict=True)]
        tables = []
        for column, parent in enumerate(parents):
            share = own[column] / own[column].sum()
            counts = share[None, :] if parent < 0 else joint(codes, (parent, column), sizes) + LEAN * share
            tables.append(counts / counts.sum(axis=1, keepdims=True))
        return cls(tuple(order), tuple(parents), tuple(tables))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Of each column."""
        return tuple(
            tuple(child for child, parent in enumerate(self.parents) if parent == column)
            for column in range(len(self.parents))
        )

    def posteriors(self, evidence: list[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
        """What each column is, given what speaks for each value (people x values in every column); and its log-normaliser.

        Evidence is 1 for the value that is known and 0 for others, or 1 everywhere where nothing is known.
        """
        up: dict[int, np.ndarray] = {}  # of each column: evidence below it, by its own value
        below: dict[int, np.ndarray] = {}  # of each column: the same by the value of its parent
        scale = np.zeros(len(evidence[0]))
        for column in reversed(self.order):
            belief = evidence[column].astype(np.float64)
            for child in self.children[column]:
                belief = belief * below[child]
            total = np.maximum(belief.max(axis=1, keepdims=True), 1e-300)
            scale += np.log(total[:, 0])
            up[column] = belief / total
            below[column] = up[column] @ self.tables[column].T
        found: dict[int, np.ndarray] = {}
        for column in self.order:
            parent = self.parents[column]
            if parent < 0:
                joined = up[column] * self.tables[column]
                scale += np.log(np.maximum(joined.sum(axis=1), 1e-300))
            else:
                above = found[parent] / np.maximum(below[column], 1e-300)
                joined = up[column] * (above @ self.tables[column])
            found[column] = joined / np.maximum(joined.sum(axis=1, keepdims=True), 1e-300)
        return [found[column] for column in range(len(evidence))], scale

    def likeliest(self, evidence: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The likeliest values of all columns together (columns x people), and the log of evidence times probability."""
        best: dict[int, np.ndarray] = {}  # of each column: the best of what is below it, by its own value
        choice: dict[int, np.ndarray] = {}  # of each column: its own best value, by the value of its parent
        with np.errstate(divide="ignore"):
            logs = [np.log(each.astype(np.float64)) for each in evidence]
            tables = [np.log(table) for table in self.tables]
        for column in reversed(self.order):
            score = logs[column]
            for child in self.children[column]:
                score = score + best[child]
            by_parent = [score + row for row in tables[column]]
            choice[column] = np.stack([np.argmax(each, axis=1) for each in by_parent], axis=1)
            best[column] = np.stack([np.max(each, axis=1) for each in by_parent], axis=1)
        people = np.arange(len(evidence[0]))
        values = np.zeros((len(evidence), len(people)), dtype=np.int64)
        for column in self.order:
            parent = self.parents[column]
            above = np.zeros(len(people), dtype=np.int64) if parent < 0 else values[parent]
            values[column] = choice[column][people, above]
        return values, best[self.order[0]][:, 0]


def _spanning_tree(weights: np.ndarray) -> tuple[list[int], list[int]]:
    """The spanning tree of most weight (Prim): columns in order from column 0, and the parent of each."""
    width = len(weights)
    order, parents = [0], [-1] * width
    best, source = weights[0].copy(), np.zeros(width, dtype=np.int64)
    left = np.ones(width, dtype=bool)
    left[0] = False
    while left.any():
        nearest = int(np.argmax(np.where(left, best, -np.inf)))
        order.append(nearest)
        parents[nearest] = int(source[nearest])
        left[nearest] = False
        closer = left & (weights[nearest] > best)
        best[closer], source[closer] = weights[nearest][closer], nearest
    return order, parents
