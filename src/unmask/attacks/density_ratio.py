"""DOMIAS (van Breugel 2023): how much denser the synthetic data are than the population where the target is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import Prediction, Secret
from unmask.attacks._density import Densities, Shape, check_count, filled, judged, part_of
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View


@dataclass(frozen=True)
class DensityRatio(Densities):
    """Log density of the synthetic table minus log density of the reference people, at the target.

    A generator that overfits is denser around its training rows than the population is there; the ratio discounts people who
    are typical anyway. Above 0: denser than expected, so more likely a member. Both densities have one shape (bandwidths,
    network, start of the mixture), taken from the reference, so that without a leak the two are estimates of the same smoothed
    density; the authors fit each on its own.

    Attribute: the ratio with every value of the secret filled in, which asks what the release says beyond the population: the
    right question where secrets are drawn uniformly, a weak one where the true value follows from the rest (see `density`).
    """

    name: ClassVar[str] = "density-ratio"
    goals: ClassVar[frozenset[Goal]] = frozenset(Goal)
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC, Access.REFERENCE})

    reference_rows: int = 10_000  # at most: beyond, a random part of the reference

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("reference_rows", self.reference_rows)

    def prepare(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> PreparedDensityRatio:
        reference = part_of(view.reference, self.reference_rows, rng)
        shape = self.shape_of(reference, rng)
        return PreparedDensityRatio(shape, shape.log_density(reference, _points(targets, secret)))


@dataclass(frozen=True, eq=False)
class PreparedDensityRatio:
    """The shape of both densities, and the log density of the reference at the targets (with every value filled in)."""

    shape: Shape
    log_reference: np.ndarray

    def score(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> np.ndarray | Prediction:
        ratio = self.shape.log_density(view.synthetic, _points(targets, secret)) - self.log_reference
        return ratio if secret is None else judged(ratio, targets, secret)


def _points(targets: Table, secret: Secret | None) -> Table:
    return targets if secret is None else filled(targets, secret)
