"""The crowd: real people and holdout people side by side, looked at without knowing who is who.

What is said about a person (`attacks.standing`) compares the release with everybody else, members or not: with the rest of the
crowd, and with those who are too many to be looked at one by one. So if the release does not know its members, being called a
member is a random label, and any test that deals labels anew is exact. The others should be as many as the rows of the release:
in a million rows everybody finds somebody alike, and only as many others tell how alike is usual.

A *blind twin* runs beside it: the same learner and the same numbers, but in place of the release stand real people of the
half that teaches, who know nothing of the people that are judged. It sees what a release that gives nobody away would show all
the same if real table and holdout differ by themselves, and people are compared with others who look alike to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.attacks.classifier import Classifier
from unmask.attacks.learner import cross_fitted, told_apart
from unmask.attacks.standing import Standing, WeightedLinks, standing
from unmask.audits.release.tables import Release
from unmask.stats.auc import midranks
from unmask.stream import stream
from unmask.tables.table import Table, concatenate
from unmask.tables.units import one_row_each

FEWEST = 20  # people on either side: fewer cannot be halved and learnt from
STRATA = 5  # of people who look alike to the blind twin, in either half
TREES = Classifier(rounds=30, leaves=8)
MOST_OTHERS = 250_000  # people of either table with whom the crowd is compared: looking them through is cheap
LINKED = 4  # times as many others as the crowd has people of a table: their linkage weights are taken too
PARTS = 4  # of the half that teaches the twin: each stands against the real people of the others


@dataclass(frozen=True, eq=False)
class Others:
    """People of either table who are too many to be looked at one by one: one row of each."""

    people: Table
    members: np.ndarray  # who is a member


@dataclass(frozen=True, eq=False)
class Linked:
    """Linkage weights of the crowd, and of some of the others where there are any: they cost little."""

    links: WeightedLinks
    members: np.ndarray
    strata: np.ndarray  # of people who look alike to the blind twin

    def __len__(self) -> int:
        return len(self.members)


@dataclass(frozen=True, eq=False)
class Crowd:
    """One row of every person, members first, and two halves that take turns to teach and to be judged."""

    people: Table
    member_rows: np.ndarray  # of the real table, in order
    members: np.ndarray  # who is a member
    halves: np.ndarray  # 0 or 1
    release: Table
    others: Others | None = None
    seed: int = 0

    @classmethod
    def of(cls, release: Release, seed: int, most: int) -> Crowd | None:
        """At most so many people on either side, drawn at random; None without a holdout, or with too few people on a side."""
        if release.holdout is None:
            return None
        rng = stream(seed, "crowd")
        tables = release.real, release.holdout
        chosen, left = zip(*(_cut(one_row_each(table, rng), most, rng) for table in tables), strict=True)
        if min(map(len, chosen)) < FEWEST:
            return None
        people = _together(tables, chosen)
        halves = np.concatenate([rng.permutation(len(rows)) % 2 for rows in chosen])
        left = [_cut(rows, max(0, MOST_OTHERS - most), rng)[0] for rows in left]
        others = None
        if any(map(len, left)):
            others = Others(_together(tables, left), np.arange(sum(map(len, left))) < len(left[0]))
        members = np.arange(len(people)) < len(chosen[0])
        return cls(people, chosen[0], members, halves, release.synthetic, others, seed)

    def __len__(self) -> int:
        return len(self.people)

    @cached_property
    def reference(self) -> Table:
        """Everybody with whom people are compared: the crowd first."""
        return self.people if self.others is None else concatenate([self.people, self.others.people])

    @cached_property
    def standing(self) -> Standing:
        """How everybody in the crowd stands against the release; linkage weights go on to those who are linked beside it."""
        own = np.concatenate([np.arange(len(self)), len(self) + self._beside])
        people = self.people if not len(self._beside) else self.reference.take(own)
        return standing(people, self.release, self.reference, own=own, first=len(self))

    @cached_property
    def linkage(self) -> np.ndarray:
        """Linkage weights: a fixed score, which learns nothing."""
        return self.standing.links.weights[: len(self)]

    @cached_property
    def found(self) -> np.ndarray:
        """How much of each person the best match in the release has."""
        return self.standing.links.found[: len(self)]

    @cached_property
    def linked(self) -> Linked:
        """Linkage weights of more people. Others are strata of their own, by the mean of what either half taught the trees."""
        links, beside = self.standing.links, self._beside
        if self.others is None or not len(beside):
            return Linked(links, self.members, self.strata)
        people = self.others.people.take(beside)
        blind = midranks(np.sum([midranks(tell(people)) for tell in self._trees], axis=0)) / len(people)
        return Linked(
            links,
            np.concatenate([self.members, self.others.members[beside]]),
            np.concatenate([self.strata, 2 * STRATA + _strata(blind)]),
        )

    @cached_property
    def _beside(self) -> np.ndarray:
        """Who of the others is linked too: as many on either side, as in the crowd, so that labels are dealt alike in both."""
        if self.others is None:
            return np.empty(0, dtype=np.int64)
        rng = stream(self.seed, "linked")
        sides = [np.flatnonzero(self.others.members == side) for side in (True, False)]
        most = min(LINKED * int(self.members.sum()), *map(len, sides))
        return np.concatenate([_cut(side, most, rng)[0] for side in sides])

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
            by_trees = self._trees[half](self.people.take(judged))
            taught = np.concatenate(
                [self._blind_standing(teaching[part], teaching[~part]) for part in _parts(len(teaching))]
            )
            order = np.concatenate([np.flatnonzero(part) for part in _parts(len(teaching))])
            tell = told_apart(taught, self.members[teaching[order]])
            by_numbers = tell(self._blind_standing(judged, teaching))
            ranks[judged] = midranks(midranks(by_trees) + midranks(by_numbers)) / len(judged)
        return ranks

    @cached_property
    def _trees(self) -> tuple[Callable[[Table], np.ndarray], ...]:
        """What tells real people from the holdout by their rows: taught by the other half, for either half."""
        found = []
        for half in range(2):
            taught = self.halves != half
            real, held = (self.people.take(np.flatnonzero(taught & (self.members == side))) for side in (True, False))
            found.append(TREES.between(real, held, stream(half, "blind")))
        return tuple(found)

    def _blind_standing(self, people: np.ndarray, teachers: np.ndarray) -> np.ndarray:
        """How people stand against other real people, those who teach being the reference."""
        real = stream(len(teachers), "stand-ins").permutation(teachers[self.members[teachers]])
        published = real[: max(len(self.release), FEWEST)]
        return standing(*(self.people.take(rows) for rows in (people, published, teachers))).values

    @cached_property
    def strata(self) -> np.ndarray:
        """People who look alike to the blind twin: within a stratum a difference between the tables explains little."""
        return np.asarray(self.halves * STRATA + _strata(self.blind))


def _strata(ranks: np.ndarray) -> np.ndarray:
    """Ranks from 0 to 1 in so many parts."""
    return np.minimum((ranks * STRATA).astype(np.int64), STRATA - 1)


def _together(tables: Sequence[Table], rows: Sequence[np.ndarray]) -> Table:
    """These rows of the tables, one below the other, without person ids."""
    taken = [table.take(mine) for table, mine in zip(tables, rows, strict=True)]
    return concatenate([Table(each.schema, each.codes, each.numbers) for each in taken])


def _cut(rows: np.ndarray, most: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """At most so many of the rows, drawn at random, and the others; both in order."""
    chosen = np.ones(len(rows), dtype=bool)
    if len(rows) > most:
        chosen[:] = False
        chosen[rng.choice(len(rows), most, replace=False)] = True
    return rows[chosen], rows[~chosen]


def _parts(size: int) -> list[np.ndarray]:
    """Masks of the parts that the half which teaches is cut into."""
    return [np.arange(size) % PARTS == part for part in range(PARTS)]
