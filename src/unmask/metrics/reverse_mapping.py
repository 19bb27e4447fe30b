"""Reverse mapping: every synthetic table is a permutation of the real columns plus small noise (ruiz2018, section 3.1).

A synthetic value of rank k in its column becomes the real value of rank k, so that Y_j = P_j X_j + E_j for each column j. The
noise E cannot change a rank and therefore protects nobody: what protects is how the permutations of different columns disagree.
The reverse-mapped table Z = P X keeps every margin of the real table exactly; it consists of real values, column by column, and
is for analysis, or for release only where real values may be published.

Ranks run from 1 to n, ties in order of appearance, nominal values in schema order (by marginality in the real table where the
schema has groups), missing values last. The sizes must agree, so a larger synthetic table is subsampled, a smaller one keeps all
rows and is filled up with rows drawn from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.errors import InputError
from unmask.tables.matching import shared_columns
from unmask.tables.ranks import Ties, ranks
from unmask.tables.table import Table


@dataclass(frozen=True, eq=False)
class ReverseMapping:
    """One synthetic table as a permutation of the real columns plus noise. All arrays are rows x columns."""

    rows: np.ndarray  # the synthetic row behind each row here (1-dimensional); 0, 1, ... if the sizes agree
    permutation: np.ndarray  # release[i, j] is real[permutation[i, j], j] (int64)
    noise: (
        np.ndarray
    )  # synthetic minus release; nominal values by position in the schema, NaN beside a missing or unlisted value
    release: Table  # the reverse-mapped table: margins exactly those of the real one

    @property
    def displacement(self) -> np.ndarray:
        """How many places each value moved, as a share of the rows: 0 everywhere = the real table as it was."""
        own = np.arange(len(self.permutation))[:, None]
        return np.abs(self.permutation - own) / len(self.permutation)


def reverse_mapping(real: Table, synthetic: Table, *, rng: np.random.Generator) -> ReverseMapping:
    """Express a synthetic table as a permutation of the real columns plus noise; `rng` is used only if sizes differ."""
    names = [column.name for column in shared_columns([real, synthetic], None)]
    rows = aligned_rows(len(real), len(synthetic), rng)
    aligned = synthetic.take(rows)
    if aligned.schema.names != real.schema.names:
        aligned = aligned.select(names)
    sorted_real = np.argsort(ranks(real, Ties.IN_ORDER), axis=0)
    places = ranks(aligned, Ties.IN_ORDER, like=real).astype(np.int64) - 1
    permutation = np.take_along_axis(sorted_real, places, axis=0)
    release = permuted(real, permutation)
    return ReverseMapping(rows, permutation, positions(aligned) - positions(release), release)


def aligned_rows(wanted: int, available: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of a table of `available` rows that make one of `wanted`: all, a random subset, or all and random repeats."""
    if wanted < 1 or available < 1:
        raise InputError(
            f"Ranks of {wanted:,} real and {available:,} synthetic rows cannot be compared. Give each table at least one row."
        )
    if available > wanted:
        return np.sort(rng.choice(available, wanted, replace=False))
    return np.concatenate([np.arange(available), rng.integers(available, size=wanted - available)])


def permuted(table: Table, rows: np.ndarray) -> Table:
    """The table with each column in an order of its own (rows x columns of row numbers). Persons are lost: rows are mixed."""
    codes = np.asfortranarray(np.take_along_axis(table.codes, rows, axis=0))
    numeric = list(table.schema.numeric)
    numbers = np.asfortranarray(np.take_along_axis(table.numbers, rows[:, numeric], axis=0))
    return Table(table.schema, codes, numbers, None, table.notes)


def positions(table: Table) -> np.ndarray:
    """Values as numbers: their own, or the position of their category; NaN for what has no place on the scale."""
    place = {position: i for i, position in enumerate(table.schema.numeric)}
    found = np.empty(table.codes.shape)
    for position, column in enumerate(table.schema.columns):
        codes = table.codes[:, position]
        found[:, position] = (
            table.numbers[:, place[position]] if column.is_numeric else np.where(codes < column.listed, codes, np.nan)
        )
    return found
