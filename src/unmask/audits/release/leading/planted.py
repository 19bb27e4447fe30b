"""What the audit would have seen: leaks of known size, planted into this very data, judged as the audit judges.

Labels are dealt anew in every trial, so that what the release leaks already does not count, and a share of the people who are
then called members is planted: their numbers become what they would be if such a row stood in the release. Nothing is compared
again with the release: a best match can only be beaten by the plant, and a count only grows by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from unmask.attacks.learner import cross_fitted
from unmask.attacks.standing import EXACT, value_numbers
from unmask.audits.release.case import Case
from unmask.audits.release.copies import COPYING
from unmask.audits.release.leading.crowd import Crowd
from unmask.audits.release.leading.judging import LEARNT, LINKAGE
from unmask.results.state import COPIES, NAMES, is_seen
from unmask.stats import clopper_pearson
from unmask.stats.labels import DealtTop, TopTest, depths_of, fisher
from unmask.stream import stream

RATES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0)  # of the members
TRIALS = 20
SEEN = 16  # of TRIALS: eight in ten
MOST = 1_000  # people on either side of a trial
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
    rng = stream(case.plan.seed, "planted")
    chosen = np.concatenate([_some(np.flatnonzero(crowd.members == side), MOST, rng) for side in (True, False)])
    members = int(crowd.members[chosen].sum())
    for changed in range(min(4, len(crowd.people.schema.columns))):
        name = COPIES if not changed else f"copies with {changed} column{'s' * (changed > 1)} changed"
        yield name, _copies(case, crowd, chosen, members, changed)
    if crowd.people.schema.numeric:
        yield "exact numbers carried over", _carried(case, crowd, chosen, members)
    yield NAMES, _recognised(case, crowd)


def _copies(case: Case, crowd: Crowd, chosen: np.ndarray, members: int, changed: int) -> See:
    """Rows of members, some columns replaced by those of others; linkage weights and the test for copies look for them."""
    exact, standing = crowd.standing.exact, crowd.standing
    people, worth = exact.people[chosen], exact.worth[chosen]
    best, usual = standing.best[chosen], standing.usual[chosen]
    dealt = DealtTop.alike(len(chosen), members, DRAWS, stream(case.plan.seed, "planted", "labels"))

    def see(rate: float, rng: np.random.Generator) -> bool:
        labels, planted = _dealt(len(chosen), members, rate, rng)
        rows = people[planted]
        kept = np.ones(rows.shape, dtype=bool)
        if changed:
            places = np.argsort(rng.random(rows.shape), axis=1)[:, :changed]
            donors = people[rng.integers(len(people), size=places.shape), places]
            np.put_along_axis(kept, places, donors == np.take_along_axis(rows, places, axis=1), axis=1)
        found = best.copy()
        found[planted] = np.maximum(found[planted], np.where(kept & (rows >= 0), worth[planted], 0.0).sum(axis=1))
        if _top(dealt, found - usual, labels, rng).p_value <= case.error(LINKAGE):
            return True
        if not len(planted) or not min(case.copies.mine[1], case.copies.theirs[1]):
            return False
        verbatim = rate * float(kept.all(axis=1).mean())  # a common value is often replaced by itself
        return fisher(*_grown(case.copies.mine, case.copies.theirs, verbatim, rng)) <= case.error(COPYING)

    return see


def _grown(mine: Counted, theirs: Counted, rate: float, rng: np.random.Generator) -> tuple[Counted, Counted]:
    """How many unique people stand in the release if labels are dealt anew and a share of the members is planted.

    Of all people and not of the crowd, since the test for copies looks at all: so larger tables show smaller leaks.
    """
    seen, size = mine[0] + theirs[0], mine[1] + theirs[1]
    dealt = int(rng.hypergeometric(seen, size - seen, mine[1]))
    more = int(rng.hypergeometric(mine[1] - dealt, dealt, round(rate * mine[1])))
    return (dealt + more, mine[1]), (seen - dealt, theirs[1])


def _carried(case: Case, crowd: Crowd, chosen: np.ndarray, members: int) -> See:
    """The very numbers of members, each in some row of its own; the learnt auditor looks for them."""
    standing, numeric = crowd.standing, list(crowd.people.schema.numeric)
    exact, before = standing.exact.only(rows=chosen), standing.values[chosen]
    names = {name: place for place, name in enumerate(standing.names)}
    seen = _Halves.of(case, len(chosen), members)

    def see(rate: float, rng: np.random.Generator) -> bool:
        labels, planted, halves = seen.dealt(rate, rng)
        grown = exact.in_release.copy()
        for column in numeric:  # whoever shares a number that is carried over finds one more of it
            codes = exact.people[:, column]
            carried = codes[planted][codes[planted] >= 0]
            more = np.bincount(carried, minlength=max(int(codes.max()), 0) + 1)
            grown[:, column] += np.where(codes >= 0, more[np.maximum(codes, 0)], 0)
        values = before.copy()
        for name, value in value_numbers(replace(exact, in_release=grown), crowd.people.schema.names, EXACT):
            values[:, names[name]] = value
        return seen.by(cross_fitted(values, labels, halves), labels, halves, rng)

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


def _some(places: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return places if len(places) <= most else np.sort(rng.choice(places, most, replace=False))
