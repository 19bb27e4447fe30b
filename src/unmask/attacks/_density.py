"""Log densities of a table at given points: by kernels, by a Bayesian network, by a mixture of Gaussians.

A *shape* (bandwidths, families of columns, where the mixture starts) is learnt from one table and can be filled with the rows of
another. Two tables that are compared share one shape, so that a difference of their densities comes from their rows.
Categories count by probability; numbers are scaled to 0..1 by their public range.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol, get_args

import numpy as np
from scipy.special import softmax

from unmask.attacks._agreeing import agreeing
from unmask.attacks._attack import Prediction, Secret
from unmask.compiled import inner, njit
from unmask.errors import ParameterError
from unmask.generators.bayesnet import BayesNet
from unmask.tables.schema import Schema
from unmask.tables.table import Table

Kind = Literal["kernel", "mixture", "bayesnet"]

FARTHEST = 8.0  # bandwidths: numbers further apart count as this far, which keeps densities above 0
LEAST_BANDWIDTH = 1e-3  # of the public range, where a column is constant
LEAST_VARIANCE = 1e-3  # of a component, where numbers lie in 0..1
MOST_ONE_HOT = 50  # values of a category that the mixture sees one by one; beyond, their codes


class Shape(Protocol):
    """What a density needs to know beside the rows."""

    def log_density(self, rows: Table, points: Table) -> np.ndarray:
        """Log density of `rows` at each point; uniform where there are no rows."""
        ...


@dataclass(frozen=True)
class Densities:
    """The parameters that attacks by density share."""

    kind: Kind = "kernel"
    bandwidth: float | None = None  # kernel: of numbers, in standard deviations; none = Scott's rule
    spread: float = 0.1  # kernel: of categories, the probability of all other values together
    components: int = 10  # mixture

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ParameterError(f"kind is {self.kind!r}; choose one of {', '.join(get_args(Kind))}.")
        check_kernel(self.bandwidth, self.spread)
        check_count("components", self.components)

    def shape_of(self, table: Table, rng: np.random.Generator) -> Shape:
        """The shape of a density that suits this table."""
        if self.kind == "kernel":
            return Kernel.fitted_to(table, self.bandwidth, self.spread)
        if self.kind == "bayesnet":
            return Network.fitted_to(table, rng)
        return MixtureShape.fitted_to(table, self.components, rng)


def check_kernel(bandwidth: float | None, spread: float) -> None:
    """Refuse kernels of no width."""
    if bandwidth is not None and not bandwidth > 0:
        raise ParameterError(f"bandwidth is {bandwidth!r}; it must be above 0, or none.")
    if not 0 < spread < 1:
        raise ParameterError(f"spread is {spread!r}; it must lie between 0 and 1.")


def check_count(name: str, value: int) -> None:
    """Refuse what is not a whole number from 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"{name} is {value!r}; it must be a whole number from 1.")


def part_of(table: Table, rows: int, rng: np.random.Generator) -> Table:
    """The table, or this many rows of it drawn at random."""
    return table if len(table) <= rows else table.take(np.sort(rng.choice(len(table), rows, replace=False)))


# --- the secret, filled in ---------------------------------------------------------------------------------------------


def filled(targets: Table, secret: Secret) -> Table:
    """Each target with every value of the secret in turn (numbers: the middle of every bin), target by target."""
    column = targets.schema.columns[secret.position]
    count = secret.levels or column.listed
    table = targets.take(np.repeat(np.arange(len(targets)), count))
    codes, numbers = table.codes.copy(order="F"), table.numbers.copy(order="F")
    codes[:, secret.position] = np.tile(np.arange(count), len(targets))
    if column.is_numeric:
        numbers[:, targets.schema.numeric.index(secret.position)] = np.tile(_middles(targets, secret), len(targets))
    return replace(table, codes=codes, numbers=numbers, persons=None)


def judged(logs: np.ndarray, targets: Table, secret: Secret) -> np.ndarray | Prediction:
    """Scores of the levels from the log densities of filled targets; for numbers the mean and spread that they imply."""
    by_level = logs.reshape(len(targets), -1)
    if secret.levels:
        return by_level
    weights, middles = softmax(by_level, axis=1), _middles(targets, secret)
    within = np.diff(targets.schema.columns[secret.position].edges) ** 2 / 12
    mean = weights @ middles
    variance = (weights * ((middles - mean[:, None]) ** 2 + within)).sum(axis=1)
    return Prediction(mean, np.sqrt(variance))


def _middles(targets: Table, secret: Secret) -> np.ndarray:
    column = targets.schema.columns[secret.position]
    return (column.edges[:-1] + column.edges[1:] - column.is_integral) / 2  # a whole bin 3, 4, 5 ends at 6


# --- kernel ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Kernel:
    """A product of one kernel per column, centred at each row.

    Categories (Aitchison-Aitken): 1 - spread at the row's value, the rest shared by the others. Numbers: Gaussian. Missing is a
    value of its own with probability 1 - spread beside itself and spread beside a number (then uniform over the range).
    """

    schema: Schema
    bandwidths: np.ndarray  # one per numeric column, in units of the public range
    spread: float

    @classmethod
    def fitted_to(cls, table: Table, bandwidth: float | None, spread: float) -> Kernel:
        """Bandwidths as multiples of the table's standard deviations, by Scott's rule n^(-1/(d+4)) unless given."""
        numbers = scaled(table)
        factor = bandwidth or max(len(table), 1) ** (-1 / (numbers.shape[1] + 4))
        deviations = np.array([column[~np.isnan(column)].std() if len(column) else 0.0 for column in _gappy(numbers)])
        return cls(table.schema, np.maximum(factor * deviations, LEAST_BANDWIDTH), spread)

    def log_density(self, rows: Table, points: Table) -> np.ndarray:
        if not len(rows):
            return np.full(len(points), -np.log(self._others() + 1).sum())
        return self.log_sums(rows, points) - np.log(len(rows))

    def log_sums(self, rows: Table, points: Table) -> np.ndarray:
        """Log of the sum of the kernels of all rows, at each point."""
        return _log_sums(*self._packed(rows, points))

    def log_kernels(self, rows: Table, points: Table) -> np.ndarray:
        """Log kernel of every row at every point (points x rows)."""
        return _log_kernels(*self._packed(rows, points))

    def _others(self) -> np.ndarray:
        """How many other values each category has, at least one."""
        columns = self.schema.columns
        return np.array([max(column.size - 1, 1) for column in columns if not column.is_numeric], dtype=np.float64)

    @cached_property
    def terms(self) -> tuple[np.ndarray, np.ndarray]:
        """What columns add to a log kernel: categories if they are equal and if not (2 x categories); of numbers the top of the
        Gaussian, the inverse of its width, and what is added where both are missing and where one is (4 x numbers)."""
        schema, others = self.schema, self._others()
        equal, other = np.full(len(others), np.log1p(-self.spread)), np.log(self.spread) - np.log(others)
        may_miss = np.array([bool(schema.columns[position].missing) for position in schema.numeric], dtype=bool)
        kept = np.where(may_miss, np.log1p(-self.spread), 0.0)
        top = kept - np.log(self.bandwidths * np.sqrt(2 * np.pi))
        gaussians = np.stack([top, 1 / self.bandwidths, kept, np.full(len(top), np.log(self.spread))])
        return np.stack([equal, other]), gaussians

    def _packed(self, rows: Table, points: Table) -> tuple[np.ndarray, ...]:
        place = [position for position in range(len(self.schema.columns)) if position not in self.schema.numeric]
        return (
            np.ascontiguousarray(rows.codes.T[place]),
            np.ascontiguousarray(scaled(rows).T),
            np.ascontiguousarray(points.codes.T[place].T),
            np.ascontiguousarray(scaled(points)),
            *self.terms,
        )


def scaled(table: Table) -> np.ndarray:
    """The numbers as shares of their public range; those of a range of one number are 0."""
    columns = [table.schema.columns[position] for position in table.schema.numeric]
    lower = np.array([column.lower for column in columns])
    span = np.array([column.upper for column in columns]) - lower
    return np.asarray((table.numbers - lower) / np.where(span > 0, span, 1.0))


def _gappy(numbers: np.ndarray) -> list[np.ndarray]:
    """The columns, those without any number as a single 0."""
    return [column if not np.isnan(column).all() else np.zeros(1) for column in numbers.T]


@inner()
def _add_category(logs, column, code, equal, other):
    for i in range(logs.size):
        logs[i] += equal if column[i] == code else other


@inner()
def _add_number(logs, column, number, top, inverse, lost):
    for i in range(logs.size):
        gap = (column[i] - number) * inverse
        square = gap * gap
        near = top - 0.5 * (square if square < FARTHEST * FARTHEST else FARTHEST * FARTHEST)
        logs[i] += near if square >= 0 else lost  # the square of a missing number is not


@inner()
def _add_missing(logs, column, kept, lost):
    for i in range(logs.size):
        logs[i] += kept if np.isnan(column[i]) else lost


@inner()
def _fill(logs, codes, numbers, point_codes, point_numbers, categories, gaussians):
    logs[:] = 0.0
    for j in range(codes.shape[0]):
        _add_category(logs, codes[j], point_codes[j], categories[0, j], categories[1, j])
    for j in range(numbers.shape[0]):
        top, inverse, kept, lost = gaussians[:, j]
        if np.isnan(point_numbers[j]):
            _add_missing(logs, numbers[j], kept, lost)
        else:
            _add_number(logs, numbers[j], point_numbers[j], top, inverse, lost)


@njit(nogil=True, cache=True)
def _log_kernels(codes, numbers, point_codes, point_numbers, categories, gaussians):
    logs = np.empty((len(point_codes), codes.shape[1]))
    for p in range(len(point_codes)):
        _fill(logs[p], codes, numbers, point_codes[p], point_numbers[p], categories, gaussians)
    return logs


@njit(nogil=True, cache=True)
def _log_sums(codes, numbers, point_codes, point_numbers, categories, gaussians):
    sums = np.empty(len(point_codes))
    logs = np.empty(codes.shape[1])
    for p in range(len(point_codes)):
        _fill(logs, codes, numbers, point_codes[p], point_numbers[p], categories, gaussians)
        largest = -np.inf
        for i in range(logs.size):  # numba's maximum takes a second to compile
            largest = max(largest, logs[i])
        total = 0.0
        for i in range(logs.size):
            if logs[i] > largest - 40:  # a thousand million rows further down add less than rounding does
                total += np.exp(logs[i] - largest)
        sums[p] = largest + np.log(total)
    return sums


# --- Bayesian network --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Network:
    """Each column given its parents, by counts; one imaginary row spread evenly keeps what was never seen possible."""

    schema: Schema
    families: tuple[tuple[int, tuple[int, ...]], ...]

    @classmethod
    def fitted_to(cls, table: Table, rng: np.random.Generator) -> Network:
        """The families of the generator `bayesnet`; no parents where the table has no rows that follow the schema."""
        listed = table.take(np.flatnonzero(np.all(table.codes < table.schema.sizes, axis=1)))
        if not len(listed):
            return cls(table.schema, tuple((position, ()) for position in range(len(table.schema.columns))))
        nodes = BayesNet().fit(listed, rng).nodes
        return cls(table.schema, tuple((node.child, node.parents) for node in nodes))

    def log_density(self, rows: Table, points: Table) -> np.ndarray:
        children = [child for child, _ in self.families]
        together = agreeing(rows, points, [(*parents, child) for child, parents in self.families])
        parents = agreeing(rows, points, [parents for _, parents in self.families])
        return np.asarray(np.log((together + 1 / self.schema.sizes[children]) / (parents + 1)).sum(axis=1))


# --- mixture of Gaussians ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MixtureShape:
    """Gaussians with diagonal covariance on numbers in 0..1 and one-hot categories, from a given start.

    Categories of more than 50 values enter by their code, missing numbers as the middle of the range with a flag.
    """

    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray

    @classmethod
    def fitted_to(cls, table: Table, components: int, rng: np.random.Generator) -> MixtureShape:
        features = _features(table)
        if not len(features):
            return cls(np.ones(1), np.full((1, features.shape[1]), 0.5), np.ones((1, features.shape[1])))
        fit = _expectation_maximisation(features, min(components, len(features)), seed=int(rng.integers(2**31)))
        return cls(fit.weights_, fit.means_, fit.covariances_)

    def log_density(self, rows: Table, points: Table) -> np.ndarray:
        if not len(rows):
            return np.zeros(len(points))
        start = {"weights_init": self.weights, "means_init": self.means, "precisions_init": 1 / self.variances}
        fit = _expectation_maximisation(_features(rows), len(self.weights), seed=0, **start)
        return np.asarray(fit.score_samples(_features(points)))


def _expectation_maximisation(features: np.ndarray, components: int, *, seed: int, **start: np.ndarray):  # type: ignore[no-untyped-def]
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    enough = features[np.arange(max(len(features), components, 2)) % len(features)]  # fewer rows are repeated
    fit = GaussianMixture(
        components,
        covariance_type="diag",
        reg_covar=LEAST_VARIANCE,
        max_iter=50,
        init_params="random_from_data",
        random_state=seed,
        **start,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start and fifty rounds are as good for a score
        return fit.fit(enough)


def _features(table: Table) -> np.ndarray:
    numbers, parts = scaled(table), []
    for place, position in enumerate(table.schema.numeric):
        gone = np.isnan(numbers[:, place])
        parts.append(np.where(gone, 0.5, numbers[:, place])[:, None])
        if table.schema.columns[position].missing:
            parts.append(gone[:, None])
    for position, column in enumerate(table.schema.columns):
        if not column.is_numeric:
            codes = table.codes[:, position][:, None]
            values = np.arange(column.size)
            parts.append(codes == values if column.size <= MOST_ONE_HOT else codes / column.size)
    return np.concatenate(parts, axis=1, dtype=np.float64)
