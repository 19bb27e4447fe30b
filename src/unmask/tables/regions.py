"""Parts of a domain that are told from codes alone: the smallest clusters of a mixture, or what lies outside a radius.

A row belongs to the place with the largest sum of weights, one weight per column and code. Mixtures of normals with diagonal
covariance are such sums, whatever numbers stand for the codes, so a million rows are placed in a fraction of a second.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from unmask.compiled import njit
from unmask.errors import InputError, ParameterError
from unmask.tables.schema import Schema
from unmask.tables.table import Table


class CodeScale(StrEnum):
    """Which numbers stand for the codes of a column."""

    RANGE = "range"  # 0 to 1 over the public domain
    STANDARD = "standard"  # mean 0, standard deviation 1
    ONE_HOT = "one-hot"  # one number per code, 0 or 1


@dataclass(frozen=True, eq=False)
class Region:
    """The rows that belong to a wanted place."""

    starts: np.ndarray  # where the codes of each column begin among the weights
    weights: np.ndarray  # (codes of all columns, places)
    constants: np.ndarray  # (places,)
    wanted: np.ndarray  # (places,) bool

    def places(self, codes: np.ndarray) -> np.ndarray:
        """The place of each row."""
        found = np.empty(len(codes), dtype=np.int64)
        _place(np.ascontiguousarray(codes), self.starts, self.weights, self.constants, found)
        return found

    def holds(self, codes: np.ndarray) -> np.ndarray:
        """Whether each row belongs to a wanted place."""
        return self.wanted[self.places(codes)]


def smallest_clusters(
    table: Table,
    *,
    clusters: int,
    smallest: int | None = None,
    rows: int | None = None,
    scale: CodeScale = CodeScale.RANGE,
    seed: int = 0,
) -> Region:
    """The smallest clusters of a mixture fitted to a table: `smallest` of them, or as many as hold at most `rows` rows.

    At least one is always wanted: where even the smallest holds more rows, it is the nearest there is.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    if (smallest is None) == (rows is None):
        raise ParameterError("Say how many clusters are wanted, or how many rows they may hold: one of the two.")
    if len(table) < clusters:
        raise InputError(
            f"{len(table)} rows cannot be divided into {clusters} clusters. Use more rows, or fewer clusters."
        )
    starts = _starts(table.schema)
    numbers, values = _numbers(table, CodeScale(scale))
    mixture = GaussianMixture(clusters, covariance_type="diag", reg_covar=1e-4, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a mixture that is not quite there divides people as well
        mixture.fit(numbers)
    weights, constants = _as_weights(mixture, starts, values, table.schema.sizes)
    counts = np.bincount(
        Region(starts, weights, constants, np.ones(clusters, dtype=bool)).places(table.codes), minlength=clusters
    )
    order = np.argsort(counts, kind="stable")
    if rows is not None:
        smallest = max(1, int((np.cumsum(counts[order]) <= rows).sum()))
    wanted = np.zeros(clusters, dtype=bool)
    wanted[order[:smallest]] = True
    return Region(starts, weights, constants, wanted)


def outside(schema: Schema, radius: float) -> Region:
    """Rows further from 0 than a radius; all columns are numbers, each stands for the middle of its bin."""
    starts = _starts(schema)
    weights = np.zeros((starts[-1], 2))
    for start, column in zip(starts, schema.columns, strict=False):
        weights[start : start + column.listed, 1] = ((column.edges[:-1] + column.edges[1:]) / 2) ** 2
    return Region(starts, weights, np.array([radius**2, 0.0]), np.array([False, True]))


def where(schema: Schema, column: str, codes: np.ndarray) -> Region:
    """Rows whose column has one of these codes."""
    starts = _starts(schema)
    weights = np.zeros((starts[-1], 2))
    weights[starts[schema.position(column)] + codes, 1] = 1.0
    return Region(starts, weights, np.array([0.5, 0.0]), np.array([False, True]))


def _starts(schema: Schema) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(schema.sizes)]).astype(np.int64)


def _numbers(table: Table, scale: CodeScale) -> tuple[np.ndarray, list[np.ndarray]]:
    """The numbers of every row, and for each column the numbers of each of its codes (codes x numbers)."""
    values, parts = [], []
    for position, size in enumerate(table.schema.sizes):
        codes = np.minimum(table.codes[:, position], size - 1)
        if scale is CodeScale.ONE_HOT:
            each = np.eye(size)
        elif scale is CodeScale.RANGE:
            each = np.arange(size)[:, None] / max(1, size - 1)
        else:
            each = (np.arange(size)[:, None] - codes.mean()) / (codes.std() or 1.0)
        values.append(each)
        parts.append(each[codes])
    return np.concatenate(parts, axis=1), values


def _as_weights(
    mixture: object, starts: np.ndarray, values: list[np.ndarray], sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The log densities of the clusters as sums over columns."""
    means, spread = mixture.means_, mixture.covariances_  # type: ignore[attr-defined]
    weights = np.empty((starts[-1], len(means)))
    place = 0
    for start, size, each in zip(starts, sizes, values, strict=False):
        width = each.shape[1]
        centre, variance = means[:, place : place + width], spread[:, place : place + width]
        gaps = (each[:, None, :] - centre[None]) ** 2 / variance[None] + np.log(2 * np.pi * variance)[None]
        weights[start : start + size] = -0.5 * gaps.sum(axis=2)
        place += width
    return weights, np.log(mixture.weights_)  # type: ignore[attr-defined]


@njit(cache=True)
def _place(codes, starts, weights, constants, found):
    columns, places = codes.shape[1], len(constants)
    total = np.empty(places)
    for row in range(len(codes)):
        total[:] = constants
        for column in range(columns):
            at = min(starts[column] + codes[row, column], starts[column + 1] - 1)
            for place in range(places):
                total[place] += weights[at, place]
        found[row] = np.argmax(total)
