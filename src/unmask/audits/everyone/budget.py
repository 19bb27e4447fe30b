"""How many runs fit a time budget: measured on the first ones, told before the rest starts."""

from __future__ import annotations

import time

from unmask.audits.everyone.power import power_in_words, power_of
from unmask.errors import ParameterError
from unmask.simulation.coin import CoinSetting, coin_tasks, draw_coins
from unmask.simulation.executors.local import run_tasks
from unmask.simulation.store import MemoryStore, Store
from unmask.simulation.task import Task

LEAST, MOST = 16, 2048  # runs that a budget may choose
TRIED = 2  # runs that are measured, and kept
FOR_RUNS = 0.8  # of the budget; the rest is for machines that slow down
SCORING = 2e-5  # seconds for each person and run, in one process: measured, with room
STEP = 8


def runs_within(seconds: float, setting: CoinSetting, *, store: Store, workers: int, pools: int = 1) -> int:
    """The number of runs that this budget pays for, on top of those that the store holds; for `pools` pools alike."""
    tasks = coin_tasks(MOST)
    waiting = [task for task in tasks if not store.has(task)]
    held = len(tasks) - len(waiting)
    each = _seconds_of_a_run(setting, waiting[:TRIED], store)
    cost = pools * (each / workers + SCORING * setting.game.units)
    affordable = held + int(FOR_RUNS * seconds / max(cost, 1e-6)) // STEP * STEP
    if affordable < LEAST:
        raise ParameterError(
            f"One run takes about {each:.1f} s, so {LEAST} of them, the fewest that show anything, do not fit "
            f"{seconds:g} s.\nAllow more --time-budget, or use --subsample."
        )
    return min(affordable, MOST)


def _seconds_of_a_run(setting: CoinSetting, tasks: list[Task], store: Store) -> float:
    """The mean time of some runs, after one that compiles and does not count."""
    if not tasks:
        return 0.0
    run_tasks(setting, tasks[:1], MemoryStore(), work=draw_coins)
    began = time.perf_counter()
    run_tasks(setting, tasks, store, work=draw_coins)
    return (time.perf_counter() - began) / len(tasks)


def before_the_start(runs: int, units: int, *, rate: float) -> str:
    """What is printed before a long run: what it will be able to show."""
    powers = [power_of(runs, units, rate=rate, company=company) for company in (1, max(1, units // 100))]
    return " ".join(dict.fromkeys(power_in_words(power, runs) for power in powers))
