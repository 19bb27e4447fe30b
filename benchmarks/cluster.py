"""What executors cost beside the work itself: two worker processes of our own, a dask cluster of two, and helpers by files."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from tests.dask_cluster import a_cluster
from unmask.simulation.executors import Executor
from unmask.simulation.executors.cluster import Dask
from unmask.simulation.executors.local import Local
from unmask.simulation.executors.shared import Shared
from unmask.simulation.store import FileStore
from unmask.simulation.task import Arrays, Task, Whose

REPEATS = 2


@dataclass(frozen=True)
class Spin:
    """Keeps a core busy for some seconds of its own time, and answers with so many numbers; `table` is sent along."""

    seconds: float
    numbers: int
    table: np.ndarray

    def play(self, task: Task) -> Arrays:
        began = time.process_time()
        while time.process_time() - began < self.seconds:
            pass
        return {"x": np.full(self.numbers, float(task.index))}


CASES = {
    "1,000 small tasks (2 ms, 8 kB)": (Spin(0.002, 1_000, np.zeros(100_000)), 1_000),
    "32 large tasks (500 ms, 1 MB)": (Spin(0.5, 125_000, np.zeros(5_000_000)), 32),
}


def main() -> None:
    """Print a line for each number of tasks: wall clock and CPU of all processes, as ratios to worker processes here."""
    with tempfile.TemporaryDirectory() as folder, a_cluster(folder) as cluster:
        executors: dict[str, Executor] = {
            "local": Local(2),
            "dask": Dask(cluster.address),
            "shared": Shared(2),
        }
        for what, (setting, count) in CASES.items():
            tasks = [Task(Whose.TEST, index) for index in range(count)]
            taken: dict[str, list[tuple[float, float]]] = {name: [] for name in executors}
            for _ in range(
                1 + REPEATS
            ):  # in turn, since the machine may be busy with other things; the first is for warmth
                for name, executor in executors.items():
                    taken[name].append(_measured(lambda: _run(executor, setting, tasks)))  # noqa: B023
            wall, cpu = ({name: _least(times, place) for name, times in taken.items()} for place in (0, 1))
            ideal = setting.seconds * count
            print(
                f"  {what}: the work itself {ideal:.1f} s CPU; two processes of our own {cpu['local'] / ideal:.2f} x that"
            )
            for name in ("dask", "shared"):
                ratios = f"{wall[name] / wall['local']:.2f} x the wall clock, {cpu[name] / cpu['local']:.2f} x the CPU"
                print(f"    {name:<8} {ratios} of local processes")


def _run(executor: Executor, setting: Spin, tasks: list[Task]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = FileStore(Path(folder))
        executor.run(setting, tasks, store, lambda done, total: None)
        if not all(store.has(task) for task in tasks):
            raise RuntimeError("tasks are missing")


def _measured(call: Callable[[], None]) -> tuple[float, float]:
    """Seconds on the clock, and of CPU in this process and all that it started, ended ones included."""
    wall, cpu = time.perf_counter(), _cpu()
    call()
    return time.perf_counter() - wall, _cpu() - cpu


def _cpu() -> float:
    ended = os.times()
    alive = [psutil.Process(), *psutil.Process().children(recursive=True)]
    total = ended.children_user + ended.children_system
    for process in alive:
        with_children = process.cpu_times()
        total += with_children.user + with_children.system
    return total


def _least(times: list[tuple[float, float]], place: int) -> float:
    return min(each[place] for each in times[1:])


if __name__ == "__main__":
    main()
