"""What the audit would have seen: leaks of known size, planted into this very data, judged as the audit judges.

Labels are dealt anew in every trial, so that what the release leaks already does not count, and a share of the people who are
then called members is planted: their numbers become what they would be if such a row stood in the release. Nothing is compared
again with the release: a best match can only be beaten by the plant, and a count only grows by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from unmask.audits.release.case import Case
from unmask.audits.release.copies import COPYING
from unmask.audits.release.leading.crowd import Crowd, Linked
from unmask.audits.release.leading.judging import LEARNT, LINKAGE
from unmask.audits.release.numbers import OWN_NUMBERS
from unmask.results.state import COPIES, NAMES, is_seen
from unmask.stats import clopper_pearson
from unmask.stats.labels import DealtTop, Strata, TopTest, depths_of, fisher, fisher_of
from unmask.stream import stream

RATES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0)  # of the members
TRIALS = 20
SEEN = 16  # of TRIALS: eight in ten
DRAWS = 1_999  # dealings of labels in a test

Counted = tuple[int, int]  # unique people who stand in the release, and all unique ones
See = Callable[[float, np.random.Generator], bool]  # whether a leak of this rate is seen in one trial


@dataclass(frozen=True)
class PlantedLeak:
    """How often one kind of leak was seen, by the share of the members whom it concerns."""

    kind: str
    rates: tuple[float, ...]
    seen: tuple[int, ...]  # of TRIALS

    @property
    def smallest(self) -> float:
        """The smallest rate that was seen in at least SEEN trials; infinite if none was."""
        enough = [rate for rate, count in zip(self.rates, self.seen, strict=True) if count >= SEEN]
        return min(enough, default=float("inf"))

    @property
    def sure(self) -> float:
        """At that rate: the share of audits in which it is seen at least (95 %)."""
        if not np.isfinite(self.smallest):
            return 0.0
        return clopper_pearson(self.seen[self.rates.index(self.smallest)], TRIALS, confidence=0.9).low

    def sees(self, rate: float) -> bool:
        """Whether a leak of this rate is seen more often than not, by the largest one up to it that was tried."""
        counts = [count for at, count in zip(self.rates, self.seen, strict=True) if at <= rate]
        return bool(counts) and is_seen(counts[-1], TRIALS)


def planted_leaks(case: Case) -> tuple[PlantedLeak, ...]:
    """Each kind of leak at growing rates, until it is seen."""
    if (crowd := case.crowd) is None:
        return ()
    found = []
    for kind, see in _kinds(case, crowd):
        rates, seen = [], []
        for rate in RATES:
            rng = stream(case.plan.seed, "planted", kind, f"{rate}")
            rates.append(rate)
            seen.append(sum(see(rate, rng) for _ in range(TRIALS)))
            if seen[-1] >= SEEN:
                break
        found.append(PlantedLeak(kind, tuple(rates), tuple(seen)))
    return tuple(found)


def in_words(planted: tuple[PlantedLeak, ...]) -> str:
    """The sentence of the verdict."""
    visible = [f"{each.kind}: {_percent(each.smallest)}" for each in planted if np.isfinite(each.smallest)]
    missed = [each.kind for each in planted if not np.isfinite(each.smallest)]
    if not visible:
        return "No leak of any size would have been seen reliably here: the holdout is too small, or most people have twins."
    text = (
        f"Smallest leak that would have been seen on this data (in {SEEN} of {TRIALS} planted trials or more), as a share of the "
        f"real people: {'; '.join(visible)}."
    )
    return text + (f" Not seen at any rate: {'; '.join(missed)}." if missed else "")


def _percent(rate: float) -> str:
    return f"{100 * rate:g} %"


def _kinds(case: Case, crowd: Crowd) -> Iterator[tuple[str, See]]:
    for changed in range(min(4, len(crowd.people.schema.columns))):
        name = COPIES if not changed else f"copies with {changed} column{'s' * (changed > 1)} changed"
        yield name, _copies(case, crowd.linked, changed)
    if crowd.people.schema.numeric and OWN_NUMBERS.name not in case.refused:
        yield "exact numbers carried over", _carried(case)
    yield NAMES, _recognised(case, crowd)


def _copies(case: Case, people: Linked, changed: int) -> See:
    """Rows of members, some columns changed to what they are not; linkage weights and the test for copies look for them."""
    links, members = people.links, int(people.members.sum())
    dealt = DealtTop.alike(len(people), members, DRAWS, stream(case.plan.seed, "planted", "labels"))

    def see(rate: float, rng: np.random.Generator) -> bool:
        if not changed and _counted(case, rate, rng):
            return True
        labels, planted = _dealt(len(people), members, rate, rng)
        kept = links.worth[planted]
        if changed:
            np.put_along_axis(kept, np.argsort(rng.random(kept.shape), axis=1)[:, :changed], 0.0, axis=1)
        found = links.best.copy()
        found[planted] = np.maximum(found[planted], kept.sum(axis=1))
        return _top(dealt, found - links.usual, labels, rng).p_value <= case.error(LINKAGE)

    return see


def _counted(case: Case, rate: float, rng: np.random.Generator) -> bool:
    """Whether the test for copies sees verbatim ones of this rate."""
    mine, theirs = case.copies.mine, case.copies.theirs
    if COPYING.name in case.refused or not min(mine[1], theirs[1]):
        return False
    return fisher(*_grown(mine, theirs, rate, rng)) <= case.error(COPYING)


def _grown(mine: Counted, theirs: Counted, rate: float, rng: np.random.Generator) -> tuple[Counted, Counted]:
    """How many unique people stand in the release if labels are dealt anew and a share of the members is planted.

    Of all people and not of the crowd, since the test for copies looks at all: so larger tables show smaller leaks.
    """
    seen, size = mine[0] + theirs[0], mine[1] + theirs[1]
    dealt = int(rng.hypergeometric(seen, size - seen, mine[1]))
    more = int(rng.hypergeometric(mine[1] - dealt, dealt, round(rate * mine[1])))
    return (dealt + more, mine[1]), (seen - dealt, theirs[1])


def _grown_within(strata: Strata, rate: float, rng: np.random.Generator) -> Strata:
    """The same within strata, for own numbers."""
    members, people = strata.members, strata.people
    dealt = rng.hypergeometric(strata.successes, people - strata.successes, members)
    planted = rng.binomial(members, rate)
    more = rng.hypergeometric(members - dealt, dealt, planted)
    return Strata(dealt + more, strata.successes + more, members, people)


def _carried(case: Case) -> See:
    """The very numbers of members, each in some row of its own; counting looks for them.

    The learnt auditor may see more. It is not asked: all of its numbers about a person would have to be made anew.
    """

    def see(rate: float, rng: np.random.Generator) -> bool:
        grown = (_grown_within(each.asked.strata, rate, rng) for each in case.numbers)
        return any(fisher_of(strata) <= case.error(OWN_NUMBERS) for strata in grown)

    return see


def _recognised(case: Case, crowd: Crowd) -> See:
    """Members who stand above everybody else, whatever gave them away; the learnt auditor looks for them."""

    seen = _Halves.of(case, len(crowd), int(crowd.members.sum()))

    def see(rate: float, rng: np.random.Generator) -> bool:
        labels, planted, halves = seen.dealt(rate, rng)
        scores = rng.random(len(crowd))
        scores[planted] += 1.0
        return seen.by(scores, labels, halves, rng)

    return see


@dataclass(frozen=True, eq=False)
class _Halves:
    """The test of the learnt auditor: half by half, each with half of its error."""

    error: float
    size: int
    members: int
    tops: tuple[DealtTop, ...]  # of either half

    @classmethod
    def of(cls, case: Case, size: int, members: int) -> _Halves:
        rng = stream(case.plan.seed, "planted", "labels")
        sizes = ((size + 1) // 2, (members + 1) // 2), (size // 2, members // 2)
        return cls(case.error(LEARNT) / 2, size, members, tuple(DealtTop.alike(*each, DRAWS, rng) for each in sizes))

    def dealt(self, rate: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Labels, the places of those who are planted, and halves with as many members each."""
        labels, planted = _dealt(self.size, self.members, rate, rng)
        halves = np.empty(self.size, dtype=np.int64)
        inside = rng.permutation(np.flatnonzero(labels))
        outside = rng.permutation(np.flatnonzero(~labels))
        first = (self.members + 1) // 2
        rest = (self.size + 1) // 2 - first
        halves[inside], halves[outside] = np.arange(len(inside)) >= first, np.arange(len(outside)) >= rest
        return labels, planted, halves

    def by(self, scores: np.ndarray, labels: np.ndarray, halves: np.ndarray, rng: np.random.Generator) -> bool:
        """Whether one of the halves shows it."""
        parts = (halves == half for half in range(2))
        tests = (_top(top, scores[part], labels[part], rng) for top, part in zip(self.tops, parts, strict=True))
        return any(test.p_value <= self.error for test in tests)


def _top(dealt: DealtTop, scores: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> TopTest:
    depths = depths_of(len(scores))
    order = np.lexsort((rng.random(len(scores)), -scores))
    return dealt.judged(np.cumsum(labels[order])[depths - 1], depths)


def _dealt(size: int, members: int, rate: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Labels dealt anew, and the places of those who are planted."""
    order = rng.permutation(size)
    labels = np.zeros(size, dtype=bool)
    labels[order[:members]] = True
    return labels, order[: round(rate * members)]
