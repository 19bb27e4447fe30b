"""MAMA-MIA (Golob 2024): in the marginals that the generator measures, how over-represented are the target's values?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from unmask.attacks._agreeing import agreeing
from unmask.attacks._attack import Secret
from unmask.attacks._density import check_count, part_of
from unmask.generators._counts import mutual_information
from unmask.generators._generator import Generator
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View

Sets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class MarginalRatio:
    """Weighted mean, over marginals, of the synthetic share of the target's cell over its share among reference people.

    A generator that measures marginals can leak only through them. A member adds one to its own cell in each, which raises
    a share p to p + 1/rows: little for common cells, much for rare ones. That is what the ratio weighs: with c of m synthetic
    rows in a cell, the log-likelihood ratio of member against non-member is c log(1 + 1/(rows p)) up to a constant, about
    c/(rows p), a multiple of the ratio. Higher = more likely a member. One imaginary reference person in each cell keeps
    ratios finite.

    Which marginals, and their weights: if the attacker may run the generator, it is fitted to samples of the reference and
    each set of columns counts by how often it is measured (`Model.measurements`; MST: all columns and the chosen pairs;
    PrivBayes: pairs or triples; independent: columns). Otherwise, and for generators that list no measurements, all pairs by
    their mutual information in the reference, since associated pairs are what any good model must keep.
    """

    name: ClassVar[str] = "marginal-ratio"
    goals: ClassVar[frozenset[Goal]] = frozenset({Goal.MEMBERSHIP})
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC, Access.REFERENCE})

    runs: int = 8  # fits of the generator to learn what it measures
    rows: int = 1000  # of the samples for these fits
    reference_rows: int = 20_000  # at most: beyond, a random part of the reference

    def __post_init__(self) -> None:
        for name in ("runs", "rows", "reference_rows"):
            check_count(name, getattr(self, name))

    def prepare(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> PreparedMarginalRatio:
        reference = part_of(view.reference, self.reference_rows, rng)
        weights: dict[tuple[int, ...], float] = {}
        if Access.GENERATOR in view.allowed:
            weights = measured_sets(view.generator, reference, self.runs, self.rows, rng)
        weights = weights or associated_pairs(reference)
        shares = (agreeing(reference, targets, list(weights)) + 1) / (len(reference) + 1)
        return PreparedMarginalRatio(tuple(weights), np.array(list(weights.values())) / shares)


@dataclass(frozen=True, eq=False)
class PreparedMarginalRatio:
    """The sets of columns, and the weight of each over the reference share of the target's cell."""

    sets: Sets
    factors: np.ndarray  # targets x sets

    def score(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> np.ndarray:
        counts = agreeing(view.synthetic, targets, self.sets)
        return np.asarray((counts * self.factors).sum(axis=1) / max(len(view.synthetic), 1))


def measured_sets(
    generator: Generator, reference: Table, runs: int, rows: int, rng: np.random.Generator
) -> dict[tuple[int, ...], float]:
    """Sets of columns that the generator measures, weighted by how often (sum 1); none if it does not say."""
    if generator.row_level:
        return {}
    found: Counter[tuple[int, ...]] = Counter()
    for _ in range(runs):
        model = generator.fit(part_of(reference, rows, rng), rng)
        found.update(tuple(sorted(measured.columns)) for measured in getattr(model, "measurements", ()))
        if not found:  # it lists nothing, so that more fits are of no use
            return {}
    return {columns: count / found.total() for columns, count in sorted(found.items())}


def associated_pairs(reference: Table) -> dict[tuple[int, ...], float]:
    """All pairs of columns by mutual information (sum 1); every column alike where there are no pairs or no relations."""
    width = len(reference.schema.columns)
    listed = reference.codes[(reference.codes < reference.schema.sizes).all(axis=1)]
    if width > 1 and len(listed):
        information = mutual_information(listed, reference.schema.sizes)
        pairs = {
            (a, b): float(information[a, b]) for a, b in combinations(range(width), 2) if information[a, b] > 1e-12
        }
        if pairs:
            return {pair: value / sum(pairs.values()) for pair, value in pairs.items()}
    return {(position,): 1 / width for position in range(width)}
