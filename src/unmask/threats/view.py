"""What an attacker sees: exactly what the threat model allows, and an error for everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import NotAllowedError
from unmask.generators._generator import Generator, Measurement
from unmask.tables.table import Table
from unmask.threats.knowledge import Access

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, eq=False)
class FittedModel:
    """What a white-box attacker sees of a fitted model; None is what a model of this kind does not offer.

    How likely it holds rows to be and its noisy measurements; of a diffusion model the loss of each row at each of some of its
    steps (of an autoencoder its one loss, at every step); of a GAN how real its critic holds each row to be (higher = more real).
    """

    log_likelihood: Callable[[Table], np.ndarray] | None = None
    measurements: tuple[Measurement, ...] = ()
    losses: Callable[[Table, Sequence[int], np.random.Generator], np.ndarray] | None = None  # rows x steps
    diffusion_steps: int = (
        0  # `losses` knows steps from 0 (nearly no noise) to this less one (nothing but noise); 0: no steps
    )
    discriminator_score: Callable[[Table], np.ndarray] | None = None


class View:
    """A release as one attacker sees it. Asking for what the threat model does not allow is an error."""

    def __init__(
        self,
        allowed: frozenset[Access],
        *,
        synthetic: Table,
        reference: Table | None = None,
        generator: Generator | None = None,
        model: FittedModel | None = None,
    ) -> None:
        # Only what is allowed is kept, so that even an attack that looks into the object finds nothing else.
        held = {
            Access.SYNTHETIC: synthetic,
            Access.REFERENCE: reference,
            Access.GENERATOR: generator,
            Access.MODEL: model,
        }
        self.allowed = allowed
        self._held = {access: thing for access, thing in held.items() if access in allowed and thing is not None}

    def _get(self, access: Access) -> object:
        if access not in self._held:
            raise NotAllowedError(f"This threat model does not give the attacker {access}. List it under `needs`.")
        return self._held[access]

    @property
    def synthetic(self) -> Table:
        """The synthetic table that was published."""
        return self._get(Access.SYNTHETIC)  # type: ignore[return-value]

    @property
    def reference(self) -> Table:
        """People whom the attacker knows; under auxiliary knowledge none of them is in the real table."""
        return self._get(Access.REFERENCE)  # type: ignore[return-value]

    @property
    def generator(self) -> Generator:
        """The generator with its parameters, to be run on tables of the attacker's own."""
        return self._get(Access.GENERATOR)  # type: ignore[return-value]

    @property
    def model(self) -> FittedModel:
        """The fitted model behind the release."""
        return self._get(Access.MODEL)  # type: ignore[return-value]
