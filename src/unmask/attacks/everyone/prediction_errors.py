"""How badly each column of a person is predicted by a model that was trained on the synthetic table."""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from unmask.tables.table import Table

DEPTH, LEAF = 8, 5
LEAST = 1e-3  # probability of a value that the leaf never saw


def prediction_errors(synthetic: Table, rows: Table) -> np.ndarray:
    """Rows x columns: minus the log-probability that a tree on the other columns gives to the row's own code."""
    errors = np.zeros(rows.codes.shape)
    for position in range(rows.codes.shape[1]):
        others = np.arange(rows.codes.shape[1]) != position
        own = rows.codes[:, position]
        tree = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=LEAF, random_state=0)
        if not others.any():
            break
        tree.fit(synthetic.codes[:, others], synthetic.codes[:, position])
        place = np.searchsorted(tree.classes_, own).clip(0, len(tree.classes_) - 1)
        given = tree.predict_proba(rows.codes[:, others])[np.arange(len(rows)), place]
        errors[:, position] = -np.log(np.where(tree.classes_[place] == own, given, 0.0).clip(LEAST))
    return errors
