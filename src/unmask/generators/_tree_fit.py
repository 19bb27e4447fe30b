"""From noisy marginals of single columns and of the edges of a tree to marginals that one distribution has.

On a tree, marginals that are non-negative and agree wherever they overlap are the marginals of a distribution. Fitting is
therefore a weighted least-squares projection: the closest such marginals, errors measured in standard deviations. Mirror
descent with belief propagation goes to the same point, since every cell is measured and the closest point is unique. The
projection is faster in its dual, where one price u per cell of an edge's end buys agreement:

    edge = max(0, measured + v2 (u_a + u_b)),    column = measured + v1 (nu - sum of its u),

with v the variances and nu such that the column adds up to the total. The gradient of the dual is what the two disagree
by; it is climbed with Nesterov's momentum, restarted when it points backwards (O'Donoghue and Candes 2015).
"""

from __future__ import annotations

import math

import numpy as np

from unmask.compiled import inner, njit

TOLERANCE = 1e-7  # largest disagreement of two marginals, as a share of the total
ROUNDING = 1e-12  # no closer than this share of the largest count
MOST_STEPS = 5_000  # some dozens are usual; where noise is thousands of times the total, the fit stays approximate


def fit_columns(sizes: np.ndarray, singles: np.ndarray, variances: np.ndarray, total: float) -> np.ndarray:
    """The closest non-negative counts that add up to the total, column by column; all columns in one flat array."""
    return _fit_columns(_starts(sizes), singles.astype(np.float64), variances, total)


def fit_tree(
    sizes: np.ndarray,
    edges: list[tuple[int, int]],
    singles: np.ndarray,
    variances: np.ndarray,
    pairs: list[np.ndarray],
    pair_variance: float,
    total: float,
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The closest counts of columns and of edges that agree with each other.

    Only ratios of variances matter, so they may be given in any unit; exact measurements come back as they are.
    """
    alone = np.split(fit_columns(sizes, singles, variances, total), np.cumsum(sizes)[:-1])
    if not edges:
        return alone, []
    flat = np.concatenate([pair.ravel() for pair in pairs]).astype(np.float64)
    columns, fitted = _fit_tree(
        np.array(edges, dtype=np.int64),
        _starts(sizes),
        singles.astype(np.float64),
        variances,
        flat,
        pair_variance,
        total,
        max(TOLERANCE * total, ROUNDING * np.abs(flat).max()),
        MOST_STEPS,
    )
    ends = np.cumsum([pair.size for pair in pairs])
    shaped = [counts.reshape(pair.shape) for counts, pair in zip(np.split(fitted, ends[:-1]), pairs, strict=True)]
    joined = {column for edge in edges for column in edge}
    agreed = np.split(columns, np.cumsum(sizes)[:-1])
    return [agreed[j] if j in joined else alone[j] for j in range(len(sizes))], shaped


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


@njit(nogil=True, cache=True)
def _fit_columns(starts, singles, variances, total):
    """Cells that would be negative are dropped to zero and the rest moved again; dropped ones never come back."""
    fitted = singles.copy()
    for j in range(starts.size - 1):
        cells = slice(starts[j], starts[j + 1])
        counts, spread = fitted[cells], variances[cells]
        free = np.ones(counts.size, dtype=np.bool_)
        dropped = True
        while dropped:
            dropped = False
            shift = (total - counts[free].sum()) / spread[free].sum()
            for k in range(counts.size):
                if free[k] and counts[k] + shift * spread[k] < 0:
                    free[k] = False
                    dropped = True
        for k in range(counts.size):
            counts[k] = counts[k] + shift * spread[k] if free[k] else 0.0
    return fitted


@inner()
def _price_starts(edges, starts):
    """Where the prices of each edge's first and second column begin."""
    places = np.zeros(2 * len(edges) + 1, dtype=np.int64)
    for end in range(2 * len(edges)):
        column = edges[end // 2, end % 2]
        places[end + 1] = places[end] + starts[column + 1] - starts[column]
    return places


@inner()
def _steps(edges, starts, places, variances, pair_variance):
    """One over a bound on the curvature along each price, so that a step never overshoots."""
    degree = np.bincount(edges.ravel(), minlength=starts.size - 1)
    steps = np.empty(places[-1])
    for end in range(2 * len(edges)):
        column, other = edges[end // 2, end % 2], edges[end // 2, 1 - end % 2]
        rows = starts[other + 1] - starts[other]
        for k in range(places[end + 1] - places[end]):
            curvature = 2 * rows * pair_variance + degree[column] * variances[starts[column] + k]
            steps[places[end] + k] = 1 / curvature
    return steps


@inner()
def _columns_at(prices, edges, starts, places, singles, variances, total, columns):
    """Marginals of single columns at these prices, each adding up to the total."""
    columns[:] = 0.0
    for end in range(2 * len(edges)):
        first = starts[edges[end // 2, end % 2]]
        for k in range(places[end + 1] - places[end]):
            columns[first + k] -= prices[places[end] + k]
    for j in range(starts.size - 1):
        sum_counts, sum_variances = 0.0, 0.0
        for k in range(starts[j], starts[j + 1]):
            columns[k] = singles[k] + variances[k] * columns[k]
            sum_counts += columns[k]
            sum_variances += variances[k]
        shift = (total - sum_counts) / sum_variances
        for k in range(starts[j], starts[j + 1]):
            columns[k] += shift * variances[k]


@inner(fastmath={"reassoc", "nsz", "contract"})
def _edge_at(first, second, measured, variance, first_sums, second_sums, fitted):
    """The marginal of one edge at these prices, and by how much its sums fall short of those given."""
    width = second.size
    for i in range(first.size):
        price, row_sum = first[i], 0.0
        for k in range(width):
            count = max(0.0, measured[i * width + k] + variance * (price + second[k]))
            fitted[i * width + k] = count
            row_sum += count
            second_sums[k] -= count
        first_sums[i] -= row_sum


@njit(nogil=True, cache=True)
def _fit_tree(edges, starts, singles, variances, pairs, pair_variance, total, tolerance, most):
    places = _price_starts(edges, starts)
    steps = _steps(edges, starts, places, variances, pair_variance)
    prices, ahead, gradient = np.zeros(steps.size), np.zeros(steps.size), np.empty(steps.size)
    columns, fitted = np.empty(singles.size), np.empty(pairs.size)
    momentum = 1.0
    for _ in range(most):
        _columns_at(ahead, edges, starts, places, singles, variances, total, columns)
        begin = 0
        for e in range(len(edges)):
            a, b = edges[e]
            first, second = slice(places[2 * e], places[2 * e + 1]), slice(places[2 * e + 1], places[2 * e + 2])
            gradient[first] = columns[starts[a] : starts[a + 1]]
            gradient[second] = columns[starts[b] : starts[b + 1]]
            stop = begin + ahead[first].size * ahead[second].size
            cells = slice(begin, stop)
            _edge_at(
                ahead[first],
                ahead[second],
                pairs[cells],
                pair_variance,
                gradient[first],
                gradient[second],
                fitted[cells],
            )
            begin = stop
        if np.abs(gradient).max() <= tolerance:
            break
        following = (1 + math.sqrt(1 + 4 * momentum * momentum)) / 2
        weight = (momentum - 1) / following
        progress = 0.0
        for k in range(steps.size):
            new = ahead[k] + steps[k] * gradient[k]
            moved = new - prices[k]
            progress += gradient[k] * moved
            prices[k] = new
            ahead[k] = new + weight * moved
        momentum = following
        if progress < 0:
            momentum = 1.0
            ahead[:] = prices
    return columns, fitted
