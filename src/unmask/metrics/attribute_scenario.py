"""What M releases tell about one attribute of a person of whom all others are known (ruiz2018, section 4, Tables 3 and 4).

The attribute is left out of rank linkage; the ranks of the linked rows in that attribute, carried over to the person's own table
as in reverse mapping, are what the attacker finds. Over the M sets and all ties they span a range. More sets can help (the
range contains the truth) or confuse (it widens, or stays beside the truth), so everything is a function of the number of sets.

A wide range contains the truth without any skill: if the attribute had nothing to do with the others, the range would contain it
with a probability that equals its *width*, the share of the table's values inside it. The *gain* is therefore whether the range
contains the truth, minus its width: 0 on average for useless links (exactly, over all permutations of the attribute), near 1 for
a sharp and right range. What the population teaches about anyone is the gain of holdout records, whose ranks are taken in the
holdout table; the excess over it is what being in the data adds. A rank in a small table is a coarse guess at a place in the
population, so for the excess the larger of both tables is cut to the size of the other. As a baseline the columns of the releases
can be shuffled: what margins alone tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.errors import ParameterError
from unmask.metrics._gains import mean_of_gains
from unmask.metrics._shares import difference_of_shares, mean_of_shares
from unmask.metrics.rank_linkage import links
from unmask.metrics.reverse_mapping import permuted
from unmask.stats.results import Assumption, Estimate
from unmask.tables.distance import RankCriterion
from unmask.tables.matching import group_ids
from unmask.tables.ranks import Ties, ranks
from unmask.tables.table import Table
from unmask.tables.units import units

LISTED = 8  # ranks that are kept one by one, where many tie


@dataclass(frozen=True, eq=False)
class Found:
    """The ranks that links into M sets suggest for each record's attribute. Ranks run from 1 to the number of records."""

    rows: np.ndarray  # (records,): which rows of the table were attacked
    lowest: np.ndarray  # (sets, records): the least rank among the linked rows of a set
    highest: np.ndarray  # (sets, records): the largest
    guesses: np.ndarray  # (sets, records): their mean
    first: np.ndarray  # (records,): the ranks of the true value, more than one where it is tied
    last: np.ndarray
    starts: np.ndarray  # (ranks,): the least and the largest rank of the value that has rank 1, 2, ... in the table
    ends: np.ndarray
    listed: tuple[tuple[tuple[int, ...], ...], ...]  # by set and record: the ranks found, LISTED at most

    def after(self, sets: int) -> Range:
        """What is known after the first `sets` releases."""
        return self.of(slice(0, sets))

    def of(self, sets: slice) -> Range:
        """What some of the sets tell."""
        low, high = self.lowest[sets].min(axis=0), self.highest[sets].max(axis=0)
        below, above = self.starts[low - 1], self.ends[high - 1]  # the range holds whole values, so ties widen it
        rows = len(self.starts)
        error = np.abs(self.guesses[sets].mean(axis=0) - (self.first + self.last) / 2) / rows
        contains = (below <= self.first) & (self.last <= above)
        return Range(low, high, contains, (above - below + 1) / rows, error)


@dataclass(frozen=True, eq=False)
class Range:
    """Per record, after some number of sets."""

    low: np.ndarray  # least and largest rank found
    high: np.ndarray
    contains: np.ndarray  # whether the true value lies between (bool)
    width: np.ndarray  # share of the table's values in the range: 1 = it narrows nothing
    error: np.ndarray  # distance of the mean rank found from the true one, as a share of the records

    @property
    def gain(self) -> np.ndarray:
        """Contains, minus width: from -1 to 1, 0 on average for links that know nothing."""
        return self.contains - self.width


@dataclass(frozen=True)
class Risk:
    """Over all records, after some number of sets."""

    sets: int
    contains: Estimate
    width: Estimate
    error: Estimate
    gain: Estimate
    shuffled: Estimate | None  # gain where the columns of the releases are shuffled
    holdout: Estimate | None  # gain of holdout records
    excess: Estimate | None  # gain of real minus gain of holdout records


@dataclass(frozen=True)
class Trend:
    """What all sets together tell beyond one of them, mean over which one; positive = more sets help the attacker."""

    gain: Estimate  # of the range: it holds the truth more often, or it widens for nothing
    error: Estimate  # of the mean rank: how much closer it is, as a share of the records


@dataclass(frozen=True, eq=False)
class AttributeScenario:
    """One attribute under attack."""

    attribute: str
    criterion: RankCriterion
    found: Found  # per real record
    risks: tuple[Risk, ...]  # after 1, 2, ... M sets, in the order in which they were given
    trend: Trend | None  # None for one set
    control: HoldoutControl | None
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class HoldoutControl:
    """Real and holdout records in tables of one size, for the excess."""

    real: Found
    holdout: Found
    units: tuple[np.ndarray | None, np.ndarray | None]

    def excess(self, sets: int, confidence: float) -> Estimate:
        """Gain of real minus gain of holdout records after some number of sets."""
        attack, control = ((found.after(sets).gain + 1) / 2 for found in (self.real, self.holdout))
        found = difference_of_shares(
            attack, control, attack_units=self.units[0], control_units=self.units[1], confidence=confidence
        )
        return _stretched(found, 0.0)

    def level(self, sets: int, confidence: float) -> Estimate:
        """Gain of holdout records."""
        gain = (self.holdout.after(sets).gain + 1) / 2
        return _stretched(mean_of_shares(gain, self.units[1], confidence=confidence), 1.0)


def attribute_scenario(
    real: Table,
    releases: Sequence[Table],
    *,
    attribute: str,
    known: Sequence[str] | None = None,
    criterion: RankCriterion = RankCriterion.SUM,
    holdout: Table | None = None,
    shuffled: bool = False,
    most_records: int | None = None,
    confidence: float = 0.95,
    workers: int = 1,
    rng: np.random.Generator,
) -> AttributeScenario:
    """Guess the rank of `attribute` from the `known` columns (None = all others) through M releases.

    `rng` orders tied values of the attribute at random, so that the position of a row says nothing about it; it draws
    `most_records` of either side where there are more, and shuffles the columns of the releases for the baseline, if wanted.
    """
    search = _Search(tuple(releases), attribute, _known(real, releases, attribute, known), criterion, workers)
    of_real = search.run(real, most_records, rng)
    control = None
    if holdout is not None:
        size = min(len(real), len(holdout))
        tables = [_cut(table, size, rng) for table in (real, holdout)]
        fair = of_real if tables[0] is real else search.run(tables[0], most_records, rng)
        other = search.run(tables[1], most_records, rng)
        control = HoldoutControl(fair, other, (_units(tables[0], fair.rows), _units(tables[1], other.rows)))
    mixed = None
    if shuffled:
        mixed = search.among(tuple(_shuffled(release, rng) for release in releases)).run(real, most_records, rng)
    persons = _units(real, of_real.rows)
    risks = tuple(
        _risk(sets + 1, of_real, mixed, control, (persons, confidence)) for sets in range(len(releases))
    )  # fmt: skip
    notes: tuple[str, ...] = () if holdout is not None else (
        "Without holdout records, what the releases add cannot be separated from what the population teaches.",
    )  # fmt: skip
    if len(of_real.rows) < len(real):
        notes += (f"{len(of_real.rows):,} of {len(real):,} real records were attacked, drawn at random.",)
    return AttributeScenario(attribute, criterion, of_real, risks, _trend(of_real, persons, confidence), control, notes)


@dataclass(frozen=True, eq=False)
class _Search:
    """How an attribute is looked for."""

    releases: tuple[Table, ...]
    attribute: str
    known: list[str]
    criterion: RankCriterion
    workers: int

    def among(self, releases: tuple[Table, ...]) -> _Search:
        return _Search(releases, self.attribute, self.known, self.criterion, self.workers)

    def run(self, records: Table, most: int | None, rng: np.random.Generator) -> Found:
        """Link the records, `most` of them at most, and read the attribute off the rows that they are linked to."""
        rows = len(records)
        some = most is not None and rows > most
        chosen = np.sort(rng.choice(rows, most, replace=False)) if some else np.arange(rows)
        (ids,) = group_ids(records, columns=self.known)
        _, first, place = np.unique(ids[chosen], return_index=True, return_inverse=True)
        lowest, highest, guesses = (np.empty((len(self.releases), len(chosen))) for _ in range(3))
        listed = []
        for number, release in enumerate(self.releases):
            low, high, mean, each = self._one(records, release, chosen[first], rng)
            lowest[number], highest[number], guesses[number] = low[place], high[place], mean[place]
            listed.append(tuple(each[at] for at in place))
        middle = ranks(records.select([self.attribute]), like=self.releases[0])[:, 0]
        _, block, size = np.unique(middle, return_inverse=True, return_counts=True)
        last = np.cumsum(size)
        begin = last - size + 1
        in_order = np.sort(block)
        return Found(
            chosen, lowest.astype(np.int64), highest.astype(np.int64), guesses, begin[block[chosen]], last[block[chosen]],
            begin[in_order], last[in_order], tuple(listed),
        )  # fmt: skip

    def _one(
        self, records: Table, release: Table, chosen: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[tuple[int, ...]]]:
        order = rng.permutation(len(release))
        position = np.empty(len(release))
        position[order] = ranks(
            release.take(order).select([self.attribute]), Ties.IN_ORDER, like=self.releases[0]
        )[:, 0]  # fmt: skip
        carried = np.floor((position - 0.5) * (len(records) / len(release))) + 1
        parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        each: list[tuple[int, ...]] = []
        for tied in links(
            records, release, criterion=self.criterion, columns=self.known, workers=self.workers, only=chosen
        ):
            values, starts = carried[tied.rows], tied.starts[:-1]
            mean = np.add.reduceat(values, starts) / tied.counts
            parts.append((np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts), mean))
            each += [tuple(int(rank) for rank in carried[rows[:LISTED]]) for rows in tied]
        low, high, mean = (np.concatenate(column) for column in zip(*parts, strict=True))
        return low, high, mean, each


def _cut(table: Table, size: int, rng: np.random.Generator) -> Table:
    return table if len(table) == size else table.take(np.sort(rng.choice(len(table), size, replace=False)))


def _shuffled(release: Table, rng: np.random.Generator) -> Table:
    rows = np.tile(np.arange(len(release))[:, None], (1, len(release.schema.columns)))
    return permuted(release, rng.permuted(rows, axis=0))


def _units(table: Table, rows: np.ndarray) -> np.ndarray | None:
    return None if table.persons is None else units(table).of_row[rows]


def _risk(
    sets: int,
    real: Found,
    mixed: Found | None,
    control: HoldoutControl | None,
    told: tuple[np.ndarray | None, float],
) -> Risk:
    after, (persons, confidence) = real.after(sets), told

    def mean(shares: np.ndarray) -> Estimate:
        return mean_of_shares(shares, persons, confidence=confidence)

    return Risk(
        sets,
        mean(after.contains),
        mean(after.width),
        mean(after.error.clip(0, 1)),
        _stretched(mean((after.gain + 1) / 2), 1.0),
        None if mixed is None else _stretched(mean((mixed.after(sets).gain + 1) / 2), 1.0),
        None if control is None else control.level(sets, confidence),
        None if control is None else control.excess(sets, confidence),
    )


def _trend(found: Found, persons: np.ndarray | None, confidence: float) -> Trend | None:
    sets = len(found.lowest)
    if sets < 2:
        return None
    whole, single = found.after(sets), [found.of(slice(each, each + 1)) for each in range(sets)]
    gain = whole.gain - np.mean([one.gain for one in single], axis=0)
    error = np.mean([one.error for one in single], axis=0) - whole.error
    return Trend(
        mean_of_gains(gain, persons, confidence=confidence), mean_of_gains(error, persons, confidence=confidence)
    )


def _stretched(half: Estimate, shift: float) -> Estimate:
    """Back from (gain + 1)/2, a share, to the gain; a difference has no shift."""
    low, high = (2 * limit - shift for limit in half.interval)
    return Estimate(2 * half.value - shift, (low, high), half.confidence, half.method, Assumption.MODEL_BASED, half.n)


def _known(real: Table, releases: Sequence[Table], attribute: str, known: Sequence[str] | None) -> list[str]:
    real.schema.position(attribute)
    if not releases:
        raise ParameterError("There is no release to link to. Pass at least one table.")
    names = [name for name in real.schema.names if name != attribute] if known is None else list(known)
    if attribute in names:
        raise ParameterError(f"'{attribute}' is under attack and known at once. Remove it from the known columns.")
    if not names:
        raise ParameterError(f"There is no column beside '{attribute}' to link by. Give at least one.")
    return names
