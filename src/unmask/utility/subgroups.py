"""Does the minority pay? What the release is good for, group by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.stats.results import Estimate
from unmask.tables.table import Table
from unmask.tables.units import SMALLEST_GROUP, units
from unmask.utility.comparison import gaps, student
from unmask.utility.marginals import marginals, variations
from unmask.utility.prediction import PeopleScores

MOST_VALUES = 12  # of a column that divides people into groups


@dataclass(frozen=True)
class GroupGap:
    """A group of real people, by the code of its value, and how the release serves it."""

    column: str
    code: int
    people: int
    estimate: Estimate
    other: float  # what to compare it with: sampling noise, or what real rows teach


def dividing(table: Table, first: Sequence[str] = (), most: int = 6) -> tuple[str, ...]:
    """Columns of few categories, the named ones first."""
    few = [
        column.name for column in table.schema.columns if not column.is_numeric and 2 <= column.listed <= MOST_VALUES
    ]
    return tuple(dict.fromkeys([*(name for name in first if name in few), *few]))[:most]


def group_marginals(
    real: Table, sets: Sequence[Table], column: str, *, confidence: float = 0.95, rng: np.random.Generator
) -> tuple[GroupGap, ...]:
    """Mean total variation of all other columns within each group of at least ten people; `other` is its sampling noise."""
    position = real.schema.position(column)
    rest = [(place,) for place in range(len(real.schema.columns)) if place != position]
    found = []
    for code, people in group_sizes(real, column).items():
        mine = real.take(real.codes[:, position] == code)
        theirs = [table.take(table.codes[:, position] == code) for table in sets]
        if people < SMALLEST_GROUP or not rest or not all(map(len, theirs)):
            continue
        told = gaps(lambda table: marginals(table, rest), variations, mine, theirs, confidence=confidence, rng=rng)
        found.append(GroupGap(column, code, people, told.mean, told.mean_noise))
    return tuple(found)


def group_predictions(scores: PeopleScores, column: str, *, confidence: float = 0.95) -> tuple[GroupGap, ...]:
    """Synthetic less real, over the people of each group who were tested (Student's t); `other` is what real rows reach."""
    position = scores.table.schema.position(column)
    tested = ~np.isnan(scores.real)
    known = scores.table.take(tested)
    mine, theirs = scores.real[tested], scores.synthetic[tested]
    found = []
    for code, people in group_sizes(known, column).items():
        inside = known.codes[:, position] == code
        if people >= SMALLEST_GROUP:
            told = student((theirs - mine)[inside], confidence=confidence, method="Student t over people")
            found.append(GroupGap(column, code, people, told, float(mine[inside].mean())))
    return tuple(found)


def group_sizes(table: Table, column: str) -> dict[int, int]:
    """How many people have each value that occurs, by code."""
    codes, everyone = table.codes[:, table.schema.position(column)], units(table).of_row
    return {int(code): len(np.unique(everyone[codes == code])) for code in np.unique(codes)}
