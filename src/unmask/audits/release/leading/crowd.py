"""The crowd: real people and holdout people side by side, looked at without knowing who is who.

What is said about a person (`attacks.standing`) compares the release with everybody else in the crowd, members or not. So if
the release does not know its members, being called a member is a random label, and any test that deals labels anew is exact.

A *blind twin* runs beside it: the same learner and the same numbers, but in place of the release stand real people of the
half that teaches, who know nothing of the people that are judged. It sees what a release that gives nobody away would show all
the same if real table and holdout differ by themselves, and people are compared with others who look alike to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.attacks.classifier import Classifier
from unmask.attacks.learner import cross_fitted, told_apart
from unmask.attacks.standing import Standing, standing
from unmask.audits.release.tables import Release
from unmask.stats.auc import midranks
from unmask.stream import stream
from unmask.tables.table import Table, concatenate
from unmask.tables.units import one_row_each

FEWEST = 20  # people on either side: fewer cannot be halved and learnt from
STRATA = 5  # of people who look alike to the blind twin, in either half
TREES = Classifier(rounds=30, leaves=8)
PARTS = 4  # of the half that teaches the twin: each stands against the real people of the others


@dataclass(frozen=True, eq=False)
class Crowd:
    """One row of every person, members first, and two halves that take turns to teach and to be judged."""

    people: Table
    member_rows: np.ndarray  # of the real table, in order
    members: np.ndarray  # who is a member
    halves: np.ndarray  # 0 or 1
    release: Table

    @classmethod
    def of(cls, release: Release, seed: int, most: int) -> Crowd | None:
        """At most so many people on either side, drawn at random; None without a holdout, or with too few people on a side."""
        if release.holdout is None:
            return None
        rng = stream(seed, "crowd")
        rows, others = (_some(one_row_each(table, rng), most, rng) for table in (release.real, release.holdout))
        if min(len(rows), len(others)) < FEWEST:
            return None
        sides = release.real.take(rows), release.holdout.take(others)
        people = concatenate([Table(side.schema, side.codes, side.numbers) for side in sides])
        halves = np.concatenate([rng.permutation(len(side)) % 2 for side in sides])
        return cls(people, rows, np.arange(len(people)) < len(rows), halves, release.synthetic)

    def __len__(self) -> int:
        return len(self.people)

    @cached_property
    def standing(self) -> Standing:
        """How everybody stands against the release."""
        return standing(self.people, self.release, self.people, own=np.arange(len(self)))

    @cached_property
    def linkage(self) -> np.ndarray:
        """Linkage weights: a fixed score, which learns nothing."""
        return self.standing.linkage

    @cached_property
    def learnt(self) -> np.ndarray:
        """The learnt auditor: each half is scored by what the other one taught."""
        return cross_fitted(self.standing.values, self.members, self.halves)

    @cached_property
    def blind(self) -> np.ndarray:
        """The blind twin, ranked within a half (0 to 1): the mean of two learners, neither of which sees the release.

        One has the numbers and the learner of the learnt auditor, with real people of the half that teaches in place of the
        release; the other, boosted trees, has the rows themselves.
        """
        ranks = np.empty(len(self))
        for half in range(2):
            judged, teaching = np.flatnonzero(self.halves == half), np.flatnonzero(self.halves != half)
            real, held = (self.people.take(teaching[self.members[teaching] == side]) for side in (True, False))
            by_trees = TREES.between(real, held, stream(half, "blind"))(self.people.take(judged))
            taught = np.concatenate(
                [self._blind_standing(teaching[part], teaching[~part]) for part in _parts(len(teaching))]
            )
            order = np.concatenate([np.flatnonzero(part) for part in _parts(len(teaching))])
            tell = told_apart(taught, self.members[teaching[order]])
            by_numbers = tell(self._blind_standing(judged, teaching))
            ranks[judged] = midranks(midranks(by_trees) + midranks(by_numbers)) / len(judged)
        return ranks

    def _blind_standing(self, people: np.ndarray, teachers: np.ndarray) -> np.ndarray:
        """How people stand against other real people, those who teach being the reference."""
        real = stream(len(teachers), "stand-ins").permutation(teachers[self.members[teachers]])
        published = real[: max(len(self.release), FEWEST)]
        return standing(*(self.people.take(rows) for rows in (people, published, teachers))).values

    @cached_property
    def strata(self) -> np.ndarray:
        """People who look alike to the blind twin: within a stratum a difference between the tables explains little."""
        within = np.minimum((self.blind * STRATA).astype(np.int64), STRATA - 1)
        return np.asarray(self.halves * STRATA + within)


def _some(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def _parts(size: int) -> list[np.ndarray]:
    """Masks of the parts that the half which teaches is cut into."""
    return [np.arange(size) % PARTS == part for part in range(PARTS)]
