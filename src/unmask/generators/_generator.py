"""The protocol that every generator follows, and what they share."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from unmask.errors import ParameterError
from unmask.generators.claim import Claim
from unmask.tables.schema import Origin, Schema
from unmask.tables.table import Table

VOID_SCHEMA = (
    "the schema was inferred from the data, so ranges and categories give people away; "
    "check it and set its origin to public"
)


@runtime_checkable
class Model(Protocol):
    """What fitting leaves behind.

    Optional, for who sees the model: `log_likelihood(table)` per row, `measurements`, `losses(table, steps, rng)` (rows x steps;
    lower = better learnt) with `diffusion_steps`, `discriminator_score(table)` per row (higher = looks more real), and
    `evidence(target, others)`: named numbers about whether the target was there beside the others, "likelihood ratio" among them
    (then the generator says `shows_evidence = True`).
    """

    @property
    def claim(self) -> Claim | None:
        """What this fitted model promises, and why not where the promise is void."""
        ...

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        """A synthetic table of this many rows (a row-level generator returns all rows that survive)."""
        ...


@runtime_checkable
class Generator(Protocol):
    """A frozen dataclass of parameters; all fitted state is in the model."""

    name: ClassVar[str]
    row_level: ClassVar[bool]  # publishes (changed) real rows instead of drawing new ones

    @property
    def claim(self) -> Claim | None:
        """The differential-privacy claim that these parameters make, if any."""
        ...

    def fit(self, table: Table, rng: np.random.Generator | None) -> Model:
        """Learn from the real table. Only a hardened release (`release=True`) takes None instead of a random stream.

        One that takes long may have a keyword `progress`: a function to call with the steps done and the steps planned.
        """
        ...


@dataclass(frozen=True, eq=False)
class Measurement:
    """A noisy marginal that a model was fitted to: what a white-box attacker sees."""

    columns: tuple[int, ...]  # positions in the schema; the axes of `counts`
    counts: np.ndarray  # noisy counts, before any clipping
    scale: float  # Laplace scale, or standard deviation of the Gaussian; 0 = no noise
    noise: Literal["laplace", "gaussian", "none"]
    cells: tuple[np.ndarray, ...] = ()  # for each axis the cell in which a code is counted; () = each code in its own


def claim_for(claim: Claim | None, schema: Schema) -> Claim | None:
    """The claim of a model fitted under this schema: void if the schema was read off the data."""
    if claim is None or schema.origin is Origin.PUBLIC:
        return claim
    return replace(claim, void=VOID_SCHEMA)


def check_positive(name: str, value: Any, what: str) -> None:
    """Refuse a parameter that is not a positive number (infinity allowed)."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise ParameterError(f"{what}: {name} is {value!r}; it must be a number above 0.")


def check_finite(name: str, value: Any, what: str) -> None:
    """Refuse a parameter that is not a positive number, or has no end."""
    check_positive(name, value, what)
    if math.isinf(value):
        raise ParameterError(f"{what}: {name} is infinite; it must be a number.")


def check_fits(table: Table, what: str) -> None:
    """Refuse tables that no generator can learn from."""
    if len(table) == 0:
        raise ParameterError(f"{what}: the table has no rows, so there is nothing to learn from.")
    if outside := int((table.codes >= table.schema.sizes).any(axis=1).sum()):
        raise ParameterError(
            f"{what}: {outside:,} rows hold values that the schema does not list, or groups of values. "
            "Fit generators on a table that follows its schema."
        )
