"""Train a classifier or a regressor on the release and let it predict the target's secret."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unmask.attacks._attack import Prediction, Secret
from unmask.attacks._known import Coarsening, known_positions, levels_of_codes, plain_features, spread_features
from unmask.attacks.linear import least_squares, within, without_rows
from unmask.errors import ParameterError
from unmask.tables.distance import MOST_NEIGHBOURS, Gower, nearest
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View

MODELS = ("forest", "tree", "linear", "logistic", "knn", "boosting")
FLOOR = 1e-6  # probability of a level that no row of the release has: keeps logarithms finite
NEAR = 1e-3  # Gower distance that counts as none, so that an equal row outvotes all others


@dataclass(frozen=True)
class SyntheticPredictor:
    """Learn the secret from all other columns of the release, and predict it for the target.

    A release that overfits carries the target's own secret into the model (stadler2022, section 6.2; houssiau2022, "inference
    on synthetic"). It also succeeds by what holds for everyone, so compare with the success on people who are not
    in the real table. Scores are probabilities of the levels; for numbers the scale is the root mean square error on a quarter
    of the release that the model has not seen. `linear` and `logistic` mean the same: which one is fitted depends on
    the secret. CPU per release of 1,000 rows and 14 columns: knn 1 ms, tree 5, linear 9, boosting 44, forest 54; twice that
    for numbers, where linear takes 5.
    """

    name: ClassVar[str] = "synthetic-predictor"
    goals: ClassVar[frozenset[Goal]] = frozenset({Goal.ATTRIBUTE})
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC})

    model: str = "forest"
    trees: int = 30  # of a forest, or rounds of boosting
    neighbours: int = 5  # of knn; nearer ones count for more

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ParameterError(f"{self.name}: model is {self.model!r}; choose one of {', '.join(MODELS)}.")
        for what, most in (("trees", 10_000), ("neighbours", MOST_NEIGHBOURS)):
            value = getattr(self, what)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise ParameterError(f"{self.name}: {what} is {value!r}; use a whole number from 1 to {most:,}.")

    def prepare(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> SyntheticPredictor:
        return self

    def score(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> np.ndarray | Prediction:
        if secret is None:
            raise ParameterError(f"{self.name}: this attack finds out a secret, so it needs --goal attribute.")
        people = Coarsening.of(view.synthetic).apply(targets)
        if secret.levels:
            return self.probabilities(view.synthetic, people, secret, rng)
        return self.numbers(view.synthetic, people, secret, rng)

    def probabilities(self, release: Table, people: Table, secret: Secret, rng: np.random.Generator) -> np.ndarray:
        """Targets x levels. Levels that the model has not met get the floor."""
        column = release.schema.columns[secret.position]
        says = levels_of_codes(column)
        answers = release.codes[:, secret.position]
        there = np.flatnonzero(says[answers].any(axis=1))
        classes, labels = np.unique(answers[there], return_inverse=True)
        if len(classes) == 0:
            return np.full((len(people), secret.levels), 1 / secret.levels)
        of_classes = self._classify(release.take(there), labels, people, secret, rng, classes=len(classes))
        found = of_classes @ says[classes] + FLOOR
        return found / found.sum(axis=1, keepdims=True)

    def _classify(
        self, rows: Table, labels: np.ndarray, people: Table, secret: Secret, rng: np.random.Generator, *, classes: int
    ) -> np.ndarray:
        known = known_positions(rows, secret)
        if not known or classes == 1:
            shares = np.bincount(labels, minlength=classes) / len(labels)
            return np.broadcast_to(shares, (len(people), classes))
        if self.model == "knn":
            return self._vote(rows, np.eye(classes)[labels], people, known)
        features = spread_features if self.model in ("linear", "logistic") else plain_features
        with warnings.catch_warnings():  # a fit that stops early, or meets a class once, is still a guess
            warnings.simplefilter("ignore")
            fitted = _classifier(self, rng).fit(features(rows, known), labels)
            return np.asarray(fitted.predict_proba(features(people, known)))

    def numbers(self, release: Table, people: Table, secret: Secret, rng: np.random.Generator) -> Prediction:
        """Mean and error for each target."""
        column = release.schema.columns[secret.position]
        answers = release.numbers[:, release.schema.numeric.index(secret.position)]
        there = rng.permutation(np.flatnonzero(~np.isnan(answers)))
        rows, answers = release.take(there), answers[there]
        held = len(there) // 4
        if held == 0:
            return without_rows(answers, len(people), column)
        tried = self._regress(
            rows.take(np.arange(held, len(rows))), answers[held:], rows.take(np.arange(held)), secret, rng
        )
        error = np.sqrt(np.mean((tried - answers[:held]) ** 2))
        mean = self._regress(rows, answers, people, secret, rng)
        return within(column, mean, np.full(len(people), error))

    def _regress(
        self, rows: Table, answers: np.ndarray, people: Table, secret: Secret, rng: np.random.Generator
    ) -> np.ndarray:
        known = known_positions(rows, secret)
        if not known:
            return np.full(len(people), answers.mean())
        if self.model == "knn":
            return self._vote(rows, answers[:, None], people, known)[:, 0]
        if self.model in ("linear", "logistic"):
            return least_squares(spread_features(rows, known), answers, spread_features(people, known))[0]
        fitted = _regressor(self, rng).fit(plain_features(rows, known), answers)
        return np.asarray(fitted.predict(plain_features(people, known)))

    def _vote(self, rows: Table, votes: np.ndarray, people: Table, known: list[int]) -> np.ndarray:
        """The mean vote of the nearest rows, weighted by nearness."""
        names = [rows.schema.names[position] for position in known]
        near = nearest(people, rows, k=min(self.neighbours, len(rows)), metric=Gower(), columns=names)
        weights = 1 / (near.distances + NEAR)
        weights /= weights.sum(axis=1, keepdims=True)
        return np.asarray(np.einsum("tk,tkl->tl", weights, votes[near.rows]))


def _classifier(attack: SyntheticPredictor, rng: np.random.Generator) -> Any:
    seed = int(rng.integers(2**31))
    if attack.model == "forest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(attack.trees, random_state=seed)
    if attack.model == "tree":
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(random_state=seed)
    if attack.model == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(max_iter=attack.trees, early_stopping=False, random_state=seed)
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=300)


def _regressor(attack: SyntheticPredictor, rng: np.random.Generator) -> Any:
    seed = int(rng.integers(2**31))
    if attack.model == "forest":
        from sklearn.ensemble import RandomForestRegressor

        return RandomForestRegressor(attack.trees, max_features=1 / 3, random_state=seed)
    if attack.model == "tree":
        from sklearn.tree import DecisionTreeRegressor

        return DecisionTreeRegressor(random_state=seed)
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=attack.trees, early_stopping=False, random_state=seed)
