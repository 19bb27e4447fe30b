"""Attributes in the coin game: how much better each secret is guessed for people who are in than for the same people left out.

Success without a person is what the population teaches about them; only what comes on top is about themselves. Guesses learn from
no coins, so all runs count; evidence about single people is judged as in `evidence`.
"""

from __future__ import annotations

from unmask.attacks.everyone.secret_guess import SecretGuess
from unmask.audits.everyone.attribute.judge import judge_attribute
from unmask.audits.everyone.attribute.play import guess_all, redraw
from unmask.audits.everyone.attribute.result import part_of
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.part import Part
from unmask.audits.runner import Runner
from unmask.generators.foreign import Foreign
from unmask.simulation.coin_pool import CoinPool
from unmask.threats.knowledge import FEWEST_RUNS


def attributes(plan: EveryonePlan, pool: CoinPool, runner: Runner) -> Part:
    """Guess every secret of the plan in the releases of this pool and, if asked, in pools where the secret is drawn anew."""
    names = tuple(dict.fromkeys(plan.secrets))
    if not names:
        return Part()
    guesses = [SecretGuess.of(pool.setting.candidates, name) for name in names]
    played = guess_all(pool, guesses)
    if plan.redraw_secrets:
        played += [redraw(plan, pool, guess, runner) for guess in guesses]
    fine = [each for each in played if each.asked.any() and len(each.members) >= FEWEST_RUNS]
    outcomes = [judge_attribute(plan, each, tests=len(fine)) for each in fine]
    return part_of(plan, played, outcomes=outcomes, foreign=isinstance(pool.setting.generator, Foreign))
