"""Linking: do two halves of a person's data, known from two sources, point at the same synthetic row?

The columns are cut into two disjoint sets. For each half the k nearest synthetic rows are looked up (Gower distance on that
half); the halves are linked if they share one. The control does the same with holdout people. The baseline picks k rows for
each half blindly: it links with probability 1 - C(n-k, k)/C(n, k), which is computed, not drawn.

Synthetic rows are shuffled first and ties go to the lowest row, so with equally near rows A for one half and B for the
other, one link is found with probability |A and B| / |A or B|, and the order of the file says nothing.
Cost: records x synthetic rows x columns, compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from unmask.errors import ParameterError
from unmask.metrics.legal import Attempts, Criterion, check_tables, chosen_rows, judged, persons
from unmask.stats.results import Assumption, Estimate
from unmask.tables.distance import MOST_NEIGHBOURS, nearest_in_order
from unmask.tables.schema import Schema, quoted
from unmask.tables.table import Table, concatenate

Halves = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True, eq=False)
class Linkability(Criterion):
    """`successes` says for each attacked row whether its halves were linked."""

    halves: tuple[tuple[str, ...], tuple[str, ...]]
    neighbours: int


def linkability(
    real: Table,
    synthetic: Table,
    *,
    holdout: Table | None = None,
    halves: Halves | None = None,
    neighbours: int = 1,
    attempts: int = 1000,
    confidence: float = 0.95,
    workers: int = 1,
    rng: np.random.Generator,
) -> Linkability:
    """How often both halves of a record have a nearest synthetic row in common.

    `halves` are two lists of columns; None = every other column of the table.
    """
    check_tables(real, synthetic, holdout=holdout, attempts=attempts)
    first, second = _checked(real.schema, halves)
    if not 1 <= neighbours <= MOST_NEIGHBOURS:
        raise ParameterError(f"neighbours is {neighbours}; choose 1 to {MOST_NEIGHBOURS}.")
    k = min(neighbours, len(synthetic))
    order = rng.permutation(len(synthetic))
    rows = chosen_rows(real, attempts, rng)
    control_rows = np.empty(0, dtype=np.int64) if holdout is None else chosen_rows(holdout, attempts, rng)

    attacked = [real.take(rows), *([] if holdout is None else [holdout.take(control_rows)])]
    people = concatenate(
        [Table(part.schema, part.codes, part.numbers) for part in attacked]
    )  # one search for both sides
    one, other = (
        nearest_in_order(people, synthetic, order, k=k, columns=half, workers=workers) for half in (first, second)
    )
    linked = (one[:, :, None] == other[:, None, :]).any(axis=(1, 2))
    successes, control_successes = linked[: len(rows)], linked[len(rows) :]
    control = None
    if holdout is not None:
        control = Attempts(control_successes, persons(holdout, control_rows))
    fields = judged(
        Attempts(successes, persons(real, rows)),
        _blind(k, len(synthetic), len(rows), confidence),
        control,
        confidence=confidence,
    )
    if k < neighbours:
        fields["notes"] += (f"The synthetic table has only {k} rows, so {k} neighbours were used, not {neighbours}.",)
    return Linkability(
        name="linking",
        **fields,
        rows=rows,
        successes=successes,
        control_rows=control_rows,
        control_successes=control_successes,
        halves=(first, second),
        neighbours=k,
    )


def _checked(schema: Schema, halves: Halves | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if halves is None:
        if len(schema.columns) < 2:
            raise ParameterError("Linking needs two columns at least, one for each half; this table has one.")
        return schema.names[::2], schema.names[1::2]
    if len(halves) != 2 or any(isinstance(half, str) or len(half) == 0 for half in halves):
        raise ParameterError("halves must be two lists of column names, neither of them empty.")
    first, second = tuple(halves[0]), tuple(halves[1])
    for name in (*first, *second):
        schema.position(name)
    if both := [name for name in first if name in second]:
        raise ParameterError(
            f"{quoted(both)} is in both halves. The two sources must share no column: remove it from one."
        )
    return first, second


def _blind(k: int, rows: int, attempts: int, confidence: float) -> Estimate:
    """Two random sets of k among n rows meet with this probability."""
    value = 1.0
    if 2 * k <= rows:
        value = float(-np.expm1(2 * gammaln(rows - k + 1) - gammaln(rows - 2 * k + 1) - gammaln(rows + 1)))
    return Estimate(value, (value, value), confidence, "computed: two random sets of rows", Assumption.EXACT, attempts)
