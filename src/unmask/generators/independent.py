"""Every column on its own: marginals, with or without noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.errors import ParameterError
from unmask.generators._counts import one_way
from unmask.generators._generator import Measurement, check_fits, check_positive, claim_for
from unmask.generators._network import NetworkModel, Node
from unmask.generators._noise import noise_for
from unmask.generators.claim import Claim, Neighbours
from unmask.tables.table import Table


@dataclass(frozen=True)
class Independent:
    """Draw each column from its own histogram, so that no relation between columns survives.

    With epsilon, adding or removing a row changes one cell of each of the d histograms by 1, so discrete Laplace noise
    of scale d/epsilon on every cell of every histogram is epsilon-DP. The number of rows is not kept: only noisy counts
    are. Without epsilon there is no noise and no claim.
    """

    name: ClassVar[str] = "independent"
    row_level: ClassVar[bool] = False
    claims: ClassVar[str] = "epsilon, add-remove (nothing without epsilon)"

    epsilon: float | None = None
    release: bool = False  # hardened noise that cannot be repeated

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            check_positive("epsilon", self.epsilon, self.name)
        elif self.release:
            raise ParameterError(
                "independent: release=True has no meaning without noise. Set epsilon, such as epsilon=1."
            )

    @property
    def claim(self) -> Claim | None:
        return None if self.epsilon is None else Claim(self.epsilon, neighbours=Neighbours.ADD_REMOVE)

    def fit(self, table: Table, rng: np.random.Generator | None) -> NetworkModel:
        check_fits(table, self.name)
        histograms = one_way(table.codes, table.schema.sizes)
        scale = 0.0 if self.epsilon is None else len(histograms) / self.epsilon
        noise = noise_for(self.release, rng)
        measured = tuple(
            Measurement((j,), noise.laplace(counts, scale), scale, "laplace" if scale else "none")
            for j, counts in enumerate(histograms)
        )
        nodes = tuple(Node.from_counts(j, (), measurement.counts) for j, measurement in enumerate(measured))
        return NetworkModel(table.schema, nodes, claim_for(self.claim, table.schema), measured)
