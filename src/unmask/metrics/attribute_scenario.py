"""What M releases tell about one attribute of a person of whom all others are known (ruiz2018, section 4, Tables 3 and 4).

The attribute is left out of rank linkage; the ranks of the linked rows in that attribute, carried over to the person's own table
as in reverse mapping, are what the attacker finds. Over the M sets and all ties they span a range. More sets can help (the
range contains the truth) or confuse (it widens, or stays beside the truth), so everything is a function of the number of sets.

A wide range contains the truth without any skill: if the attribute had nothing to do with the others, the range would contain it
with a probability that equals its *width*, the share of the table's values inside it. The *gain* is therefore whether the range
contains the truth, minus its width: 0 on average for useless links (exactly, over all permutations of the attribute), near 1 for
a sharp and right range. What the population teaches about anyone is the gain of holdout records, whose ranks are taken in the
holdout table; the excess over it is what being in the data adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.errors import ParameterError
from unmask.metrics._shares import difference_of_shares, mean_of_shares
from unmask.metrics.rank_linkage import links
from unmask.stats.results import Assumption, Estimate
from unmask.tables.distance import RankCriterion
from unmask.tables.matching import group_ids
from unmask.tables.ranks import Ties, ranks
from unmask.tables.table import Table
from unmask.tables.units import units


@dataclass(frozen=True, eq=False)
class Found:
    """The ranks that links into M sets suggest for each record's attribute. Ranks run from 1 to the number of records."""

    lowest: np.ndarray  # (sets, records): the least rank among the linked rows of a set
    highest: np.ndarray  # (sets, records): the largest
    guesses: np.ndarray  # (sets, records): their mean
    first: np.ndarray  # (records,): the ranks of the true value, more than one where it is tied
    last: np.ndarray
    holders: np.ndarray  # (records,): a record that holds the value of rank 1, 2, ...

    def after(self, sets: int) -> Range:
        """What is known after the first `sets` releases."""
        low, high = self.lowest[:sets].min(axis=0), self.highest[:sets].max(axis=0)
        below = self.first[self.holders[low - 1]]  # the range holds whole values, so ties widen it
        above = self.last[self.holders[high - 1]]
        rows = len(self.first)
        error = np.abs(self.guesses[:sets].mean(axis=0) - (self.first + self.last) / 2) / rows
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
    holdout: Estimate | None  # gain of holdout records
    excess: Estimate | None  # gain of real minus gain of holdout records


@dataclass(frozen=True, eq=False)
class AttributeScenario:
    """One attribute under attack."""

    attribute: str
    criterion: RankCriterion
    found: Found  # per real record
    risks: tuple[Risk, ...]  # after 1, 2, ... M sets, in the order in which they were given
    notes: tuple[str, ...]


def attribute_scenario(
    real: Table,
    releases: Sequence[Table],
    *,
    attribute: str,
    known: Sequence[str] | None = None,
    criterion: RankCriterion = RankCriterion.SUM,
    holdout: Table | None = None,
    confidence: float = 0.95,
    workers: int = 1,
    rng: np.random.Generator,
) -> AttributeScenario:
    """Guess the rank of `attribute` from the `known` columns (None = all others) through M releases.

    `rng` orders tied values of the attribute at random, so that the position of a row says nothing about it.
    """
    known = _known(real, releases, attribute, known)
    of_real = _search(real, releases, attribute, known, criterion, workers, rng)
    of_holdout = None if holdout is None else _search(holdout, releases, attribute, known, criterion, workers, rng)
    persons = [None if table is None or table.persons is None else units(table).of_row for table in (real, holdout)]
    risks = tuple(_risk(sets + 1, of_real, of_holdout, persons, confidence) for sets in range(len(releases)))
    notes = () if holdout is not None else (
        "Without holdout records, what the releases add cannot be separated from what the population teaches.",
    )  # fmt: skip
    return AttributeScenario(attribute, criterion, of_real, risks, notes)


def _search(
    records: Table,
    releases: Sequence[Table],
    attribute: str,
    known: list[str],
    criterion: RankCriterion,
    workers: int,
    rng: np.random.Generator,
) -> Found:
    (ids,) = group_ids(records, columns=known)
    _, first, place = np.unique(ids, return_index=True, return_inverse=True)
    rows = len(records)
    lowest, highest, guesses = (np.empty((len(releases), rows)) for _ in range(3))
    for number, release in enumerate(releases):
        order = rng.permutation(len(release))
        shuffled = np.empty(len(release))
        shuffled[order] = ranks(release.take(order).select([attribute]), Ties.IN_ORDER, like=releases[0])[:, 0]
        carried = np.floor((shuffled - 0.5) * (rows / len(release))) + 1
        tied_parts = links(records, release, criterion=criterion, columns=known, workers=workers, only=first)
        parts = []
        for tied in tied_parts:
            values, starts = carried[tied.rows], tied.starts[:-1]
            mean = np.add.reduceat(values, starts) / tied.counts
            parts.append((np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts), mean))
        for target, column in zip((lowest, highest, guesses), zip(*parts, strict=True), strict=True):
            target[number] = np.concatenate(column)[place]
    own = ranks(records.select([attribute]), Ties.IN_ORDER, like=releases[0])[:, 0].astype(np.int64)
    middle = ranks(records.select([attribute]), like=releases[0])[:, 0]
    _, block, size = np.unique(middle, return_inverse=True, return_counts=True)
    last = np.cumsum(size)[block]
    return Found(
        lowest.astype(np.int64), highest.astype(np.int64), guesses, last - size[block] + 1, last, np.argsort(own)
    )


def _risk(sets: int, real: Found, holdout: Found | None, persons: list[np.ndarray | None], confidence: float) -> Risk:
    after = real.after(sets)
    attack = (after.gain + 1) / 2
    control = None if holdout is None else (holdout.after(sets).gain + 1) / 2

    def mean(shares: np.ndarray) -> Estimate:
        return mean_of_shares(shares, persons[0], confidence=confidence)

    excess = None
    if control is not None:
        excess = difference_of_shares(
            attack, control, attack_units=persons[0], control_units=persons[1], confidence=confidence
        )
    return Risk(
        sets,
        mean(after.contains),
        mean(after.width),
        mean(after.error.clip(0, 1)),
        _stretched(mean(attack), 1.0),
        None if control is None else _stretched(mean_of_shares(control, persons[1], confidence=confidence), 1.0),
        None if excess is None else _stretched(excess, 0.0),
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
