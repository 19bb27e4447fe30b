"""White-box: how likely the fitted model holds the target to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import Prediction, Secret
from unmask.attacks._density import filled, judged
from unmask.errors import ParameterError
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View


@dataclass(frozen=True)
class Likelihood:
    """Log-likelihood of the target under the fitted model.

    Fitting raises the likelihood of the rows it saw, most of all that of rare values, and a white-box attacker reads it off
    without the noise of sampling: higher = more likely a member. `relative` subtracts the log-likelihood under independent
    columns with the reference people's frequencies (one imaginary row spread evenly), a constant per target that makes scores
    of common and of odd people comparable. Attribute: the log-likelihood with every value of the secret filled in (numbers:
    every bin, whose likelihood is taken for its probability); `relative` subtracts nothing there, since the prior of the
    secret belongs to the answer.

    Rows that the model calls impossible, or less likely than that, get `floor`.
    """

    name: ClassVar[str] = "likelihood"
    goals: ClassVar[frozenset[Goal]] = frozenset(Goal)
    needs: ClassVar[frozenset[Access]] = frozenset({Access.MODEL})

    relative: bool = False
    floor: float = -10_000.0

    def __post_init__(self) -> None:
        if not isinstance(self.relative, bool):
            raise ParameterError(f"relative is {self.relative!r}; it must be true or false.")
        if not np.isfinite(self.floor):
            raise ParameterError(f"floor is {self.floor!r}; it must be a finite log-likelihood, such as -10000.")

    def prepare(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> PreparedLikelihood:
        if not self.relative or secret is not None:
            return PreparedLikelihood(self, None)
        return PreparedLikelihood(self, independent_log_likelihood(targets, view.reference))


@dataclass(frozen=True, eq=False)
class PreparedLikelihood:
    """The attack with what is subtracted for each target; none where nothing is."""

    attack: Likelihood
    expected: np.ndarray | None

    def score(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> np.ndarray | Prediction:
        log_likelihood = view.model.log_likelihood
        if log_likelihood is None:
            raise ParameterError(
                "likelihood: the model of this generator gives no likelihoods, so this attack cannot be run.\n"
                "Leave it out, or give the model a method log_likelihood(table) with one number per row."
            )
        if secret is not None:
            return judged(np.maximum(log_likelihood(filled(targets, secret)), self.attack.floor), targets, secret)
        logs = np.maximum(log_likelihood(targets), self.attack.floor)
        return logs if self.expected is None else logs - self.expected


def independent_log_likelihood(targets: Table, reference: Table) -> np.ndarray:
    """Log-likelihood of each target's codes if columns were independent, with the frequencies of the reference."""
    total = np.zeros(len(targets))
    for position, column in enumerate(targets.schema.columns):
        counts = np.bincount(reference.codes[:, position], minlength=column.code_count) + 1 / column.size
        total += np.log(counts[targets.codes[:, position]] / (len(reference) + 1))
    return total
