"""A distribution over rows whose columns depend on each other along a tree, with exact inference.

Each column is drawn given its parent, so probabilities multiply along the edges and add up to one without a normalising
constant; marginals of any one or two columns are sums over paths, done as matrix products.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.compiled import inner, njit


@dataclass(frozen=True, eq=False)
class TreeModel:
    """Columns in an order in which parents come first, and the distribution of each given its parent."""

    sizes: np.ndarray  # cells of each column
    parents: np.ndarray  # parent of each column, -1 for a root
    order: np.ndarray  # columns, parents before children
    tables: tuple[np.ndarray, ...]  # per column: parent's cells x own cells, rows add up to one; a root has one row

    def sample(self, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Rows of cells, rows x columns, drawn independently."""
        uniforms = rng.random((len(self.sizes), rows))
        return _sample(self.order, self.parents, self.sizes, *self._cumulative, uniforms).T

    def rounded_sample(self, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Rows of cells whose counts are the expected ones, rounded up or down at random: of each column given its parent.

        Rows are not independent, and counts vary far less than those of `sample`. The order of the rows is random.
        """
        orders = np.argsort(rng.random((len(self.sizes), rows)), axis=1)
        flat, starts = np.concatenate([table.ravel() for table in self.tables]), self._cumulative[1]
        uniforms = rng.random((len(self.sizes), rows))
        return _rounded_sample(self.order, self.parents, self.sizes, flat, starts, orders, uniforms).T

    def log_probability(self, cells: np.ndarray) -> np.ndarray:
        """Natural logarithm of the probability of each row of cells; -inf where it is zero."""
        with np.errstate(divide="ignore"):
            flat = np.log(np.concatenate([table.ravel() for table in self.tables]))
        return _sum_entries(np.ascontiguousarray(cells.T), self.parents, self.sizes, flat, self._cumulative[1])

    def marginal(self, column: int) -> np.ndarray:
        """The distribution of one column."""
        shares = np.ones(1)
        for above in reversed(self._line(column)):
            shares = shares @ self.tables[above]
        return shares

    def pair(self, first: int, second: int) -> np.ndarray:
        """The joint distribution of two columns: both given their last common ancestor, averaged over it."""
        lines = self._line(first), self._line(second)
        common = [column for column in lines[0] if column in lines[1]]
        if not common:  # different trees
            return np.outer(self.marginal(first), self.marginal(second))
        down = [self._given(line[: line.index(common[0])], common[0]) for line in lines]
        return down[0].T @ (self.marginal(common[0])[:, None] * down[1])

    def _line(self, column: int) -> list[int]:
        """The column and its ancestors, nearest first."""
        line = [column]
        while self.parents[line[-1]] >= 0:
            line.append(int(self.parents[line[-1]]))
        return line

    def _given(self, line: list[int], ancestor: int) -> np.ndarray:
        """Distribution of the first of a line of columns given the ancestor above the line."""
        product = np.eye(self.sizes[ancestor])
        for column in reversed(line):
            product = product @ self.tables[column]
        return product

    @cached_property
    def _cumulative(self) -> tuple[np.ndarray, np.ndarray]:
        """Running sums of every row of every table, flat, and where each table begins."""
        sums = [np.cumsum(table, axis=1) for table in self.tables]
        flat = np.concatenate([(running / running[:, -1:]).ravel() for running in sums])
        starts = np.cumsum([0, *(table.size for table in self.tables)])
        return flat, starts


def tree_model(
    sizes: np.ndarray, edges: list[tuple[int, int]], columns: list[np.ndarray], pairs: list[np.ndarray]
) -> TreeModel:
    """The tree model with these marginals (counts or probabilities) of single columns and of the edges.

    A value that never occurs has no distribution of its children; it is given theirs overall.
    """
    neighbours: list[list[tuple[int, np.ndarray]]] = [[] for _ in sizes]
    for (a, b), pair in zip(edges, pairs, strict=True):
        neighbours[a].append((int(b), pair))
        neighbours[b].append((int(a), pair.T))
    parents = np.full(len(sizes), -1)
    tables: list[np.ndarray] = [np.empty(0)] * len(sizes)
    order: list[int] = []
    for root in range(len(sizes)):
        if tables[root].size:
            continue
        tables[root] = conditional(columns[root][None, :])
        waiting = [root]
        while waiting:
            column = waiting.pop()
            order.append(column)
            for child, pair in neighbours[column]:
                if child != parents[column]:
                    parents[child] = column
                    tables[child] = conditional(pair)
                    waiting.append(child)
    return TreeModel(np.asarray(sizes, dtype=np.int64), parents, np.array(order), tuple(tables))


def conditional(counts: np.ndarray) -> np.ndarray:
    """Each row as a distribution; empty rows get the distribution of all rows together."""
    counts = np.maximum(counts, 0.0)
    sums = counts.sum(axis=1, keepdims=True)
    overall = counts.sum(axis=0)
    rows = np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0)
    rows[sums[:, 0] <= 0] = overall / overall.sum() if overall.sum() > 0 else 1 / len(overall)
    return rows


@njit(nogil=True, cache=True)
def _sample(order, parents, sizes, cumulative, starts, uniforms):
    rows = uniforms.shape[1]
    cells = np.empty((sizes.size, rows), dtype=np.int64)
    for j in order:
        size, parent = sizes[j], parents[j]
        for i in range(rows):
            begin = starts[j] + (cells[parent, i] * size if parent >= 0 else 0)
            low, high = 0, size - 1  # the first cell whose running sum exceeds the uniform draw
            while low < high:
                middle = (low + high) // 2
                if cumulative[begin + middle] > uniforms[j, i]:
                    high = middle
                else:
                    low = middle + 1
            cells[j, i] = low
    return cells


@njit(nogil=True, cache=True)
def _rounded_sample(order, parents, sizes, flat, starts, orders, uniforms):
    """Per column and cell of its parent, rows in random order get the whole part of each expected count; those left over
    get one cell each, different ones, with probabilities by the fractions."""
    rows = uniforms.shape[1]
    cells = np.empty((sizes.size, rows), dtype=np.int64)
    group = np.empty(rows, dtype=np.int64)
    for j in order:
        size, parent = sizes[j], parents[j]
        used = 0
        for above in range(sizes[parent] if parent >= 0 else 1):
            members = 0
            for i in orders[j]:
                if parent < 0 or cells[parent, i] == above:
                    group[members] = i
                    members += 1
            expected = flat[starts[j] + above * size : starts[j] + (above + 1) * size] * members
            whole = np.floor(expected + 1e-9)
            fractions = np.maximum(expected - whole, 0.0)
            given = 0
            for cell in range(size):
                for _ in range(int(whole[cell])):
                    if given < members:
                        cells[j, group[given]] = cell
                        given += 1
            while given < members:
                cell = _pick(fractions, uniforms[j, used])
                fractions[cell] = 0.0
                cells[j, group[given]] = cell
                given += 1
                used += 1
    return cells


@inner()
def _pick(weights, uniform):
    """A place with probability by its weight."""
    left = uniform * weights.sum()
    last = 0
    for place in range(weights.size):
        if weights[place] > 0:
            last = place
            left -= weights[place]
            if left < 0:
                break
    return last


@njit(nogil=True, cache=True)
def _sum_entries(columns, parents, sizes, flat, starts):
    sums = np.zeros(columns.shape[1])
    for j in range(sizes.size):
        parent = parents[j]
        for i in range(sums.size):
            above = np.int64(columns[parent, i]) if parent >= 0 else 0
            sums[i] += flat[starts[j] + above * sizes[j] + columns[j, i]]
    return sums
