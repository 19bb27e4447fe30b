"""Mean minimal distance of synthetic rows to the real table, with its histogram (hittmeir2020)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.errors import InputError, ParameterError
from unmask.metrics._closeness import mean_estimate
from unmask.stats import Estimate
from unmask.tables.distance import Euclid, nearest
from unmask.tables.table import Table, concatenate

WARNING = (
    "A large mean distance proves nothing: it is an average, not the worst case, and a few copies among many distant rows "
    "do not move it."
)


@dataclass(frozen=True, eq=False)
class MinimalDistance:
    """Distance of each synthetic row to its closest real row: label-encoded, standardised by the real table, Euclid."""

    mean: Estimate
    holdout_mean: Estimate | None  # what rows that cannot have been copied score
    rows: np.ndarray  # the synthetic rows that were looked at
    distances: np.ndarray  # of each of them
    nearest: np.ndarray  # the real row that is closest to each of them
    holdout_distances: np.ndarray | None
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
    most_rows: int | None = None,
    confidence: float = 0.95,
    workers: int = 1,
    rng: np.random.Generator | None = None,
) -> MinimalDistance:
    """Mean and histogram of the distance to the closest real row, for synthetic rows and for holdout rows.

    `rng` draws `most_rows` of either where there are more; the real table is always searched whole.
    """
    for name, table in (("real", real), ("synthetic", synthetic), ("holdout", holdout)):
        if table is not None and not len(table):
            raise InputError(f"The {name} table has no rows, so there is no closest row. Give it rows.")
    metric = Euclid.fitted_to(real)
    rows = _drawn(len(synthetic), most_rows, rng)
    asked = [synthetic.take(rows)]
    if holdout is not None:
        asked.append(holdout.take(_drawn(len(holdout), most_rows, rng)))
    everyone = concatenate(
        [Table(part.schema, part.codes, part.numbers) for part in asked]
    )  # one search for both sides
    found = nearest(everyone, real, k=1, metric=metric, workers=workers)
    mine, others = np.split(found.distances[:, 0], [len(rows)])
    theirs = None if holdout is None else others
    top = max(float(mine.max()), 0.0 if theirs is None else float(theirs.max()))
    edges = np.linspace(0.0, top if top > 0 else 1.0, bins + 1)
    return MinimalDistance(
        mean_estimate([mine], confidence),
        None if theirs is None else mean_estimate([theirs], confidence),
        rows,
        mine,
        found.rows[: len(rows), 0],
        theirs,
        edges,
        np.histogram(mine, edges)[0],
        None if theirs is None else np.histogram(theirs, edges)[0],
    )


def _drawn(rows: int, most: int | None, rng: np.random.Generator | None) -> np.ndarray:
    if most is None or rows <= most:
        return np.arange(rows)
    if rng is None:
        raise ParameterError(f"There are {rows:,} rows, more than {most:,}. Pass rng to draw some.")
    return np.sort(rng.choice(rows, most, replace=False))
