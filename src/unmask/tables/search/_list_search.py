"""Lists of nearest candidates and of ties for `unmask.tables.distance`, each search by the fastest of three ways.

Loops over all pairs (`_kernels`) for anything; for numbers alone boxes (`_boxes`), where a trial shows that most rows need not be
measured, and for Euclid otherwise matrix products (`_products`). All give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unmask.tables.search import _boxes, _kernels, _products
from unmask.tables.search._chunks import in_chunks
from unmask.tables.search._kernels import BLOCK, CAPPED, SMALLEST, SQUARED
from unmask.tables.search._packing import NOWHERE, PackedSearch

FEWEST_QUERIES, FEWEST_CANDIDATES = 256, 1024  # below, loops over all pairs are done before anything is prepared

Sides = tuple[np.ndarray, np.ndarray, np.ndarray]  # queries x columns, columns x candidates, a factor for each column
Tying = Callable[[int, int], tuple[np.ndarray, np.ndarray, np.ndarray]]


def lists(task: PackedSearch, k: int, workers: int) -> tuple[np.ndarray, np.ndarray]:
    """Sums and row numbers of the k nearest candidates of each query."""
    best = np.full((task.rows, k), task.far)
    rows = np.full((task.rows, k), -1, dtype=np.int64)

    def run(low: int, high: int) -> None:
        _kernels.nearest(task.part(low, high), *task.buffers(), best[low:high], rows[low:high])

    if (sides := _sides(task)) is not None:
        if (found := _boxes_for(task, sides, k)) is not None:
            boxes = found

            def run(low: int, high: int) -> None:
                first = low if task.exclude_same_row else NOWHERE
                part = sides[0][low:high]
                _boxes.nearest(boxes, part, task.weights, task.rule, first, best[low:high], rows[low:high])

        elif task.rule == SQUARED and (made := _products.products_of(*sides)) is not None:
            products = made

            def run(low: int, high: int) -> None:
                _products.nearest(products, sides, low, high, task.exclude_same_row, (best, rows))

    in_chunks(run, task.rows, workers)
    return best, rows


def tying(task: PackedSearch) -> Tying:
    """A search of the queries from one to another: the least sum of each, how many candidates have it, and which."""

    def by_loops(low: int, high: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        best = np.full(high - low, task.far)
        work, buffers = task.part(low, high), task.buffers()
        found = np.zeros((high - low, -(-task.total // BLOCK)), dtype=np.int32)
        _kernels.ties(work, *buffers, best, found)
        rows = np.empty(found.sum(), dtype=np.int64)
        _kernels.tied_rows(work, *buffers, best, found, rows)
        return best, found.sum(axis=1, dtype=np.int64), rows

    sides = _sides(task)
    if sides is None or (boxes := _boxes_for(task, sides, 1)) is None:
        return by_loops

    def in_boxes(low: int, high: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        best, first = np.full(high - low, np.inf), low if task.exclude_same_row else NOWHERE
        return best, *_boxes.ties(boxes, sides[0][low:high], task.weights, task.rule, first, best)

    return in_boxes


def _sides(task: PackedSearch) -> Sides | None:
    """The numbers to compare; None if there is more than numbers, or too few of them to prepare anything."""
    queries, candidates = task.queries.numbers, task.candidates.numbers
    counted = len(task.candidates.narrow) + len(task.candidates.wide)
    other = task.rule == SMALLEST or (task.rule == CAPPED and np.isfinite(task.cap))
    small = task.rows < FEWEST_QUERIES or task.total < FEWEST_CANDIDATES
    if queries is None or candidates is None or counted or other or small:
        return None
    return queries, candidates, task.weights


def _boxes_for(task: PackedSearch, sides: Sides, k: int) -> _boxes.Boxes | None:
    """The candidates in boxes, if some of the queries find their neighbours in few of them."""
    queries, candidates, weights = sides
    k += task.exclude_same_row  # the row itself is found here
    few, more = _boxes.TRIED
    for asked, step, most in ((few, max(1, task.total // _boxes.SOME), _boxes.HOPELESS), (more, 1, _boxes.WORTH)):
        found = _boxes.boxes_of(np.ascontiguousarray(candidates[:, ::step]), weights)
        tried = queries[np.linspace(0, task.rows - 1, asked).astype(np.int64)]
        best, rows = np.full((asked, k), np.inf), np.full((asked, k), -1, dtype=np.int64)
        measured = _boxes.nearest(found, tried, weights, task.rule, NOWHERE, best, rows)
        if measured > most * asked * len(found.order):
            return None
    return found
