"""White-box, diffusion models and autoencoders: how well the fitted model takes noise off the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import Secret
from unmask.attacks._density import check_count, part_of
from unmask.errors import ParameterError
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import FittedModel, View

TINY = 1e-9


@dataclass(frozen=True)
class DenoisingLoss:
    """Minus the loss with which the fitted diffusion model denoises the target, compared with that of reference people.

    A diffusion model is trained to guess the noise that was put on its training rows, so it guesses that of members better than
    that of others; the winners of the MIDST challenge read this. The loss is averaged over draws of noise at several steps, which
    are shares of the way from no noise to nothing but noise. At each step it is put in standard deviations below the mean loss of
    reference people under the same model, so that a model that denoises everybody well recognises nobody; where the view has no
    reference people, losses are taken as they are. Every release is asked with the same noise: what differs is the model.

    A model that trains by one loss without steps (an autoencoder) is asked for that one. Membership only.
    """

    name: ClassVar[str] = "denoising-loss"
    goals: ClassVar[frozenset[Goal]] = frozenset({Goal.MEMBERSHIP})
    needs: ClassVar[frozenset[Access]] = frozenset({Access.MODEL})

    steps: str = "0.05+0.1+0.15+0.2+0.25+0.3"  # shares of the model's own number of steps
    draws: int = 2  # times that the model is asked about each step
    reference_rows: int = 200  # at most: beyond, a random part of the reference

    def __post_init__(self) -> None:
        check_count("draws", self.draws)
        check_count("reference_rows", self.reference_rows)
        self.shares  # noqa: B018 - refuses what are no shares

    @property
    def shares(self) -> tuple[float, ...]:
        """The steps as numbers."""
        try:
            found = tuple(float(part) for part in str(self.steps).split("+"))
        except ValueError:
            found = ()
        if not found or not all(0 <= share < 1 for share in found):
            raise ParameterError(f"steps is {self.steps!r}; list shares from 0 to below 1, such as 0.05+0.1+0.2.")
        return found

    def prepare(
        self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator
    ) -> PreparedDenoisingLoss:
        known = view.reference if Access.REFERENCE in view.allowed else None
        noise = int(rng.integers(2**31))
        return PreparedDenoisingLoss(self, None if known is None else part_of(known, self.reference_rows, rng), noise)


@dataclass(frozen=True, eq=False)
class PreparedDenoisingLoss:
    """The attack with the reference people that are asked about, and the seed of the noise that every release gets."""

    attack: DenoisingLoss
    reference: Table | None
    noise: int

    def score(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> np.ndarray:
        model, attack = view.model, self.attack
        if model.losses is None:
            raise ParameterError(
                "denoising-loss: the model of this generator shows no losses, so this attack cannot be run.\n"
                "Leave it out, or give the model `diffusion_steps` and a method losses(table, steps, rng): rows x steps."
            )
        steps = sorted({int(share * model.diffusion_steps) for share in attack.shares})
        own = self._losses(model, targets, steps, 0)
        if self.reference is None or not len(self.reference):
            return np.asarray(-own.mean(axis=1))
        expected = self._losses(model, self.reference, steps, 1)
        return np.asarray(((expected.mean(axis=0) - own) / (expected.std(axis=0) + TINY)).mean(axis=1))

    def _losses(self, model: FittedModel, rows: Table, steps: list[int], stream: int) -> np.ndarray:
        """Rows x steps: the mean over draws of noise, of which targets and reference people have their own."""
        rng = np.random.default_rng([self.noise, stream])
        losses = model.losses
        if losses is None:
            return np.zeros((len(rows), len(steps)))
        often = rows.take(np.tile(np.arange(len(rows)), self.attack.draws))  # one call is far cheaper than many
        found = np.asarray(losses(often, steps, rng), dtype=np.float64)
        if found.shape != (len(often), len(steps)) or not np.isfinite(found).all():
            raise ParameterError(
                f"denoising-loss: losses(table, steps, rng) gave numbers of the shape {found.shape}, or some that are not "
                f"finite; it must give one loss per row and step: {(len(often), len(steps))}."
            )
        return np.asarray(found.reshape(self.attack.draws, len(rows), len(steps)).mean(axis=0))
