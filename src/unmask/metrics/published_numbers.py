"""Numbers that only one person has, and that stand in the synthetic table: more often those of real people than of others?

Generators that draw donors publish people's own amounts, each perhaps in the row of somebody else. In a large table most
amounts occur by chance too, so that only counting everybody shows it; that is done by sorting or counting, and takes a moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.errors import InputError
from unmask.stats import Estimate, difference
from unmask.stats.labels import Strata, within
from unmask.tables.exact import ExactValues, is_wide, rounded_like
from unmask.tables.schema import Schema
from unmask.tables.table import Table
from unmask.tables.units import units

NEIGHBOURS = 100  # people with the next numbers, who are compared with each other
MOST_STRATA = 50


@dataclass(frozen=True, eq=False)
class PublishedNumbers:
    """Of one column: people with a number of their own, in real table and holdout together, and whose is published."""

    column: str
    mine: tuple[int, int]  # real people whose own number stands in the synthetic table, and all with one of their own
    theirs: tuple[int, int]  # the same of the holdout
    excess: Estimate | None  # the first share less the second
    p_value: (
        float | None
    )  # one-sided, of "no more often than in the holdout, among people with numbers of the same size"
    strata: Strata  # by which it was found
    published: np.ndarray  # of each real row: a number of its own, which stands in the synthetic table


def wide_columns(schema: Schema) -> list[str]:
    """Columns in which people can have numbers of their own."""
    return [schema.columns[place].name for place in schema.numeric if is_wide(schema.columns[place])]


def published_numbers(
    real: Table, synthetic: Table, *, holdout: Table, columns: Sequence[str] | None = None, confidence: float = 0.95
) -> tuple[PublishedNumbers, ...]:
    """Column by column (all wide ones by default), on the whole tables.

    Whether a number is published hangs on how many rows have numbers of about its size, and real table and holdout may differ
    in that without any leak: so people are compared within groups of a hundred or more with neighbouring numbers. If nothing
    leaks, who of them is called real is a random choice, whatever the sizes of the tables. Rows of one person are no
    independent draws: the first own number stands for its person.
    """
    for name, table in (("real", real), ("synthetic", synthetic), ("holdout", holdout)):
        if not len(table):
            raise InputError(f"The {name} table has no rows to compare. Give it rows.")
    names = wide_columns(real.schema) if columns is None else columns
    people = [rounded_like(table, synthetic) for table in (real, holdout)]
    return tuple(_published(name, people, synthetic, confidence) for name in names)


def _published(name: str, people: Sequence[Table], synthetic: Table, confidence: float) -> PublishedNumbers:
    position = synthetic.schema.position(name)
    numbers = [ExactValues(table).numbers(table, position) for table in (*people, synthetic)]
    sizes = len(numbers[0]), len(numbers[1])
    everybody = np.concatenate(numbers[:2])
    alone = _alone(everybody)
    sides = [_of_persons(table, rows) for table, rows in zip(people, np.split(alone, sizes[:1]), strict=True)]
    rows = np.concatenate([sides[0], sizes[0] + sides[1]])
    members = np.arange(len(rows)) < len(sides[0])
    own = everybody[rows]
    hit = _occurs(own, numbers[2])
    published = np.zeros(sizes[0], dtype=bool)
    published[sides[0]] = hit[members]
    strata = Strata.of(hit, members, _neighbours(own))
    mine, theirs = ((int(hit[side].sum()), int(side.sum())) for side in (members, ~members))
    both = mine[1] > 0 and theirs[1] > 0
    return PublishedNumbers(
        name,
        mine,
        theirs,
        difference(mine, theirs, confidence=confidence) if both else None,
        within(strata) if both else None,
        strata,
        published,
    )


def _alone(numbers: np.ndarray) -> np.ndarray:
    """Which numbers occur once; missing ones are nobody's."""
    order = np.argsort(numbers)
    ordered = numbers[order]
    differs = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
    found = np.empty(len(numbers), dtype=bool)
    found[order] = differs[1:] & differs[:-1] & ~np.isnan(ordered)
    return found


def _occurs(numbers: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Which of these numbers occur in the others."""
    ordered = np.sort(among[~np.isnan(among)])
    if not len(ordered):
        return np.zeros(len(numbers), dtype=bool)
    place = np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)
    return np.asarray(ordered[place] == numbers)


def _of_persons(table: Table, alone: np.ndarray) -> np.ndarray:
    """Rows with a number of their own, one for each person."""
    rows = np.flatnonzero(alone)
    if table.persons is None:
        return rows
    return np.sort(rows[np.unique(units(table).of_row[rows], return_index=True)[1]])


def _neighbours(numbers: np.ndarray) -> np.ndarray:
    """Groups of people with neighbouring numbers, as large as each other."""
    count = min(MOST_STRATA, max(1, len(numbers) // NEIGHBOURS))
    found = np.empty(len(numbers), dtype=np.int64)
    found[np.argsort(numbers, kind="stable")] = np.arange(len(numbers)) * count // max(1, len(numbers))
    return found
