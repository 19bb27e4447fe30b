"""An ensemble of classification trees for each hidden column, grown on parts of the release and of the known columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.generators._tree import Predictors, Tree, grow
from unmask.metrics.completing.domains import Domains
from unmask.metrics.completing.published import PublishedRows
from unmask.tables.table import Table

TREES = 12  # for each column
MOST_ROWS = 10_000  # that one tree is grown on
MIN_LEAF = 5
PART = 0.6  # of the rows, at most: the others tell what the trees are worth
WIDTH = 0.75  # of the known columns


@dataclass(frozen=True, eq=False)
class _Grown:
    tree: Tree
    known: np.ndarray  # places of the columns that it asks
    shares: np.ndarray  # by node: how often each value occurs in the leaf
    rows: np.ndarray  # that it was grown on


@dataclass(frozen=True, eq=False)
class ColumnTrees:
    """Trees for one column."""

    trees: tuple[_Grown, ...]
    lean: np.ndarray

    def posterior(self, values: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """The mean over trees. With `rows`, the places of these people in the release: over trees that did not see them."""
        total = np.zeros((values.shape[1], len(self.lean)))
        asked = np.zeros(values.shape[1])
        for one in self.trees:
            new = np.ones(values.shape[1], bool) if rows is None else ~_among(rows, one.rows)
            total[new] += one.shares[one.tree.leaves(np.ascontiguousarray(values[one.known][:, new]))]
            asked += new
        return (total + 1e-3 * self.lean) / (asked[:, None] + 1e-3)


def _among(rows: np.ndarray, those: np.ndarray) -> np.ndarray:
    """Which of the rows are among those, which are in rising order."""
    place = np.minimum(np.searchsorted(those, rows), len(those) - 1)
    return np.asarray(those[place] == rows)


def predictors(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The columns as trees take them (columns x rows), and how many codes each has (0 for numbers)."""
    values = table.codes.T.astype(np.float64)
    categories = np.array([column.code_count for column in table.schema.columns], dtype=np.int64)
    for place, position in enumerate(table.schema.numeric):
        column, numbers = table.schema.columns[position], table.numbers[:, place]
        values[position] = np.where(np.isnan(numbers), column.lower - 1.0, numbers)
        categories[position] = 0
    return values, categories


def forests(release: PublishedRows, domains: Domains, known: int, rng: np.random.Generator) -> list[ColumnTrees]:
    """A forest for each hidden column of a release, from the first so many, which are known."""
    total, sizes = len(release), domains.sizes[known:]
    count = min(MOST_ROWS, max(2 * MIN_LEAF, int(PART * total)), total)
    asked = max(1, round(WIDTH * known))
    grown: list[list[_Grown]] = [[] for _ in sizes]
    shares = [(domains.counts(release, known + column) + 1 / size) / (total + 1) for column, size in enumerate(sizes)]
    for _ in range(TREES):
        rows = np.sort(rng.choice(total, count, replace=False))
        places = np.sort(rng.choice(known, asked, replace=False))
        taught = release.take(rows)
        hidden = domains.encode(taught)[known:]
        values, categories = predictors(taught.select(release.names[:known]))
        part = Predictors.sort(np.ascontiguousarray(values[places]), categories[places])
        for column, (labels, size) in enumerate(zip(hidden, sizes, strict=True)):
            tree = grow(part, labels.astype(np.float64), int(size), np.arange(count), MIN_LEAF)
            grown[column].append(_Grown(tree, places, _leaf_shares(tree, labels, shares[column]), rows))
    return [ColumnTrees(tuple(trees), lean) for trees, lean in zip(grown, shares, strict=True)]


def _leaf_shares(tree: Tree, labels: np.ndarray, lean: np.ndarray) -> np.ndarray:
    """By node: the shares of the values in the leaf, leaning towards those of all rows by one row's worth."""
    leaves = np.flatnonzero((tree.predictor < 0) & (tree.count > 0))
    of_donor = np.repeat(leaves, tree.count[leaves])
    places = np.repeat(tree.start[leaves] - np.cumsum(tree.count[leaves]) + tree.count[leaves], tree.count[leaves])
    donors = tree.donors[places + np.arange(len(of_donor))]
    size = len(lean)
    counts = np.bincount(of_donor * size + labels[donors], minlength=len(tree.predictor) * size).reshape(-1, size)
    return (counts + lean) / (counts.sum(axis=1, keepdims=True) + 1.0)
