"""A Bayesian network learnt greedily: PrivBayes without the privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.generators._generator import check_fits
from unmask.generators._network import NetworkModel
from unmask.generators._noise import noise_for
from unmask.generators.claim import Claim
from unmask.generators.privbayes import check_degree, fit_network
from unmask.tables.table import Table


@dataclass(frozen=True)
class BayesNet:
    """Draw each column given its one or two most informative predecessors, from exact counts.

    The same code as `privbayes` at epsilon = infinity: starting from a random column, always add the column and the parents
    with the largest mutual information. Combinations of parents that no row has give a uniform column.
    """

    name: ClassVar[str] = "bayesnet"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None

    degree: int = 1  # parents per column, 1 or 2

    def __post_init__(self) -> None:
        check_degree(self.degree, self.name)

    def fit(self, table: Table, rng: np.random.Generator | None) -> NetworkModel:
        check_fits(table, self.name)
        return fit_network(table, self.degree, math.inf, noise_for(False, rng))
