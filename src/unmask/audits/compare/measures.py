"""What is measured of one release beside its real table. A new measure, of utility or of privacy, is a line in `MEASURES`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from unmask.errors import ParameterError
from unmask.metrics.completing.completion import completion, likely_known
from unmask.metrics.copies import copies
from unmask.stream import stream
from unmask.tables.table import Table
from unmask.utility.dependence import (
    correlation_gaps,
    correlations,
    dissimilarity,
    information_gaps,
    mutual_information,
    on_a_scale,
    similarity_statistic,
)
from unmask.utility.learners import CLASSIFIERS, REGRESSORS, Learner
from unmask.utility.marginals import marginals, subsets_of, variations
from unmask.utility.prediction import FEWEST, answers, predicted

ATTEMPTS = 500  # people on either side whose records are completed
MOST_COLUMNS = 40  # that are compared pair by pair


@dataclass(frozen=True, eq=False)
class Publication:
    """A real table, a release of it, and real people of whom neither knows.

    `others` are the same for every draw, which is fair where mechanisms are compared. `control` are drawn anew with each real
    table from the same people, so that what real rows have beyond them is 0 on average where nothing is remembered.
    """

    real: Table
    synthetic: Table
    others: Table | None
    label: str | None
    seed: int
    control: Table | None = None

    @property
    def positions(self) -> tuple[int, ...]:
        return tuple(range(min(MOST_COLUMNS, len(self.real.schema.columns))))


@dataclass(frozen=True)
class ReleaseMeasure:
    """A number per release; higher is better unless it says otherwise, and nothing published scores `empty`."""

    name: str
    title: str
    of: Callable[[Publication], float]
    empty: float = 0.0
    needs_label: bool = False
    needs_others: bool = False
    is_utility: bool = True


def _kept(found: np.ndarray) -> float:
    """One less the mean size of the gaps."""
    known = np.abs(found[~np.isnan(found)])
    return float(1 - known.mean()) if len(known) else float("nan")


def _marginals(size: int, it: Publication) -> float:
    # The same sets of columns for every release of a seed, so that releases differ in nothing else.
    subsets = subsets_of(it.positions, size, rng=stream(it.seed, "subsets", str(size)))
    if not subsets:
        return float("nan")
    return _kept(variations(marginals(it.real, subsets), marginals(it.synthetic, subsets)))


def _correlation(it: Publication) -> float:
    places = tuple(place for place in on_a_scale(it.real) if place in it.positions)
    if len(places) < 2:
        return float("nan")
    return _kept(correlation_gaps(correlations(it.real, places), correlations(it.synthetic, places)))


def _information(it: Publication) -> float:
    return _kept(information_gaps(*(mutual_information(table, it.positions) for table in (it.real, it.synthetic))))


def _similarity(it: Publication) -> float:
    return _kept(dissimilarity(*(similarity_statistic(table, it.positions) for table in (it.real, it.synthetic))))


def _copied(it: Publication) -> float:
    """Share of the unique real rows that stand in the release, less that of unique rows of others: what chance explains."""
    found = copies(it.real, it.synthetic, holdout=it.control)
    told = found.excess or found.unique
    return 0.0 if told is None else told.value


def _completed(it: Publication) -> float:
    """Hidden values of real people that the release completes, by rarity, less those of others: what it remembers of people."""
    if it.control is None:
        return float("nan")
    known = likely_known(it.real.schema, stream(it.seed, "known"))
    try:
        found = completion(
            it.real, it.synthetic, known=known, holdout=it.control, attempts=ATTEMPTS, rng=stream(it.seed, "completion")
        )
    except ParameterError:  # one column, or hidden ones in which everybody is the same
        return float("nan")
    memory = found.memory()
    return float("nan") if memory is None else memory.value


def _score(it: Publication) -> float:
    """What a learner reaches with other people after the release."""
    return score_of(it, it.synthetic)


def learner_of(table: Table, label: str) -> Learner:
    """The learner by which releases are compared."""
    return (REGRESSORS if table.schema.column(label).is_numeric else CLASSIFIERS)[0]


def score_of(it: Publication, trained: Table) -> float:
    """Accuracy of classes; of numbers 1 - MAE / MAE of the mean of the real rows. What too few rows teach is the dummy's."""
    label, others = str(it.label), it.others
    if others is None:
        return float("nan")
    truth, known = answers(others, label), _labelled(trained, label)
    if len(known) < FEWEST:
        return dummy_of(it)
    told = predicted(learner_of(it.real, label), _in_order(known), others, label, seed=it.seed)
    if others.schema.column(label).is_numeric:
        return float(1 - np.abs(told - truth).mean() / max(np.abs(_mean(it) - truth).mean(), 1e-300))
    return float((told == truth).mean())


def dummy_of(it: Publication) -> float:
    """What is reached without learning: the most frequent class of the real rows, or their mean."""
    label, others = str(it.label), it.others
    if others is None:
        return float("nan")
    if others.schema.column(label).is_numeric:
        return 0.0
    known = answers(_labelled(it.real, label), label)
    return float((answers(others, label) == np.bincount(known).argmax()).mean()) if len(known) else 0.0


def _mean(it: Publication) -> float:
    known = answers(_labelled(it.real, str(it.label)), str(it.label))
    return float(known.mean()) if len(known) else 0.0


def _in_order(table: Table) -> Table:
    """Rows in an order that depends on their values alone: what is learnt must not depend on how a release is shuffled."""
    return table.take(np.lexsort((*table.numbers.T, *table.codes.T)))


def _labelled(table: Table, label: str) -> Table:
    """The rows whose label is known and listed."""
    column, found = table.schema.column(label), answers(table, label)
    known = ~np.isnan(found) if column.is_numeric else found < column.listed
    return table if known.all() else table.take(known)


ONE_WAY = ReleaseMeasure("one-way", "one-way marginals", partial(_marginals, 1))
TWO_WAY = ReleaseMeasure("two-way", "two-way marginals", partial(_marginals, 2))
THREE_WAY = ReleaseMeasure("three-way", "three-way marginals", partial(_marginals, 3))
CORRELATION = ReleaseMeasure("correlation", "correlation of pairs", _correlation)
INFORMATION = ReleaseMeasure("information", "mutual information of pairs", _information)
SIMILARITY = ReleaseMeasure("similarity", "similarity score (ganev2023)", _similarity)
LABEL = ReleaseMeasure("label", "label predicted", _score, needs_label=True, needs_others=True)
COPIES = ReleaseMeasure("copies", "unique real rows copied, beyond chance", _copied, is_utility=False)
COMPLETED = ReleaseMeasure(
    "completed", "values completed, beyond chance", _completed, needs_others=True, is_utility=False
)

MEASURES = (ONE_WAY, TWO_WAY, THREE_WAY, CORRELATION, INFORMATION, SIMILARITY, LABEL, COPIES, COMPLETED)


def measures_for(label: str | None, *, others: bool = True) -> tuple[ReleaseMeasure, ...]:
    """Those that can be measured."""
    return tuple(
        each for each in MEASURES if not (each.needs_label and label is None) and not (each.needs_others and not others)
    )


def measured(it: Publication, chosen: Sequence[ReleaseMeasure]) -> np.ndarray:
    """Every measure of one release."""
    if not len(it.synthetic):
        label = dummy_of(it) if it.label is not None else 0.0
        return np.array([label if each.needs_label else each.empty for each in chosen])
    return np.array([each.of(it) for each in chosen])
