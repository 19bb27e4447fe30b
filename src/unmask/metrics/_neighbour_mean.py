"""A number as the mean over rows with similar keys: radius nearest neighbour regression (hittmeir2020, algorithm 3.1).

Keys are label-encoded in schema order and standardised. *Each table by itself* (the default): the records by their own mean and
spread, the release by its own, as in the paper; only so do its figures follow, and the attack beat the mean in each of its cells.
By the *release* alone: for an attacker who knows of one person, and so of no mean. A column that is constant in the searched
table adds nothing; missing against a value, and an unlisted category against anything, adds 2 to the squared distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from unmask.compiled import inner, njit
from unmask.errors import InputError, ParameterError
from unmask.tables.matching import group_ids
from unmask.tables.metric import labels
from unmask.tables.search._kernels import FAR, FAR_SQUARE, MISSING_SQUARE
from unmask.tables.table import Table

CHUNK = 512  # queries at a time: their columns and sums stay in the first-level cache
SLACK = 1e-9  # of a radius: far more than rounding can take from a distance


class Weights(StrEnum):
    """How rows inside the radius are averaged."""

    DISTANCE = "distance"  # by the inverse of their distance; if rows match exactly, the plain mean of these
    EQUAL = "equal"  # all alike: algorithm 3.1 as it stands


class Scaling(StrEnum):
    """By whose mean and spread keys are standardised."""

    EACH = "each"  # every table by its own
    RELEASE = "release"  # all by those of the table that is searched


@dataclass(frozen=True)
class Neighbourhood:
    """Which rows count, and how much."""

    radius: float = math.inf  # in standard deviations; 0 = rows with the very same keys
    weights: Weights = Weights.DISTANCE
    scaling: Scaling = Scaling.EACH

    def __post_init__(self) -> None:
        if not self.radius >= 0:
            raise ParameterError(
                f"radius is {self.radius}; give 0 or more standard deviations, or math.inf for all rows."
            )
        object.__setattr__(self, "weights", Weights(self.weights))
        object.__setattr__(self, "scaling", Scaling(self.scaling))


@dataclass(frozen=True, eq=False)
class Predictions:
    """One prediction per record."""

    values: np.ndarray
    lonely: np.ndarray  # no row inside the radius: the value is the mean of the secret (bool)


@dataclass(frozen=True)
class Scale:
    """Mean and spread (population) of each key among the values present; spread 0 = constant, or nothing there."""

    means: tuple[float, ...]
    spreads: tuple[float, ...]

    @classmethod
    def of(cls, keys: Sequence[str], *tables: Table) -> Scale:
        """Of all rows of these tables together."""
        found = []
        for key in keys:
            column = np.concatenate([labels(table, table.schema.position(key)) for table in tables])
            present = column[column < FAR]
            constant = len(present) == 0 or present.min() == present.max()
            found.append(
                (0.0, 0.0) if len(present) == 0 else (float(present.mean()), 0.0 if constant else float(present.std()))
            )
        return cls(tuple(mean for mean, _ in found), tuple(spread for _, spread in found))

    def apply(self, table: Table, keys: Sequence[str], used: Sequence[bool]) -> np.ndarray:
        """The keys on this scale, rows x keys; 0 where a key is not used, what is on no scale stays FAR from the rest."""
        found = np.zeros((len(table), len(keys)))
        for place, key in enumerate(keys):
            if used[place]:
                column = labels(table, table.schema.position(key))
                spread = self.spreads[place] or 1.0
                found[:, place] = np.where(column < FAR, (column - self.means[place]) / spread, column)
        return found


def predict(
    records: Table,
    synthetic: Table,
    *,
    keys: Sequence[str],
    secret: str,
    how: Neighbourhood = Neighbourhood(),
    scale: Scale | None = None,
    workers: int = 1,
) -> Predictions:
    """The secret of each record as its neighbours in the synthetic table suggest it. Each distinct key is asked once.

    `scale` is that of the table which the records are part of (None = they are the table).
    """
    known = numbers_of(synthetic, secret)
    if not (present := ~np.isnan(known)).any():
        raise InputError(
            f"All synthetic values of '{secret}' are missing, so none can be predicted. Choose another secret."
        )
    synthetic, known = synthetic.take(present), known[present]
    asked, offered = group_ids(records, synthetic, columns=keys)
    centre = float(known.mean())  # sums of differences to it lose no digits
    if how.radius == 0:
        size = max(int(asked.max(initial=-1)), int(offered.max(initial=-1))) + 1
        counts, totals = (np.bincount(offered, weights=w, minlength=size)[asked] for w in (None, known - centre))
        return Predictions(centre + totals / np.maximum(counts, 1), counts == 0)
    _, first_query, of_record = np.unique(asked, return_index=True, return_inverse=True)
    _, first_candidate, of_candidate = np.unique(offered, return_index=True, return_inverse=True)
    searched = Scale.of(keys, synthetic)
    own = searched if how.scaling is Scaling.RELEASE else scale or Scale.of(keys, records)
    used = [spread > 0 for spread in searched.spreads]
    candidates = searched.apply(synthetic.take(first_candidate), keys, used)
    queries = own.apply(records.take(first_query), keys, used)
    counts = np.bincount(of_candidate).astype(np.float64)
    totals = np.bincount(of_candidate, weights=known - centre)
    near, near_total, exact, exact_total = _gathered(queries, candidates, (counts, totals), how, workers)
    values = np.divide(near_total, near, out=np.zeros(len(near)), where=near > 0)
    values = np.where(exact > 0, exact_total / np.maximum(exact, 1), values)
    lonely = (near == 0) & (exact == 0)
    return Predictions(centre + values[of_record], lonely[of_record])


def _gathered(
    queries: np.ndarray, candidates: np.ndarray, held: tuple[np.ndarray, np.ndarray], how: Neighbourhood, workers: int
) -> np.ndarray:
    """Weights and weighted totals of the near candidates of each query, then those of the exact ones.

    Queries are taken along the widest key, so that those of a chunk are close to each other there, and candidates that none of
    them can reach are left out. These would add 0, and the others keep their order: the sums are the same bit by bit.
    """
    counts, totals = held
    on_scale = [column[column < FAR] for column in queries.T]
    widest = int(np.argmax([np.ptp(column) if len(column) else 0.0 for column in on_scale]))
    order = np.argsort(queries[:, widest], kind="stable")
    found = np.zeros((4, len(queries)))

    def run(low: int) -> None:
        rows = order[low : low + CHUNK]
        part, reached = (
            np.ascontiguousarray(queries[rows].T),
            _within_reach(queries[rows, widest], candidates[:, widest], how),
        )
        sums = np.zeros((4, len(rows)))
        if reached.all():
            _gather(part, candidates, counts, totals, how.radius, how.weights is Weights.EQUAL, sums)
        else:
            some = candidates[reached], counts[reached], totals[reached]
            _gather(part, *some, how.radius, how.weights is Weights.EQUAL, sums)
        found[:, rows] = sums

    _in_parts(run, len(queries), workers)
    return found


def _within_reach(asked: np.ndarray, offered: np.ndarray, how: Neighbourhood) -> np.ndarray:
    """Which candidates may be within the radius of any of these queries, by one key. What is on no scale may be near anything."""
    reach = how.radius * (1 + SLACK)
    if not asked.max() < FAR:
        return np.ones(len(offered), dtype=bool)
    return np.asarray(((offered >= asked.min() - reach) & (offered <= asked.max() + reach)) | (offered >= FAR))


def numbers_of(table: Table, name: str) -> np.ndarray:
    """A numeric column."""
    return table.numbers[:, table.schema.numeric.index(table.schema.position(name))]


@inner(error_model="numpy")
def _add_squares(sums, column, number):
    for i in range(sums.size):
        gap = column[i] - number
        square = gap * gap
        sums[i] += square if square < FAR_SQUARE else MISSING_SQUARE


@inner(error_model="numpy")
def _add_weighted(squares, radius, count, total, near, near_total, exact, exact_total):
    for i in range(squares.size):
        distance = math.sqrt(squares[i])
        same = distance == 0.0
        weight = 1.0 / distance if distance <= radius else 0.0
        weight = 0.0 if same else weight
        near[i] += weight * count
        near_total[i] += weight * total
        exact[i] += count if same else 0.0
        exact_total[i] += total if same else 0.0


@inner(error_model="numpy")
def _add_equal(squares, radius, count, total, near, near_total):
    for i in range(squares.size):
        inside = math.sqrt(squares[i]) <= radius
        near[i] += count if inside else 0.0
        near_total[i] += total if inside else 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def _gather(queries, candidates, counts, totals, radius, equal, sums):
    """Add every candidate to the sums of every query; the inner loops run over queries, so that they vectorise."""
    squares = np.empty(queries.shape[1])
    for row in range(candidates.shape[0]):
        squares[:] = 0.0
        for j in range(candidates.shape[1]):
            _add_squares(squares, queries[j], candidates[row, j])
        if equal:
            _add_equal(squares, radius, counts[row], totals[row], sums[0], sums[1])
        else:
            _add_weighted(squares, radius, counts[row], totals[row], sums[0], sums[1], sums[2], sums[3])


def _in_parts(run: Callable[[int], None], rows: int, workers: int) -> None:
    """`run` on each chunk of queries; threads, since the kernels release the GIL."""
    if workers < 1:
        raise ParameterError(f"workers is {workers}; use 1 or more threads.")
    if workers == 1:
        for low in range(0, rows, CHUNK):
            run(low)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        list(pool.map(run, range(0, rows, CHUNK)))
    finally:
        pool.shutdown(cancel_futures=True)
