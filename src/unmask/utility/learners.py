"""The learners of stadler2022 (classification) and hittmeir2020 (regression), and the measures by which they are judged."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unmask.metrics.cap_continuous import errors
from unmask.threads import one_thread
from unmask.utility.features import Encoding

ACCURACY, MAE = "accuracy", "MAE"


@dataclass(frozen=True)
class Learner:
    """A named way to learn. `most_rows` is what it can take in a reasonable time."""

    name: str
    make: Callable[[int], Any]  # from a seed to a model of scikit-learn
    most_rows: int = 1_000_000
    encoding: Encoding = Encoding.ONE_HOT

    def predict(self, rows: np.ndarray, answers: np.ndarray, asked: np.ndarray, seed: int) -> np.ndarray:
        """Learn, and answer. One thread: on a busy machine threads that wait for each other cost more than they save."""
        from sklearn.exceptions import ConvergenceWarning

        if answers.dtype.kind in "iu" and len(np.unique(answers)) < 2:
            return np.full(len(asked), answers[0])
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ConvergenceWarning
            )  # default limits of iterations are part of the definition
            return np.asarray(self.make(seed).fit(rows, answers).predict(asked))


@dataclass(frozen=True)
class Measures:
    """What is told of predictions, the first being the one by which learners are compared."""

    names: tuple[str, ...]
    higher_is_better: bool  # of the first
    score: Callable[[np.ndarray, np.ndarray], tuple[float, ...]]  # truth, predicted
    per_row: Callable[[np.ndarray, np.ndarray], np.ndarray]  # truth, predicted: the first, row by row


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=100, random_state=seed, n_jobs=1)


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=200, random_state=seed)


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=15, early_stopping=False, random_state=seed)


def _linear(seed: int) -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _svr(seed: int) -> Any:
    from sklearn.svm import SVR

    return SVR(kernel="rbf", C=100)


def _mlp(seed: int) -> Any:
    from sklearn.neural_network import MLPRegressor

    return MLPRegressor(solver="lbfgs", random_state=seed)


CLASSIFIERS = (
    Learner("forest", _forest, encoding=Encoding.LABEL),  # trees cut codes where they need to: a tenth of the features
    Learner("logistic", _logistic),
    Learner("boosting", _boosting, encoding=Encoding.LABEL),
)
REGRESSORS = (Learner("linear", _linear), Learner("svr", _svr, 2_000), Learner("mlp", _mlp, 2_000))


def _class_scores(truth: np.ndarray, predicted: np.ndarray) -> tuple[float, ...]:
    right = truth == predicted
    by_class = [right[truth == each].mean() for each in np.unique(truth)]
    return float(right.mean()), float(np.mean(by_class))


def _number_scores(truth: np.ndarray, predicted: np.ndarray) -> tuple[float, ...]:
    found = errors(truth, predicted)
    return found.mae, found.mape, found.r2


OF_CLASSES = Measures(
    (ACCURACY, "balanced accuracy"), True, _class_scores, lambda truth, predicted: (truth == predicted).astype(float)
)
OF_NUMBERS = Measures((MAE, "MAPE", "R2"), False, _number_scores, lambda truth, predicted: np.abs(truth - predicted))
