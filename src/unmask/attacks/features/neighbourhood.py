"""How near and how dense the release is around a target: distances, their ratio, and kernel densities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._density import Kernel
from unmask.attacks.features.queries import hidden_column
from unmask.tables.distance import kth_distances
from unmask.tables.metric import Gower
from unmask.tables.table import Table

NEIGHBOURS = (1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
FLOOR = 0.01  # columns: what is added to a distance before its logarithm, so that copies stay finite
BANDWIDTHS = (None, 0.1)  # of densities, in standard deviations; none = Scott's rule
SPREADS = (0.1, 0.01)  # of categories: the probability of all other values together


@dataclass(frozen=True)
class NeighbourhoodFeatures:
    """Nearness of the release to each target; larger = nearer or denser, so that all of them point to members.

    Minus the logarithm of the Gower distance to the 1st, 5th, 10th, ... 50th nearest row; minus the ratio of the distances to the
    nearest and the second nearest (NNDR); the log density of the release at the target by a wide and a narrow kernel. A ratio
    to the density of the population differs from the latter by a constant for each target, which an attack that knows
    releases without the target takes off. All distances come from one pass. Where a release has fewer rows, the last one counts.
    """

    name: ClassVar[str] = "neighbourhood"

    @property
    def key(self) -> str:
        return self.name

    @property
    def parts(self) -> tuple[str, ...]:
        """What stands where."""
        return (*(f"distance {k}" for k in NEIGHBOURS), "nndr", "density, wide", "density, narrow")

    def compute(self, synthetic: Table, targets: Table) -> np.ndarray:
        """Targets x parts; a column that is hidden in the targets is left out of distances."""
        names, secret = targets.schema.names, hidden_column(targets)
        known = [name for position, name in enumerate(names) if position != secret]
        if len(synthetic) and known:
            ks = [min(k, len(synthetic)) for k in (2, *NEIGHBOURS)]
            found = kth_distances(targets, synthetic, ks=ks, metric=Gower(), columns=known)
        else:
            found = np.ones((len(targets), 1 + len(NEIGHBOURS)))
        floor = FLOOR / len(names)
        second, distances = found[:, :1] + floor, found[:, 1:] + floor
        shapes = [Kernel.fitted_to(synthetic, width, spread) for width, spread in zip(BANDWIDTHS, SPREADS, strict=True)]
        densities = [shape.log_density(synthetic, targets) for shape in shapes]
        return np.column_stack([-np.log(distances), -distances[:, :1] / second, *densities])
