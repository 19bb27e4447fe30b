"""How much fits a time budget: measured on the first draws, told before the rest starts."""

from __future__ import annotations

import time
from collections.abc import Sequence

from unmask.audits.runner import Runner
from unmask.simulation.store import MemoryStore, Store
from unmask.simulation.task import Setting, Task

TRIED = 2  # draws that are measured, and kept
FOR_DRAWS = 0.8  # of the budget; the rest is for machines that slow down
STEP = 8


def seconds_of_a_draw(runner: Runner, setting: Setting, waiting: Sequence[Task], store: Store) -> float:
    """The mean time of some draws in one process, after one that compiles and does not count."""
    if not waiting:
        return 0.0
    alone = runner.here().unwatched()
    alone.draw(setting, waiting[:1], MemoryStore())
    began = time.perf_counter()
    alone.draw(setting, waiting[:TRIED], store)
    return (time.perf_counter() - began) / len(waiting[:TRIED])


def draws_within(seconds: float, cost: float) -> int:
    """How many draws of this cost a budget pays for, in steps."""
    return int(FOR_DRAWS * seconds / max(cost, 1e-6)) // STEP * STEP
