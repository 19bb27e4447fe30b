"""Guess everybody's secret from one release, all other columns being known.

Every synthetic row votes for its own secret; a vote is worth exp(-step) times less for each other column in which row and person
differ (numbers by their bin). Large steps follow the nearest rows and gain most from a person's own copy, so they make the guess;
small ones scatter less from release to release, so all of them are evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.attacks._attack import tolerance_for
from unmask.attacks._known import Coarsening
from unmask.compiled import inner, njit
from unmask.errors import ParameterError
from unmask.tables.schema import Column
from unmask.tables.table import Table
from unmask.tables.units import Units

STEPS = (0.5, 1.0, 2.0, 3.0)  # a vote is worth exp(-step x columns that differ); the last one guesses
BORROWED = 0.05  # weight of the whole release beside the votes: keeps logarithms finite
TIED = 1 - 1e-9  # votes that differ by less are equal up to rounding


@dataclass(frozen=True, eq=False)
class Guessed:
    """One entry per row, or per unit: the chance that the guess is right, and how well the votes fit the truth."""

    right: np.ndarray  # 0 or 1; a tie of the true value with others counts as the chance to pick it
    fit: np.ndarray  # x STEPS: log of the share of votes for the true value


@dataclass(frozen=True, eq=False)
class SecretGuess:
    """The guess of one column. Numbers count as right within the tolerance."""

    candidates: Table
    position: int
    tolerance: float = 0.0

    @classmethod
    def of(cls, candidates: Table, name: str) -> SecretGuess:
        """Numbers have the tolerance of the attribute game."""
        position = candidates.schema.position(name)
        column = candidates.schema.columns[position]
        if (column.lower == column.upper) if column.is_numeric else column.listed < 2:
            raise ParameterError(f"The secret '{name}' has one value only, so there is nothing to learn.")
        guess = cls(candidates, position)
        if not column.is_numeric or np.isnan(guess.truth).all():
            return guess
        return cls(candidates, position, tolerance_for(guess.truth))

    @property
    def column(self) -> Column:
        return self.candidates.schema.columns[self.position]

    @cached_property
    def truth(self) -> np.ndarray:
        """The secret of each row: the code of a category, a number, or NaN where a number is missing."""
        return secrets_in(self.candidates, self.position)

    def guess(self, synthetic: Table, truth: np.ndarray) -> Guessed:
        """Everybody's secret, judged by `truth`. People are coarsened as the release is; the truth is not."""
        people = Coarsening.of(synthetic).apply(self.candidates)
        others = [place for place in range(len(people.schema.columns)) if place != self.position]
        published = secrets_in(synthetic, self.position)
        there = np.flatnonzero(~np.isnan(published))
        there = there[np.argsort(published[there], kind="stable")]
        right, fit = np.zeros(len(people)), np.zeros((len(people), len(STEPS)))
        if not there.size:
            return Guessed(right, fit)
        distances = np.zeros(there.size, dtype=np.uint8 if len(others) < 256 else np.uint16)
        worth = np.exp(-np.multiply.outer(np.array(STEPS), np.arange(len(others) + 1.0)))
        asked = np.ascontiguousarray(people.codes[:, others].T)
        rows = np.ascontiguousarray(synthetic.codes[there][:, others].T)
        _vote(
            asked, rows, published[there], truth, self.tolerance, self.column.is_numeric, worth, distances, right, fit
        )
        return Guessed(right, fit)

    def most_frequent(self) -> float:
        """Success of one and the same guess for all: the value, or the window of the tolerance, that most rows have."""
        known = np.sort(self.truth[~np.isnan(self.truth)])
        reach = np.searchsorted(known, known + 2 * self.tolerance, side="right") - np.arange(len(known))
        return float(reach.max(initial=0) / max(len(known), 1))


def secrets_in(table: Table, position: int) -> np.ndarray:
    """A column as numbers: its own, or the codes of its categories."""
    if table.schema.columns[position].is_numeric:
        return np.asarray(table.numbers[:, table.schema.numeric.index(position)])
    return table.codes[:, position].astype(np.float64)


def by_unit(guessed: Guessed, truth: np.ndarray, units: Units) -> Guessed:
    """Means over the rows of each unit whose secret is known; 0 for a unit without any."""
    known = ~np.isnan(truth)
    rows = np.maximum(np.bincount(units.of_row[known], minlength=units.count), 1)

    def mean(values: np.ndarray) -> np.ndarray:
        return np.bincount(units.of_row[known], weights=values[known], minlength=units.count) / rows

    fit = np.stack([mean(column) for column in guessed.fit.T], axis=1)
    return Guessed(mean(guessed.right).astype(np.float32), fit.astype(np.float32))


@njit(nogil=True, cache=True)
def _vote(people, rows, published, truth, tolerance, numeric, worth, distances, right, fit):
    """`published` rises, so that equal secrets, and those within a window, stand side by side."""
    count, last = published.size, worth.shape[0] - 1
    near, hits = np.zeros(worth.shape[1]), np.zeros(worth.shape[1])
    for person in range(people.shape[1]):
        secret = truth[person]
        if np.isnan(secret):
            continue
        distances[:] = 0
        for column in range(people.shape[0]):
            own, others = people[column, person], rows[column]
            for row in range(count):
                distances[row] += others[row] != own
        least = distances.min()  # votes are counted from the nearest row on, so that they never vanish
        near[:] = 0
        hits[:] = 0
        for row in range(count):
            near[distances[row] - least] += 1
            if abs(published[row] - secret) <= tolerance:
                hits[distances[row] - least] += 1
        share = (hits.sum() + 0.5) / (count + 1)
        for step in range(worth.shape[0]):
            votes, true = 0.0, 0.0
            for apart in range(worth.shape[1]):
                votes += near[apart] * worth[step, apart]
                true += hits[apart] * worth[step, apart]
            fit[person, step] = np.log((true + BORROWED * votes * share) / ((1 + BORROWED) * votes))
        if numeric:
            guess = _best_window(published, distances, least, worth[last], tolerance)
            right[person] = abs(guess - secret) <= tolerance * (1 + 1e-9)
        else:
            right[person] = _chance_of(secret, published, distances, least, worth[last])


@inner()
def _chance_of(secret, published, distances, least, worth):
    """1 if the true value has most votes, one over the number of winners if it ties, 0 otherwise."""
    best, winners, own, row = 0.0, 0, 0.0, 0
    while row < published.size:
        value, votes = published[row], 0.0
        while row < published.size and published[row] == value:
            votes += worth[distances[row] - least]
            row += 1
        if value == secret:
            own = votes
        if votes * TIED > best:
            best, winners = votes, 1
        elif votes >= best * TIED:
            winners += 1
    return 1 / winners if own >= best * TIED else 0.0


@inner()
def _best_window(published, distances, least, worth, tolerance):
    """The middle of the window, as wide as the tolerance on either side, that holds most votes."""
    best, guess, votes, first = -1.0, published[0], 0.0, 0
    for row in range(published.size):
        votes += worth[distances[row] - least]
        while published[row] - published[first] > 2 * tolerance:
            votes -= worth[distances[first] - least]
            first += 1
        if votes * TIED > best:
            best, guess = votes, (published[first] + published[row]) / 2
    return guess
