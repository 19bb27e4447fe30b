"""Attributes in the coin game: how much better each secret is guessed for people who are in than for the same people left out.

Success without a person is what the population teaches about them; only what comes on top is about themselves. Guesses learn from
no coins, so all runs count; evidence about single people is judged as in `everyone_evidence`.
"""

from __future__ import annotations

from pathlib import Path

from unmask.attacks.everyone.secret_guess import SecretGuess
from unmask.simulation.coin_pool import CoinPool
from unmask.audits.everyone.attribute.judge import judge_attribute
from unmask.audits.everyone.attribute.play import guess_all, redraw
from unmask.audits.everyone.attribute.result import tell
from unmask.audits.everyone.audited import Extra
from unmask.audits.everyone.plan import EveryonePlan
from unmask.generators.foreign import Foreign
from unmask.simulation.coin import FEWEST_RUNS
from unmask.simulation.executors.local import Progress, no_progress


def attributes(
    plan: EveryonePlan,
    pool: CoinPool,
    *,
    directory: Path | None = None,
    workers: int = 1,
    progress: Progress = no_progress,
) -> Extra:
    """Guess every secret of the plan in the releases of this pool and, if asked, in pools where the secret is drawn anew.

    Those are kept in `directory`.
    """
    names = tuple(dict.fromkeys(plan.secrets))
    if not names:
        return Extra()
    guesses = [SecretGuess.of(pool.setting.candidates, name) for name in names]
    played = guess_all(pool, guesses)
    if plan.redraw_secrets:
        played += [
            redraw(plan, pool, guess, directory=directory, workers=workers, progress=progress) for guess in guesses
        ]
    fine = [each for each in played if each.asked.any() and len(each.members) >= FEWEST_RUNS]
    outcomes = [judge_attribute(plan, each, tests=len(fine)) for each in fine]
    return tell(plan, played, outcomes=outcomes, foreign=isinstance(pool.setting.generator, Foreign))
