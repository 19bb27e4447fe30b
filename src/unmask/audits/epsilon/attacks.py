"""Which attacks bet against a claim on one pair of tables."""

from __future__ import annotations

from collections.abc import Sequence

from unmask.attacks.claim._attack import ClaimAttack
from unmask.attacks.claim.fingerprint import Fingerprint
from unmask.attacks.claim.learnt import BestStatistic, Ridge
from unmask.attacks.claim.likelihood import plan_regions
from unmask.attacks.claim.outputs import BITS, ORDER, WHOLE, group_of, is_readable
from unmask.attacks.claim.ratio import Ratio
from unmask.attacks.claim.static import evidence_attack, model_attacks, static_attacks
from unmask.attacks.claim.wager import PairSide
from unmask.generators._generator import Measurement
from unmask.generators.claim import Claim
from unmask.simulation.pair import Mechanism, PairSetting
from unmask.stream import stream

WIDE = 0.25  # share of the claim against which the wide regions are chosen: for a bound where the claim stands
RATIO_WEIGHT = 4.0  # of the likelihood ratio, in units of any other attack
RARE_WEIGHT = 0.5  # of attacks that double another, or look for what is rarely there
CREDIT, WIDE_CREDIT = 12, 60  # bets that the simulated record counts for


def attacks_for(setting: PairSetting, claim: Claim, pilot: Sequence[Measurement]) -> list[ClaimAttack]:
    """All attacks on one pair. `pilot` are the measurements of a fit that is not a run: it tells the declared noise."""
    epsilon, white = claim.epsilon, setting.white_box
    found: list[ClaimAttack] = []
    bare = isinstance(setting.generator, Mechanism)
    if not bare:
        found += static_attacks(setting.pair)
    if pilot and white:
        several = len(setting.reader.pairs) > 1 and any(len(m.columns) == 2 for m in pilot)
        found += model_attacks(setting.reader.pairs[0] if several else None)
        rng = stream(setting.seed, "plan", setting.pair.name)
        half = plan_regions(setting.likelihood, pilot, epsilon=epsilon, share=0.5, credit=CREDIT, rng=rng)
        whole = plan_regions(setting.likelihood, pilot, epsilon=WIDE * epsilon, share=1.0, credit=WIDE_CREDIT, rng=rng)
        if half is not None and whole is not None:
            words = "the measurements are likelier with the target than the noise allows"
            found.append(Ratio("likelihood ratio", words, half, RATIO_WEIGHT))
            found.append(Ratio("likelihood ratio, wide", words, whole, RATIO_WEIGHT))

    if white and getattr(setting.generator, "shows_evidence", False):
        found.append(evidence_attack(epsilon, RATIO_WEIGHT))

    def usable(name: str) -> bool:
        return is_readable(name, white_box=white)

    found.append(BestStatistic("best statistic", "one statistic", epsilon, usable))
    found.append(Ridge("all statistics", "a learnt score of all statistics", epsilon, usable))
    found.append(Ridge("all statistics, wide", "a learnt score of all statistics", WIDE * epsilon, usable, RARE_WEIGHT))
    if not bare:
        found.append(BestStatistic("row order", "the order of the rows", epsilon, _is_order, RARE_WEIGHT))
    found.append(Fingerprint("same output", "the same release comes again and again (a fixed seed)", 0))
    if white and not bare:
        found.append(Fingerprint("same noise", "the same measurements come again and again (a fixed seed)", 1))
    return found


def _is_order(name: str) -> bool:
    return group_of(name) == ORDER


def bits_attacks(claim: Claim) -> list[ClaimAttack]:
    """The attack on the last bits of floating-point noise, which has a verdict of its own."""
    words = "the last bits of floating-point noise"
    return [BestStatistic("last bits", words, claim.epsilon, lambda name: group_of(name) == BITS)]


def has_fractions(side: PairSide) -> bool:
    """Whether some output showed noise that is not whole."""
    return any(one.get("granularity", WHOLE) < WHOLE for one in side.seen)
