"""The plan of `unmask reconstruct`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unmask.audits.generator_plan import GeneratorPlan
from unmask.audits.plan import choices_of, option
from unmask.audits.reconstruct.release_plan import ReleaseReconstructionPlan
from unmask.generators import is_code
from unmask.threats.knowledge import ScoresShown


class Wanted(StrEnum):
    """Which records the attacker is after."""

    ANY = "any"  # every train record
    OUTLIERS = "outliers"  # those of the smallest clusters


class Locator(StrEnum):
    """How the attacker tells where outliers are."""

    SHARED = "shared"  # by the clusters that define them
    OWN = "own"  # by clusters of synthetic rows: the paper's OutliersLocator
    AFTERWARDS = "afterwards"  # by clusters of what was rebuilt: for generators that learn nothing


class Searching(StrEnum):
    """What follows the samples."""

    GUIDED = "guided"  # few questions, always arrives
    PAPER = "paper"  # the paper's greedy SearchAttack
    ENUMERATE = "enumerate"  # every row of the domain
    NONE = "none"  # SampleAttack alone


@dataclass(frozen=True, kw_only=True)
class ReconstructPlan(ReleaseReconstructionPlan, GeneratorPlan):
    """What `unmask reconstruct` does: with a generator behind an oracle, or with a release."""

    generator: str = option(
        "", code=is_code,
        help="Generator behind the metrics: name, module:Class, ./file.py:Class, or 'command: ...'. Needed without SYNTHETIC.",
    )  # fmt: skip
    rounds: int = option(1000, help="Synthetic tables that the attacker draws.", least=1, grows=True)
    rows_per_round: int | None = option(None, help="Rows of each.", least=1, shown="as many as train rows")
    goal: str = option("any", help="Which records are wanted.", choices=tuple(Wanted))
    locator: str = option("own", help="How outliers are told.", choices=tuple(Locator))
    clusters: int = option(10, help="Clusters of the mixture that divides people.", least=2)
    outlier_share: float = option(0.05, help="Share of the rows in its smallest clusters, at most.", share=True)
    search: str = option("guided", help="What follows the samples.", choices=tuple(Searching), grows=True)
    distance: int | None = option(
        None, help="Rows at most this far from a record are searched from.", least=1, grows=True,
        shown="guided: any, paper: a quarter of the columns",
    )  # fmt: skip
    scores: str = option("all", help="What the oracle shows if all tests pass.", choices=tuple(ScoresShown), grows=True)
    decimals: int | None = option(None, help="Scores are rounded to so many.", least=0, most=12, grows=True)
    calls: int | None = option(None, help="Calls that the oracle answers.", least=1, shown="all", grows=True)
    call_epsilon: float | None = option(
        None, help="Laplace noise on every answer, for this epsilon a call.", least=1e-6, grows=True
    )
    filters: tuple[str, ...] = option(
        (),
        help="Filter on what is drawn, such as similarity or outlier:share=0.1; may be repeated.",
        names=("--filter",),
    )
    mitigations: bool = option(True, help="Try what rounding, limits, noise and filters would have done.", grows=True)
    pictures: bool = option(
        False, help="The data are public: show rebuilt 8 x 8 pictures (the last 64 columns) in the report.", grows=True
    )

    @property
    def of_a_release(self) -> ReleaseReconstructionPlan:
        """The choices that a release has."""
        names = [choice.name for choice in choices_of(ReleaseReconstructionPlan)]
        return ReleaseReconstructionPlan(**{name: getattr(self, name) for name in names})
