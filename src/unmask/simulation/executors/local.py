"""Plays tasks in this process, or in worker processes. A worker that is killed costs its task, not the run."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from loky import get_reusable_executor

from unmask.errors import ParameterError
from unmask.simulation.executors import Progress, attempt, no_progress
from unmask.simulation.store import Store
from unmask.simulation.task import Arrays, Failed, Setting, Task

ATTEMPTS = 5  # of a task whose worker is killed each time
AHEAD = 4  # tasks per worker that wait in line

SAFE_PATH = "PYTHONSAFEPATH"  # Python starts without the current directory on its path: data lie there, not code
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Local:
    """The cores of this machine."""

    workers: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.workers, bool) or not isinstance(self.workers, int) or self.workers < 1:
            raise ParameterError(
                f"--workers is {self.workers!r}; use a whole number from 1, or leave it out for all cores."
            )

    def run(self, setting: Setting, tasks: Sequence[Task], store: Store, progress: Progress = no_progress) -> None:
        waiting = [task for task in tasks if not store.has(task)]  # what failed before is tried again
        done = len(tasks) - len(waiting)
        progress(done, len(tasks))
        if self.workers == 1 or len(waiting) < 2:
            for task in waiting:
                store.put(task, attempt(setting, task))
                progress(done := done + 1, len(tasks))
            return
        _run_parallel(setting, waiting, store, self.workers, lambda finished: progress(done + finished, len(tasks)))


def _run_parallel(
    setting: Setting, waiting: list[Task], store: Store, workers: int, progress: Callable[[int], None]
) -> None:
    start = (os.getpid(), setting, SAFE_PATH in os.environ)
    with _safe_start():
        _play(start, waiting, store, workers, progress)


@contextmanager
def _safe_start() -> Iterator[None]:
    """Let whatever is started meanwhile (workers, and what watches over them) import nothing from the current directory."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


def _play(
    start: tuple[int, Setting, bool], waiting: list[Task], store: Store, workers: int, progress: Callable[[int], None]
) -> None:
    attempts: dict[Task, int] = {}
    line, finished = list(reversed(waiting)), 0
    while line:
        executor = get_reusable_executor(
            workers,
            timeout=20,
            initializer=_start_worker,
            initargs=start,
            env=ONE_THREAD | {SAFE_PATH: "1"},
            reuse=False,
        )
        running: dict[Any, Task] = {}
        try:
            while line or running:
                while line and len(running) < AHEAD * workers:
                    future = executor.submit(_work, line[-1])
                    running[future] = line.pop()  # only now: a broken executor refuses to take it
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    store.put(running[future], future.result())
                    del running[future]
                    progress(finished := finished + 1)
        except BrokenProcessPool:
            for task in running.values():
                attempts[task] = attempts.get(task, 0) + 1
                if attempts[task] < ATTEMPTS:
                    line.append(task)
                else:
                    store.put(task, Failed(f"its worker was killed {ATTEMPTS} times, perhaps for lack of memory"))
                    progress(finished := finished + 1)
        except BaseException:
            executor.shutdown(wait=False, kill_workers=True)
            raise
        executor.shutdown(kill_workers=True)


_SETTING: Setting | None = None  # in a worker: set once, when it starts


def _start_worker(parent: int, setting: Setting, safe_path: bool) -> None:
    global _SETTING
    _SETTING = setting
    if not safe_path:
        os.environ.pop(
            SAFE_PATH, None
        )  # the user did not ask for it: programs that a generator starts have their own ways
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: int) -> None:
    """End this worker when its parent is gone: killed or interrupted, it may have had no time to say so."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)


def _work(task: Task) -> Arrays | Failed:
    if _SETTING is None:
        raise RuntimeError(f"worker {os.getpid()} was not started properly")
    return attempt(_SETTING, task)
