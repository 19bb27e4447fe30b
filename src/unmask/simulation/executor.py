"""Runs tasks here or in worker processes. A worker that is killed costs its task, not the run."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from joblib.externals.loky import get_reusable_executor

from unmask.simulation.draw import draw
from unmask.simulation.store import Arrays, Failed, Store
from unmask.simulation.task import Task

ATTEMPTS = 5  # of a task whose worker is killed each time
AHEAD = 4  # tasks per worker that wait in line

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

Progress = Callable[[int, int], None]
Work = Callable[
    [Any, Any], Arrays
]  # from a setting and a task to the arrays of its outcome; importable, so that it pickles


def no_progress(done: int, total: int) -> None:
    """For callers who do not watch."""


def run_tasks(
    setting: Any,
    tasks: Sequence[Task],
    store: Store,
    *,
    work: Work = draw,
    workers: int = 1,
    progress: Progress = no_progress,
) -> None:
    """Work on every task that the store does not hold yet. The outcome does not depend on the number of workers."""
    waiting = [task for task in tasks if not store.has(task)]  # what failed before is tried again
    done = len(tasks) - len(waiting)
    progress(done, len(tasks))
    if workers == 1 or len(waiting) < 2:
        for task in waiting:
            store.put(task, _attempt(work, setting, task))
            progress(done := done + 1, len(tasks))
        return
    _run_parallel((work, setting), waiting, store, workers, lambda finished: progress(done + finished, len(tasks)))


def _run_parallel(
    job: tuple[Work, Any], waiting: list[Task], store: Store, workers: int, progress: Callable[[int], None]
) -> None:
    attempts: dict[Task, int] = {}
    line, finished = list(reversed(waiting)), 0
    while line:
        executor = get_reusable_executor(
            workers, timeout=20, initializer=_start_worker, initargs=(os.getpid(), *job), env=ONE_THREAD, reuse=False
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


_JOB: tuple[Work, Any] | None = None  # in a worker: set once, when it starts


def _start_worker(parent: int, work: Work, setting: Any) -> None:
    global _JOB
    _JOB = (work, setting)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: int) -> None:
    """End this worker when its parent is gone: killed or interrupted, it may have had no time to say so."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)


def _work(task: Task) -> Arrays | Failed:
    if _JOB is None:
        raise RuntimeError(f"worker {os.getpid()} was not started properly")
    return _attempt(*_JOB, task)


def _attempt(work: Work, setting: Any, task: Task) -> Arrays | Failed:
    """Work on a task; whatever a generator or attack raises becomes a recorded failure."""
    try:
        return work(setting, task)
    except Exception as problem:  # noqa: BLE001 - foreign generators raise anything
        return Failed(f"{type(problem).__name__}: {problem}")
