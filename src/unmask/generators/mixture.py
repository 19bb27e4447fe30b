"""Gaussian mixture, for numeric tables."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import logsumexp

from unmask.errors import ParameterError
from unmask.generators._generator import check_fits
from unmask.generators.claim import Claim
from unmask.tables.schema import Schema, quoted
from unmask.tables.table import Table

LEAST_VARIANCE = 1e-6  # of a component, where every column has variance 1


@dataclass(frozen=True)
class Mixture:
    """Fit a mixture of Gaussians to the standardised numbers by expectation-maximisation, and draw from it.

    Draws are mapped back, clipped to the schema's range, and rounded where the column holds whole numbers. Numbers are
    new, but a component that settles on a single person has almost no width, and then its draws are that person within
    a thousandth of a standard deviation. Where a table has fewer distinct rows than `components`, each gets one and a
    note on the synthetic table says so.

    Missing values are modelled column by column, independent of everything: for the fit each is filled with a random
    observed number of its column (which keeps the margins and weakens correlations with that column), and each synthetic value
    is missing with the observed share. Categories have no place here: a table that has some is refused. No privacy is claimed.
    """

    name: ClassVar[str] = "mixture"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None
    emits_real_values: ClassVar[bool] = False

    components: int = 10
    covariance: Literal["full", "diag"] = "full"

    def __post_init__(self) -> None:
        if isinstance(self.components, bool) or not isinstance(self.components, int) or self.components < 1:
            raise ParameterError(f"mixture: components is {self.components!r}; it must be a whole number from 1.")
        if self.covariance not in ("full", "diag"):
            raise ParameterError(f"mixture: covariance is {self.covariance!r}; choose 'full' or 'diag'.")

    def fit(self, table: Table, rng: np.random.Generator) -> MixtureModel:
        """Fit by expectation-maximisation from one k-means start; `rng` fills holes and seeds the start."""
        check_fits(table, self.name)
        _check_numeric(table.schema)
        gone = np.isnan(table.numbers)
        filled = _fill(table.numbers, gone, rng)
        centre, scale = filled.mean(axis=0), filled.std(axis=0)
        scale[np.ptp(filled, axis=0) == 0] = 0.0  # the mean of equal numbers may differ from them in the last digit
        centre = np.where(scale > 0, centre, filled[0])
        standard = (filled - centre) / np.where(scale > 0, scale, 1.0)
        count = min(self.components, len(np.unique(standard, axis=0)))
        weights, means, covariances, notes = _fit_components(standard, count, self.covariance, rng)
        if count < self.components:
            notes = (
                f"mixture: {count} components instead of {self.components}; there were no more distinct rows.",
                *notes,
            )
        return MixtureModel(table.schema, centre, scale, gone.mean(axis=0), weights, means, covariances, notes)


@dataclass(frozen=True, eq=False)
class MixtureModel:
    """A mixture on the standardised numbers, and the share of missing values per column."""

    schema: Schema
    centre: np.ndarray
    scale: np.ndarray  # 0 for a column that was constant
    missing: np.ndarray  # share per column
    weights: np.ndarray
    means: np.ndarray  # components x columns
    covariances: np.ndarray  # components x columns x columns
    notes: tuple[str, ...] = ()
    claim: ClassVar[Claim | None] = None

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        """Rows drawn from the mixture, within the schema's ranges."""
        chosen = np.searchsorted(np.cumsum(self.weights)[:-1], rng.random(rows), side="right")
        roots = np.linalg.cholesky(self.covariances)
        normal = rng.standard_normal((rows, len(self.centre)))
        standard = self.means[chosen] + np.einsum("rij,rj->ri", roots[chosen], normal)
        drawn = self.centre + self.scale * standard
        gone = rng.random(drawn.shape) < self.missing
        codes = np.empty(drawn.shape, dtype=self.schema.code_type, order="F")
        numbers = np.empty(drawn.shape, order="F")
        for position, column in enumerate(self.schema.columns):
            values = np.rint(drawn[:, position]) if column.is_integral else drawn[:, position]
            values = np.clip(values, column.lower, column.upper)
            numbers[:, position] = np.where(gone[:, position], np.nan, values)
            codes[:, position] = np.where(gone[:, position], column.missing_code, column.bin_of(values))
        return Table(self.schema, codes, numbers, notes=self.notes)

    def log_likelihood(self, table: Table) -> np.ndarray:
        """Log density of each row's present numbers in standard deviations, plus log probability of which are missing.

        A density, not a probability: rounding and clipping are left out, and so is the change of unit (subtract the
        sum of log `scale` over the present columns for a density in the columns' own units). Missing numbers are
        integrated out.
        """
        standard = (table.numbers - self.centre) / np.where(self.scale > 0, self.scale, 1.0)
        gone = np.isnan(standard)
        with np.errstate(divide="ignore"):
            logs = np.where(gone, np.log(self.missing), np.log1p(-self.missing)).sum(axis=1)
        patterns, which = np.unique(gone, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = which.ravel() == number
            logs[rows] += self._log_density(standard[np.ix_(rows, ~pattern)], np.flatnonzero(~pattern))
        return logs

    def _log_density(self, standard: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Log density of the mixture's margin on these columns."""
        roots = np.linalg.cholesky(self.covariances[:, columns[:, None], columns])
        away = standard[None] - self.means[:, None, columns]  # components x rows x columns
        squares = np.square(np.linalg.solve(roots, away.transpose(0, 2, 1))).sum(axis=1)
        log_roots = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)[:, None]
        each = -0.5 * (squares + len(columns) * np.log(2 * np.pi)) - log_roots
        with np.errstate(divide="ignore"):
            return logsumexp(each + np.log(self.weights)[:, None], axis=0)


def _check_numeric(schema: Schema) -> None:
    others = [column.name for column in schema.columns if not column.is_numeric]
    if others:
        raise ParameterError(
            f"mixture: not numeric: {quoted(others)}. A Gaussian mixture has no place for categories.\n"
            "Leave such columns out (table.select), set their kind to integer or continuous in the schema if they are "
            "numbers, or use a generator that takes both, such as copula or cart."
        )


def _fill(numbers: np.ndarray, gone: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Every hole filled with a random observed number of its column; 0 where there is none."""
    filled = numbers.copy()
    for position in np.flatnonzero(gone.any(axis=0)):
        holes = gone[:, position]
        observed = numbers[~holes, position]
        filled[holes, position] = rng.choice(observed, holes.sum()) if len(observed) else 0.0
    return filled


def _fit_components(
    standard: np.ndarray, count: int, covariance: str, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[str, ...]]:
    """Weights, means and covariances of the components, and what to note about the fit."""
    columns = standard.shape[1]
    if count == 1:
        spread = np.atleast_2d(np.cov(standard, rowvar=False, bias=True)) + LEAST_VARIANCE * np.eye(columns)
        spread = spread if covariance == "full" else np.diag(np.diag(spread))
        return np.ones(1), standard.mean(axis=0)[None], spread[None], ()
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    fit = GaussianMixture(
        count, covariance_type=covariance, reg_covar=LEAST_VARIANCE, random_state=int(rng.integers(2**31))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said in a note instead
        fit.fit(standard)
    spreads = fit.covariances_ if covariance == "full" else fit.covariances_[:, :, None] * np.eye(columns)
    notes = () if fit.converged_ else (f"mixture: the fit had not settled after {fit.max_iter} rounds.",)
    return fit.weights_, fit.means_, spreads, notes
