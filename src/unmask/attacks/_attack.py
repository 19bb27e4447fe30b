"""The protocols that attacks follow.

An attack on a release looks at one release at a time through a `View`, after a preparation that serves all releases. A
shadow attack learns from a pool of the attacker's own releases and then scores those under attack, from features that are
computed once per release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.pool import Pool
from unmask.threats.view import View


@dataclass(frozen=True, eq=False)
class Prediction:
    """What an attack says about a secret that is a number: its mean and scale for each target."""

    mean: np.ndarray
    scale: np.ndarray


@dataclass(frozen=True)
class Secret:
    """The column that an attribute attack is after; in the targets it is masked (missing or unlisted)."""

    name: str
    position: int
    levels: int  # codes that a category can take, the missing one included; 0 for numbers


def tolerance_for(numbers: np.ndarray) -> float:
    """How near a guess of a number must be to count as right: a quarter of the interquartile range, or 1 where that is 0."""
    low, high = np.nanpercentile(numbers, [25, 75])
    return float((high - low) / 4) or 1.0


@runtime_checkable
class ReleaseAttack(Protocol):
    """Scores targets from one release, after what is the same for every release has been done: prepare, then score."""

    name: ClassVar[str]
    goals: ClassVar[frozenset[Goal]]
    needs: ClassVar[frozenset[Access]]

    def prepare(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> PreparedAttack:
        """What holds for every release, such as a density of the reference; the view has no synthetic table.

        It is an object of its own, which pickles; the attack, which is parameters only, stays as it was. An attack
        with nothing to prepare may return itself.
        """
        ...


@runtime_checkable
class PreparedAttack(Protocol):
    """An attack on a release that is ready for any release about the targets it was prepared for."""

    def score(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> np.ndarray | Prediction:
        """Membership: one score per target. Attribute: targets x levels, or a Prediction. Higher = more likely true."""
        ...


@runtime_checkable
class FeatureSet(Protocol):
    """Numbers that sum up one synthetic table, the same ones for every release."""

    name: ClassVar[str]

    @property
    def key(self) -> str:
        """A name that tells parameters apart, under which the features are stored."""
        ...

    def compute(self, synthetic: Table, targets: Table) -> np.ndarray:
        """F features, or targets x F where they depend on the target."""
        ...


@runtime_checkable
class ShadowAttack(Protocol):
    """Learns from shadow releases what the presence of a target does to features."""

    name: ClassVar[str]
    goals: ClassVar[frozenset[Goal]]
    needs: ClassVar[frozenset[Access]]

    @property
    def features(self) -> tuple[FeatureSet, ...]:
        """What must be computed for every release, on either side."""
        ...

    def fit(self, pool: Pool, rng: np.random.Generator) -> FittedAttack:
        """Learn from the attacker's own releases, whose answers are known."""
        ...


@runtime_checkable
class FittedAttack(Protocol):
    """A shadow attack that has learnt."""

    def score(self, pool: Pool) -> np.ndarray:
        """Releases x targets (membership), releases x targets x levels (categories), or releases x targets (numbers)."""
        ...


Attack = ReleaseAttack | ShadowAttack
