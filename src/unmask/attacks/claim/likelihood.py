"""What the noise of a fitted model says about its pair: log-likelihood ratios, planned regions, and the most there is to see."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.attacks.claim._attack import guesses_of, record
from unmask.generators._generator import Measurement
from unmask.generators._noise import Seeded
from unmask.stats import HalfLines, best_half_lines, gaussian_epsilon
from unmask.threats.pairs import Pair

DIGITS = 6  # finer differences are atoms of floating point, which another attack is for
CERTAIN = 50.0  # log-likelihood ratio of an exact count that fits only one of the tables
SIMULATED = 40_000  # many: with few, the best half-lines would follow luck in the tails


@dataclass(frozen=True, eq=False)
class PairLikelihood:
    """Log-likelihood ratio of D against D' for measured marginals, from the cells in which the two differ."""

    pair: Pair

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The different rows of D' and how often each occurs."""
        rows, counts = np.unique(self.pair.outside.codes, axis=0, return_counts=True)
        return rows.astype(np.int64), counts

    @cached_property
    def _changes(self) -> tuple[tuple[np.ndarray, int], ...]:
        """Rows that D has more than D', and fewer."""
        more = [(row.astype(np.int64), 1) for row in self.pair.target.codes]
        fewer = [] if self.pair.other is None else [(row.astype(np.int64), -1) for row in self.pair.other.codes]
        return (*more, *fewer)

    @cached_property
    def _known(self) -> dict[tuple[int, ...], list[tuple[tuple[int, ...], int, int]]]:
        return {}

    def changed(self, measured: Measurement) -> list[tuple[tuple[int, ...], int, int]]:
        """Cells in which D and D' differ: where, count in D', change."""
        if not measured.cells:
            if measured.columns not in self._known:
                self._known[measured.columns] = self._changed(measured)
            return self._known[measured.columns]
        return self._changed(measured)

    def _changed(self, measured: Measurement) -> list[tuple[tuple[int, ...], int, int]]:
        rows, counts = self._rows
        mine = [_cells(rows[:, c], measured, axis) for axis, c in enumerate(measured.columns)]
        found: dict[tuple[int, ...], int] = {}
        for row, step in self._changes:
            cell = tuple(int(_cells(row[c : c + 1], measured, a)[0]) for a, c in enumerate(measured.columns))
            found[cell] = found.get(cell, 0) + step
        return [
            (cell, int(counts[np.all([m == k for m, k in zip(mine, cell, strict=True)], axis=0)].sum()), step)
            for cell, step in found.items()
            if step
        ]

    def ratio(self, measurements: Sequence[Measurement]) -> float:
        """Log-likelihood ratio at the declared noise: positive speaks for D."""
        total = 0.0
        for measured in measurements:
            for cell, without, step in self.changed(measured):
                value = float(measured.counts[cell])
                total += _cell_ratio(value - without, step, measured)
        return round(total, DIGITS)

    def deviation(self, measurements: Sequence[Measurement]) -> float:
        """Sum over the changed cells of (noisy - count in D') in the direction of D."""
        return float(
            sum(
                (float(measured.counts[cell]) - without) * step
                for measured in measurements
                for cell, without, step in self.changed(measured)
            )
        )

    def unmoved(self, measurements: Sequence[Measurement]) -> bool:
        """Whether all changed cells hold exactly the counts of D': noise on every cell makes that rare."""
        return all(float(m.counts[cell]) == without for m in measurements for cell, without, _ in self.changed(m))

    def ceiling(self, measurements: Sequence[Measurement], delta: float) -> float:
        """The epsilon of the declared noise alone on this pair: no attack on the measurements sees more."""
        laplace, squares = 0.0, 0.0
        for measured in measurements:
            for _, _, step in self.changed(measured):
                if measured.noise == "none" or measured.scale == 0:
                    return math.inf
                if measured.noise == "laplace":
                    laplace += abs(step) / measured.scale
                else:
                    squares += (step / measured.scale) ** 2
        if squares == 0:
            return laplace
        return laplace + (gaussian_epsilon(delta, math.sqrt(squares)) if delta > 0 else math.inf)

    def simulate(
        self, measurements: Sequence[Measurement], share: float, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ratios and coins of made-up measurements whose noise is this share of the declared one."""
        coins = rng.random(SIMULATED) < 0.5
        ratios = np.zeros(SIMULATED)
        for measured in measurements:
            for _, _, step in self.changed(measured):
                shift = np.where(coins, step, 0)
                noise = _noise(measured, share, rng)
                value = shift + noise
                if measured.noise == "laplace":
                    ratios += (np.abs(value) - np.abs(value - step)) / measured.scale
                else:
                    ratios += (value**2 - (value - step) ** 2) / (2 * measured.scale**2)
        return np.round(ratios, DIGITS), coins


@dataclass(frozen=True)
class Planned:
    """Regions of the ratio that were fixed before the first run, and the record that a simulation gave them."""

    lines: HalfLines
    right: tuple[int, int]
    bets: tuple[int, int]


def plan_regions(
    likelihood: PairLikelihood,
    measurements: Sequence[Measurement],
    *,
    epsilon: float,
    share: float,
    credit: int,
    rng: np.random.Generator,
) -> Planned | None:
    """Where to bet on the ratio against `epsilon` if the noise were this share of the declared one; None without noise.

    The record of the simulation counts for at most `credit` bets in each region.
    """
    if not measurements or any(m.scale == 0 or m.noise == "none" for m in measurements):
        return None
    ratios, coins = likelihood.simulate(measurements, share, rng)
    lines = best_half_lines(ratios, coins, epsilon=epsilon)
    right, bets = record(guesses_of(lines, ratios), coins)
    kept = [min(number, credit) for number in bets]
    hits = [math.floor(k * hit / max(number, 1)) for k, hit, number in zip(kept, right, bets, strict=True)]
    return Planned(lines, (hits[0], hits[1]), (kept[0], kept[1]))


def _cells(codes: np.ndarray, measured: Measurement, axis: int) -> np.ndarray:
    return np.asarray(measured.cells[axis][codes] if measured.cells else codes, dtype=np.int64)


def _cell_ratio(value: float, step: int, measured: Measurement) -> float:
    """Of one noisy count minus its exact count in D', which is `step` larger in D."""
    if measured.scale == 0 or measured.noise == "none":
        return CERTAIN if value == step else -CERTAIN if value == 0 else 0.0
    if measured.noise == "laplace":
        return (abs(value) - abs(value - step)) / measured.scale
    return (value**2 - (value - step) ** 2) / (2 * measured.scale**2)


def _noise(measured: Measurement, share: float, rng: np.random.Generator) -> np.ndarray:
    none = np.zeros(SIMULATED, dtype=np.int64)
    scale = measured.scale * share
    whole = np.issubdtype(measured.counts.dtype, np.integer)
    if measured.noise == "laplace":
        return np.asarray(Seeded(rng).laplace(none, scale) if whole else rng.laplace(0, scale, SIMULATED), dtype=float)
    return np.asarray(Seeded(rng).gaussian(none, scale) if whole else rng.normal(0, scale, SIMULATED), dtype=float)
