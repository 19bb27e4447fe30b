"""What is usual for each unit: where its features lie in other runs, so that a release can be compared with those.

Counts are taken in logs. One more row among few is news and among many is not, and in logs one weight says so for all
people: a count that is mu without the person moves by about 1/mu, and scatters by as much in square, so that the
log-likelihood ratio is the log itself. That law is not exact for the rarest, so their sum stands beside them, by group of
counts. Values have no such law and are measured in their own spread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from unmask.compiled import njit

LITTLE = 0.1  # added to counts before the log: from none to one is a step of 2.4, from nine to ten one of .1
LEAST_VARIANCE = 1e-9  # a value that never moved says nothing as long as it stays, and everything once it moves
TOGETHER, PART = 8, 256  # runs that are added up together, and units at a time: their sums stay in a near cache

Block = tuple[np.ndarray, np.ndarray]  # counts and values of all units in one run
Load = Callable[[int], Block]  # from the number of a run to its features: runs are streamed, never all in memory


@dataclass(frozen=True, eq=False)
class SharedRuns:
    """Runs that are learnt from with several kinds of coins: what hangs on no coin is found once for all of them."""

    load: Load
    _logs: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = field(default_factory=dict, repr=False)

    def __call__(self, run: int) -> Block:
        return self.load(run)

    def mean_logs(self, runs: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Mean logs of counts over these runs (units x counts), and how rare agreement is: near 1 where hardly a row agrees."""
        if tuple(runs) not in self._logs:
            self._logs[tuple(runs)] = _mean_logs(self.load, runs)
        return self._logs[tuple(runs)]


@dataclass(frozen=True, eq=False)
class Usual:
    """Mean logs of counts over all runs (units x counts), and how values lie and scatter in the runs without the unit."""

    logs: np.ndarray
    rare: np.ndarray  # units x counts: near 1 where hardly a row agrees, near 0 where many do
    starts: np.ndarray  # where each group of counts begins, and where the last one ends
    runs: int
    absences: Absences
    farthest: float  # standard deviations: a value that lies further counts as this far

    @classmethod
    def of(
        cls,
        load: Load,
        runs: Sequence[int],
        members: np.ndarray,
        groups: Sequence[str],
        *,
        prior_runs: float,
        farthest: float,
    ) -> Usual:
        """`groups` names the group of each count; those of a group stand together."""
        logs, rare = load.mean_logs(runs) if isinstance(load, SharedRuns) else _mean_logs(load, runs)
        total, squares = (np.zeros(load(runs[0])[1].shape) for _ in range(2))
        for run, inside in zip(runs, members, strict=True):
            _add_values(load(run)[1], ~inside, total, squares)
        begins = [place for place in range(len(groups)) if place == 0 or groups[place] != groups[place - 1]]
        starts = np.array([*begins, len(groups)], dtype=np.int64)
        absences = Absences.of(total, squares, (~members).sum(axis=0), prior_runs)
        return cls(logs, rare, starts, len(runs), absences, farthest)

    @property
    def width(self) -> int:
        """How many numbers are compared for each unit."""
        return self.logs.shape[1] + self.sums + self.absences.mean.shape[1]

    @property
    def sums(self) -> int:
        """One for each group."""
        return len(self.starts) - 1

    def compared(self, block: Block, without: np.ndarray | None = None) -> np.ndarray:
        """How far the features of one run lie from what is usual: counts, sums of rare counts by group, values.

        `without` is given for a run that was learnt from, and says which units it was without. Such a run is compared with the
        *others*: one that was its own yardstick would look tamer than it is. For values only runs without the unit would,
        which makes a shift where there is none. The mean of logs is over all runs, so taking one out is one factor.
        """
        counts, values = block
        z = np.empty((len(counts), self.width), dtype=np.float32)
        factor = np.float32(self._factor(without))
        _compare_logs(counts, _log_table(counts), (self.logs, self.rare), self.starts, factor, z)
        self.absences.fill(values, self.farthest, without, z[:, counts.shape[1] + self.sums :])
        return z

    def weighed(self, block: Block, weights: np.ndarray, without: np.ndarray | None = None) -> np.ndarray:
        """The weighted sum of what `compared` gives, one number per unit, without writing all of that down."""
        counts, values = block
        width, last = counts.shape[1], counts.shape[1] + self.sums
        of_groups = np.repeat(weights[width:last], np.diff(self.starts))
        sums = np.empty(len(counts))
        _weigh_logs(counts, _log_table(counts), (self.logs, self.rare), (weights[:width], of_groups), sums)
        z = np.empty(values.shape, dtype=np.float32)
        self.absences.fill(values, self.farthest, without, z)
        return np.asarray(self._factor(without) * sums + (z @ weights[last:]).astype(np.float64))

    def of_every(self, step: int) -> Usual:
        """Every so many units."""
        part = self.absences
        fewer = Absences(part.mean[::step], part.scatter[::step], part.runs[::step], part.prior_runs)
        return replace(self, logs=self.logs[::step].copy(), rare=self.rare[::step].copy(), absences=fewer)

    def _factor(self, without: np.ndarray | None) -> float:
        return 1.0 if without is None else self.runs / max(self.runs - 1, 1)


@dataclass(frozen=True, eq=False)
class Absences:
    """Where each unit's values lie in the runs without it, and how much they scatter (units x values)."""

    mean: np.ndarray
    scatter: np.ndarray  # sum of squares about the mean, plus everybody's variance times `prior_runs`
    runs: np.ndarray  # units: how many runs were without it
    prior_runs: float

    @classmethod
    def of(cls, total: np.ndarray, squares: np.ndarray, absent: np.ndarray, prior_runs: float) -> Absences:
        n = np.maximum(absent, 1)[:, None]
        mean = total / n
        own = np.maximum(squares / n - mean**2, 0.0)
        scatter = absent[:, None] * own + prior_runs * own.mean(axis=0)
        return cls(mean.astype(np.float32), scatter.astype(np.float32), absent, prior_runs)

    def fill(self, values: np.ndarray, farthest: float, without: np.ndarray | None, z: np.ndarray) -> None:
        """Values in standard deviations from where they are without the unit."""
        own = np.zeros(len(self.runs)) if without is None else without.astype(np.float64)
        others = self.runs - own
        # Without x the mean moves by (x - mean)/(n - 1) and the sum of squares falls by (x - mean)^2 n/(n - 1).
        less = np.where(own > 0, self.runs / np.maximum(others, 1), 0.0)
        factor = np.where(own > 0, less, 1.0) * np.sqrt(others + self.prior_runs)
        factor[others < 1] = 0.0  # a unit that was always in has nothing to be compared with
        least = LEAST_VARIANCE * (others + self.prior_runs)
        factors = np.stack([factor, less, least], axis=1).astype(np.float32)
        _standardise(values, self.mean, self.scatter, factors, np.float32(farthest), z)


def _mean_logs(load: Load, runs: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    logs = np.zeros(load(runs[0])[0].shape)
    for low in range(0, len(runs), TOGETHER):
        blocks = [load(run)[0] for run in runs[low : low + TOGETHER]]
        for first in range(0, len(logs), PART):
            part = slice(first, first + PART)
            for counts in blocks:
                _add_logs(counts[part], _log_table(counts), logs[part])
    logs /= len(runs)
    return logs.astype(np.float32), (1 / (1 + np.exp(logs))).astype(np.float32)


def log_of_count(count: np.ndarray) -> np.ndarray:
    """A count as the scorer sees it."""
    return np.asarray(np.log(count + LITTLE))


@cache
def _short_logs() -> np.ndarray:
    return log_of_count(np.arange(2**16)).astype(np.float32)


def _log_table(counts: np.ndarray) -> np.ndarray:
    """The log of every count that occurs, and of others: looking up is cheaper than computing, or than finding the largest."""
    if counts.dtype == np.uint16:
        return _short_logs()
    return log_of_count(np.arange(int(counts.max(initial=0)) + 1)).astype(np.float32)


@njit(nogil=True, cache=True)
def _add_logs(counts, table, total):
    for unit in range(counts.shape[0]):
        for place in range(counts.shape[1]):
            total[unit, place] += table[counts[unit, place]]


@njit(nogil=True, cache=True)
def _add_values(values, chosen, total, squares):
    for unit in range(values.shape[0]):
        if chosen[unit]:
            for place in range(values.shape[1]):
                number = np.float64(values[unit, place])
                total[unit, place] += number
                squares[unit, place] += number * number


@njit(nogil=True, cache=True, fastmath=True)
def _compare_logs(counts, table, usual, starts, factor, z):
    mean, rare = usual
    width = counts.shape[1]
    for unit in range(counts.shape[0]):
        own, centre, weight, row = counts[unit], mean[unit], rare[unit], z[unit]
        for group in range(starts.size - 1):
            total = np.float32(0.0)
            for place in range(starts[group], starts[group + 1]):
                news = factor * (table[own[place]] - centre[place])
                row[place] = news
                total += weight[place] * news
            row[width + group] = total


@njit(nogil=True, cache=True, fastmath=True)
def _weigh_logs(counts, table, usual, weights, sums):
    mean, rare = usual
    alone, together = weights
    for unit in range(counts.shape[0]):
        own, centre, weight = counts[unit], mean[unit], rare[unit]
        total = np.float32(0.0)
        for place in range(counts.shape[1]):
            total += (table[own[place]] - centre[place]) * (alone[place] + together[place] * weight[place])
        sums[unit] = total


@njit(nogil=True, cache=True, fastmath=True, error_model="numpy")  # no checks in the way of vector instructions
def _standardise(values, mean, scatter, factors, farthest, z):
    for unit in range(z.shape[0]):
        factor, less, least = factors[unit]
        for place in range(z.shape[1]):
            gap = np.float32(values[unit, place]) - mean[unit, place]
            spread = scatter[unit, place] - less * gap * gap
            number = factor * gap / np.sqrt(max(spread, least))
            z[unit, place] = min(max(number, -farthest), farthest)
