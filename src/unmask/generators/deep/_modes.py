"""Mode-specific normalisation (Xu et al. 2019): a number as its mode and its distance from the middle of that mode."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from unmask.generators.deep._coding import Coding, seen_codes
from unmask.tables.table import Table
from unmask.threads import one_thread

MOST_MODES = 10
LEAST_WEIGHT = 0.005  # modes below are dropped
SPREADS = 4.0  # a number is told in units of this many standard deviations
LARGEST = 0.99  # and cut off here, where tanh still moves
LEAST_VARIANCE = 1e-6  # of a mode, in units of the column's variance
MOST_ROWS = 3_000  # on which a mixture is fitted: more change it little and cost in proportion


@dataclass(frozen=True, eq=False)
class Modes:
    """A Gaussian mixture of one column: level = mode, and a last level for missing values where there are any."""

    weights: np.ndarray
    means: np.ndarray
    sds: np.ndarray  # 0 where all numbers are the same
    missing: bool

    @property
    def size(self) -> int:
        return len(self.means) + self.missing

    def encode(self, numbers: np.ndarray, rng: np.random.Generator | None) -> tuple[np.ndarray, np.ndarray]:
        """The mode is drawn by how well each explains the number; without an rng it is the best one."""
        gone = np.isnan(numbers)
        if not len(self.means):
            return np.zeros(len(numbers)), np.where(gone, 0, -1)
        held = np.where(gone, self.means[0], numbers)
        sds = np.where(self.sds > 0, self.sds, 1.0)
        steps = (held[:, None] - self.means) / sds
        scores = np.log(self.weights / sds) - steps * steps / 2
        if rng is not None:
            scores = scores + rng.gumbel(size=scores.shape)
        levels = scores.argmax(axis=1)
        values = np.take_along_axis(steps, levels[:, None], axis=1)[:, 0] / SPREADS
        values = np.where(gone | (self.sds[levels] == 0), 0.0, values.clip(-LARGEST, LARGEST))
        return values, np.where(gone, len(self.means) if self.missing else -1, levels)

    def decode(self, values: np.ndarray, levels: np.ndarray) -> np.ndarray:
        """The middle of the mode plus the distance from it; NaN for the last level if it means missing."""
        means, sds = np.append(self.means, np.nan), np.append(self.sds, np.nan)
        return means[levels] + SPREADS * sds[levels] * values


def fit_modes(numbers: np.ndarray, rng: np.random.Generator) -> Modes:
    """A variational mixture, which leaves modes empty that it does not need."""
    known = numbers[~np.isnan(numbers)]
    missing = len(known) < len(numbers)
    distinct = np.unique(known)
    if len(distinct) < 2:
        return Modes(np.ones(len(distinct)), distinct, np.zeros(len(distinct)), missing)
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import BayesianGaussianMixture

    centre, scale = known.mean(), known.std()
    part = known if len(known) <= MOST_ROWS else rng.choice(known, MOST_ROWS, replace=False)
    mixture = BayesianGaussianMixture(
        n_components=min(MOST_MODES, len(np.unique(part))),
        weight_concentration_prior=0.001,
        reg_covar=LEAST_VARIANCE,
        random_state=int(rng.integers(2**31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a rough mixture normalises as well
        mixture.fit(((part - centre) / scale)[:, None])
    kept = mixture.weights_ >= min(LEAST_WEIGHT, mixture.weights_.max())
    sds = np.sqrt(mixture.covariances_[kept, 0, 0])
    weights = mixture.weights_[kept]
    return Modes(weights / weights.sum(), centre + scale * mixture.means_[kept, 0], scale * sds, missing)


def modes_of(table: Table, rng: np.random.Generator) -> Coding:
    """Modes for every numeric column, occurring values for the others."""
    with one_thread():  # sums over threads would differ in their last digits
        numeric = tuple(fit_modes(numbers, rng) for numbers in table.numbers.T)
    return Coding(table.schema, numeric, seen_codes(table))
