"""Shadow modelling: learn from releases of one's own what the presence of a target does to a synthetic table.

Stadler et al. (2022), Houssiau et al. (2022). The attacks differ in the features that sum up a release; they share the
way they learn. The features are in `unmask.attacks.features`, computed once per release for all attacks and targets.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unmask.attacks._attack import FeatureSet
from unmask.attacks._forest import Ranked, grow
from unmask.attacks.features import CorrelationFeatures, HistogramFeatures, NaiveFeatures, QueryFeatures
from unmask.attacks.features.queries import hidden_column
from unmask.errors import ParameterError
from unmask.registry import load_class
from unmask.threats.knowledge import Access, Goal
from unmask.threats.pool import Pool

if TYPE_CHECKING:
    from unmask.tables.schema import Column

CLASSIFIERS = ("forest", "logistic", "knn", "boosting")
NEIGHBOURS = 5


@dataclass(frozen=True)
class Shadow:
    """What all shadow attacks share: one classifier per target, from features of a release to the answer.

    Membership: probability that the target was in. A secret category: probability of each value, learnt from
    releases that the target was in. A secret number: its expected value, by the regressor of the same kind (ridge
    for logistic). Where the attacker's releases hold one answer only there is nothing to learn: all scores are equal.
    """

    goals: ClassVar[frozenset[Goal]] = frozenset({Goal.MEMBERSHIP, Goal.ATTRIBUTE})
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC, Access.SHADOWS})

    classifier: str = "forest"  # or logistic, knn, boosting, or module:Class of a scikit-learn classifier

    def __post_init__(self) -> None:
        self.features  # noqa: B018 - a feature set checks its parameters when it is made
        if self.classifier in CLASSIFIERS:
            return
        if ":" not in str(self.classifier):
            raise ParameterError(
                f"There is no classifier {self.classifier!r}. There are: {', '.join(CLASSIFIERS)}; or module:Class."
            )
        if not hasattr(load_class(self.classifier), "predict_proba"):
            raise ParameterError(f"'{self.classifier}' cannot be used: a classifier needs `predict_proba`.")

    @property
    def features(self) -> tuple[FeatureSet, ...]:
        """What a release is summed up by."""
        raise NotImplementedError

    def fit(self, pool: Pool, rng: np.random.Generator) -> FittedShadow:
        """Learn, target by target, from the releases that are about it."""
        keys = tuple(feature.key for feature in self.features)
        position = hidden_column(pool.targets)
        secret = None if position is None else pool.targets.schema.columns[position]
        seeds = rng.integers(2**31, size=len(pool.targets))
        known = None  # ranks of the features, where all targets have the same ones
        if self.classifier == "forest" and pool.shares(keys) and not (secret is not None and secret.is_numeric):
            known = Ranked.of(_matrix(pool, keys, 0, np.ones(len(pool), dtype=bool)))
        learnt = tuple(self._learn(pool, keys, target, secret, int(seed), known) for target, seed in enumerate(seeds))
        return FittedShadow(keys, learnt)

    def _learn(
        self, pool: Pool, keys: tuple[str, ...], target: int, secret: Column | None, seed: int, known: Ranked | None
    ) -> Learnt:
        rows = pool.about(target)
        if secret is None:
            answers, neutral = pool.members[:, target].astype(np.int64), np.array(0.5)
        elif not secret.is_numeric:
            rows = rows & pool.members[:, target]
            answers, neutral = pool.secrets[:, target].astype(np.int64), np.full(pool.levels, 1 / pool.levels)
        else:
            rows = rows & pool.members[:, target] & ~np.isnan(pool.secrets[:, target])
            answers, neutral = pool.secrets[:, target], np.array((secret.lower + secret.upper) / 2)
        answers = answers[rows]
        if len(np.unique(answers)) < 2:  # above all: never repeat the one secret that the attacker's side held
            return Learnt(None, neutral)
        numeric = secret is not None and secret.is_numeric
        if self.classifier == "forest" and not numeric:
            if known is not None:
                return Learnt(grow(known, np.flatnonzero(rows), answers, seed), neutral)
            return Learnt(
                grow(Ranked.of(_matrix(pool, keys, target, rows)), np.arange(len(answers)), answers, seed), neutral
            )
        model = _model(self.classifier, len(answers), seed, numeric=numeric)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a logistic fit that has not fully converged still ranks
            model.fit(_matrix(pool, keys, target, rows), answers)
        return Learnt(model, neutral)


@dataclass(frozen=True, eq=False)
class Learnt:
    """What was learnt about one target: a forest, another model of scikit-learn, or nothing."""

    model: Any
    neutral: np.ndarray  # the score of every release where nothing was learnt: one number, or one per level

    def score(self, features: np.ndarray) -> np.ndarray:
        """One score, or one per level, for each row of features."""
        if self.model is None:
            return np.broadcast_to(self.neutral, (len(features), *self.neutral.shape))
        if not hasattr(self.model, "predict_proba"):
            return np.asarray(self.model.predict(features))
        found = self.model.predict_proba(features)
        if not self.neutral.shape:
            return np.asarray(found[:, 1])
        scores = np.zeros((len(features), *self.neutral.shape))
        scores[:, self.model.classes_] = found
        return scores


@dataclass(frozen=True, eq=False)
class FittedShadow:
    """A shadow attack that has learnt."""

    keys: tuple[str, ...]
    learnt: tuple[Learnt, ...]  # one per target

    def score(self, pool: Pool) -> np.ndarray:
        """Releases x targets (x levels); 0 where a release is not about the target."""
        scores = np.zeros((len(pool), len(self.learnt), *self.learnt[0].neutral.shape))
        for target, learnt in enumerate(self.learnt):
            rows = pool.about(target)
            if rows.any():
                scores[rows, target] = learnt.score(_matrix(pool, self.keys, target, rows))
        return scores


def _matrix(pool: Pool, keys: tuple[str, ...], target: int, rows: np.ndarray) -> np.ndarray:
    """The features of these releases side by side, in the single precision in which trees look at them."""
    parts = [pool.features(key, target) for key in keys]
    parts = [part if rows.all() else part[rows] for part in parts]
    return np.concatenate(parts, axis=1, dtype=np.float32, casting="same_kind")


def _model(name: str, rows: int, seed: int, *, numeric: bool) -> Any:
    """An unfitted scikit-learn classifier, or the regressor of the same kind; one thread each. Forests of classes are our own."""
    from sklearn import ensemble, linear_model, neighbors
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if name == "forest":
        return ensemble.RandomForestRegressor(n_estimators=100, max_features="sqrt", n_jobs=1, random_state=seed)
    if name == "boosting":
        boosting = ensemble.GradientBoostingRegressor if numeric else ensemble.GradientBoostingClassifier
        return boosting(max_features="sqrt", random_state=seed)
    if name == "logistic":
        linear = linear_model.Ridge() if numeric else linear_model.LogisticRegression(max_iter=1000)
        return make_pipeline(StandardScaler(), linear)
    if name == "knn":
        nearest = neighbors.KNeighborsRegressor if numeric else neighbors.KNeighborsClassifier
        return make_pipeline(StandardScaler(), nearest(min(NEIGHBOURS, rows), n_jobs=1))
    if numeric:
        raise ParameterError(
            f"The classifier '{name}' cannot learn a number. For a numeric secret use one of {CLASSIFIERS}."
        )
    foreign = load_class(name)()
    if "random_state" in foreign.get_params():
        foreign.set_params(random_state=seed)
    return make_pipeline(StandardScaler(), foreign)


@dataclass(frozen=True)
class Naive(Shadow):
    """Shadow modelling on plain statistics of every column (Groundhog's F_naive)."""

    name: ClassVar[str] = "naive"

    @property
    def features(self) -> tuple[FeatureSet, ...]:
        return (NaiveFeatures(),)


@dataclass(frozen=True)
class Histogram(Shadow):
    """Shadow modelling on the marginals of every column (Groundhog's F_hist)."""

    name: ClassVar[str] = "histogram"

    bins: int | None = None  # equal bins for numbers; None = the bins of the schema

    @property
    def features(self) -> tuple[FeatureSet, ...]:
        return (HistogramFeatures(self.bins),)


@dataclass(frozen=True)
class Correlation(Shadow):
    """Shadow modelling on correlations of every pair of columns (Groundhog's F_corr)."""

    name: ClassVar[str] = "correlation"

    bins: int | None = None  # equal bins for numbers first; None = numbers as they are

    @property
    def features(self) -> tuple[FeatureSet, ...]:
        return (CorrelationFeatures(self.bins),)


@dataclass(frozen=True)
class Groundhog(Shadow):
    """Shadow modelling on plain statistics, marginals and correlations together (Stadler et al. 2022)."""

    name: ClassVar[str] = "groundhog"

    bins: int | None = None  # of the marginals; correlations take numbers as they are, as in the authors' code
    binned_correlations: bool = False  # of the same bins, as in the paper

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.binned_correlations and self.bins is None:
            raise ParameterError(f"{self.name}: binned correlations need a number of bins, such as bins=45.")

    @property
    def features(self) -> tuple[FeatureSet, ...]:
        correlations = CorrelationFeatures(self.bins if self.binned_correlations else None)
        return (NaiveFeatures(), HistogramFeatures(self.bins), correlations)


@dataclass(frozen=True)
class Queries(Shadow):
    """Shadow modelling on counts of rows that look like the target in some columns (Houssiau et al. 2022)."""

    name: ClassVar[str] = "queries"

    order: int | str = QueryFeatures.order  # columns per query, or a range such as "1-3"
    count: int = QueryFeatures.count  # queries per order above 1
    numbers: str = (
        QueryFeatures.numbers
    )  # a number agrees if it is "equal", in the same "bin" (or "both"), or "at-most"
    subsets: int = QueryFeatures.subsets  # another number draws other sets of columns

    @property
    def features(self) -> tuple[FeatureSet, ...]:
        return (QueryFeatures(self.order, self.count, self.numbers, self.subsets),)
