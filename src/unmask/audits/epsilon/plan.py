"""The plan of the audit of a claim, and claims as text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from unmask.audits.generator_plan import GeneratorPlan
from unmask.audits.plan import option
from unmask.errors import ParameterError
from unmask.generators.claim import Claim, as_claim


def _claim(given: Any) -> Claim | str:
    """A claim as callers give it. A text waits for the generator, whose own claim fills in what it leaves out."""
    claim = as_claim(given)  # whether it can be read, before any work
    return claim if isinstance(given, Claim) else str(given)


@dataclass(frozen=True, kw_only=True)
class EpsilonPlan(GeneratorPlan):
    """What `unmask epsilon` does. `runs` may grow between runs of one directory; everything else is fixed."""

    without: ClassVar = ("domain",)  # tables of two rows have no domain worth learning

    claim: Claim | str | None = option(
        None, help="What to refute; neighbours are replace or add-remove.", shown="the generator's own claim",
        metavar="epsilon=E[,delta=D,neighbours=N]", read=_claim, write=str,
    )  # fmt: skip
    pairs: tuple[str, ...] = option(
        (), help="Tables: worst-case, repeat, narrow, tiny, mixed, canary, random; repeated ones take turns.",
        shown="worst-case; with REAL also canary",
    )  # fmt: skip
    runs: int = option(1000, help="Runs, one fit each; fewer if the claim falls.", least=1, grows=True)
    access: str = option(
        "white-box", help="What the attacker sees of the generator.", choices=("white-box", "black-box")
    )
    synthetic_rows: int | None = option(
        None,
        help="Rows of each release.",
        least=1,
        shown="100 per real row, at most 5,000 unless there are more real rows",
    )
    stop_early: bool = option(
        True, help="Stop when the claim falls; else play all runs, for a sharper bound.", off="--to-the-end", grows=True
    )
    controls: bool = option(
        True, help="Play a generator that sees nothing, and one that copies everything.", grows=True
    )
    confidence: float = option(0.95, help="Of every bound.", least=0.5, share=True, grows=True)

    def check(self) -> None:
        if isinstance(self.claim, Claim) and math.isinf(self.claim.epsilon):
            raise ParameterError("The claim is no privacy at all (epsilon infinite): there is nothing to refute.")

    @property
    def tested(self) -> Claim:
        """The claim, once it is known."""
        if not isinstance(self.claim, Claim):
            raise ParameterError(
                "The generator makes no claim. Name one, such as claim=Claim(epsilon=1) or --claim epsilon=1."
            )
        return self.claim
