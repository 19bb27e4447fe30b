"""How many runs fit a time budget: measured on the first ones, told before the rest starts."""

from __future__ import annotations

import time

from unmask.audits.everyone_power import power_in_words, power_of
from unmask.errors import ParameterError
from unmask.simulation.coin_draw import CoinSetting, coin_tasks, draw_coins
from unmask.simulation.executor import run_tasks
from unmask.simulation.store import Store

FEWEST, MOST = 16, 2048
TRIED = 3  # runs that are measured; the first one also compiles, so it does not count
FOR_DRAWS = 0.75  # of the budget; the rest is for scoring, and for machines that slow down
STEP = 8


def runs_within(seconds: float, setting: CoinSetting, store: Store, workers: int) -> int:
    """The number of runs that this budget pays for. The runs that were tried are kept."""
    tasks = coin_tasks(TRIED)
    run_tasks(setting, tasks[:1], store, work=draw_coins)
    began = time.perf_counter()
    for task in tasks[1:]:
        store.put(task, draw_coins(setting, task))
    each = (time.perf_counter() - began) / (TRIED - 1)
    affordable = int(FOR_DRAWS * seconds * workers / max(each, 1e-6)) // STEP * STEP
    if affordable < FEWEST:
        raise ParameterError(
            f"One run takes about {each:.1f} s, so {FEWEST} of them, the fewest that show anything, do not fit "
            f"{seconds:g} s.\nAllow more --time-budget, or use --subsample."
        )
    return min(affordable, MOST)


def before_the_start(runs: int, units: int, rate: float) -> str:
    """What is printed before a long run: what it will be able to show."""
    alone, together = power_of(runs, units, rate), power_of(runs, units, rate, company=max(1, units // 100))
    return " ".join(dict.fromkeys(power_in_words(power, runs) for power in (alone, together)))
