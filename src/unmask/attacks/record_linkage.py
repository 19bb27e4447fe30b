"""Literal record linkage: look the target up in the release. For raw and sanitised releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import Prediction, Secret
from unmask.attacks._known import Coarsening, known_positions, levels_of_codes
from unmask.attacks.linear import Linear, within
from unmask.attacks.synthetic_predictor import FLOOR, SyntheticPredictor
from unmask.errors import ParameterError
from unmask.tables.distance import Gower, nearest
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View

LINKED = 1e-3  # scale of a number that was read off a linked row, as a share of the public range


@dataclass(frozen=True)
class RecordLinkage:
    """Find the target's row in the release by all that is known of them; guess only where there is none.

    Stadler 2022, section 6: against raw and sanitised tables the attacker links first and classifies if that fails. San groups
    categories, moves dates to the start of a period and numbers to that of their bin, caps large numbers and drops rows. It is
    deterministic and row by row, so the attacker does the same to what they know of the target (how, is read off the release:
    `Coarsening`) and looks for an equal row. What San drops is not there to be linked; what it keeps is as unique as before.

    Membership: with c matches where w are expected without the target, c / w is the likelihood ratio of "in" against "out",
    and the score is 1 + c / (c + w), above 1. The matches among reference people give w, where the threat model has such
    people; otherwise all matches but one do, so that a unique match comes first. Without a match the score is
    1 - the Gower distance to the nearest row, at most 1.
    Attribute: the secret of the matching row, the shares among several, else what `synthetic-predictor` says with `model`.
    The paper's own attack is `unique=true,model=forest` for categories and `unique=true,model=linear` for numbers; for
    membership see `link-then-classify`.
    """

    name: ClassVar[str] = "record-linkage"
    goals: ClassVar[frozenset[Goal]] = frozenset({Goal.MEMBERSHIP, Goal.ATTRIBUTE})
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC})

    model: str = "knn"  # of the guess where linkage fails: any of synthetic-predictor
    unique: bool = False  # whether a single match only is a link, as the paper has it; several then say nothing

    def __post_init__(self) -> None:
        if not isinstance(self.unique, bool):
            raise ParameterError(f"unique is {self.unique!r}; it must be true or false.")
        self._predictor  # noqa: B018 - refuses a model that does not exist

    @property
    def _predictor(self) -> SyntheticPredictor:
        return SyntheticPredictor(model=self.model)

    def prepare(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> RecordLinkage:
        return self

    def score(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> np.ndarray | Prediction:
        release = view.synthetic
        coarsening = Coarsening.of(release)
        people = coarsening.apply(targets)
        linked = matching_rows(people, release, known_positions(release, secret))
        if self.unique:
            linked = [rows if len(rows) == 1 else rows[:0] for rows in linked]
        if secret is None:
            return _membership(view, people, linked, coarsening)
        if secret.levels:
            return _levels(release, people, linked, secret, self._predictor, rng)
        return self._numbers(view, people, linked, secret, rng)

    def _numbers(
        self, view: View, people: Table, linked: list[np.ndarray], secret: Secret, rng: np.random.Generator
    ) -> Prediction:
        """Mean and spread of the numbers of the linked rows; a guess where there are none.

        With `unique` the number of the one row is known for certain, and a linear model is that of the paper (`linear`).
        """
        release = view.synthetic
        column = release.schema.columns[secret.position]
        answers = release.numbers[:, release.schema.numeric.index(secret.position)]
        read = [answers[rows][~np.isnan(answers[rows])] for rows in linked]
        absent = np.array([len(numbers) == 0 for numbers in read])
        mean = np.array([numbers.mean() if len(numbers) else 0.0 for numbers in read])
        scale = np.array([numbers.std() if len(numbers) else 0.0 for numbers in read])
        scale = np.maximum(scale, 0.0 if self.unique else LINKED * (column.upper - column.lower))
        if absent.any():
            others = people.take(absent)
            if self.unique and self.model in ("linear", "logistic"):
                guessed = Linear().score(view, others, secret, rng)
            else:
                guessed = self._predictor.numbers(release, others, secret, rng)
            mean[absent], scale[absent] = guessed.mean, guessed.scale
        return within(column, mean, scale)


def matching_rows(people: Table, release: Table, positions: list[int]) -> list[np.ndarray]:
    """For each person the rows of the release that equal them on these columns.

    Numbers compare by value, missing equals missing, and a category that the schema does not list equals nothing.
    """
    place = {position: i for i, position in enumerate(release.schema.numeric)}
    found = []
    for person in range(len(people)):
        rows: np.ndarray | slice = slice(None)  # all, until the first column has narrowed them down
        for position in positions:
            if position in place:
                number, numbers = people.numbers[person, place[position]], release.numbers[rows, place[position]]
                equal = np.isnan(numbers) if np.isnan(number) else numbers == number
            else:
                code = people.codes[person, position]
                listed = code != release.schema.columns[position].unlisted_code
                equal = (release.codes[rows, position] == code) & listed
            rows = np.flatnonzero(equal) if isinstance(rows, slice) else rows[equal]
            if len(rows) == 0:
                break
        found.append(np.arange(len(release)) if isinstance(rows, slice) else rows)
    return found


def _membership(view: View, people: Table, linked: list[np.ndarray], coarsening: Coarsening) -> np.ndarray:
    release = view.synthetic
    counts = np.array([len(rows) for rows in linked], dtype=np.float64)
    found = counts > 0
    scores = np.zeros(len(people))
    if found.any():
        matches = counts[found]
        scores[found] = 1 + matches / (matches + _expected(view, people.take(found), matches, coarsening))
    if not found.all() and len(release):
        scores[~found] = 1 - nearest(people.take(~found), release, metric=Gower()).distances[:, 0]
    return scores


def _expected(view: View, people: Table, matches: np.ndarray, coarsening: Coarsening) -> np.ndarray:
    """How many rows of the release would match these people anyway, were they not in the real table."""
    if Access.REFERENCE not in view.allowed:
        return matches - 1
    reference = coarsening.apply(view.reference)
    twins = matching_rows(people, reference, known_positions(people, None))
    share = (np.array([len(rows) for rows in twins]) + 0.5) / (len(reference) + 1)
    return np.asarray(share * len(view.synthetic))


def _levels(
    release: Table,
    people: Table,
    linked: list[np.ndarray],
    secret: Secret,
    predictor: SyntheticPredictor,
    rng: np.random.Generator,
) -> np.ndarray:
    """What the linked rows say; half a vote for the predictor, which decides where they are none or divided."""
    says = levels_of_codes(release.schema.columns[secret.position])
    codes = release.codes[:, secret.position]
    votes = np.stack([says[codes[rows]].sum(axis=0) for rows in linked])
    clear = (votes.max(axis=1) == 1) & (np.array([len(rows) for rows in linked]) == 1)
    unclear = ~clear
    if unclear.any():
        votes[unclear] += predictor.probabilities(release, people.take(unclear), secret, rng) / 2
    votes += FLOOR  # beside whole and half votes: never changes the order
    return np.asarray(votes / votes.sum(axis=1, keepdims=True))
