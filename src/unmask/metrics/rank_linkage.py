"""Multiple rank-based record linkage: the attacker who knows the real table looks for each person in every release (ruiz2018).

Record i is linked to the release rows whose ranks differ least from its own, by the sum, the largest, the smallest or the
Euclidean length of the rank differences over the columns; all rows that tie are linked. Ranks are mid-ranks, which say nothing
about the position of a row (ranks in order of appearance hand the attacker the row number wherever values tie); since all ties
count, the order of rows has no influence at all. Where sizes differ, the ranks of the release are scaled to the number of
records; the paper resamples rows instead, which is the same for equal sizes and wastes or repeats rows otherwise.

*Correct links* have a meaning only where release rows stem from known real rows: sanitised, perturbed, partially synthetic. A
record scores the share of its links that are right: 1 for a unique correct link, 1/ties if its row is one of the ties. A release
equal to the real table scores 1 for every unique record. If the release does not depend on who is who, every assignment of its
rows to people is equally likely; each record's links weigh 1 in total, so the *expected number of correct links is exactly 1*,
whatever the tables and the criterion, and about Poisson(1) where no row attracts many links. Mean and variance are known exactly
(Hoeffding 1951), which bounds the chance of any number of correct links without approximation (Cantelli); the p-value is from
assignments drawn at random.

Cost: at most records x release rows x columns per release (and per left-out attribute), far less where boxes around rows can be
passed over (`unmask.tables.distance`); memory is bounded (64 MB of ties at a time).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import pdtrc

from unmask.errors import InputError, ParameterError
from unmask.metrics._shares import mean_of_shares
from unmask.stats.results import Estimate
from unmask.tables.distance import RankCriterion, Ranks, Tied, all_nearest_in_parts
from unmask.tables.matching import shared_columns
from unmask.tables.ranks import ranks
from unmask.tables.table import Table
from unmask.tables.units import units

MOST_TIES = 8_000_000  # 64 MB of row numbers at a time


@dataclass(frozen=True, eq=False)
class Links:
    """Links of the real records into one row-aligned release."""

    rows: np.ndarray  # the real records that were linked
    correct: np.ndarray  # of each of them: the share of its links that are right
    ties: np.ndarray  # of each of them: how many rows it is linked to
    expected: (
        float  # mean of the total of `correct` over random assignments of rows to people: 1, if all records were linked
    )
    deviation: float  # its standard deviation over them, exactly
    p_value: float  # share of random assignments with as many correct links, or more (exact level, one-sided); NaN if none drawn
    poisson: float  # the same probability of a Poisson variable with that mean
    chance: float  # a bound on it that needs no approximation (Cantelli)
    rate: Estimate  # mean of `correct`


@dataclass(frozen=True, eq=False)
class RankLinkage:
    """Correct links into M row-aligned releases, and how they grow with the number of releases."""

    criterion: RankCriterion
    releases: tuple[Links, ...]
    at_least_once: tuple[
        Estimate, ...
    ]  # after 1, 2, ... M releases: chance that a random pick among the ties hits once
    notes: tuple[str, ...]


def rank_linkage(
    real: Table,
    releases: Sequence[Table],
    *,
    origins: Sequence[np.ndarray] | None = None,
    only: np.ndarray | None = None,
    criterion: RankCriterion = RankCriterion.SUM,
    columns: Sequence[str] | None = None,
    permutations: int = 999,
    confidence: float = 0.95,
    workers: int = 1,
    rng: np.random.Generator,
) -> RankLinkage:
    """How often real records are linked to their own rows in row-aligned releases.

    `origins` holds, for each release, the real row behind each of its rows; None = row i stems from row i. Only for releases
    that have such rows: for fully synthetic tables use `attribute_scenario`. `only` these real records are linked (None = all).
    """
    known = _origins(real, releases, origins)
    chosen = np.arange(len(real)) if only is None else np.asarray(only, dtype=np.int64)
    linker = _Linker(criterion, columns, chosen, permutations, confidence, workers)
    found = tuple(linker.link(real, release, origin, rng) for release, origin in zip(releases, known, strict=True))
    missed = np.cumprod([1 - links.correct for links in found], axis=0)
    persons = None if real.persons is None else units(real).of_row[chosen]
    return RankLinkage(
        criterion,
        found,
        tuple(mean_of_shares(1 - row, persons, confidence=confidence) for row in missed),
        (
            "Correct links are counted row by row: they mean something only if each release row stems from one real row.",
        ),
    )


def links(
    records: Table,
    release: Table,
    *,
    criterion: RankCriterion = RankCriterion.SUM,
    columns: Sequence[str] | None = None,
    only: np.ndarray | None = None,
    workers: int = 1,
) -> Iterator[Tied]:
    """All linked release rows of each record (or of `only` these), some at a time: memory is bounded however many tie."""
    own, other = common_ranks(records, release, columns)
    own = own if only is None else own[only]
    size = max(1, min(4096, MOST_TIES // len(other)))
    return all_nearest_in_parts(own, other, at_once=size, metric=Ranks(criterion), workers=workers)


def common_ranks(records: Table, release: Table, columns: Sequence[str] | None) -> tuple[np.ndarray, np.ndarray]:
    """Mid-ranks of both tables, each in its own, on the scale of the records: 1 to their number."""
    if len(records) == 0 or len(release) == 0:
        raise InputError(
            f"Ranks of {len(records):,} records and {len(release):,} release rows cannot be compared. "
            "Give each table at least one row."
        )
    names = [column.name for column in shared_columns([records, release], columns)]
    published = release.select(names)
    own, other = ranks(records.select(names), like=published), ranks(published)
    return own, other if len(own) == len(other) else (other - 0.5) * (len(own) / len(other)) + 0.5


@dataclass(frozen=True)
class _Linker:
    """How real records are linked to the rows of a release, and links are counted."""

    criterion: RankCriterion
    columns: Sequence[str] | None
    chosen: np.ndarray
    permutations: int
    confidence: float
    workers: int

    def link(self, real: Table, release: Table, origin: np.ndarray, rng: np.random.Generator) -> Links:
        """Correct links into one release, against what permuted origins give."""
        own, other = common_ranks(real, release, self.columns)
        least, ties = np.full(len(real), np.nan), np.ones(len(real))
        attracted, low = np.zeros(len(release)), 0
        for tied in links(
            real, release, criterion=self.criterion, columns=self.columns, only=self.chosen, workers=self.workers
        ):
            part = self.chosen[low : low + len(tied.counts)]
            least[part], ties[part] = tied.distances, tied.counts
            attracted += np.bincount(tied.rows, weights=np.repeat(1 / tied.counts, tied.counts), minlength=len(release))
            low += len(part)

        def correct(of_row: np.ndarray) -> np.ndarray:
            """The share of right links of each record, if row l of the release stems from record of_row[l]."""
            hit = (difference(own[of_row], other, self.criterion) == least[of_row]) / ties[of_row]
            return np.bincount(of_row, weights=hit, minlength=len(real)).clip(max=1.0)[self.chosen]

        found = correct(origin)
        total = float(found.sum())
        p_value = float("nan")
        if self.permutations:
            drawn = (correct(rng.permutation(len(real))[origin]).sum() for _ in range(self.permutations))
            p_value = (1 + sum(each >= total - 1e-9 for each in drawn)) / (1 + self.permutations)
        expected, deviation = _over_assignments(len(real), 1 / ties[self.chosen], attracted)
        beyond = total - expected
        persons = None if real.persons is None else units(real).of_row[self.chosen]
        return Links(
            self.chosen,
            found,
            ties[self.chosen].astype(np.int64),
            expected,
            deviation,
            p_value,
            float(pdtrc(math.floor(total + 1e-9) - 1, expected)) if total >= 1 else 1.0,
            deviation**2 / (deviation**2 + beyond**2) if beyond > 0 else 1.0,
            mean_of_shares(found, persons, confidence=self.confidence),
        )


def _over_assignments(rows: int, shares: np.ndarray, attracted: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of the correct links over all assignments of rows to people (Hoeffding 1951).

    The total is a sum over rows of a(person, row), where a is 1/ties if the person is linked to the row, else 0; `shares` are the
    1/ties, and `attracted` the column sums of a. Rows that were suppressed are columns of zeros.
    """
    linked = len(shares)
    if rows < 2:
        return linked / rows, 0.0
    squares = shares.sum() - linked / rows - np.square(attracted).sum() / rows + (linked / rows) ** 2
    return linked / rows, math.sqrt(max(0.0, squares / (rows - 1)))


def difference(a: np.ndarray, b: np.ndarray, criterion: RankCriterion) -> np.ndarray:
    """The rank difference of row i of a and row i of b, for every i, summed column by column as the search does it."""
    gaps = np.abs(b - a)
    if criterion is RankCriterion.MAX:
        return gaps.max(axis=1)
    if criterion is RankCriterion.MIN:
        return gaps.min(axis=1)
    total = np.zeros(len(a))
    for column in gaps.T:
        total += column if criterion is RankCriterion.SUM else column * column
    return total if criterion is RankCriterion.SUM else np.sqrt(total)


def _origins(real: Table, releases: Sequence[Table], origins: Sequence[np.ndarray] | None) -> list[np.ndarray]:
    if not releases:
        raise ParameterError("There is no release to link to. Pass at least one table.")
    if origins is None:
        if sizes := [len(release) for release in releases if len(release) != len(real)]:
            raise ParameterError(
                f"A release has {sizes[0]:,} rows where the real table has {len(real):,}, so its rows are not those of the real "
                "table in order. Pass origins, or use attribute_scenario for fully synthetic tables."
            )
        return [np.arange(len(real))] * len(releases)
    if len(origins) != len(releases):
        raise ParameterError(f"There are {len(releases)} releases but {len(origins)} origins. Give one array for each.")
    known = [np.asarray(origin, dtype=np.int64) for origin in origins]
    for release, origin in zip(releases, known, strict=True):
        if len(origin) != len(release) or not np.all((origin >= 0) & (origin < len(real))):
            raise ParameterError("origins must hold one row number of the real table for each row of the release.")
        if len(np.unique(origin)) < len(origin):
            raise ParameterError("origins name a real row twice; a row-aligned release holds each person at most once.")
    return known
