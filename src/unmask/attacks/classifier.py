"""A classifier between two tables: what it can tell apart, any attacker can."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import Secret
from unmask.attacks._density import check_count, part_of
from unmask.errors import ParameterError
from unmask.tables.table import Table
from unmask.threads import one_thread
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View

LEAST_ROWS = 20  # in a leaf
MOST_CATEGORIES = 255  # that the classifier takes in one column


@dataclass(frozen=True)
class Classifier:
    """Log-odds that the target is a synthetic row and no reference person, by boosted trees trained on both tables.

    A release that drifts from the population towards its training rows can be told from reference people, and so can those
    rows: higher = more like the synthetic table = more likely a member. It sees whole regions that differ, of 20 rows or more
    (a leaf has no fewer), so that a few copied rows hardly show; for those there is `closest-record`.

    Where nothing can be learnt (a table without rows, too few rows for two leaves, no column that varies) all scores are equal.
    CPU per release of 1,000 rows and 15 columns: 80 ms, nearly all of it for the fit; 110 ms with 5,000 reference people.
    """

    name: ClassVar[str] = "classifier"
    goals: ClassVar[frozenset[Goal]] = frozenset({Goal.MEMBERSHIP})
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC, Access.REFERENCE})

    rounds: int = 60  # of boosting, a tree each
    leaves: int = 15  # of a tree, at most
    rows: int = 10_000  # of each table, at most: beyond, a random part

    def __post_init__(self) -> None:
        for name in ("rounds", "leaves", "rows"):
            check_count(name, getattr(self, name))
        if self.leaves < 2:
            raise ParameterError("leaves is 1; a tree needs at least 2, or it tells nobody apart.")

    def prepare(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> Classifier:
        return self

    def score(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> np.ndarray:
        return self.between(view.synthetic, view.reference, rng)(targets)

    def between(self, first: Table, second: Table, rng: np.random.Generator) -> Callable[[Table], np.ndarray]:
        """A score that is higher for rows like the first table than for rows like the second; 0 if one has no rows."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        if not len(first) or not len(second):
            return lambda table: np.zeros(len(table))
        first, second = part_of(first, self.rows, rng), part_of(second, self.rows, rng)
        rows = np.concatenate([as_features(first), as_features(second)])
        rows[:, np.isnan(rows).all(axis=0)] = 0.0  # what nobody has tells nobody apart; scikit-learn fails on it
        model = HistGradientBoostingClassifier(
            max_iter=self.rounds,
            max_leaf_nodes=self.leaves,
            min_samples_leaf=LEAST_ROWS,
            categorical_features=_categorical(first),
            early_stopping=False,
            random_state=int(rng.integers(2**31)),
        )
        # Tables are small, too: threads that wait for each other on a busy machine cost forty times as much.
        with one_thread():
            model.fit(rows, np.arange(len(rows)) < len(first))

        def telling(table: Table) -> np.ndarray:
            with one_thread():
                return np.asarray(model.decision_function(as_features(table)), dtype=np.float64)

        return telling


def as_features(table: Table) -> np.ndarray:
    """Numbers as they are, categories as codes, missing numbers as NaN."""
    features = table.codes.astype(np.float64)
    for place, position in enumerate(table.schema.numeric):
        features[:, position] = table.numbers[:, place]
    return features


def _categorical(table: Table) -> list[bool]:
    """Columns of categories, as far as the classifier takes them; wider ones go by their order."""
    return [not column.is_numeric and column.code_count <= MOST_CATEGORIES for column in table.schema.columns]
