"""The best match of a person among the synthetic rows, agreements weighted by how rare the value is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import Secret
from unmask.attacks.standing import links_of
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View


@dataclass(frozen=True)
class LinkageWeights:
    """Sum of -log(share of reference people with the value) over the columns in which a synthetic row has the very value.

    Fellegi and Sunter (1969) for one table: a rare amount that agrees says more than a common sex. The best match among the
    synthetic rows less the best among reference people: higher = the release has a row like this person that the population
    does not explain. Exact values, no bins; a missing value agrees with nothing. Numbers are rounded as the release rounds.
    """

    name: ClassVar[str] = "linkage-weights"
    goals: ClassVar[frozenset[Goal]] = frozenset({Goal.MEMBERSHIP})
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC, Access.REFERENCE})

    def prepare(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> LinkageWeights:
        return self

    def score(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> np.ndarray:
        return links_of(targets, view.synthetic, view.reference, own=None).weights
