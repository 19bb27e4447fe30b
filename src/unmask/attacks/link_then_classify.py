"""Groundhog's attack on sanitised tables: link the target; where that fails, classify the release by a feature set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import FeatureSet, FittedAttack
from unmask.attacks.features.matches import MatchFeatures
from unmask.attacks.shadow import Correlation, Groundhog, Histogram, Naive, Queries, Shadow
from unmask.errors import ParameterError
from unmask.threats.knowledge import Access, Goal
from unmask.threats.pool import Pool

LINKED = 1.0  # the score of a target that was found


@dataclass(frozen=True)
class LinkThenClassify:
    """In, if exactly one row of the release is the target's; else what shadow modelling says by the chosen features.

    Stadler 2022, section 6, on sanitised tables: linkage comes first, and classification only where no single row is the
    target's. The classifier is trained on all shadow releases, as against synthetic tables. The target is coarsened as the
    release is. For secrets there is `record-linkage:unique=true`.
    """

    name: ClassVar[str] = "link-then-classify"
    goals: ClassVar[frozenset[Goal]] = frozenset({Goal.MEMBERSHIP})
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC, Access.SHADOWS})

    by: str = "naive"  # the feature set: naive, histogram, correlation, groundhog (all three) or queries
    classifier: str = "forest"  # as of any shadow attack
    bins: int | None = None  # of histogram, correlation and groundhog

    def __post_init__(self) -> None:
        self._shadow  # noqa: B018 - refuses what does not exist

    @property
    def _shadow(self) -> Shadow:
        match self.by:
            case "histogram":
                return Histogram(self.classifier, self.bins)
            case "correlation":
                return Correlation(self.classifier, self.bins)
            case "groundhog":
                return Groundhog(self.classifier, self.bins)
            case "naive" | "queries" if self.bins is not None:
                raise ParameterError(f"{self.name}: {self.by} has no bins. Leave them out, or use another feature set.")
            case "naive":
                return Naive(self.classifier)
            case "queries":
                return Queries(self.classifier)
        sets = "naive, histogram, correlation, groundhog, queries"
        raise ParameterError(f"{self.name}: by is {self.by!r}; choose one of {sets}.")

    @property
    def features(self) -> tuple[FeatureSet, ...]:
        return (MatchFeatures(), *self._shadow.features)

    def fit(self, pool: Pool, rng: np.random.Generator) -> FittedLink:
        """Learn to classify; linking needs no learning."""
        return FittedLink(self._shadow.fit(pool, rng))


@dataclass(frozen=True, eq=False)
class FittedLink:
    """The attack with its classifier."""

    classifier: FittedAttack

    def score(self, pool: Pool) -> np.ndarray:
        """Releases x targets: 1 where the target was found, else the probability by the classifier."""
        scores = self.classifier.score(pool).copy()
        for target in range(len(pool.targets)):
            found = pool.about(target) & (pool.features(MatchFeatures().key, target)[:, 0] == 1)
            scores[found, target] = LINKED
        return scores
