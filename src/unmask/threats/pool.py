"""A pool: many releases of the same game, drawn once and shared by every attack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from unmask.errors import NotAllowedError
from unmask.tables.table import Table


@dataclass(frozen=True, eq=False)
class Pool:
    """K releases: features of each, and, on the attacker's own side, who was in and what the secrets were.

    A pool of releases that are judged is *blind*: it has features and no answers.
    """

    targets: Table  # with the secret masked in the attribute game
    feature_arrays: Mapping[str, np.ndarray]  # K x F, or K x targets x F where the feature depends on the target
    target_of: np.ndarray | None = None  # K: the one target that each release is about, where targets are isolated
    answers: tuple[np.ndarray, np.ndarray] | None = None  # members and secrets, each K x targets
    levels: int = 0  # values that a categorical secret can take; 0 for membership and for numbers
    releases: int = 1  # of each fit, one after the other

    def __len__(self) -> int:
        return len(next(iter(self.feature_arrays.values())))

    def features(self, name: str, target: int) -> np.ndarray:
        """K x F features of the named set, as they concern one target."""
        if name not in self.feature_arrays:
            raise NotAllowedError(f"This pool has no features '{name}'. List them under `features` of the attack.")
        array = self.feature_arrays[name]
        return array[:, target] if array.ndim == 3 else array

    def shares(self, names: Iterable[str]) -> bool:
        """Whether these features are the same for all targets."""
        return all(self.feature_arrays[name].ndim == 2 for name in names)

    @property
    def members(self) -> np.ndarray:
        """K x targets: whether the target was in the real table of this release."""
        return self._answers()[0]

    @property
    def secrets(self) -> np.ndarray:
        """K x targets: the target's secret in this release, as a code (categories) or a number."""
        return self._answers()[1]

    def _answers(self) -> tuple[np.ndarray, np.ndarray]:
        if self.answers is None:
            raise NotAllowedError(
                "The releases under attack come without answers: that is what the attack must find out."
            )
        return self.answers

    def about(self, target: int) -> np.ndarray:
        """Which releases tell something about this target (all, unless targets are isolated)."""
        if self.target_of is None:
            return np.ones(len(self), dtype=bool)
        return np.asarray(self.target_of == target)

    @property
    def fits(self) -> np.ndarray:
        """K: the fit that each release comes from. Releases of one fit share its members: the fit is what is independent."""
        return np.arange(len(self)) // self.releases

    def blind(self) -> Pool:
        """The same releases without the answers."""
        return replace(self, answers=None)
