"""Tables to try things on: Adult (bundled), and made-up ones whose truth is known. Everything is offline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

import numpy as np

from unmask.errors import ParameterError
from unmask.tables.read import read_schema, read_table
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table, concatenate

__all__ = ["Planted", "adult", "gaussian", "planted"]


@cache
def adult() -> Table:
    """UCI Adult: 48,842 people of the 1994 US census, 15 columns, with a public schema ("?" = missing).

    Becker, B. & Kohavi, R. (1996). Adult. UCI Machine Learning Repository. CC BY 4.0.
    """
    with as_file(files(__package__)) as folder:
        return read_table(folder / "adult.csv.gz", read_schema(folder / "adult.schema.json"))


def gaussian(dimensions: int = 2, rows: int = 2000, *, seed: int = 0, limit: float = 8.0) -> Table:
    """Independent standard normal columns x1, x2, ... within a public range of +-limit."""
    if dimensions < 1 or rows < 1:
        raise ParameterError(f"A Gaussian table needs at least one column and one row, not {dimensions} and {rows}.")
    numbers = np.random.default_rng(seed).standard_normal((rows, dimensions)).clip(-limit, limit)
    columns = tuple(
        Column(f"x{place}", Kind.CONTINUOUS, lower=-limit, upper=limit) for place in range(1, dimensions + 1)
    )
    schema = Schema(columns)
    codes = np.empty((rows, dimensions), dtype=schema.code_type, order="F")
    for position, column in enumerate(columns):
        codes[:, position] = column.bin_of(numbers[:, position])
    return Table(schema, codes, np.asfortranarray(numbers))


@dataclass(frozen=True, eq=False)
class Planted:
    """A release with a known leak: `leaked` are the real rows of which the synthetic table holds verbatim copies."""

    real: Table
    synthetic: Table
    holdout: Table
    leaked: np.ndarray


def planted(rows: int = 1000, *, leaked: int = 20, columns: int = 10, levels: int = 6, seed: int = 0) -> Planted:
    """Real, holdout and synthetic tables of one made-up population; `leaked` real rows are copied into the synthetic one.

    Values are independent, with frequencies falling like 1/rank, so nothing but the copies connects synthetic to real.
    """
    if not 0 <= leaked <= rows:
        raise ParameterError(f"Of {rows} rows between 0 and {rows} can be leaked, not {leaked}.")
    rng = np.random.default_rng(seed)
    values = tuple(f"v{level}" for level in range(levels))
    schema = Schema(
        tuple(Column(f"c{place}", Kind.CATEGORICAL, values=values) for place in range(columns)),
        keys=tuple(f"c{place}" for place in range(columns // 2)),
        secrets=(f"c{columns - 1}",),
    )
    frequency = 1 / np.arange(1, levels + 1)
    frequency /= frequency.sum()

    def draw(count: int) -> Table:
        codes = rng.choice(levels, size=(count, columns), p=frequency).astype(schema.code_type)
        return Table(schema, np.asfortranarray(codes), np.empty((count, 0)))

    real, holdout = draw(rows), draw(rows)
    chosen = np.sort(rng.choice(rows, leaked, replace=False))
    synthetic = concatenate([real.take(chosen), draw(rows - leaked)]).take(rng.permutation(rows))
    return Planted(real, synthetic, holdout, chosen)
