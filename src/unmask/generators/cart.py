"""Sequential trees (synthpop's CART): each column from a tree on the columns before it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.errors import ParameterError
from unmask.generators._generator import check_fits
from unmask.generators._tree import Predictors, Tree, grow
from unmask.generators.claim import Claim
from unmask.tables.schema import Column, Schema, quoted
from unmask.tables.table import Table


@dataclass(frozen=True)
class Cart:
    """Draw each column from the training values in the leaf of a tree on the columns before it.

    The first column is a bootstrap of its observed values. A later one follows the synthetic row down a tree that was
    grown on the real rows, and takes the value of a random training row (donor) of the leaf it reaches, so within a
    leaf the conditional distribution is the observed one. **It emits real values**: every synthetic number is some
    person's number, and a value that only one person has can come out unchanged. `smooth=True` adds Gaussian noise
    to numbers (see `_blur`).

    Trees minimise Gini impurity (categories) or variance (numbers), split while both sides keep `min_leaf` rows and
    impurity falls by at least 1e-8 of the root's, and are not pruned, as in synthpop. Numbers and ordered categories
    are cut at a threshold. Other categories are split in two sets: at each node they are ordered by the mean of the
    target (for categories: by the share of the node's commonest one) and cut along that order, which finds the best of
    all subsets for numbers and two-valued targets, and a good one for more. A category that no training row
    of the node had follows the larger side.

    Missing is a value of its own: a category like others; for numbers a tree first decides whether the value is missing
    (as in synthpop), and as a predictor missing lies below all numbers. No privacy is claimed.
    """

    name: ClassVar[str] = "cart"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None

    min_leaf: int = 5
    smooth: bool = False
    order: tuple[str, ...] | str | None = None  # columns to visit first; the others follow in the schema's order

    def __post_init__(self) -> None:
        if isinstance(self.min_leaf, bool) or not isinstance(self.min_leaf, int) or self.min_leaf < 1:
            raise ParameterError(f"cart: min_leaf is {self.min_leaf!r}; it must be a whole number from 1.")
        if not isinstance(self.smooth, bool):
            raise ParameterError(f"cart: smooth is {self.smooth!r}; write true or false.")
        object.__setattr__(self, "order", _names(self.order))

    @property
    def emits_real_values(self) -> bool:
        """Whether numbers of real people come out unchanged."""
        return not self.smooth

    def fit(self, table: Table, rng: np.random.Generator) -> CartModel:
        """Grow one tree per column. Growing is deterministic: ties go to the earlier column and the lower cut."""
        check_fits(table, self.name)
        visit = _visit(table.schema, self.order)
        values, targets, categories = _arrays(table, visit)
        known = Predictors.sort(values, categories)
        steps = []
        for at, position in enumerate(visit):
            column = table.schema.columns[position]
            steps.append(_learn(column, position, targets[at], known.before(at), self.min_leaf, smooth=self.smooth))
        return CartModel(table.schema, tuple(steps), table.codes, targets)


@dataclass(frozen=True, eq=False)
class Step:
    """How one column is drawn, given those before it."""

    position: int  # of the column in the schema
    donors: Tree | None  # None: the column was always missing
    missing: Tree | None  # where some numbers are missing: decides which
    width: np.ndarray | None = None  # smoothing: standard deviation of the noise, by node
    spike: np.ndarray | None = None  # smoothing: the value that half of a leaf shares, kept as it is; else NaN


@dataclass(frozen=True, eq=False)
class CartModel:
    """The trees, and the training values that their leaves hand out."""

    schema: Schema
    steps: tuple[Step, ...]  # in visiting order
    codes: np.ndarray  # of the training rows
    targets: np.ndarray  # steps x training rows: the number or code
    claim: ClassVar[Claim | None] = None

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        """Rows drawn column by column in visiting order."""
        schema = self.schema
        codes = np.empty((rows, len(schema.columns)), dtype=schema.code_type, order="F")
        numbers = np.empty((rows, len(schema.numeric)), order="F")
        values = np.empty((len(self.steps), rows))
        for at, step in enumerate(self.steps):
            column = schema.columns[step.position]
            drawn, drawn_codes = self._draw(at, column, values[:at], rng)
            codes[:, step.position] = drawn_codes
            if column.is_numeric:
                numbers[:, schema.numeric.index(step.position)] = drawn
            values[at] = _predictor(column, drawn)
        return Table(schema, codes, numbers)

    def _draw(
        self, at: int, column: Column, values: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values and codes of one column for synthetic rows whose earlier columns are known."""
        step = self.steps[at]
        rows = values.shape[1]
        if step.donors is None:
            return np.full(rows, np.nan), np.full(rows, column.missing_code)
        leaves = step.donors.leaves(values)
        donors = step.donors.draw(leaves, rng)
        drawn, codes = self.targets[at, donors], self.codes[donors, step.position]
        if step.width is not None and step.spike is not None:
            drawn = _blur(column, drawn, step.width[leaves], step.spike[leaves], rng)
            codes = column.bin_of(drawn)
        if step.missing is not None:
            gone = np.isnan(self.targets[at, step.missing.draw(step.missing.leaves(values), rng)])
            drawn = np.where(gone, np.nan, drawn)
            codes = np.where(gone, column.missing_code, codes)
        return drawn, codes


def _learn(
    column: Column,
    position: int,
    target: np.ndarray,
    known: Predictors,
    min_leaf: int,
    *,
    smooth: bool,
) -> Step:
    """The trees of one column on the columns before it."""
    everyone = np.arange(len(target), dtype=np.int32)
    if not column.is_numeric:
        return Step(position, grow(known, target, column.code_count, everyone, min_leaf), None)
    gone = np.isnan(target)
    present = everyone[~gone]
    missing = grow(known, gone.astype(np.float64), 2, everyone, min_leaf) if len(present) < len(target) else None
    if not len(present):
        return Step(position, None, missing)
    donors = grow(known, target, 0, present, min_leaf)
    return Step(position, donors, missing, *(donors.leaf_noise(target) if smooth else ()))


def _blur(
    column: Column, drawn: np.ndarray, width: np.ndarray, spike: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Numbers with Gaussian noise of the leaf's bandwidth, mirrored at the ends of the range; integers stay whole.

    A value that half of the leaf shares (such as 0 for capital gains) stays as it is: it belongs to nobody in
    particular. So does a leaf whose numbers are all equal.
    """
    noise = rng.standard_normal(len(drawn)) * width
    blurred = drawn + np.where(drawn == spike, 0.0, noise)
    blurred = np.where(blurred < column.lower, 2 * column.lower - blurred, blurred)
    blurred = np.where(blurred > column.upper, 2 * column.upper - blurred, blurred)
    if column.is_integral:
        blurred = np.rint(blurred)
    return np.clip(blurred, column.lower, column.upper)


def _arrays(table: Table, visit: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """In visiting order: columns as predictors and as targets (columns x rows), and their numbers of categories."""
    targets = np.empty((len(visit), len(table)))
    values = np.empty_like(targets)
    categories = np.zeros(len(visit), dtype=np.int64)
    for at, position in enumerate(visit):
        column = table.schema.columns[position]
        if column.is_numeric:
            targets[at] = table.numbers[:, table.schema.numeric.index(position)]
        else:
            targets[at] = table.codes[:, position]
            categories[at] = 0 if column.ordered else column.code_count
        values[at] = _predictor(column, targets[at])
    return values, targets, categories


def _predictor(column: Column, values: np.ndarray) -> np.ndarray:
    """Values as trees see them: missing lies below everything that has an order."""
    if column.is_numeric:
        return np.where(np.isnan(values), -np.inf, values)
    return np.where(values == column.missing_code, -np.inf, values) if column.ordered else values


def _names(order: tuple[str, ...] | str | None) -> tuple[str, ...] | None:
    """Column names from a tuple, a list, or text such as "age,sex"; None stands for the schema's order."""
    if order is None or order == "schema":
        return None
    given = [name.strip() for name in order.split(",")] if isinstance(order, str) else order
    names = tuple(given) if isinstance(given, Iterable) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"cart: order is {order!r}; list column names, such as ('age', 'sex').")
    if len(set(names)) < len(names):
        raise ParameterError(f"cart: order names a column more than once: {quoted(names)}.")
    return names


def _visit(schema: Schema, order: tuple[str, ...] | str | None) -> tuple[int, ...]:
    """Positions of all columns: those that `order` names, then the others as they stand in the schema."""
    names = _names(order) or ()
    if unknown := [name for name in names if name not in schema.names]:
        raise ParameterError(f"cart: order names {quoted(unknown)}, not among the columns {quoted(schema.names)}.")
    first = [schema.position(name) for name in names]
    return (*first, *(position for position in range(len(schema.columns)) if position not in first))
