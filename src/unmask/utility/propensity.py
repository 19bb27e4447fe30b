"""Can synthetic rows be told from real ones? The propensity score error against its null, and the AUC of a learner that tries."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from unmask.attacks.classifier import Classifier
from unmask.errors import InputError
from unmask.stats import auc
from unmask.stats.results import Assumption, Estimate
from unmask.tables.split import split
from unmask.tables.table import Table, concatenate
from unmask.utility.features import FeatureMap

MOST_ROWS = 10_000  # of each table
FEWEST_ROWS = 20  # of each table


@dataclass(frozen=True)
class Propensity:
    """How well a logistic model tells synthetic from real rows, beside what it would reach on two samples of one population.

    `error` is pMSE, the mean of (p - 1/2)^2 over both tables. `ratio` is its share of the null: 1 = a fresh real sample, near 0 =
    copies of the real rows, above 1 = something sets them apart.
    """

    error: float
    null: float
    ratio: Estimate
    parameters: int


def propensity(real: Table, synthetic: Table, *, confidence: float = 0.95, rng: np.random.Generator) -> Propensity:
    """pMSE of a logistic model with main effects, equally many rows of both tables (at most 10,000 of each).

    Null: with k free parameters and N rows, N pMSE / (c (1 - c)) is chi-square with k degrees if both tables are samples of one
    population, so its mean is k c (1 - c) / N. (Snoke et al. 2018 hold the real table fixed, which gives 1 - c of it, half
    for tables of one size.) The interval takes it as non-central chi-square.
    """
    rows = _rows(real, synthetic)
    both = concatenate([_plain(real, rows, rng), _plain(synthetic, rows, rng)])
    matrix, _ = FeatureMap().matrices(both, both)
    truth = np.arange(2 * rows) >= rows
    degrees = int(np.linalg.matrix_rank(matrix.T @ matrix, tol=1e-8 * len(matrix), hermitian=True))
    if degrees == 0:
        nothing = Estimate(math.nan, (math.nan, math.nan), confidence, "no column varies", Assumption.MODEL_BASED, 0)
        return Propensity(0.0, 0.0, nothing, 0)
    error = float(np.square(_logistic(matrix, truth) - 0.5).mean())
    null = degrees * 0.25 / (2 * rows)
    ratio = error / null
    beyond = max(0.0, ratio - 1) * degrees
    reach = float(ndtri(0.5 + confidence / 2)) * math.sqrt(2 * degrees + 4 * beyond) / degrees
    interval = max(0.0, ratio - reach), ratio + reach
    told = Estimate(ratio, interval, confidence, "non-central chi-square", Assumption.MODEL_BASED, 2 * rows)
    return Propensity(error, null, told, degrees)


def detection(real: Table, synthetic: Table, *, confidence: float = 0.95, rng: np.random.Generator) -> Estimate:
    """The chance that boosted trees find a synthetic row more synthetic than a real one: 0.5 = they cannot tell, 1 = always.

    Learnt on one half of each table (units stay together), measured on the other. Below 0.5 rows of the release are copies: what
    was learnt of a row contradicts what is asked about its twin.
    """
    rows = _rows(real, synthetic)
    learnt, asked = zip(
        *(split(_plain(table, rows, rng), 0.5, rng) for table in (synthetic, real)), strict=True
    )  # fmt: skip
    score = Classifier().between(learnt[0], learnt[1], rng)
    return auc(score(asked[0]), score(asked[1]), confidence=confidence)


def _rows(real: Table, synthetic: Table) -> int:
    rows = min(len(real), len(synthetic), MOST_ROWS)
    if rows < FEWEST_ROWS:
        raise InputError(f"A table of {rows} rows is too small to learn from; at least {FEWEST_ROWS} are needed.")
    return rows


def _plain(table: Table, rows: int, rng: np.random.Generator) -> Table:
    """So many rows, drawn at random; without persons and notes, which a release need not have."""
    some = table if len(table) == rows else table.take(rng.permutation(len(table))[:rows])
    return Table(table.schema, some.codes, some.numbers)


def _logistic(matrix: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Fitted chances by Newton's method; a ridge far below one row's weight keeps separated categories finite."""
    matrix = np.column_stack([np.ones(len(matrix)), matrix])
    weights = np.zeros(matrix.shape[1])
    ridge = np.full(matrix.shape[1], 1e-2)
    chances = np.full(len(matrix), 0.5)
    for _ in range(25):
        pull = matrix.T @ (truth - chances) - ridge * weights
        bend = (matrix * (chances * (1 - chances))[:, None]).T @ matrix + np.diag(ridge)
        step = np.linalg.solve(bend, pull)
        weights = weights + step
        chances = 1 / (1 + np.exp(-np.clip(matrix @ weights, -30, 30)))
        if np.abs(step).max() < 1e-6:
            break
    return chances
