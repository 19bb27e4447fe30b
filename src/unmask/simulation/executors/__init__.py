"""Who works on the tasks of a run. An executor is one file here; a `Runner` carries it to every audit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from unmask.simulation.store import Store
from unmask.simulation.task import Arrays, Failed, Setting, Task
from unmask.threads import one_thread

Progress = Callable[[int, int], None]

ATTEMPTS = 5  # of a task whose worker is killed each time
MEMORY = "perhaps for lack of memory"


class Executor(Protocol):
    """Plays tasks here, in other processes or on other machines. What comes of them does not depend on where."""

    @property
    def workers(self) -> int:
        """How many tasks it works on at a time."""
        ...

    def run(self, setting: Setting, tasks: Sequence[Task], store: Store, progress: Progress) -> None:
        """Play every task that the store does not hold yet, and put what comes of it there; what failed is tried again."""
        ...


def no_progress(done: int, total: int) -> None:
    """For callers who do not watch."""


def attempt(setting: Setting, task: Task, *, interrupts: bool = False) -> Arrays | Failed:
    """Play a task; whatever a generator or attack raises becomes a recorded failure, also that it wants to end the process.

    `interrupts`: a KeyboardInterrupt too. Where users do not reach a process with theirs, it is the generator's.
    """
    try:
        with one_thread():  # of libraries, wherever this is
            return setting.play(task)
    except KeyboardInterrupt:
        if not interrupts:
            raise
        return Failed("KeyboardInterrupt: raised by the generator")
    except BaseException as problem:  # noqa: BLE001 - foreign generators raise anything
        return Failed(f"{type(problem).__name__}: {problem}")
