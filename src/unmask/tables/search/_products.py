"""Squared distances by matrix products: rough ones for all pairs, exact ones for those that may be among the nearest.

(a - b)^2 = a^2 - 2ab + b^2 is a product of two matrices, which BLAS has sooner than loops over columns; but it rounds otherwise.
How far it can be off is bounded, so every row that may be among the nearest is measured as `_kernels` does, and what is found
equals what a search by loops finds bit by bit, ties included. Where a value is on no scale, the term of a column is 2, or 0 if
both rows have the same code there: with p = 1 for values on the scale, and v = 0 for the others, that is
p v'^2 + p' v^2 - 2 v v' + 2 - 2 p p' - 2 [same code], again a sum of products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.compiled import njit
from unmask.tables.search._kernels import FAR, FAR_SQUARE, MISSING_SQUARE, TILE, _any_below

QUERIES, CANDIDATES = 128, 1024  # at a time: 1 MB of products
ABSENT = FAR / 2
LARGEST_SQUARE = 1e60  # standardised values beyond it are left to the loops: nothing may overflow


@dataclass(frozen=True, eq=False)
class Products:
    """Two matrices whose product is the squared distance, less what depends on the query alone."""

    left: np.ndarray  # queries x terms
    right: np.ndarray  # terms x candidates
    own: np.ndarray  # of each query: what the product lacks
    slack: np.ndarray  # of each query: how far product and measured sum can be apart


def products_of(queries: np.ndarray, candidates: np.ndarray, weights: np.ndarray) -> Products | None:
    """Of queries x columns and columns x candidates; None where numbers are too large for it."""
    rows, total = len(queries), candidates.shape[1]
    left, right = [np.ones(rows)], [np.zeros(total)]
    own, theirs, absences = np.zeros(rows), np.zeros(total), 0
    with np.errstate(over="ignore", invalid="ignore"):
        for a, b, weight in zip(queries.T, candidates, weights, strict=True):
            if weight == 0:
                continue  # a constant column adds nothing, whatever is missing in it
            here, there = a < ABSENT, b < ABSENT
            centre = b[there].mean() if there.any() else 0.0  # small numbers: little to round
            v, w = np.where(here, (a - centre) * weight, 0.0), np.where(there, (b - centre) * weight, 0.0)
            if not max(np.abs(v).max(initial=0), np.abs(w).max(initial=0)) < LARGEST_SQUARE**0.5:
                return None
            left.append(-2 * v)
            right.append(w)
            if here.all() and there.all():
                own += v * v
                theirs += w * w
                continue
            absences += 1
            left += [v * v - MISSING_SQUARE * here, here.astype(float)]
            right += [there.astype(float), w * w]
            own += MISSING_SQUARE
            for code in np.intersect1d(a[~here], b[~there]):
                left.append(-MISSING_SQUARE * (a == code))
                right.append((b == code).astype(float))
    right[0] = theirs
    made = np.column_stack(left), np.stack(right)
    # Every product that is summed is at most the sum of two squares; both ways of summing round each term a few times.
    squares = [np.square(side).sum(axis=axis) for side, axis in zip(made, (1, 0), strict=True)]
    size = own + theirs.max(initial=0) + squares[0] + squares[1].max(initial=0) + 4 * absences
    return Products(*made, own, 8 * (len(left) + 16) * np.finfo(float).eps * size)


def nearest(
    products: Products,
    sides: tuple[np.ndarray, np.ndarray, np.ndarray],  # queries x columns, columns x candidates, weights
    low: int,
    high: int,
    exclude_same_row: bool,
    found: tuple[np.ndarray, np.ndarray],  # best and rows of all queries; best full of infinity
) -> None:
    """Find the nearest candidates of the queries from `low` to `high`."""
    queries, candidates, weights = sides
    best, rows = found
    for begin in range(low, high, QUERIES):
        part = slice(begin, min(begin + QUERIES, high))
        first = begin if exclude_same_row else -(2**62)
        offset = products.slack[part] - products.own[part]
        for start in range(0, products.right.shape[1], CANDIDATES):
            rough = products.left[part] @ products.right[:, start : start + CANDIDATES]
            _keep(rough, offset, queries[part], candidates, weights, start, first, best[part], rows[part])


@njit(nogil=True, cache=True)
def _keep(rough, offset, queries, candidates, weights, start, first, best, rows):
    """Measure what may be better than the worst kept, and sort it into the list; rows rise, so that ties keep the lowest."""
    last = best.shape[1] - 1
    for row in range(len(rough)):
        found, places, own = best[row], rows[row], first + row - start
        if not _any_below(rough[row], found[last] + offset[row]):
            continue
        for tile in range(0, rough.shape[1], TILE):
            part = rough[row, tile : tile + TILE]
            if not _any_below(part, found[last] + offset[row]):
                continue
            for i in range(part.size):
                if part[i] >= found[last] + offset[row] or tile + i == own:
                    continue
                value, place, number = 0.0, last, start + tile + i
                for j in range(weights.size):
                    gap = (candidates[j, number] - queries[row, j]) * weights[j]
                    square = gap * gap
                    value += square if square < FAR_SQUARE else MISSING_SQUARE
                if value >= found[last]:
                    continue
                while place > 0 and found[place - 1] > value:
                    found[place], places[place] = found[place - 1], places[place - 1]
                    place -= 1
                found[place], places[place] = value, number
