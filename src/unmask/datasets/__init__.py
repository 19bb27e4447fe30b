"""Tables to try things on: Adult (bundled), and made-up ones whose truth is known. Everything is offline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.errors import ParameterError
from unmask.tables.read import read_schema, read_table
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table, concatenate

if TYPE_CHECKING:
    from unmask.datasets.challenges import Challenge, challenge
    from unmask.datasets.not_bundled import census, digits

__all__ = ["Challenge", "Planted", "adult", "adult_small", "census", "challenge", "digits", "gaussian", "planted"]

ADULT_SMALL = ("age", "education", "marital-status", "relationship", "sex", "income")
_LATER = {
    "Challenge": "challenges",
    "census": "not_bundled",
    "challenge": "challenges",
    "digits": "not_bundled",
}  # loaded when first used


@cache
def adult() -> Table:
    """UCI Adult: 48,842 people of the 1994 US census, 15 columns, with a public schema ("?" = missing).

    Becker, B. & Kohavi, R. (1996). Adult. UCI Machine Learning Repository. CC BY 4.0.
    """
    with as_file(files(__package__)) as folder:
        return read_table(folder / "adult.csv.gz", read_schema(folder / "adult.schema.json"))


def adult_small() -> Table:
    """Six columns of Adult, as ganev2023 simplifies it: a domain that can be enumerated."""
    return adult().select(ADULT_SMALL)


def gaussian(dimensions: int = 2, rows: int = 2000, *, seed: int = 0, limit: float = 8.0, bins: int = 20) -> Table:
    """Independent standard normal columns x1, x2, ... within a public range of +-limit, in equal bins."""
    if dimensions < 1 or rows < 1:
        raise ParameterError(f"A Gaussian table needs at least one column and one row, not {dimensions} and {rows}.")
    numbers = np.random.default_rng(seed).standard_normal((rows, dimensions)).clip(-limit, limit)
    columns = tuple(
        Column(f"x{place}", Kind.CONTINUOUS, lower=-limit, upper=limit, bins=bins) for place in range(1, dimensions + 1)
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


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
