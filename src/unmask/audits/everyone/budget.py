"""How many runs fit a time budget: measured on the first ones, told before the rest starts."""

from __future__ import annotations

from unmask.audits.budget import draws_within, seconds_of_a_draw
from unmask.audits.everyone.power import power_in_words, power_of
from unmask.audits.runner import Runner
from unmask.errors import ParameterError
from unmask.simulation.coin import CoinSetting, coin_tasks
from unmask.simulation.store import Store

LEAST, MOST = 16, 2048  # runs that a budget may choose
SCORING = 2e-5  # seconds for each person and run, in one process: measured, with room


def runs_within(runner: Runner, setting: CoinSetting, store: Store, *, pools: int = 1) -> int:
    """The number of runs that the time pays for, on top of those that the store holds; for `pools` pools alike."""
    seconds = runner.seconds or 0.0
    tasks = coin_tasks(MOST)
    waiting = [task for task in tasks if not store.has(task)]
    each = seconds_of_a_draw(runner, setting, waiting, store)
    cost = pools * (each / runner.workers + SCORING * setting.game.units)
    affordable = len(tasks) - len(waiting) + draws_within(seconds, cost)
    if affordable < LEAST:
        raise ParameterError(
            f"One run takes about {each:.1f} s, so {LEAST} of them, the fewest that show anything, do not fit "
            f"{seconds:g} s.\nAllow more --time-budget, or use --subsample."
        )
    return min(affordable, MOST)


def before_the_start(runs: int, units: int, *, rate: float) -> str:
    """What is printed before a long run: what it will be able to show."""
    powers = [power_of(runs, units, rate=rate, company=company) for company in (1, max(1, units // 100))]
    return " ".join(dict.fromkeys(power_in_words(power, runs) for power in powers))
