"""Numbers by their rank: each column as a standard normal one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from unmask.generators.deep._coding import Coding, seen_codes
from unmask.tables.schema import Column
from unmask.tables.table import Table

MOST_KNOTS = 1000


@dataclass(frozen=True, eq=False)
class Quantiles:
    """Numbers at given shares of the column, straight lines between them; level 1 = missing where some are.

    The half row below the smallest number and the one above the largest reach to the ends of the public range, so that the
    extremes of real people are no more likely to come out than numbers around them.
    """

    shares: np.ndarray  # rising
    numbers: np.ndarray  # rising; repeated where a number is frequent; empty if all are missing
    missing: bool

    @property
    def size(self) -> int:
        return bool(len(self.numbers)) + self.missing

    def encode(self, numbers: np.ndarray, rng: np.random.Generator | None) -> tuple[np.ndarray, np.ndarray]:
        """Normal scores; a frequent number gets the middle of its shares. Missing numbers get 0."""
        gone = np.isnan(numbers)
        if not len(self.numbers):
            return np.zeros(len(numbers)), np.where(gone, 0, -1)
        held = np.where(gone, self.numbers[0], numbers)
        upper = np.interp(held, self.numbers, self.shares)
        lower = -np.interp(-held, -self.numbers[::-1], -self.shares[::-1])
        least = self.shares[self.shares > 0][0]
        scores = ndtri(((lower + upper) / 2).clip(least / 2, 1 - least / 2))
        return np.where(gone, 0.0, scores), np.where(gone, 1 if self.missing else -1, 0)

    def decode(self, values: np.ndarray, levels: np.ndarray) -> np.ndarray:
        """Numbers at the shares of these normal scores."""
        if not len(self.numbers):
            return np.full(len(values), np.nan)
        return np.where(levels == 1, np.nan, np.interp(ndtr(values), self.shares, self.numbers))


def fit_quantiles(column: Column, numbers: np.ndarray) -> Quantiles:
    """Knots at evenly spaced ranks, the first and the last included."""
    risen = np.sort(numbers[~np.isnan(numbers)])
    missing = len(risen) < len(numbers)
    ranks = np.unique(np.rint(np.linspace(0, len(risen) - 1, min(len(risen), MOST_KNOTS))).astype(np.int64))
    shares, knots = (ranks + 0.5) / max(len(risen), 1), risen[ranks]
    if len(knots) and knots[0] < knots[-1]:
        shares = np.concatenate([[0.0], shares, [1.0]])
        knots = np.concatenate([[column.lower], knots, [column.upper]])
    return Quantiles(shares, knots, missing)


def quantiles_of(table: Table) -> Coding:
    """Quantiles for every numeric column, occurring values for the others."""
    columns = [table.schema.columns[position] for position in table.schema.numeric]
    numeric = tuple(fit_quantiles(column, numbers) for column, numbers in zip(columns, table.numbers.T, strict=True))
    return Coding(table.schema, numeric, seen_codes(table))
