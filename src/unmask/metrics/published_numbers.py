"""Numbers that only one person has, and that stand in the synthetic table: more often those of real people than of others?

Generators that draw donors publish people's own amounts, each perhaps in the row of somebody else. In a large table most
amounts occur by chance too, so that only counting everybody shows it; that is done by sorting or counting, and takes a moment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.errors import InputError
from unmask.stats import Estimate, difference
from unmask.stats.labels import Strata, fisher_of
from unmask.tables.exact import ExactValues, is_wide, rounded_like
from unmask.tables.matching import occur_in, occur_once
from unmask.tables.schema import Schema
from unmask.tables.table import Table
from unmask.tables.units import one_row_each

NEIGHBOURS = 100  # people with the next numbers, who are compared with each other
MOST_STRATA = 50
DIFFERS = 0.05  # the level at which real table and holdout are said to differ by themselves


@dataclass(frozen=True, eq=False)
class OwnNumbers:
    """Real people and holdout people with a number of their own, and how many of these stand in a table."""

    mine: tuple[int, int]  # real people whose number stands in it, and all with one of their own
    theirs: tuple[int, int]  # the same of the holdout
    strata: Strata  # by neighbouring numbers

    def __add__(self, other: OwnNumbers) -> OwnNumbers:
        """Both together. People of the holdout are then counted twice, so that the twin alarms too often: the safe side."""
        counts = [(a[0] + b[0], a[1] + b[1]) for a, b in ((self.mine, other.mine), (self.theirs, other.theirs))]
        return OwnNumbers(counts[0], counts[1], self.strata.and_of(other.strata))

    @property
    def both(self) -> bool:
        """Whether there is anybody on either side."""
        return self.mine[1] > 0 and self.theirs[1] > 0

    @property
    def excess(self) -> float:
        """The share of real people less that of the holdout, among people with neighbouring numbers (Mantel and Haenszel)."""
        own, other = self.strata.members, self.strata.people - self.strata.members
        hits, theirs = self.strata.hits, self.strata.successes - self.strata.hits
        weights = own * other / self.strata.people
        gaps = hits / np.maximum(own, 1) - theirs / np.maximum(other, 1)
        return float((weights * gaps).sum() / max(weights.sum(), 1e-9))


@dataclass(frozen=True, eq=False)
class PublishedNumbers:
    """Of one column: people with a number of their own, in real table and holdout together, and whose is published."""

    column: str
    asked: OwnNumbers  # of the synthetic table
    excess: Estimate | None  # the share of real people less that of the holdout
    p_value: (
        float | None
    )  # one-sided, of "no more often than in the holdout, among people with numbers of the same size"
    explained: float  # of the excess at most: what real table and holdout differ by themselves; 0 if they do not
    rows: np.ndarray  # of the real table: those that were asked about, one for each person
    published: np.ndarray  # which of them have a number of their own that stands in the synthetic table


def wide_columns(schema: Schema) -> list[str]:
    """Columns in which people can have numbers of their own."""
    return [schema.columns[place].name for place in schema.numeric if is_wide(schema.columns[place])]


def published_numbers(
    real: Table, synthetic: Table, *, holdout: Table, confidence: float = 0.95, rng: np.random.Generator
) -> tuple[PublishedNumbers, ...]:
    """Every column in which people can have numbers of their own, on the whole tables; one random row of each person.

    Whether a number is published hangs on how many rows have numbers of about its size, and real table and holdout may differ
    in that without any leak: so people are compared within groups of a hundred or more with neighbouring numbers. If nothing
    leaks, who of them is called real is a random choice, whatever the sizes of the tables.

    Numbers may also belong to a year or a place (pay scales, tariffs), which no neighbours explain: a blind twin asks one half
    of the real people and the holdout about the other half in place of the synthetic table, and what differs there is said.
    """
    for name, table in (("real", real), ("synthetic", synthetic), ("holdout", holdout)):
        if not len(table):
            raise InputError(f"The {name} table has no rows to compare. Give it rows.")
    rows, held = (slice(None) if table.persons is None else one_row_each(table, rng) for table in (real, holdout))
    written = [rounded_like(table, synthetic) for table in (real, holdout)]
    everybody = np.arange(len(real), dtype=np.uint32)[rows]
    first = rng.integers(0, 2, len(everybody), dtype=bool)
    found = []
    for name in wide_columns(real.schema):
        position = real.schema.position(name)
        mine, theirs, released = (ExactValues(table).numbers(table, position) for table in (*written, synthetic))
        mine, theirs = mine[rows], theirs[held]
        asked, hit = _asked(mine, theirs, released)
        del released
        published = np.zeros(len(everybody), dtype=bool)
        published[hit] = True
        halves = [_asked(mine[half], theirs, mine[~half])[0] for half in (first, ~first)]
        larger = 2 * len(synthetic) / len(everybody)
        found.append(
            PublishedNumbers(
                name,
                asked,
                difference(asked.mine, asked.theirs, confidence=confidence) if asked.both else None,
                fisher_of(asked.strata) if asked.both else None,
                _explained(halves[0] + halves[1], larger),
                everybody,
                published,
            )
        )
    return tuple(found)


def _asked(mine: np.ndarray, theirs: np.ndarray, among: np.ndarray) -> tuple[OwnNumbers, np.ndarray]:
    """People with numbers of their own, and which of the real ones have one that occurs in the table that is asked."""
    everybody = np.concatenate([mine, theirs])
    rows = np.flatnonzero(occur_once(everybody))
    members = rows < len(mine)
    own = everybody[rows]
    hit = occur_in(own, among)
    counts = [(int(hit[side].sum()), int(side.sum())) for side in (members, ~members)]
    return OwnNumbers(counts[0], counts[1], Strata.of(hit, members, _neighbours(own))), rows[members & hit]


def _explained(twin: OwnNumbers, larger: float) -> float:
    """What the blind twin differs by at most, in a table that is so many times as large; 0 where it does not differ.

    A table of c times the rows meets at most c times the numbers, so that is what it may differ by.
    """
    if not twin.both or fisher_of(twin.strata) > DIFFERS:
        return 0.0
    return max(0.0, difference(twin.mine, twin.theirs, confidence=1 - DIFFERS).high) * max(1.0, larger)


def _neighbours(numbers: np.ndarray) -> np.ndarray:
    """Groups of people with neighbouring numbers, as large as each other."""
    count = min(MOST_STRATA, max(1, len(numbers) // NEIGHBOURS))
    found = np.empty(len(numbers), dtype=np.int64)
    found[np.argsort(numbers, kind="stable")] = np.arange(len(numbers)) * count // max(1, len(numbers))
    return found
