"""Train on synthetic, test on real: what a model learns from the release, beside what it learns from the real table.

Each repeat draws training rows of the real table and equally many of one set, learns from either, and answers for the same real
people: one half of the holdout, or the fifth of the real table that was not trained on (of which the release was made, so that
releases that copy look better than they are). The dummy answers with the most frequent class, or the mean, of the real training
rows. Accuracy and balanced accuracy of classes; MAE, MAPE (per cent) and R2 of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unmask.errors import InputError
from unmask.stats.results import Assumption, Estimate
from unmask.tables.table import Table
from unmask.tables.units import units
from unmask.utility.comparison import student
from unmask.utility.features import FeatureMap
from unmask.utility.learners import CLASSIFIERS, OF_CLASSES, OF_NUMBERS, REGRESSORS, Learner, Measures

SHARE = 0.8  # of the real table, to train on
TESTED = 0.5  # of the holdout, in each repeat
MOST_TESTED = 5_000  # people, in each repeat
MOST_CLASSES = 50  # of a label: a learner takes a model, or a tree, for each
FEWEST = 20  # rows with a label, to train on and to test with
METHOD = "Nadeau-Bengio t over repeats"  # Student's t, corrected for the rows that repeats share

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Trained:
    """What one learner reached: repeats x measures, trained on real rows, on synthetic rows, and not at all."""

    learner: str
    measures: Measures
    real: np.ndarray
    synthetic: np.ndarray
    dummy: np.ndarray
    shared: float  # people who are tested in a repeat over those who are not: how much repeats have in common
    confidence: float

    def mean(self, scores: np.ndarray, measure: int = 0) -> Estimate:
        """The mean of one measure over the repeats."""
        return student(scores[:, measure], confidence=self.confidence, method=METHOD, inflation=self.shared)

    @property
    def kept(self) -> Estimate | None:
        """The share of what real rows teach beyond the dummy that synthetic rows teach too; None if real rows teach nothing.

        By the first measure. 1 = as good as real rows, 0 = as good as the dummy, below 0 = worse than it.
        """
        sign = 1.0 if self.measures.higher_is_better else -1.0
        gained, kept = sign * (self.real - self.dummy), sign * (self.synthetic - self.dummy)
        gain = self.mean(gained)
        if not gain.low > 0:
            return None
        ratio = float(kept[:, 0].mean()) / gain.value
        rest = self.mean((kept - ratio * gained) / gain.value)  # its mean is 0
        interval = ratio + rest.low, ratio + rest.high
        return Estimate(ratio, interval, self.confidence, METHOD, Assumption.MODEL_BASED, len(kept))


@dataclass(frozen=True, eq=False)
class PeopleScores:
    """The first measure of one learner, person by person: the mean over the repeats in which a person was tested, else NaN."""

    learner: str
    table: Table  # everybody who may be tested
    real: np.ndarray  # after training on real rows
    synthetic: np.ndarray


@dataclass(frozen=True, eq=False)
class Taught:
    """Every learner, and the people whom the first one was tested with."""

    learners: tuple[Trained, ...]
    people: PeopleScores
    train_rows: int
    test_rows: int


@dataclass(frozen=True)
class TrainAndTest:
    """A label to predict, how often, and from at most how many rows."""

    label: str
    repeats: int = 10
    train_rows: int = 5_000
    features: FeatureMap | None = None  # None: as each learner likes them
    confidence: float = 0.95

    def run(
        self,
        real: Table,
        sets: Sequence[Table],
        *,
        holdout: Table | None = None,
        progress: Progress = lambda done, total: None,
        rng: np.random.Generator,
    ) -> Taught:
        """Every learner that fits the label, in each repeat on the next set."""
        is_number, classes = real.schema.column(self.label).is_numeric, real.schema.column(self.label).listed
        if not is_number and classes > MOST_CLASSES:
            raise InputError(f"'{self.label}' has {classes:,} categories; at most {MOST_CLASSES} are predicted.")
        learners, measures = (REGRESSORS, OF_NUMBERS) if is_number else (CLASSIFIERS, OF_CLASSES)
        real, sets = labelled(real, self.label), [labelled(table, self.label) for table in sets]
        held = None if holdout is None else labelled(holdout, self.label)
        pool = real if held is None else held
        scores = np.zeros((3, len(learners), self.repeats, len(measures.names)))  # real, synthetic, dummy
        people, times = np.zeros((2, len(pool))), np.zeros(len(pool))
        sizes = (0, 0)
        for repeat, seed in enumerate(rng.integers(2**31, size=self.repeats)):
            trained, tested = self._rows(real, held, int(seed))
            theirs = sets[repeat % len(sets)]
            theirs = theirs.take(_shuffled(theirs, int(seed))[: len(trained)])
            mine, asked = real.take(trained), pool.take(tested)
            _check(len(mine), len(theirs), len(asked), self.label)
            truth, sizes = answers(asked, self.label), (len(mine), len(asked))
            times[tested] += 1
            for place, learner in enumerate(learners):
                for side, table in enumerate((mine, theirs)):
                    told = predicted(learner, table, asked, self.label, features=self.features, seed=int(seed))
                    scores[side, place, repeat] = measures.score(truth, told)
                    if place == 0:
                        people[side, tested] += measures.per_row(truth, told)
                scores[2, place, repeat] = measures.score(truth, _dummy(answers(mine, self.label), len(asked)))
                progress(repeat * len(learners) + place + 1, self.repeats * len(learners))
        share = sizes[1] / len(pool)
        found = tuple(
            Trained(learner.name, measures, mine, theirs, dummy, share / (1 - share), self.confidence)
            for learner, mine, theirs, dummy in zip(learners, *scores, strict=True)
        )
        with np.errstate(invalid="ignore"):  # who was never tested
            by_person = PeopleScores(learners[0].name, pool, *(people / times))
        return Taught(found, by_person, *sizes)

    def _rows(self, real: Table, holdout: Table | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the real table to train on, and rows of the holdout (without one, of the rest of the real table) to test."""
        order = _shuffled(real, seed)
        cut = round(SHARE * len(real))
        trained = order[:cut][: self.train_rows]
        if holdout is not None:
            return trained, _shuffled(holdout, seed)[: max(1, min(MOST_TESTED, round(TESTED * len(holdout))))]
        unit = units(real).of_row[order]
        rest = order[cut:]
        if cut:
            rest = rest[unit[cut:] != unit[cut - 1]]  # nobody is on both sides
        return trained, rest[:MOST_TESTED]


def predicted(
    learner: Learner, train: Table, asked: Table, label: str, *, features: FeatureMap | None = None, seed: int = 0
) -> np.ndarray:
    """What a learner says of the label of people after learning from a table: codes of classes, or numbers."""
    train = train.take(np.arange(min(len(train), learner.most_rows)))
    rows, questions = (features or FeatureMap(learner.encoding)).matrices(train, asked, label)
    return learner.predict(rows, answers(train, label), questions, seed)


def answers(table: Table, label: str) -> np.ndarray:
    """The label: codes of classes, or numbers."""
    position = table.schema.position(label)
    if table.schema.columns[position].is_numeric:
        return table.numbers[:, table.schema.numeric.index(position)]
    return table.codes[:, position].astype(np.int64)


def labelled(table: Table, label: str) -> Table:
    """The rows whose label is known and listed."""
    column, found = table.schema.column(label), answers(table, label)
    known = ~np.isnan(found) if column.is_numeric else found < column.listed
    return table if known.all() else table.take(known)


def _dummy(known: np.ndarray, count: int) -> np.ndarray:
    return np.full(count, known.mean() if known.dtype.kind == "f" else np.bincount(known).argmax())


def _shuffled(table: Table, seed: int) -> np.ndarray:
    """All rows in random order, those of one unit together; tables of one size that have no persons get the same order."""
    unit = units(table)
    place = np.random.default_rng(seed).permutation(unit.count)
    return np.argsort(place[unit.of_row], kind="stable")


def _check(trained: int, theirs: int, asked: int, label: str) -> None:
    if min(trained, theirs, asked) < FEWEST:
        raise InputError(
            f"'{label}' is known of {trained} real and {theirs} synthetic rows to train on and of {asked} to test with; "
            f"{FEWEST} of each are needed."
        )
