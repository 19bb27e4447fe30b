"""The plan of the audit of everyone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.audits.generator_plan import GeneratorPlan
from unmask.audits.plan import Plan, option
from unmask.errors import ParameterError
from unmask.threats.knowledge import FEWEST_RUNS, Box, Coins

if TYPE_CHECKING:
    from unmask.attacks.everyone.features import FeaturePlan

AUTO = "auto"  # coins as the generator's claim asks for


@dataclass(frozen=True, kw_only=True)
class JudgingPlan(Plan):
    """How runs of the coin game are judged, wherever they were drawn: none of this changes a draw."""

    scorer: str = option("ratio", help="What weighs the features: a likelihood ratio, or boosted trees (dearer).",
                         choices=("ratio", "boosted"), grows=True)  # fmt: skip
    rate: float = option(0.1, help="Expected share of wrong names on the list of people.", share=True, grows=True)
    confidence: float = option(0.95, help="Of every interval and bound.", share=True, grows=True)
    groups: tuple[str, ...] = option(
        (), help="Tell the risk by this column; may be repeated.", shown="keys, else categories", grows=True
    )
    secrets: tuple[str, ...] = option(
        (), help="Also guess this column of everybody; may be repeated.", names=("--secret",), grows=True
    )


@dataclass(frozen=True, kw_only=True)
class EveryonePlan(JudgingPlan, GeneratorPlan):
    """What `unmask everyone` does."""

    runs: int = option(
        128, help="Fits. The first quarter only teaches; later ones are judged.", least=FEWEST_RUNS, grows=True
    )
    synthetic_rows: int | None = option(None, help="Rows of each release.", least=1, shown="half the table")
    releases_per_fit: int = option(
        1, help="Releases of each fit, all of which the attacker sees; a run stays one piece of evidence.", least=1
    )
    subsample: int | None = option(
        None,
        help="Play with this many people, drawn at random: for slow generators and large tables.",
        least=1,
        shown="all",
    )
    coins: str = option(
        AUTO, help="Who is in: each person or not (add-remove), one of each pair (replace), or as the claim asks for.",
        choices=(*Coins, AUTO),
    )  # fmt: skip
    access: str = option(
        "black-box", help="White-box: the attacker sees the fitted model.", choices=(Box.BLACK, Box.WHITE)
    )
    distances: bool = option(True, help="Use nearest distances; they cost people x synthetic rows.")
    exact_values: bool = option(
        True,
        help="Ask for exact amounts beside bins. Older draws go on without.",
        grows=True,  # `features` guards draws
    )
    prediction_errors: bool = option(False, help="Also use how well columns are predicted; costs model fits.")
    redraw_secrets: bool = option(False, help="A second pool in which everybody's secret is drawn anew.", grows=True)
    confirm: int = option(
        0, help="Play the exact game at full size for this many of the most exposed.", least=0, grows=True
    )
    confirm_runs: int = option(400, help="Fits at most for each of them.", least=20, grows=True)

    def check(self) -> None:
        if self.redraw_secrets and not self.secrets:
            raise ParameterError("Redrawing secrets needs a secret: name a column with --secret.")

    @property
    def features(self) -> FeaturePlan:
        from unmask.attacks.everyone.features import FeaturePlan

        return FeaturePlan(
            distances=self.distances,
            white_box=self.access == Box.WHITE,
            exact=self.exact_values,
            prediction_errors=self.prediction_errors,
        )
