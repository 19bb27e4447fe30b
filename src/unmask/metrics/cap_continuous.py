"""Attribute disclosure of a number: radius nearest neighbour regression on the synthetic table (hittmeir2020).

CAP asks for equal keys and equal secrets, which numbers rarely have. Here the attacker predicts the secret as the mean over
the synthetic rows within a radius of the known keys, weighted by the inverse of the distance; if rows match exactly, as their
plain mean. Keys are label-encoded in schema order and standardised by the table that is searched (the attacker has no other);
missing against a value, and an unlisted category against anything, adds 2 to the squared distance. Without a row inside the
radius the prediction is the mean of the secret, and the record is counted in `lonely`.

MAE in the unit of the secret, MAPE in per cent of the true value (records with a true value of 0 left out), R2 = 1 - squared
error / squared spread of the true values: 0 = no better than their mean, 1 = exact; lower MAE and higher R2 mean more
disclosure. For every key of a given length out of `keys`; mean and population standard deviation over the keys. Beside it the
same attack on the real table itself (an upper bound) and the mean predictor (what needs no key).

Cost: number of keys x distinct real keys x distinct synthetic keys, in memory proportional to the rows. sdmetrics' version
sums over all rows and divides by the number inside the radius, so its predictions leave the range of the data; ours cannot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numba import njit

from unmask.errors import InputError, ParameterError
from unmask.metrics.cap import check
from unmask.stats.auc import auc
from unmask.stats.results import Estimate
from unmask.tables._kernels import FAR_SQUARE, MISSING_SQUARE
from unmask.tables.matching import group_ids, shared_columns
from unmask.tables.metric import Euclid, labels
from unmask.tables.table import Table

CHUNK = 512  # queries at a time: their columns and sums stay in the first-level cache


@dataclass(frozen=True)
class Errors:
    """How far predictions are off, over all records with a known secret; NaN where a measure is undefined."""

    mae: float
    mape: float
    r2: float


@dataclass(frozen=True)
class Spread:
    """Errors over all keys: mean and population standard deviation."""

    mean: Errors
    deviation: Errors


@dataclass(frozen=True, eq=False)
class ContinuousCap:
    """Predictions of one numeric secret from every key of one length."""

    secret: str
    keys: tuple[tuple[str, ...], ...]
    synthetic: Spread
    original: Spread  # the same attack on the real table itself: the most that could be disclosed
    mean_predictor: Errors  # always the mean of the secret in the synthetic table
    holdout: Spread | None  # the same attack on people who were never in the data
    closer: Estimate | None  # chance that a real record is predicted closer than a holdout one; 0.5 = no leak
    by_key: tuple[Errors, ...]  # the synthetic table, key by key
    absolute_errors: np.ndarray  # per real record, mean over the keys; NaN where its secret is missing
    lonely: int  # predictions (records x keys) without a synthetic row inside the radius
    notes: tuple[str, ...]


def cap_continuous(
    real: Table,
    synthetic: Table,
    *,
    keys: Sequence[str],
    secret: str,
    length: int | None = None,
    radius: float = math.inf,
    holdout: Table | None = None,
    confidence: float = 0.95,
    workers: int = 1,
) -> ContinuousCap:
    """How closely keys of this `length` out of `keys` (None = all of them) give a numeric secret away."""
    check(real, synthetic, keys, [secret], holdout)
    chosen = _subsets(real, keys, secret, length, radius)
    truth = _numbers(real, secret)
    runs = [predict(real, synthetic, keys=key, secret=secret, radius=radius, workers=workers) for key in chosen]
    upper = [predict(real, real, keys=key, secret=secret, radius=radius, workers=workers) for key in chosen]
    by_key = tuple(errors(truth, run.values) for run in runs)
    absolute = _mean_absolute(truth, runs)
    outside, closer = None, None
    if holdout is not None:
        others = _numbers(holdout, secret)
        control = [
            predict(holdout, synthetic, keys=key, secret=secret, radius=radius, workers=workers) for key in chosen
        ]
        outside = _spread([errors(others, run.values) for run in control])
        closer = _closer(absolute, _mean_absolute(others, control), confidence)
    flat = np.full(len(real), np.nanmean(_numbers(synthetic, secret)))
    lonely = sum(int(run.lonely.sum()) for run in runs)
    return ContinuousCap(
        secret,
        chosen,
        _spread(list(by_key)),
        _spread([errors(truth, run.values) for run in upper]),
        errors(truth, flat),
        outside,
        closer,
        by_key,
        absolute,
        lonely,
        _notes(truth, lonely, len(chosen), holdout),
    )


@dataclass(frozen=True, eq=False)
class Predictions:
    """One prediction per record."""

    values: np.ndarray
    lonely: np.ndarray  # no row inside the radius: the value is the mean of the secret (bool)


def predict(
    records: Table,
    synthetic: Table,
    *,
    keys: Sequence[str],
    secret: str,
    radius: float = math.inf,
    workers: int = 1,
) -> Predictions:
    """The secret of each record as its neighbours in the synthetic table suggest it. Each distinct key is asked once."""
    known = _numbers(synthetic, secret)
    if not (present := ~np.isnan(known)).any():
        raise InputError(
            f"All synthetic values of '{secret}' are missing, so none can be predicted. Choose another secret."
        )
    synthetic, known = synthetic.take(present), known[present]
    asked, offered = group_ids(records, synthetic, columns=keys)
    _, first_query, of_record = np.unique(asked, return_index=True, return_inverse=True)
    _, first_candidate, of_candidate = np.unique(offered, return_index=True, return_inverse=True)
    candidates = _labelled(synthetic.take(first_candidate), keys)
    queries = _labelled(records.take(first_query), keys)
    deviations = np.array([value for _, value in Euclid.fitted_to(synthetic.select(keys)).deviations])
    weights = np.divide(1.0, deviations, out=np.zeros(len(keys)), where=deviations > 0)
    centre = float(known.mean())  # sums of differences to it lose no digits
    counts = np.bincount(of_candidate).astype(np.float64)
    totals = np.bincount(of_candidate, weights=known - centre)
    sums = np.zeros((4, len(first_query)))

    def run(low: int) -> None:
        part = np.ascontiguousarray(queries[low : low + CHUNK].T)
        _gather(part, candidates, weights, counts, totals, radius, sums[:, low : low + CHUNK])

    _in_parts(run, len(queries), workers)
    near, near_total, exact, exact_total = sums
    values = np.divide(near_total, near, out=np.zeros(len(near)), where=near > 0)
    values = np.where(exact > 0, exact_total / np.maximum(exact, 1), values)
    lonely = (near == 0) & (exact == 0)
    return Predictions(centre + values[of_record], lonely[of_record])


def errors(truth: np.ndarray, predicted: np.ndarray) -> Errors:
    """MAE, MAPE (per cent) and R2 over the records whose true value is known."""
    known = ~np.isnan(truth)
    truth, gaps = truth[known], (predicted - truth)[known]
    if len(truth) == 0:
        return Errors(math.nan, math.nan, math.nan)
    nonzero = truth != 0
    mape = float(np.mean(np.abs(gaps[nonzero] / truth[nonzero])) * 100) if nonzero.any() else math.nan
    total = float(np.square(truth - truth.mean()).sum())
    r2 = math.nan if truth.min() == truth.max() else 1 - float(np.square(gaps).sum()) / total
    return Errors(float(np.abs(gaps).mean()), mape, r2)


@njit(nogil=True, cache=True, error_model="numpy")
def _add_squares(sums, column, number, weight):
    for i in range(sums.size):
        gap = (column[i] - number) * weight
        square = gap * gap
        sums[i] += square if square < FAR_SQUARE else MISSING_SQUARE


@njit(nogil=True, cache=True, error_model="numpy")
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


@njit(nogil=True, cache=True, error_model="numpy")
def _gather(queries, candidates, weights, counts, totals, radius, sums):
    """Add every candidate to the four sums of every query; the inner loops run over queries, so that they vectorise."""
    squares = np.empty(queries.shape[1])
    for row in range(candidates.shape[0]):
        squares[:] = 0.0
        for j in range(candidates.shape[1]):
            _add_squares(squares, queries[j], candidates[row, j], weights[j])
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


def _subsets(
    real: Table, keys: Sequence[str], secret: str, length: int | None, radius: float
) -> tuple[tuple[str, ...], ...]:
    if not real.schema.column(secret).is_numeric:
        raise ParameterError(f"'{secret}' is categorical; use unmask.metrics.cap for it, or choose a numeric secret.")
    names = [column.name for column in shared_columns([real], keys)]
    length = len(names) if length is None else length
    if not 1 <= length <= len(names):
        raise ParameterError(
            f"length is {length}, but there are {len(names)} keys to choose from. Use 1 to {len(names)}."
        )
    if not radius > 0:
        raise ParameterError(
            f"radius is {radius}; give a positive number of standard deviations, or math.inf for all rows."
        )
    return tuple(combinations(names, length))


def _labelled(table: Table, keys: Sequence[str]) -> np.ndarray:
    return np.column_stack([labels(table, table.schema.position(key)) for key in keys])


def _numbers(table: Table, name: str) -> np.ndarray:
    return table.numbers[:, table.schema.numeric.index(table.schema.position(name))]


def _mean_absolute(truth: np.ndarray, runs: list[Predictions]) -> np.ndarray:
    return np.mean([np.abs(run.values - truth) for run in runs], axis=0)


def _closer(real: np.ndarray, holdout: np.ndarray, confidence: float) -> Estimate | None:
    real, holdout = real[~np.isnan(real)], holdout[~np.isnan(holdout)]
    return auc(-real, -holdout, confidence=confidence) if len(real) and len(holdout) else None


def _spread(found: list[Errors]) -> Spread:
    rows = np.array([[one.mae, one.mape, one.r2] for one in found])
    return Spread(Errors(*map(float, rows.mean(axis=0))), Errors(*map(float, rows.std(axis=0))))


def _notes(truth: np.ndarray, lonely: int, keys: int, holdout: Table | None) -> tuple[str, ...]:
    known = truth[~np.isnan(truth)]
    notes = []
    if len(known) < len(truth):
        notes.append(f"{len(truth) - len(known):,} real records have no value of the secret and are left out.")
    if zeros := int((known == 0).sum()):
        notes.append(f"MAPE leaves out {zeros:,} records whose true value is 0.")
    if len(known) and known.min() == known.max():
        notes.append("The secret is constant in the real table, so R2 is undefined.")
    if lonely:
        notes.append(
            f"{lonely:,} of {len(truth) * keys:,} predictions had no synthetic row inside the radius and took the mean."
        )
    if holdout is None:
        notes.append(
            "Without holdout records, what the release adds cannot be separated from what the population teaches."
        )
    return tuple(notes)
