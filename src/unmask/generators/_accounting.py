"""How much noise a budget asks for: Gaussian noise on Poisson samples, by privacy loss distributions (`dp-accounting`).

Neighbours differ by one row more or less. Privacy loss distributions are rounded against us, so the epsilon that they give
is an upper bound; the one by Renyi moments stands beside it, since readers of papers know it. Imported late: the extra
`accounting`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from unmask.errors import MissingExtraError, ParameterError
from unmask.generators._generator import check_positive

NEAR = 2e-3  # share of epsilon that the search for the noise may leave unspent
FINEST, COARSEST = 1e-4, 1e-3  # grid of privacy losses
ORDERS = (*range(2, 65), 80, 96, 128, 192, 256, 512, 1024)  # whole ones: others need a series that may not converge
LEAST, MOST = 1e-2, 1e7  # noise multipliers that are looked at


@dataclass(frozen=True)
class SampledGaussian:
    """`steps` sums over Poisson samples, each row in a sample with probability `rate`, with noise of `noise` sensitivities."""

    rate: float
    steps: int
    noise: float  # the noise multiplier: standard deviation over sensitivity

    def epsilon(self, delta: float) -> float:
        """By privacy loss distributions: an upper bound, tight to the grid."""
        return _pld_epsilon(self, delta, FINEST)

    def epsilon_by_moments(self, delta: float) -> float:
        """By Renyi moments: a looser upper bound."""
        return _rdp_epsilon(self, delta)

    def in_words(self, delta: float) -> str:
        """The accounting for people to check."""
        return (
            f"{self.steps:,} steps of Gaussian noise with multiplier {self.noise:.4g} on Poisson samples at rate "
            f"{self.rate:.4g}: epsilon {self.epsilon(delta):.4g} by privacy loss distributions, "
            f"{self.epsilon_by_moments(delta):.4g} by Renyi moments, at delta {delta:g}"
        )


@lru_cache(maxsize=256)
def sampled_gaussian(epsilon: float, delta: float, *, steps: int, rate: float) -> SampledGaussian:
    """The least noise with which so many steps at this sampling rate are (epsilon, delta)-DP, add/remove.

    Kept for the next fit: an audit fits the same generator a thousand times.
    """
    check_positive("epsilon", epsilon, "accounting")
    if not 0 < delta < 1:
        raise ParameterError(f"accounting: delta is {delta!r}; Gaussian noise needs one above 0 and below 1.")
    if not (0 < rate <= 1 and steps >= 1):
        raise ParameterError(f"accounting: {steps!r} steps at a rate of {rate!r}; use at least 1, and a rate up to 1.")
    if math.isinf(epsilon):
        return SampledGaussian(rate, steps, 0.0)
    grid = min(max(epsilon / 1000, FINEST), COARSEST)

    def spent(noise: float) -> float:
        return _pld_epsilon(SampledGaussian(rate, steps, noise), delta, grid)

    return SampledGaussian(rate, steps, _least_noise(spent, epsilon, rate * math.sqrt(steps)))


def _least_noise(spent: Callable[[float], float], epsilon: float, guess: float) -> float:
    """The smallest noise that spends at most epsilon: bracketed, then by the line through both ends in logarithms."""
    low = high = min(max(guess / epsilon, 0.3), MOST)
    at_low = at_high = spent(low)
    while at_high > epsilon:
        low, at_low, high = high, at_high, 2 * high
        if high > MOST:
            raise ParameterError(f"accounting: epsilon {epsilon:g} asks for more noise than anything survives.")
        at_high = spent(high)
    while at_low <= epsilon:
        high, at_high, low = low, at_low, low / 2
        if low < LEAST:
            return high
        at_low = spent(low)
    while at_high < (1 - NEAR) * epsilon and high / low > 1 + 1e-4:
        if math.isfinite(at_low) and at_high > 0:
            share = math.log(at_low / (epsilon * (1 - NEAR / 2))) / math.log(at_low / at_high)
            between = low * (high / low) ** min(max(share, 0.02), 0.98)
        else:
            between = math.sqrt(low * high)
        found = spent(between)
        if found > epsilon:
            low, at_low = between, found
        else:
            high, at_high = between, found
    return high


@lru_cache(maxsize=256)
def _rdp_epsilon(mechanism: SampledGaussian, delta: float) -> float:
    if mechanism.noise == 0:
        return math.inf
    dp = accounting("Renyi moments")
    accountant = dp.rdp.RdpAccountant(ORDERS, dp.NeighboringRelation.ADD_OR_REMOVE_ONE)
    return float(accountant.compose(_event(mechanism)).get_epsilon(delta))


@lru_cache(maxsize=256)
def _pld_epsilon(mechanism: SampledGaussian, delta: float, grid: float) -> float:
    if mechanism.noise == 0:
        return math.inf
    dp = accounting("privacy loss distributions")
    accountant = dp.pld.PLDAccountant(dp.NeighboringRelation.ADD_OR_REMOVE_ONE, value_discretization_interval=grid)
    return float(accountant.compose(_event(mechanism)).get_epsilon(delta))


def _event(mechanism: SampledGaussian) -> Any:
    dp = accounting("accounting")
    one = dp.PoissonSampledDpEvent(mechanism.rate, dp.GaussianDpEvent(mechanism.noise))
    return dp.SelfComposedDpEvent(one, mechanism.steps)


def accounting(what: str) -> Any:
    """The package `dp_accounting`, or what to install."""
    try:
        import dp_accounting
        import dp_accounting.pld
        import dp_accounting.rdp
    except ModuleNotFoundError as problem:
        if not str(problem.name).startswith("dp_accounting"):
            raise
        raise MissingExtraError(
            f'{what}: dp-accounting is missing. Install it: pip install "unmask[accounting]"'
        ) from None
    return dp_accounting
