"""The plan of a pool that goes out, and of the judging of what came back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unmask.audits.everyone.plan import AUTO, EveryonePlan, JudgingPlan
from unmask.audits.plan import Plan, choices_of, option
from unmask.generators.claim import Claim, as_claim
from unmask.threats.knowledge import FEWEST_RUNS, Coins


@dataclass(frozen=True, kw_only=True)
class PoolExportPlan(Plan):
    """What `unmask pool export` writes."""

    without: ClassVar = ("policy",)

    runs: int = option(64, help="Training files; the owner fits the generator to each.", least=FEWEST_RUNS, grows=True)
    synthetic_rows: int | None = option(
        None, help="Rows to publish in each run.", least=1, shown="half the rows of REAL"
    )
    coins: str = option(
        AUTO, help="Who is in: each person or not (add-remove), one of each pair (replace), or as the claim asks for.",
        choices=(*Coins, AUTO),
    )  # fmt: skip
    subsample: int | None = option(None, help="Play with this many people, drawn at random.", least=1, shown="all")
    claim: Claim | None = option(
        None, help="What the owner claims; its neighbours (replace or add-remove) decide on the coins.",
        metavar="epsilon=E[,delta=D,neighbours=N]", read=as_claim, write=str,
    )  # fmt: skip
    keep_persons: bool = option(False, help="Write the person column into the training files.")

    @property
    def game(self) -> EveryonePlan:
        """The plan that `everyone` would have for the same game."""
        return EveryonePlan(
            generator=named("export"), runs=self.runs, synthetic_rows=self.synthetic_rows, subsample=self.subsample,
            coins=self.coins, seed=self.seed,
        )  # fmt: skip


def named(name: str) -> str:
    """How plans and results call a generator that runs elsewhere."""
    return f"foreign: {name}"


@dataclass(frozen=True, kw_only=True)
class PoolPlan(JudgingPlan):
    """What `unmask pool attack` does; all else was settled by the export."""

    without: ClassVar = ("seed",)

    name: str = option("unnamed", help="What to call the generator in the report.")
    strict: bool = option(False, help="Stop if any synthetic file is missing.")

    def of_game(self, game: EveryonePlan) -> EveryonePlan:
        """The plan that `everyone` would have for the same game, judged as here."""
        judging = {
            choice.name: getattr(self, choice.name) for choice in choices_of(JudgingPlan) if choice.name != "seed"
        }
        return EveryonePlan(**{**game.to_plain(), "seed": game.seed, **judging})
