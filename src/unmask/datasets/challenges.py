"""The data sets on which ganev2023 rebuilds outliers: sizes, outliers, rounds and distances as in the paper.

    name          rows (half train, half holdout)   outliers of the train table             rounds   distance
    gauss         2,000, two normal columns         further than 2.15 from the centre        1,000    -
    adult-small   6,000, six columns                two smallest of 10 clusters              1,000    1
    adult         6,000, 14 columns                 smallest of 10 clusters                  1,000    4
    census        10,000, 41 columns                smallest of 4 clusters                   5,000    4
    digits        9,000 of 3, 5, 8, 9, 1,000 of 0   the zeros                                5,000    16

Clusters are those of a mixture fitted to the train table (diagonal covariance); the paper does not say which numbers stand
for categories. Without MNIST's files `digits` takes all that scikit-learn has of these digits and a tenth as many zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unmask.datasets import adult, adult_small, gaussian
from unmask.datasets.not_bundled import census, digits
from unmask.errors import ParameterError
from unmask.tables.regions import CodeScale, Region, outside, smallest_clusters, where
from unmask.tables.table import Table

RADIUS = 2.15
SIDE = 4.0  # of the square that holds the Gauss, either way
BINS = 316  # a column: 10^5 cells


@dataclass(frozen=True, eq=False)
class Challenge:
    """Train and holdout table, where the outliers are, and how long the paper's attack runs."""

    name: str
    train: Table
    holdout: Table
    outliers: Region
    rounds: int
    distance: int
    clusters: int  # of the attacker's own locator
    scale: CodeScale

    @property
    def targets(self) -> np.ndarray:
        """Which train rows are outliers."""
        return self.outliers.holds(self.train.codes)


def challenge(name: str, *, seed: int, path: str | Path | None = None) -> Challenge:
    """One of the paper's settings; `path` is the folder with the files of census or MNIST."""
    rng = np.random.default_rng([seed, len(name)])
    if name == "gauss":
        table = gaussian(2, 2000, seed=seed, limit=SIDE, bins=BINS)
        train, holdout = table.take(range(1000)), table.take(range(1000, 2000))
        return Challenge(name, train, holdout, outside(table.schema, RADIUS), 1000, 0, 10, CodeScale.RANGE)
    if name == "adult-small":
        return _clustered(name, adult_small(), 6000, 10, 2, CodeScale.RANGE, rng)
    if name == "adult":
        whole = adult()
        table = whole.select([column for column in whole.schema.names if column != "fnlwgt"])
        return _clustered(name, table, 6000, 10, 1, CodeScale.ONE_HOT, rng)
    if name == "census":
        if path is None:
            raise ParameterError("The census data set is not bundled: give the path of its folder.")
        return _clustered(name, census(path), 10_000, 4, 1, CodeScale.STANDARD, rng)
    if name == "digits":
        return _digits(digits(path), rng)
    raise ParameterError(f"There is no challenge '{name}'. There are: gauss, adult-small, adult, census, digits.")


def _clustered(
    name: str, table: Table, rows: int, clusters: int, smallest: int, scale: CodeScale, rng: np.random.Generator
) -> Challenge:
    chosen = rng.permutation(len(table))[:rows]
    train, holdout = table.take(chosen[: rows // 2]), table.take(chosen[rows // 2 :])
    region = smallest_clusters(train, clusters=clusters, smallest=smallest, scale=scale, seed=int(rng.integers(2**31)))
    rounds = 5000 if name == "census" else 1000
    return Challenge(name, train, holdout, region, rounds, 1 if name == "adult-small" else 4, clusters, scale)


def _digits(table: Table, rng: np.random.Generator) -> Challenge:
    shown = table.codes[:, 0]
    common = rng.permutation(np.flatnonzero(np.isin(shown, (3, 5, 8, 9))))[:9000]
    rare = rng.permutation(np.flatnonzero(shown == 0))[: max(1, len(common) // 9)]
    chosen = rng.permutation(np.concatenate([common, rare]))
    half = len(chosen) // 2
    train, holdout = table.take(chosen[:half]), table.take(chosen[half : 2 * half])
    zeros = where(table.schema, "digit", np.array([0]))
    return Challenge("digits", train, holdout, zeros, 5000, 16, 10, CodeScale.RANGE)
