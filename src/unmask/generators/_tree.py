"""Classification and regression trees: grown on presorted columns, leaves remember their training rows.

Each numeric column is sorted once for all trees; a node keeps its rows in the order of every numeric predictor, so a
level of a tree costs one walk per predictor. Moving one row across a cut changes a sum of squared class counts (or a
sum of numbers) by a closed form, so the walk costs the same for two classes and for a thousand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.compiled import njit
from unmask.generators._category_order import MOST_WAITING
from unmask.generators._tree_kernels import descend, grow_arrays


@dataclass(frozen=True, eq=False)
class Predictors:
    """Columns that trees may split on, as predictors x rows, sorted once for all trees."""

    values: np.ndarray  # float64: the number, or the code of the category
    categories: np.ndarray  # how many codes a predictor has; 0 for one with an order, cut at a threshold
    ranks: np.ndarray  # int32: place among the distinct values, or the code
    orders: np.ndarray  # uint32: all rows by rising value, for predictors with an order

    @classmethod
    def sort(cls, values: np.ndarray, categories: np.ndarray) -> Predictors:
        """Sort the columns that have an order."""
        ranks = np.empty(values.shape, dtype=np.int32)
        orders = np.zeros(values.shape, dtype=np.uint32)
        for at, column in enumerate(values):
            if categories[at]:
                ranks[at] = column
                continue
            orders[at] = np.argsort(column, kind="stable")
            risen = column[orders[at]]
            ranks[at, orders[at]] = np.cumsum(np.append(False, risen[1:] > risen[:-1]))
        return cls(values, categories, ranks, orders)

    def before(self, at: int) -> Predictors:
        """The first so many predictors."""
        return Predictors(self.values[:at], self.categories[:at], self.ranks[:at], self.orders[:at])


@dataclass(frozen=True, eq=False)
class Tree:
    """A grown tree as arrays, one entry per node; node 0 is the root.

    At a node with `predictor` >= 0 a row goes to `child` if its value is at most `threshold` (numbers) or among
    `listed[first:last]` (categories), else to `child + 1`. A leaf has `predictor` -1 and its training rows are
    `donors[start:start + count]`.
    """

    predictor: np.ndarray
    threshold: np.ndarray
    child: np.ndarray
    first: np.ndarray
    last: np.ndarray
    start: np.ndarray
    count: np.ndarray
    listed: np.ndarray
    donors: np.ndarray

    def leaves(self, values: np.ndarray) -> np.ndarray:
        """The leaf that each column of `values` (predictors x rows) falls into."""
        leaves = np.zeros(values.shape[1], dtype=np.int32)
        descend(self.predictor, self.threshold, self.child, self.first, self.last, self.listed, values, leaves)
        return leaves

    def draw(self, leaves: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """For each leaf the position of one of its training rows, drawn at random."""
        places = (rng.random(len(leaves)) * self.count[leaves]).astype(np.int64)
        return self.donors[self.start[leaves] + places]

    def leaf_noise(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By node: Scott's bandwidth of the leaf's numbers, and the number that at least half of them share, or NaN."""
        return _leaf_noise(self.predictor, self.start, self.count, self.donors, target)


def grow(known: Predictors, target: np.ndarray, classes: int, rows: np.ndarray, min_leaf: int) -> Tree:
    """A tree for `target` on the rows named: Gini impurity for labels 0 to `classes` - 1, variance for numbers (0)."""
    labels = target.astype(np.int32) if classes else np.zeros(1, dtype=np.int32)
    total, everyone = len(rows), len(target)
    room = 2 * (total // min_leaf) + 1
    most = max(1, int(known.categories.max(initial=0)))
    # A split lists categories of its smaller side only, so n log2(n) / 2 in all is enough.
    listed = np.zeros(int(total * np.log2(max(total, 2)) / 2) + 1, dtype=np.int32)
    nodes = [np.zeros(room, dtype=kind) for kind in (np.int32, np.float64, *5 * [np.int32])]
    donors = rows.astype(np.uint32)
    scratch = (
        np.empty((len(known.categories), total), dtype=np.uint32),  # rows in the order of each predictor
        np.empty(total, dtype=np.uint32),  # rows that are moved
        np.zeros(everyone, dtype=bool),  # which rows go left
        np.zeros(max(classes, 1), dtype=np.int64),  # class counts of the node; all counts are zero between uses
        np.zeros(max(classes, 1), dtype=np.int64),  # class counts left of the cut
        np.zeros(most, dtype=np.int64),  # rows by category
        np.zeros(most),  # summed response by category
        np.empty(most),  # its means
        np.empty((MOST_WAITING, 2), dtype=np.int64),  # parts of them that are still to be sorted
        np.empty(most, dtype=np.int32),  # categories of the node, in order
        np.empty(everyone, dtype=np.int32),  # labels of the node's rows in that order
        np.empty(most, dtype=np.int32),  # the categories of the best split so far, in order
    )
    predictors = known.values, known.categories, known.ranks, known.orders
    made, used = grow_arrays(predictors, target, labels, classes, min_leaf, (*nodes, listed, donors), scratch)
    predictor, threshold, child, first, last, start, count = (each[:made].copy() for each in nodes)
    return Tree(predictor, threshold, child, first, last, start, count, listed[:used].copy(), donors)


@njit(cache=True)
def _leaf_noise(predictor, start, count, donors, target):
    width = np.zeros(len(count))
    spike = np.full(len(count), np.nan)
    for node in range(len(count)):
        if predictor[node] >= 0 or count[node] < 2:
            continue
        held = np.sort(target[donors[start[node] : start[node] + count[node]]])
        width[node] = 1.06 * held.std() * len(held) ** -0.2
        for middle in (held[len(held) // 2], held[(len(held) - 1) // 2]):  # half of the rows contain a median
            if 2 * np.sum(held == middle) >= len(held):
                spike[node] = middle
    return width, spike
