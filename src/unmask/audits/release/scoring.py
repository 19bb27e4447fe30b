"""Membership without a generator: does the release know the people of the real table better than the holdout?

The holdout is split in two: one half is the attacker's reference, the other half plays people who were never shown to the
generator. An attack that scores the real people higher than those has learnt who was in the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unmask.attacks._attack import ReleaseAttack
from unmask.attacks.classifier import Classifier
from unmask.attacks.closest_record import ClosestRecord
from unmask.attacks.density_ratio import DensityRatio
from unmask.attacks.gen_lra import GenLra
from unmask.attacks.local_neighbourhood import LocalNeighbourhood
from unmask.results.result import NotTested
from unmask.stats.outcomes import MembershipOutcome, best_threshold, judge_membership
from unmask.stream import stream
from unmask.tables.table import Table, concatenate
from unmask.tables.units import one_row_each
from unmask.threats.knowledge import Access
from unmask.threats.view import View

HELD = frozenset({Access.SYNTHETIC, Access.REFERENCE})


@dataclass(frozen=True)
class ReleaseEntry:
    """An attack of this audit, and how many people on each side it can score in reasonable time."""

    attack: ReleaseAttack
    people: float  # at most so many times those whom the plan asks for
    pair: float = 0.0  # seconds that a person and a published row take
    pairs: float = float("inf")  # of people and published rows, for those who compare each with each: some seconds
    rows: float = float(
        "inf"
    )  # published ones, at most: for attacks that ask for a share of them, not for a single one
    word: str = "score"  # of its random stream

    def most(self, people: int, published: int) -> int:
        """People on each side: all that the pairs allow; nobody where they allow so few that nothing could be seen."""
        wanted, allowed = self.people * people, self.pairs / max(1, min(self.rows, published))
        return 0 if allowed < min(FEWEST, wanted) else max(1, round(min(wanted, allowed)))

    def cut(self, published: Table, rng: np.random.Generator) -> Table:
        """The published rows that are looked at: all, or so many drawn at random."""
        if len(published) <= self.rows:
            return published
        return published.take(np.sort(rng.choice(len(published), int(self.rows), replace=False)))


FEWEST = 100  # people on a side, if as many are asked for: an attack that could look at fewer is left out
ATTACKS = {
    "closest-record": ReleaseEntry(ClosestRecord(), 200, 0.2e-9, pairs=1.6e9),
    "closest-record:metric=hamming": ReleaseEntry(ClosestRecord(metric="hamming"), 200, 0.15e-9, pairs=1.6e9),
    "local-neighbourhood": ReleaseEntry(LocalNeighbourhood(), 1, 1.6e-9, pairs=1.25e8, rows=50_000),
    "density-ratio:kind=bayesnet": ReleaseEntry(DensityRatio(kind="bayesnet"), 4),
    "gen-lra": ReleaseEntry(GenLra(), 0.2, 5e-9, pairs=5e7),
    "classifier": ReleaseEntry(Classifier(), 4, word="fit"),
}


@dataclass(frozen=True, eq=False)
class Sides:
    """Who is scored: people of the real table, people whom the generator never saw, and the attacker's reference."""

    real: Table
    member_rows: np.ndarray  # of the real table
    controls: Table
    reference: Table


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of one attack; higher = more likely a member."""

    name: str
    members: np.ndarray
    member_rows: np.ndarray
    controls: np.ndarray


def sides_of(real: Table, holdout: Table, seed: int) -> Sides:
    """Everybody in the real table, and the holdout split by unit. A person with several rows is scored by one of them.

    Rows of one person are no independent evidence, so one row each, drawn at random, stands for its unit on every side.
    """
    rng = stream(seed, "holdout")
    reference, controls = holdout.split(0.5, seed=int(rng.integers(2**31)))
    rows = one_row_each(real, rng)
    rows = rows.astype(np.int32) if len(real) < np.iinfo(np.int32).max else rows  # kept for long: half of the room
    return Sides(
        real,
        rows,
        controls.take(one_row_each(controls, rng)),
        reference.take(one_row_each(reference, rng)),
    )


def score_all(sides: Sides, synthetic: Table, seed: int, *, people: int) -> Iterator[Scores]:
    """Every attack on both sides; dear ones on a random part of each."""
    for name, entry in ATTACKS.items():
        if not entry.most(people, len(synthetic)):
            continue
        part = _part(sides, entry.most(people, len(synthetic)), stream(seed, "part", name))
        looked_at = entry.cut(synthetic, stream(seed, "published", name))
        # One stream for both sides: a random part of the reference is the same for members and controls.
        both = _scores(entry.attack, part, looked_at, stream(seed, entry.word, name))
        count = len(part.member_rows)
        yield Scores(name, both[:count], part.member_rows, both[count:])


def rows_left_out(published: int) -> tuple[str, ...]:
    """A sentence about each attack that looks at some of so many published rows."""
    return tuple(
        f"{name}: {int(entry.rows):,} of {published:,} published rows, drawn at random, were looked at: it measures which "
        "share of them is near a person."
        for name, entry in ATTACKS.items()
        if published > entry.rows
    )


def left_out(people: int, published: int) -> tuple[NotTested, ...]:
    """The attacks for which there are too many published rows."""
    reason = (
        f"among {published:,} published rows it could look at fewer than {FEWEST} people on a side in "
        "reasonable time, which would show nothing"
    )
    rest = "the learnt auditor and linkage weights compare people with all published rows; on a part of the release it is tested"
    return tuple(NotTested(name, reason, rest) for name, entry in ATTACKS.items() if not entry.most(people, published))


def _scores(attack: ReleaseAttack, sides: Sides, synthetic: Table, rng: np.random.Generator) -> np.ndarray:
    """Scores of members and controls, one after the other."""
    targets = concatenate([_bare(sides.real.take(sides.member_rows)), _bare(sides.controls)])
    view = View(HELD, synthetic=synthetic, reference=sides.reference)
    before = View(HELD - {Access.SYNTHETIC}, synthetic=synthetic, reference=sides.reference)
    return np.asarray(attack.prepare(before, targets, None, rng).score(view, targets, None, rng))


def _part(sides: Sides, most: int, rng: np.random.Generator) -> Sides:
    def some(count: int) -> np.ndarray:
        return np.sort(rng.choice(count, most, replace=False)) if count > most else np.arange(count)

    members, controls = some(len(sides.member_rows)), some(len(sides.controls))
    return Sides(sides.real, sides.member_rows[members], sides.controls.take(controls), sides.reference)


def _bare(table: Table) -> Table:
    return Table(table.schema, table.codes, table.numbers)


def judge_scores(scores: Scores, seed: int, *, confidence: float, tests: float) -> MembershipOutcome | None:
    """Rates at a threshold that was chosen on one half of the people and is judged on the other."""
    rng = stream(seed, "halves", scores.name)
    values = np.concatenate([scores.members, scores.controls])
    is_member = np.arange(len(values)) < len(scores.members)
    first = rng.permutation(len(values)) < len(values) // 2
    threshold = best_threshold(values[first], is_member[first])
    return judge_membership(values[~first], is_member[~first], threshold, confidence=confidence, tests=tests)
