"""Inferring: does the synthetic table tell the secret of a person whose other attributes are known?

The attacker looks up the synthetic rows nearest to the person on the keys (Gower distance) and guesses their most frequent
secret, for numbers their median; or trains a model of their own on the synthetic table. A guess is right if

    categories   it is the person's value; missing is a value like any other, one that the schema does not list never is
    numbers      |guess - truth| <= the tolerance, a share of |truth| or a fixed amount, whichever is more; both missing
    dates        |guess - truth| <= a share of the public range, since dates have no natural zero

The control guesses for holdout people from the same synthetic table. The baseline makes one guess for all, the most frequent
value or the median of the reference, or without one an even draw from the public domain for each. Guesses and people are
aligned by position. Cost: records x synthetic rows x keys, compiled, for each secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.errors import ParameterError
from unmask.metrics._guesses import Guesses, Model, of_model, of_neighbours, of_table
from unmask.metrics.legal import Attempts, Criterion, check_tables, chosen_rows, judged, over_secrets, persons
from unmask.metrics.singling_out import evenly_drawn
from unmask.stats.multiplicity import Listing
from unmask.tables.distance import MOST_NEIGHBOURS
from unmask.tables.schema import Column, Kind, Schema, quoted
from unmask.tables.table import Table


@dataclass(frozen=True)
class Tolerance:
    """How far a guess may be from the truth. Categories must be equal."""

    relative: float = 0.05  # numbers: share of |truth|, never of the guess
    absolute: float = 0.0  # numbers: in their own unit
    of_range: float = 0.01  # dates: share of the public range

    def __post_init__(self) -> None:
        if not min(self.relative, self.absolute, self.of_range) >= 0:
            raise ParameterError(f"{self}: a tolerance must not be negative.")

    def accepts(self, guesses: Guesses, truth: Guesses, column: Column) -> np.ndarray:
        """Whether each guess is right, position by position (bool)."""
        if guesses.numbers is None or truth.numbers is None:
            return (guesses.codes == truth.codes) & (guesses.codes != column.unlisted_code)
        allowed = np.maximum(self.relative * np.abs(truth.numbers), self.absolute)
        if column.kind is Kind.DATETIME:
            allowed = np.full(len(truth), self.of_range * (column.upper - column.lower))
        both_missing = np.isnan(guesses.numbers) & np.isnan(truth.numbers)
        return (np.abs(guesses.numbers - truth.numbers) <= allowed) | both_missing


@dataclass(frozen=True, eq=False)
class Inference(Criterion):
    """`successes` says for each attacked row whether its secret was guessed."""

    secret: str
    keys: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Inferences:
    """The attack on several secrets, and which of them are given away when all are judged together (Holm)."""

    criteria: tuple[Inference, ...]
    listing: Listing | None  # None = no holdout
    notes: tuple[str, ...]


def inference(
    real: Table,
    synthetic: Table,
    *,
    secret: str,
    keys: Sequence[str] | None = None,
    holdout: Table | None = None,
    reference: Table | None = None,
    model: Model | None = None,
    neighbours: int = 1,
    tolerance: Tolerance = Tolerance(),
    attempts: int = 1000,
    confidence: float = 0.95,
    workers: int = 1,
    rng: np.random.Generator,
) -> Inference:
    """How often the secret of a person is guessed from the synthetic table.

    `keys` are what the attacker knows; None = the keys of the schema, or all other columns if it names none. `model` replaces
    the neighbours: an estimator with fit and predict, or a function (see `Model`). The baseline's `reference` is the holdout
    unless another table is given.
    """
    check_tables(real, synthetic, holdout=holdout, reference=reference, attempts=attempts)
    known = checked_keys(real.schema, secret, keys)
    if not 1 <= neighbours <= MOST_NEIGHBOURS:
        raise ParameterError(f"neighbours is {neighbours}; choose 1 to {MOST_NEIGHBOURS}.")
    rows = chosen_rows(real, attempts, rng)
    control_rows = np.empty(0, dtype=np.int64) if holdout is None else chosen_rows(holdout, attempts, rng)
    people = [real.take(rows)] + ([] if holdout is None else [holdout.take(control_rows)])
    blind = _blind(reference or holdout, real.schema, secret, len(rows), rng)
    order = rng.permutation(len(synthetic))  # ties must not depend on the order of the file
    if model is None:
        k = min(neighbours, len(synthetic))
        guesses = of_neighbours(people, synthetic, order, secret=secret, keys=known, k=k, workers=workers)
    else:
        guesses = of_model(model, people, synthetic.take(order), secret=secret, keys=known, rng=rng)
    column = real.schema.column(secret)
    right = [
        tolerance.accepts(guess, of_table(part, secret), column) for guess, part in zip(guesses, people, strict=True)
    ]
    truth = of_table(people[0], secret)
    control = None if holdout is None else Attempts(right[1], persons(holdout, control_rows))
    units = persons(real, rows)
    fields = judged(
        Attempts(right[0], units),
        Attempts(tolerance.accepts(blind, truth, column), units).rate(confidence),
        control,
        confidence=confidence,
    )
    return Inference(
        name=f"inferring {secret}",
        **fields,
        rows=rows,
        successes=right[0],
        control_rows=control_rows,
        control_successes=np.empty(0, dtype=bool) if holdout is None else right[1],
        secret=secret,
        keys=known,
    )


def inferences(
    real: Table,
    synthetic: Table,
    *,
    secrets: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    holdout: Table | None = None,
    reference: Table | None = None,
    model: Model | None = None,
    neighbours: int = 1,
    tolerance: Tolerance = Tolerance(),
    attempts: int = 1000,
    confidence: float = 0.95,
    workers: int = 1,
    rng: np.random.Generator,
) -> Inferences:
    """The attack on each secret in turn: those given, those of the schema, or every column."""
    if isinstance(secrets, str):
        raise ParameterError(f"secrets is the text '{secrets}'; give a list of names, such as ['{secrets}'].")
    named = tuple(secrets or real.schema.secrets)
    criteria = tuple(
        inference(
            real,
            synthetic,
            secret=secret,
            keys=None if keys is None else [key for key in keys if key != secret],
            holdout=holdout,
            reference=reference,
            model=model,
            neighbours=neighbours,
            tolerance=tolerance,
            attempts=attempts,
            confidence=confidence,
            workers=workers,
            rng=rng,
        )
        for secret in named or real.schema.names
    )
    notes = () if named else ("No secret is named, so every column was attacked as one.",)
    return Inferences(criteria, over_secrets(criteria, confidence=confidence), notes)


def checked_keys(schema: Schema, secret: str, keys: Sequence[str] | None) -> tuple[str, ...]:
    """What the attacker knows: the given keys, those of the schema, or all columns but the secret."""
    schema.position(secret)
    if isinstance(keys, str):
        raise ParameterError(f"keys is the text '{keys}'; give a list of names, such as ['{keys}'].")
    if keys is None:
        declared = tuple(name for name in schema.keys if name != secret)
        keys = declared or tuple(name for name in schema.names if name != secret)
    if secret in keys:
        raise ParameterError(
            f"{quoted([secret])} is a key and the secret at once. What is known is not secret: remove one."
        )
    if not keys:
        raise ParameterError(f"Nothing is known about people but the secret '{secret}'. Give at least one key.")
    for name in keys:
        schema.position(name)
    return tuple(keys)


def _blind(reference: Table | None, schema: Schema, secret: str, people: int, rng: np.random.Generator) -> Guesses:
    """Guesses of someone who never saw the synthetic table."""
    if reference is None:
        return of_table(evenly_drawn(schema, people, rng), secret)
    return of_table(reference, secret).typical(people)
