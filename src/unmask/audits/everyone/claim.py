"""A claim of differential privacy, held against all coins of the judged runs together."""

from __future__ import annotations

import math

from unmask.audits.advice import advice_for
from unmask.audits.everyone.evidence import Judged
from unmask.audits.everyone.pooled import per_coin, pooled_bound
from unmask.generators.claim import Claim
from unmask.generators.foreign import Foreign
from unmask.results.figures import Figure
from unmask.results.policy import Severity
from unmask.results.result import Finding, NotTested
from unmask.simulation.coin import CoinSetting
from unmask.stats import Bound
from unmask.threats.coins import coins_for
from unmask.threats.knowledge import Coins

NAME = "the claim"


def hold_against_coins(
    claim: Claim, judged: Judged, *, setting: CoinSetting, coins: Coins, confidence: float
) -> Bound | NotTested:
    """The bound that the claim is held against: from coins of its own kind, and units of one row if it is per row."""
    if claim.void:
        return NotTested(NAME, f"it is void: {claim.void}", "use a schema whose origin is public")
    if math.isinf(claim.epsilon):
        return NotTested(NAME, "it promises nothing: epsilon is infinite", "claim a finite epsilon")
    if coins is not coins_for(claim):
        foreign = isinstance(setting.generator, Foreign)
        return NotTested(
            NAME,
            f"it is about {claim.neighbours} neighbours, and the coins are {coins}",
            "export another pool with --coins auto" if foreign else "use --coins auto",
        )
    about = setting.game.coined
    if claim.unit == "row":
        about = about & (setting.features.units.sizes == 1)
    if per_coin(judged.late, setting.game, about).members.shape[1] < 2:
        kind = "pairs of people" if coins is Coins.PAIRED else "people"
        return NotTested(
            NAME,
            f"it is per row, and there are no {kind} with a single row each",
            "audit a table with one row per person",
        )
    return pooled_bound(judged, setting.game, about, confidence=confidence, delta=claim.delta)


def claim_finding(claim: Claim, bound: Bound, *, threat: str) -> Finding:
    """Refuted or not; never "holds"."""
    refuted = bound.value > claim.epsilon
    severity = Severity.HIGH if refuted else Severity.NONE
    verdict = "is refuted" if refuted else "is not refuted"
    return Finding(
        name="everyone/claim",
        title=f"The claim of epsilon {claim.epsilon:g} {verdict}: all coins together show epsilon >= {bound.value:.2f}",
        threat=threat,
        criterion="dp claim",
        severity=severity,
        estimate=Figure(bound.value, bound.value, math.inf, bound.confidence, bound.method, bound.n),
        baseline=Figure(claim.epsilon, claim.epsilon, claim.epsilon, 1.0, "claimed", 0),
        control=None,
        advice=advice_for(severity),
    )
