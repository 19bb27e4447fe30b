"""Margins of a copula: how one column turns uniform numbers into values, and how likely each of its codes is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.special import betainc, betaincinv, gammainc, gammaincinv, ndtr, ndtri

from unmask.tables.schema import Column

NARROW = 1e-9  # cells of less probability are points
GRID = 32  # cells on which families are compared


def expected_scores(bounds: np.ndarray) -> np.ndarray:
    """The mean of a standard normal number within each cell, from the cells' rising bounds on [0, 1].

    This is the normal score of a mid-rank made exact for wide cells. Cells without width have score 0.
    """
    ends = ndtri(bounds)
    heights = np.exp(-ends * ends / 2) / np.sqrt(2 * np.pi)
    width = np.diff(bounds)
    return np.divide(-np.diff(heights), width, out=np.zeros_like(width), where=width > NARROW)


class Margin(Protocol):
    """The distribution of one column."""

    @property
    def probabilities(self) -> np.ndarray:
        """The probability of every code, those outside the schema's domain included."""
        ...

    def draw(self, uniform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes and numbers at these quantiles (numbers are empty for categories)."""
        ...


@dataclass(frozen=True, eq=False)
class Listed:
    """Categories with their observed shares, in schema order."""

    probabilities: np.ndarray

    def draw(self, uniform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        codes = np.searchsorted(np.cumsum(self.probabilities), uniform, side="right")
        return np.minimum(codes, np.flatnonzero(self.probabilities)[-1]), np.empty(0)


@dataclass(frozen=True, eq=False)
class Observed:
    """The observed numbers themselves, each as often as it occurs; missing comes last."""

    probabilities: np.ndarray
    codes: np.ndarray  # of the observed numbers in rising order
    numbers: np.ndarray  # rising; NaN = missing at the end

    def draw(self, uniform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places = np.minimum((uniform * len(self.codes)).astype(np.int64), len(self.codes) - 1)
        return self.codes[places], self.numbers[places]


class MarginFamily(Protocol):
    """A distribution on the column's public range."""

    def cdf(self, numbers: np.ndarray) -> np.ndarray:
        """The probability below each number."""
        ...

    def inverse(self, uniform: np.ndarray) -> np.ndarray:
        """The number below which there is this probability."""
        ...


@dataclass(frozen=True)
class UniformMargin:
    """Flat over the range."""

    lower: float
    upper: float

    def cdf(self, numbers: np.ndarray) -> np.ndarray:
        return np.clip((numbers - self.lower) / (self.upper - self.lower), 0, 1)

    def inverse(self, uniform: np.ndarray) -> np.ndarray:
        return self.lower + uniform * (self.upper - self.lower)


@dataclass(frozen=True)
class Normal:
    """Normal, cut off at the ends of the range."""

    lower: float
    upper: float
    mean: float
    sd: float

    def _ends(self) -> np.ndarray:
        return ndtr((np.array([self.lower, self.upper]) - self.mean) / self.sd)

    def cdf(self, numbers: np.ndarray) -> np.ndarray:
        low, high = self._ends()
        return np.clip((ndtr((numbers - self.mean) / self.sd) - low) / (high - low), 0, 1)

    def inverse(self, uniform: np.ndarray) -> np.ndarray:
        low, high = self._ends()
        return np.clip(self.mean + self.sd * ndtri(low + uniform * (high - low)), self.lower, self.upper)


@dataclass(frozen=True)
class Gamma:
    """Gamma from the lower end on, cut off at the upper one."""

    lower: float
    upper: float
    mean: float
    sd: float

    def _shape(self) -> tuple[float, float, float]:
        above = self.mean - self.lower
        shape, scale = (above / self.sd) ** 2, self.sd**2 / above
        return shape, scale, float(gammainc(shape, (self.upper - self.lower) / scale))

    def cdf(self, numbers: np.ndarray) -> np.ndarray:
        shape, scale, high = self._shape()
        return np.clip(gammainc(shape, np.maximum(numbers - self.lower, 0) / scale) / high, 0, 1)

    def inverse(self, uniform: np.ndarray) -> np.ndarray:
        shape, scale, high = self._shape()
        return np.clip(self.lower + scale * gammaincinv(shape, uniform * high), self.lower, self.upper)


@dataclass(frozen=True)
class Beta:
    """Beta, stretched over the range."""

    lower: float
    upper: float
    mean: float
    sd: float

    def _shape(self) -> tuple[float, float]:
        width = self.upper - self.lower
        mean = (self.mean - self.lower) / width
        strength = max(mean * (1 - mean) / (self.sd / width) ** 2 - 1, 1e-3)
        return mean * strength, (1 - mean) * strength

    def cdf(self, numbers: np.ndarray) -> np.ndarray:
        return betainc(*self._shape(), np.clip((numbers - self.lower) / (self.upper - self.lower), 0, 1))

    def inverse(self, uniform: np.ndarray) -> np.ndarray:
        return self.lower + (self.upper - self.lower) * betaincinv(*self._shape(), uniform)


@dataclass(frozen=True, eq=False)
class Fitted:
    """Numbers from a family of distributions, missing after them."""

    column: Column
    family: MarginFamily
    present: float  # the share of rows that have a number

    @property
    def probabilities(self) -> np.ndarray:
        shares = np.zeros(self.column.code_count)
        shares[: self.column.listed] = np.diff(self.family.cdf(self.column.edges)) * self.present
        shares[self.column.missing_code] += 1 - self.present
        return shares

    def draw(self, uniform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gone = uniform >= self.present
        numbers = self._inverse(np.where(gone, 0.5, uniform / max(self.present, 1e-300)))
        codes = np.where(gone, self.column.missing_code, self.column.bin_of(numbers))
        return codes, np.where(gone, np.nan, numbers)

    def _inverse(self, uniform: np.ndarray) -> np.ndarray:
        column = self.column
        if not column.is_integral:
            numbers = self.family.inverse(uniform)
        elif column.upper - column.lower < len(uniform):  # fewer whole numbers than draws: a table costs less
            starts = np.arange(column.lower, column.upper + 1)
            numbers = starts[np.searchsorted(self.family.cdf(starts[1:]), uniform, side="right")]
        else:
            numbers = np.floor(self.family.inverse(uniform))
        return np.clip(numbers, column.lower, column.upper)


def fitted(column: Column, numbers: np.ndarray) -> Fitted:
    """The family that explains the numbers best: moments give its parameters, likelihood on a grid chooses.

    A whole number stands for the interval up to the next one. The grid keeps likelihoods finite where a density is not.
    The uniform is a beta, so the others must beat it by log(n), the price of their two parameters (BIC).
    """
    known = numbers[~np.isnan(numbers)]
    present = len(known) / len(numbers)
    lower, upper = float(column.edges[0]), float(column.edges[-1])
    families: list[MarginFamily] = [UniformMargin(lower, upper)]
    if len(known):
        mean, variance = known.mean(), known.var()
        if column.is_integral:
            mean, variance = mean + 0.5, variance + 1 / 12
        sd = max(np.sqrt(variance), 1e-6 * (upper - lower))
        if lower < mean < upper and column.lower < column.upper:
            families += [kind(lower, upper, float(mean), float(sd)) for kind in (Normal, Gamma, Beta)]
    grid = replace(column, bins=GRID, cuts=())
    held = np.bincount(grid.bin_of(known), minlength=grid.listed)
    return Fitted(column, max(families, key=lambda family: _merit(family, grid.edges, held)), present)


def _merit(family: MarginFamily, edges: np.ndarray, held: np.ndarray) -> float:
    shares = np.diff(family.cdf(edges))
    price = 0.0 if isinstance(family, UniformMargin) else np.log(held.sum())
    return float(held @ np.log(np.maximum(shares, 1e-300)) - price)
