"""The rows of the release that agree best with what is known of a person.

An agreement counts -log of the share of published rows that have the value (Fellegi and Sunter): a number counts by its bin, and
for more if it is the very number. Rows vote with the square root of what their agreement says, since columns repeat one another.
Cost: people x rows x known columns, about a thirtieth of a nanosecond each (`tables.search.agreement` says how), a fraction of
it among many rows (`tables.search.best_matches`); rows are read block by block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.compiled import njit
from unmask.metrics.completing.published import PublishedRows
from unmask.tables.exact import ExactValues
from unmask.tables.search.agreement import fill_units, largest, narrow_pairs, weighed, weighed_whole
from unmask.tables.search.best_matches import BestMatches
from unmask.tables.table import Table

NEAREST = 25  # rows that vote
SHARPNESS = 0.5
BEGUN = 4096  # rows of a large table that are all looked at
BLOCK = 4096  # rows whose sums stay in the fastest cache


@dataclass(frozen=True, eq=False)
class BestRows:
    """The best rows of each person, best first."""

    rows: np.ndarray  # people x NEAREST, -1 where there are no more
    scores: np.ndarray
    share: np.ndarray  # of all that is known of a person, by weight, that the best row agrees with
    equal: np.ndarray  # how many rows (NEAREST at most) agree with all of it

    def take(self, people: slice) -> BestRows:
        """Of some of the people."""
        return BestRows(self.rows[people], self.scores[people], self.share[people], self.equal[people])

    def votes(self, values: np.ndarray, size: int, lean: np.ndarray) -> np.ndarray:
        """How the best rows vote on a column (people x size), one vote leaning towards `lean`, the shares of all rows.

        `values` are those of the best rows (people x NEAREST), whatever they are where there is no row.
        """
        there = self.rows >= 0
        weight = np.where(there, np.exp(SHARPNESS * (self.scores - self.scores[:, :1])), 0.0)
        cell = np.arange(len(self.rows))[:, None] * size + values
        votes = np.bincount(cell.ravel(), weights=weight.ravel(), minlength=len(self.rows) * size)
        votes = votes.reshape(len(self.rows), size) + lean
        return votes / votes.sum(axis=1, keepdims=True)


def best_rows(people: Table, release: PublishedRows, *, own: np.ndarray | None = None) -> BestRows:
    """The rows that agree best with each person on all columns that are given of people.

    `own` is the place of each person among the rows, which is passed over. Rows should be in random order: ties go to the first.
    """
    exact = ExactValues(people)
    codes, worth = _asked(people, release, exact)
    rows = np.full((len(people), NEAREST), -1, dtype=np.int64)
    scores = np.full((len(people), NEAREST), -np.inf, dtype=np.float32)
    places = np.full(len(people), -1, dtype=np.int64) if own is None else own.astype(np.int64)
    lists = BestMatches(codes, worth) if BestMatches.pays(codes, len(release)) else None
    for first, part in release.blocks():
        offered, begun = _offered(part.select(people.schema.names), exact), 0
        if lists is None or first == 0:  # all rows; of a large table the first, so that there is something to beat
            begun = len(offered) if lists is None else min(len(offered), BEGUN)
            _search(narrow_pairs(codes, worth.astype(np.float32), offered[:begun]), first, places - first, rows, scores)
        if begun < len(offered) and lists is not None:
            lists.keep(offered[begun:], first + begun, places, rows, scores)
    whole = np.where(codes >= 0, worth, 0.0).sum(axis=1)
    complete = (codes >= 0).all(axis=1) & (whole > 0)
    shares = np.minimum(np.round(scores / np.maximum(whole, 1e-9)[:, None], 5), 1.0)
    share = np.where(rows[:, 0] >= 0, shares[:, 0], 0.0)
    return BestRows(rows, scores, share, ((shares == 1) & (rows >= 0)).sum(axis=1) * complete)


def _asked(people: Table, release: PublishedRows, exact: ExactValues) -> tuple[np.ndarray, np.ndarray]:
    """What is looked for (people x columns; behind a column of numbers its very numbers), and what an agreement is worth."""
    asked, weights = [], []
    of_numbers = _exact_counts(people, release, exact)
    for place, column in enumerate(people.schema.columns):
        codes = people.codes[:, place].astype(np.int32)
        rarity = _rarity(release.counts[release.names.index(column.name)], len(release))[codes]
        asked.append(np.where(codes == column.unlisted_code, np.int32(-1), codes))
        weights.append(rarity)
        if place in of_numbers:
            own = exact.codes[:, place]
            very = _rarity(of_numbers[place], len(release))[np.maximum(own, -1) + 1]
            asked.append(own)
            weights.append(np.maximum(very - rarity, 0.0))
    return np.array(asked).T, np.array(weights).T


def _exact_counts(people: Table, release: PublishedRows, exact: ExactValues) -> dict[int, np.ndarray]:
    """Of each column of numbers: how many rows have a number that none of the people has, and each of their own."""
    numeric = people.schema.numeric
    sizes = [exact.counts[place] + 1 for place in numeric]

    def count(part: Table) -> np.ndarray:
        found = (np.maximum(exact.find_column(part, place), -1) + 1 for place in numeric)
        return np.concatenate([np.bincount(each, minlength=size) for each, size in zip(found, sizes, strict=True)])

    if not numeric:
        return {}
    counts = np.split(release.tally(count, people.schema.names), np.cumsum(sizes)[:-1])
    return dict(zip(numeric, counts, strict=True))


def _offered(part: Table, exact: ExactValues) -> np.ndarray:
    """The same columns of rows."""
    offered = []
    for place, column in enumerate(part.schema.columns):
        offered.append(part.codes[:, place].astype(np.int32))
        if column.is_numeric:
            offered.append(exact.find_column(part, place))
    return np.array(offered).T


def _rarity(counts: np.ndarray, rows: int) -> np.ndarray:
    """-log of the share of rows that have each code."""
    return -np.log((counts + 0.5) / (rows + 1.0))


@njit(nogil=True, cache=True)
def _search(pairs, offset, own, rows, scores):
    """`offset` is the place of the first of these rows; those of people are counted from it."""
    total = pairs.narrow.shape[1]
    kept = rows.shape[1]
    sums = np.empty(BLOCK, dtype=np.uint16)
    most = np.empty(own.size, dtype=np.float32)  # what a row that agrees with all that is known is worth
    for person in range(own.size):
        most[person] = weighed_whole(pairs, person)
    for first in range(0, total, BLOCK):
        size = min(BLOCK, total - first)
        for person in range(own.size):
            worst = scores[person, kept - 1]
            if worst >= most[person]:
                continue
            fill_units(pairs, person, first, sums[:size])
            if largest(sums[:size]) * pairs.unit[person] <= worst:
                continue
            for row in range(size):
                if sums[row] * pairs.unit[person] <= worst or first + row == own[person]:
                    continue
                score = weighed(pairs, person, first + row)
                if score <= worst:
                    continue
                place = kept - 1
                while place > 0 and scores[person, place - 1] < score:
                    scores[person, place] = scores[person, place - 1]
                    rows[person, place] = rows[person, place - 1]
                    place -= 1
                scores[person, place] = score
                rows[person, place] = offset + first + row
                worst = scores[person, kept - 1]
