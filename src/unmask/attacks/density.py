"""How dense the synthetic data are where the target is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import Prediction, Secret
from unmask.attacks._density import Densities, filled, judged
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View


@dataclass(frozen=True)
class Density(Densities):
    """Log density of the synthetic table at the target.

    Synthetic rows gather where real rows are, so a high density speaks for membership; it is high for typical people too,
    which `density-ratio` discounts. Attribute: the density with every value of the secret filled in, so that the value that goes
    best with the rest of the target wins. CPU per release of 1000 x 15 with 25 targets: kernel .5 ms, bayesnet 1.6 ms, mixture
    35 ms, nearly all of it for the fit.
    """

    name: ClassVar[str] = "density"
    goals: ClassVar[frozenset[Goal]] = frozenset(Goal)
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC})

    def prepare(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> Density:
        return self

    def score(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> np.ndarray | Prediction:
        synthetic = view.synthetic
        shape = self.shape_of(synthetic, rng)
        if secret is None:
            return shape.log_density(synthetic, targets)
        return judged(shape.log_density(synthetic, filled(targets, secret)), targets, secret)
