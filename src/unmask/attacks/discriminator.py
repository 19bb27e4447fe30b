"""White-box, GANs: how real the critic holds the target to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import Secret
from unmask.attacks._density import check_count, part_of
from unmask.errors import ParameterError
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View

TINY = 1e-9


@dataclass(frozen=True)
class Discriminator:
    """The score that the critic of the fitted GAN gives the target, compared with the scores of reference people.

    A critic is trained to tell training rows from generated ones; one that overfits calls its training rows more real than other
    people (Hayes et al. 2019). The score is put in standard deviations above the mean of reference people under the same
    critic, whose zero and unit mean nothing; where the view has no reference people, it is taken as it is.

    Membership only.
    """

    name: ClassVar[str] = "discriminator"
    goals: ClassVar[frozenset[Goal]] = frozenset({Goal.MEMBERSHIP})
    needs: ClassVar[frozenset[Access]] = frozenset({Access.MODEL})

    reference_rows: int = 1000  # at most: beyond, a random part of the reference

    def __post_init__(self) -> None:
        check_count("reference_rows", self.reference_rows)

    def prepare(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> PreparedDiscriminator:
        known = view.reference if Access.REFERENCE in view.allowed else None
        return PreparedDiscriminator(None if known is None else part_of(known, self.reference_rows, rng))


@dataclass(frozen=True, eq=False)
class PreparedDiscriminator:
    """The attack with the reference people that the critic is asked about."""

    reference: Table | None

    def score(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> np.ndarray:
        ask = view.model.discriminator_score
        if ask is None:
            raise ParameterError(
                "discriminator: the model of this generator has no critic, so this attack cannot be run.\n"
                "Leave it out, or give the model a method discriminator_score(table) with one number per row."
            )
        own = np.asarray(ask(targets), dtype=np.float64)
        if self.reference is None or not len(self.reference):
            return own
        usual = np.asarray(ask(self.reference), dtype=np.float64)
        return (own - usual.mean()) / (usual.std() + TINY)
