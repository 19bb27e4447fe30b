"""The utility game of stadler2022 (6.3.2): does the presence of a person in the real table help others who are like them?

The challenger does as in the membership game: the real table with or without the target, a generator fitted to it, a release. An
analyst trains a model on the release and predicts the label of a person who is in no real table. The utility advantage of a
target for that person is the share of right predictions with the target less that without:
Adv = P[y^ = y | in] - P[y^ = y | out]. Below 0 the target misleads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unmask.attacks._known import Coarsening
from unmask.errors import ParameterError
from unmask.stats.cases import Cases
from unmask.stats.results import Estimate
from unmask.tables.distance import Gower, nearest
from unmask.tables.table import Table
from unmask.tables.units import units
from unmask.utility.learners import CLASSIFIERS, Learner
from unmask.utility.prediction import MOST_CLASSES, answers, labelled, predicted

FOREST = CLASSIFIERS[0]  # the analyst's, as in the authors' program


@dataclass(frozen=True, eq=False)
class UtilityGame:
    """An analyst, the label to predict, and the people to predict it for: of each target those who are most like it."""

    label: str
    rows: np.ndarray  # targets x people: their rows in the population
    people: Table  # the same people, those of the first target first
    learner: Learner

    @classmethod
    def of(cls, population: Table, targets: np.ndarray, label: str, each: int = 1) -> UtilityGame:
        """For every target the people nearest to it (Gower, all columns but the label) whose label is known; nobody twice.

        The paper chose them by hand, for rare values or large numbers such as those of the targets.
        """
        _check(population, label)
        unit = units(population).of_row
        free = _known(population, label) & ~np.isin(unit, unit[targets])
        if (have := int(free.sum())) < (need := each * len(targets)):
            raise ParameterError(
                f"The utility game asks about {need:,} people who are no targets and whose '{label}' is known; there are "
                f"{have:,}.\nUse fewer targets or fewer --utility-people."
            )
        others = [name for name in population.schema.names if name != label]
        rows = np.empty((len(targets), each), dtype=np.int64)
        for place, target in enumerate(targets):
            candidates = np.flatnonzero(free)
            found = nearest(
                population.take([target]), population.take(candidates), k=each, metric=Gower(), columns=others
            )
            rows[place] = candidates[found.rows[0]]
            free[rows[place]] = False
        return cls(label, rows, population.take(rows.ravel()), FOREST)

    def right(self, release: Table, rng: np.random.Generator) -> np.ndarray:
        """Train on a release; 1 for each person whose label is predicted right, else 0: targets x people.

        Rows whose label is missing or generalised teach nothing. An analyst without any other row has no answer, and is not
        right. What is known of people is made as coarse as the release, where that is sanitised.
        """
        seed, taught = int(rng.integers(2**31)), labelled(release, self.label)
        if not len(taught):
            return np.zeros(self.rows.shape)
        asked = Coarsening.of(release).apply(self.people)
        told = predicted(self.learner, taught, asked, self.label, seed=seed)
        return (told == answers(self.people, self.label)).astype(np.float64).reshape(self.rows.shape)


@dataclass(frozen=True)
class UtilityOutcome:
    """How often predictions were right with a target in the data, and without; the difference is what its presence adds."""

    with_target: Estimate
    without_target: Estimate
    advantage: Estimate


def judge_utility(
    right: np.ndarray, members: np.ndarray, fits: np.ndarray, *, prior: float = 0.5, confidence: float = 0.95
) -> UtilityOutcome | None:
    """Utility advantage over cases: whether a prediction was right, whether its target was in, and from which fit it comes.

    Fits are what is independent: several targets or people of one release are one draw. None if targets were always in, or never.
    """
    if members.all() or not members.any():
        return None
    right, cases = right.astype(bool), replace(Cases.of(fits, len(right), prior), mostly=True)
    return UtilityOutcome(
        cases.rate(right, members, confidence=confidence),
        cases.rate(right, ~members, confidence=confidence),
        cases.gain(right, members, confidence=confidence),
    )


def _check(population: Table, label: str) -> None:
    column = population.schema.column(label)
    if column.is_numeric:
        raise ParameterError(
            f"'{label}' is a number; the utility game predicts a category. Name another --utility-label."
        )
    if not 2 <= column.listed <= MOST_CLASSES:
        raise ParameterError(
            f"'{label}' has {column.listed:,} categories; the utility game predicts one of 2 to {MOST_CLASSES}."
        )
    if len(population.schema.columns) < 2:
        raise ParameterError(f"There is no column but '{label}' to predict it from.")


def _known(table: Table, label: str) -> np.ndarray:
    return np.asarray(answers(table, label) < table.schema.column(label).listed)
