"""Gaussian copula: each column by its own margin, tied together by a correlation matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from scipy.special import ndtr

from unmask.errors import ParameterError
from unmask.generators._generator import check_fits
from unmask.generators._margins import Listed, Margin, Observed, expected_scores, fitted
from unmask.generators.claim import Claim
from unmask.tables.schema import Column, Schema
from unmask.tables.table import Table

LEAST_EIGENVALUE = 1e-4  # keeps the correlation matrix well away from singular


@dataclass(frozen=True)
class Copula:
    """Draw correlated normal numbers and push each through the quantiles of its column.

    A value becomes the expected normal score of its cell: a cell is a distinct number, a category (in schema order,
    whatever that order means), or missing (always the last cell). Two columns that are cells of normal numbers with
    correlation r have scores with covariance r v w + higher powers of r, where v and w are the scores' variances, so
    covariance / (v w) gives r back, while the plain correlation of coarse columns falls short of it. The matrix is then made
    positive definite. It depends on ranks alone, not on the margins.

    `margins="empirical"`: numbers are quantiles of the observed ones, so **it emits real values**, the largest and smallest
    included. `"parametric"`: numbers come from the best of a uniform, normal, gamma and beta distribution on the
    schema's range, fitted by moments and chosen by likelihood (BIC); spikes such as many zeros are lost. Categories keep their
    observed shares in both. No privacy is claimed.
    """

    name: ClassVar[str] = "copula"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None

    margins: Literal["empirical", "parametric"] = "empirical"

    def __post_init__(self) -> None:
        if self.margins not in ("empirical", "parametric"):
            raise ParameterError(f"copula: margins is {self.margins!r}; choose 'empirical' or 'parametric'.")

    @property
    def emits_real_values(self) -> bool:
        """Whether numbers of real people come out unchanged."""
        return self.margins == "empirical"

    def fit(self, table: Table, rng: np.random.Generator) -> CopulaModel:
        """Margins and correlations; nothing is random."""
        check_fits(table, self.name)
        scores = np.empty((len(table.schema.columns), len(table)))
        margins = []
        place = {position: i for i, position in enumerate(table.schema.numeric)}
        for position, column in enumerate(table.schema.columns):
            codes = table.codes[:, position]
            if position in place:
                margin, scores[position] = self._numbers(column, codes, table.numbers[:, place[position]])
            else:
                shares = np.bincount(codes, minlength=column.code_count) / len(codes)
                margin = Listed(shares)
                scores[position] = expected_scores(_bounds(shares))[codes]
            margins.append(margin)
        return CopulaModel(table.schema, tuple(margins), correlation(scores))

    def _numbers(self, column: Column, codes: np.ndarray, numbers: np.ndarray) -> tuple[Margin, np.ndarray]:
        """The margin of a numeric column, and the score of each row."""
        order = np.argsort(numbers, kind="stable")  # missing comes last
        codes, risen = codes[order], numbers[order]
        starts = np.flatnonzero(np.append(True, (risen[1:] > risen[:-1]) | np.diff(np.isnan(risen))))
        cells = expected_scores(np.append(starts / len(risen), 1.0))
        scores = np.empty(len(risen))
        scores[order] = np.repeat(cells, np.diff(np.append(starts, len(risen))))
        if self.margins == "parametric":
            return fitted(column, numbers), scores
        return Observed(np.bincount(codes, minlength=column.code_count) / len(codes), codes, risen), scores


@dataclass(frozen=True, eq=False)
class CopulaModel:
    """Margins and the correlations of the normal numbers behind them."""

    schema: Schema
    margins: tuple[Margin, ...]
    correlation: np.ndarray
    claim: ClassVar[Claim | None] = None

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        """Rows drawn from the copula."""
        schema = self.schema
        normal = np.linalg.cholesky(self.correlation) @ rng.standard_normal((len(schema.columns), rows))
        uniform = ndtr(normal)
        codes = np.empty((rows, len(schema.columns)), dtype=schema.code_type, order="F")
        numbers = np.empty((rows, len(schema.numeric)), order="F")
        place = {position: i for i, position in enumerate(schema.numeric)}
        for position, margin in enumerate(self.margins):
            codes[:, position], drawn = margin.draw(uniform[position])
            if position in place:
                numbers[:, place[position]] = drawn
        return Table(schema, codes, numbers)

    def log_likelihood(self, table: Table) -> np.ndarray:
        """Approximate log probability of each row's codes: margins exactly, dependence by a density ratio.

        The sum over columns of the log probability of the code (a number's bin), plus log N(s; 0, C) - sum log N(s_j; 0, C_jj)
        at the codes' scores s, whose covariances C follow from the correlations and the scores' variances (see `Copula`).
        For one column this is the exact probability; for several it stands for a rectangle under a normal density, which
        has no closed form. For two columns in bins of a twentieth, correlated up to 0.9, the probabilities add up to 1 within
        1 %; for few categories that are strongly tied it is coarser. A code with probability 0 gives minus infinity.
        """
        logs, scores = self._by_code
        rows = np.arange(len(logs))[:, None], table.codes.T
        at = scores[rows]
        root, log_determinant = self._dependence
        squares = np.square(root @ at).sum(axis=0) - np.square(at).sum(axis=0)
        return logs[rows].sum(axis=0) - (log_determinant + squares) / 2

    @cached_property
    def _by_code(self) -> tuple[np.ndarray, np.ndarray]:
        """Log probability and standardised score of every code, as columns x codes."""
        most = max(column.code_count for column in self.schema.columns)
        logs = np.full((len(self.margins), most), -np.inf)
        scores = np.zeros((len(self.margins), most))
        for position, margin in enumerate(self.margins):
            shares = margin.probabilities
            with np.errstate(divide="ignore"):
                logs[position, : len(shares)] = np.log(shares)
            spread = self._spreads[position]
            scores[position, : len(shares)] = expected_scores(_bounds(shares)) / (spread or 1.0)
        return logs, scores

    @cached_property
    def _spreads(self) -> np.ndarray:
        """Standard deviation of each column's scores by code: 1 for infinitely fine bins, less for coarse ones."""
        shares = [margin.probabilities for margin in self.margins]
        return np.array([np.sqrt(share @ expected_scores(_bounds(share)) ** 2) for share in shares])

    @cached_property
    def _dependence(self) -> tuple[np.ndarray, float]:
        """For the correlations of the standardised scores: inverse of the Cholesky root, log of the determinant."""
        between = self.correlation * np.outer(self._spreads, self._spreads)
        np.fill_diagonal(between, 1.0)
        root = np.linalg.cholesky(between)
        return np.linalg.inv(root), 2 * float(np.log(np.diag(root)).sum())


def correlation(scores: np.ndarray) -> np.ndarray:
    """The correlations behind expected scores (columns x rows), as a positive definite matrix."""
    covariance = scores @ scores.T / scores.shape[1]  # expected scores have mean 0 by construction
    variance = np.diag(covariance)
    scale = np.where(variance > 0, variance, np.inf)  # a constant column is tied to nothing
    between = np.clip(covariance / np.outer(scale, scale), -1.0, 1.0)
    np.fill_diagonal(between, 1.0)
    values, vectors = np.linalg.eigh(between)
    if values[0] >= LEAST_EIGENVALUE:
        return between
    between = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    spread = np.sqrt(np.diag(between))
    return between / np.outer(spread, spread)


def _bounds(shares: np.ndarray) -> np.ndarray:
    """Cumulative shares from exactly 0 to at most 1."""
    return np.minimum(np.append(0.0, np.cumsum(shares)), 1.0)
