"""Mean minimal distance of synthetic rows to the real table, with its histogram (hittmeir2020)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.errors import InputError
from unmask.metrics._closeness import mean_estimate, search
from unmask.stats import Estimate
from unmask.tables.distance import Euclid
from unmask.tables.table import Table

WARNING = (
    "A large mean distance proves nothing: it is an average, not the worst case, and a few copies among many distant rows "
    "do not move it."
)


@dataclass(frozen=True, eq=False)
class MinimalDistance:
    """Distance of each synthetic row to its closest real row: label-encoded, standardised by the real table, Euclid."""

    mean: Estimate
    holdout_mean: Estimate | None  # what rows that cannot have been copied score
    distances: np.ndarray  # of each synthetic row
    edges: np.ndarray  # of the histogram, from 0 to the largest distance
    counts: np.ndarray
    holdout_counts: np.ndarray | None
    warnings: tuple[str, ...] = (WARNING,)


def minimal_distance(
    real: Table,
    synthetic: Table,
    *,
    holdout: Table | None = None,
    bins: int = 30,
    confidence: float = 0.95,
    workers: int = 1,
) -> MinimalDistance:
    """Mean and histogram of the distance to the closest real row, for synthetic rows and for holdout rows."""
    for name, table in (("real", real), ("synthetic", synthetic), ("holdout", holdout)):
        if table is not None and not len(table):
            raise InputError(f"The {name} table has no rows, so there is no closest row. Give it rows.")
    metric = Euclid.fitted_to(real)
    mine = search(synthetic, real, metric, neighbours=1, workers=workers)[:, 0]
    theirs = None if holdout is None else search(holdout, real, metric, neighbours=1, workers=workers)[:, 0]
    top = max(float(mine.max()), 0.0 if theirs is None else float(theirs.max()))
    edges = np.linspace(0.0, top if top > 0 else 1.0, bins + 1)
    return MinimalDistance(
        mean_estimate([mine], confidence),
        None if theirs is None else mean_estimate([theirs], confidence),
        mine,
        edges,
        np.histogram(mine, edges)[0],
        None if theirs is None else np.histogram(theirs, edges)[0],
    )
