"""MST (McKenna, Miklau and Sheldon 2021): noisy marginals along a spanning tree that is itself chosen privately."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from unmask.compiled import inner, njit
from unmask.errors import ParameterError
from unmask.generators._counts import columns_of, joint, one_way, work_space
from unmask.generators._generator import Measurement, check_fits, check_positive, claim_for
from unmask.generators._merging import Merging
from unmask.generators._noise import Noise, noise_for
from unmask.generators._numbers import table_from_codes
from unmask.generators._tree_fit import fit_columns, fit_tree
from unmask.generators._tree_model import TreeModel, tree_model
from unmask.generators.claim import Claim, Neighbours
from unmask.stats.zcdp import rho_from
from unmask.tables.schema import Schema
from unmask.tables.table import Table

RARE = 3.0  # codes with noisy counts below this many standard deviations are merged
MAX_CELLS = 1 << 20  # of one pair; every cell gets noise, seen or not


@dataclass(frozen=True)
class MST:
    """Noisy counts of every column and of the most telling pairs that form a tree, for an epsilon and a delta.

    A third of the budget rho goes to the columns, a third to choosing the pairs, a third to counting them. Neighbours differ
    by one row more or less, so the number of rows is not public: only its noisy estimate is used. Rare values are
    merged first, since noise would drown them. An infinite epsilon means no noise.
    """

    name: ClassVar[str] = "mst"
    row_level: ClassVar[bool] = False
    claims: ClassVar[str] = "epsilon, delta, add-remove"

    epsilon: float = 1.0
    delta: float = 1e-9
    release: bool = False  # noise that nobody can repeat; fit with rng=None
    rounded: bool = False  # rows by rounding expected counts, as private-pgm draws them; else independent rows

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon, self.name)
        check_positive("delta", self.delta, self.name)
        if not self.delta < 1:
            raise ParameterError(f"{self.name}: delta is {self.delta!r}; it must be below 1, and well below 1/rows.")

    @property
    def claim(self) -> Claim | None:
        return Claim(float(self.epsilon), float(self.delta), Neighbours.ADD_REMOVE)

    @cached_property
    def rho(self) -> float:
        """The whole budget, in zero-concentrated DP."""
        rho = math.inf if math.isinf(self.epsilon) else rho_from(float(self.epsilon), float(self.delta))
        if rho == 0:
            raise ParameterError(
                f"{self.name}: epsilon {self.epsilon!r} is too small to learn anything. Use a larger one."
            )
        return rho

    @property
    def sigma(self) -> float:
        """The noise at which one count of sensitivity 1 costs a third of the budget: 1/(2 sigma^2) = rho/3."""
        return math.sqrt(3 / (2 * self.rho))

    def fit(self, table: Table, rng: np.random.Generator | None) -> MSTModel:
        check_fits(table, self.name)
        noise = noise_for(self.release, rng)
        singles = self._measured(one_way(table.codes, table.schema.sizes), noise)
        merging = Merging.of(singles, RARE * self._spread(len(singles)))
        cells = merging.cells_of(table.codes)
        counts = np.concatenate(merging.add_up(singles))
        variances = len(singles) * np.concatenate(merging.spread).astype(np.float64)  # in units of sigma^2

        total = estimated_total([singles])
        expected = fit_columns(merging.sizes, counts, variances, total)
        edges = self._chosen(edge_scores(cells, merging.sizes, expected, total), merging.sizes, noise)

        pairs = self._measured([joint(cells, edge, merging.sizes) for edge in edges], noise)
        total = estimated_total([singles, pairs])
        fitted = fit_tree(merging.sizes, edges, counts, variances, pairs, float(len(pairs)), total)
        return MSTModel(
            schema=table.schema,
            claim=claim_for(self.claim, table.schema),
            merging=merging,
            tree=tree_model(merging.sizes, edges, *fitted),
            rounded=self.rounded,
            measurements=self._listed([(j,) for j in range(len(singles))], singles)
            + self._listed(edges, pairs, merging.cell_of),
        )

    def _spread(self, marginals: int) -> float:
        """Standard deviation of the noise on each of so many marginals, to each of which a row adds 1 in one cell."""
        return self.sigma * math.sqrt(marginals)

    def _measured(self, marginals: list[np.ndarray], noise: Noise) -> list[np.ndarray]:
        """Marginals with noise on every cell."""
        if not marginals:
            return []
        flat = noise.gaussian(np.concatenate([counts.ravel() for counts in marginals]), self._spread(len(marginals)))
        ends = np.cumsum([counts.size for counts in marginals])
        return [noisy.reshape(counts.shape) for noisy, counts in zip(np.split(flat, ends[:-1]), marginals, strict=True)]

    def _listed(
        self, positions: Sequence[tuple[int, ...]], noisy: list[np.ndarray], cell_of: Sequence[np.ndarray] = ()
    ) -> tuple[Measurement, ...]:
        spread = self._spread(len(noisy))
        kind: Literal["gaussian", "none"] = "gaussian" if spread else "none"
        return tuple(
            Measurement(columns, counts, spread, kind, tuple(cell_of[column] for column in columns) if cell_of else ())
            for columns, counts in zip(positions, noisy, strict=True)
        )

    def _chosen(self, scores: np.ndarray, sizes: np.ndarray, noise: Noise) -> list[tuple[int, int]]:
        """A spanning tree, edge by edge among those that join two parts, each by the exponential mechanism.

        Pairs of too many cells are no candidates, so columns with thousands of common values may stay on their own.
        """
        first, second = np.triu_indices(len(sizes), 1)
        small = sizes[first] * sizes[second] <= MAX_CELLS
        first, second = first[small], second[small]
        part = np.arange(len(sizes))
        edges: list[tuple[int, int]] = []
        while len(first):
            pick = noise.choose(scores[first, second], math.sqrt(8 * (self.rho / 3) / (len(sizes) - 1)), 1.0)
            edges.append((int(first[pick]), int(second[pick])))
            part[part == part[second[pick]]] = part[first[pick]]
            joining = part[first] != part[second]
            first, second = first[joining], second[joining]
        return edges


@dataclass(frozen=True, eq=False)
class MSTModel:
    """A tree model over cells of merged codes. Measured pairs count cells too; `merging` leads from codes to cells."""

    schema: Schema
    claim: Claim | None
    merging: Merging
    tree: TreeModel
    measurements: tuple[Measurement, ...]
    rounded: bool = False

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        draw = self.tree.rounded_sample if self.rounded else self.tree.sample
        return table_from_codes(self.schema, self.merging.codes_of(draw(rows, rng), rng), rng)

    def log_likelihood(self, table: Table) -> np.ndarray:
        """Log probability of each row's codes; -inf for rows that the model never draws."""
        listed = (table.codes < self.schema.sizes).all(axis=1)
        codes = table.codes[listed]
        values = np.full(len(table), -np.inf)
        values[listed] = self.tree.log_probability(self.merging.cells_of(codes)) + self.merging.log_share(codes)
        return values


def estimated_total(groups: list[list[np.ndarray]]) -> float:
    """The number of rows from noisy marginals: their sums, weighted by one over variance; at least 1.

    The sum of a marginal of c cells, one of m measured at once, has variance c m sigma^2.
    """
    sums = [counts.sum() for group in groups for counts in group]
    weights = [1 / (counts.size * len(group)) for group in groups for counts in group]
    return max(1.0, float(np.average(sums, weights=weights)))


def edge_scores(cells: np.ndarray, sizes: np.ndarray, expected: np.ndarray, total: float) -> np.ndarray:
    """For every pair of columns, how far its counts are from independence: || counts - expected ||_1.

    `expected` holds the noisy counts of the columns, non-negative and with sum `total`. One row more or less changes one
    count by 1 and nothing else, so the sensitivity is 1. Cells without rows need no visit: all expected counts sum to
    the total, so the distance is total + sum over the others of |count - expected| - expected.
    """
    starts = np.cumsum(sizes) - sizes
    return _edge_scores(columns_of(cells), sizes, starts, expected / total, total, work_space(int(sizes.max()) ** 2))


@njit(nogil=True, cache=True)
def _edge_scores(columns, sizes, starts, shares, total, counters):
    width, rows = columns.shape
    scores = np.zeros((width, width))
    numbers = np.empty(rows, dtype=np.int64)
    for a in range(width):
        for b in range(a + 1, width):
            for i in range(rows):
                numbers[i] = np.int64(columns[a, i]) * sizes[b] + columns[b, i]
            first = shares[starts[a] : starts[a] + sizes[a]] * total
            second = shares[starts[b] : starts[b] + sizes[b]]
            scores[a, b] = scores[b, a] = total + _excess(numbers, first, second, counters)
    return scores


@inner()
def _excess(numbers, first, second, counters):
    """Sum of |count - expected| - expected over the cells that occur; leaves the counters zeroed."""
    excess = 0.0
    width = second.size
    if first.size * width <= counters.size:
        for number in numbers:
            counters[number] += 1
        for number in numbers:
            if counters[number]:
                expected = first[number // width] * second[number % width]
                excess += abs(counters[number] - expected) - expected
                counters[number] = 0
        return excess
    ordered = np.sort(numbers)
    begin = 0
    for i in range(1, ordered.size + 1):
        if i == ordered.size or ordered[i] != ordered[begin]:
            expected = first[ordered[begin] // width] * second[ordered[begin] % width]
            excess += abs(i - begin - expected) - expected
            begin = i
    return excess
