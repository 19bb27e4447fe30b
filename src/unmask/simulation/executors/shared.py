"""Plays tasks together with every other process that sees the run directory: on this machine, or on those of a cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from unmask.files import sweep
from unmask.simulation.executors import ATTEMPTS, MEMORY, Progress, no_progress
from unmask.simulation.executors.claims import Claims
from unmask.simulation.executors.local import Local, play
from unmask.simulation.store import FileStore, Store
from unmask.simulation.task import Arrays, Failed, Setting, Task

PAUSE = (0.2, 2.0)  # seconds between two looks at the files: at first, and after long waiting


@dataclass(frozen=True)
class Shared:
    """Takes what nobody else works on, and looks at the files again until all is there.

    `part` of `parts` says where it begins, so that processes that start together seldom want the same. What failed is tried
    again by the one that `leads`, once; the others take its word.
    """

    workers: int = 1
    part: int = 0
    parts: int = 1
    leads: bool = False

    def run(self, setting: Setting, tasks: Sequence[Task], store: Store, progress: Progress = no_progress) -> None:
        if not isinstance(store, FileStore):
            return Local(self.workers).run(setting, tasks, store, progress)
        if self.leads:
            store.forget_failures(tasks)
        look = _Look(store, tasks, self.part * len(tasks) // self.parts)
        claims = Claims(store.directory / "claims", group=store.group)
        pause = PAUSE[0]
        progress(look.done, len(tasks))
        with claims.alive():
            while look.open:

                def keep(task: Task, outcome: Arrays | Failed) -> None:
                    store.put(task, outcome)
                    claims.release(task)
                    look.settle(task)
                    progress(look.done, len(tasks))

                before = look.done
                if (first := look.next(claims)) is not None:
                    line = [first]
                    play(
                        setting,
                        lambda: line.pop() if line else look.next(claims),  # noqa: B023 - played to the end here
                        keep,
                        min(self.workers, len(look.open)),
                    )
                pause = PAUSE[0] if look.done > before else min(2 * pause, PAUSE[1])
                if look.again():  # others are still at it
                    progress(look.done, len(tasks))
                    time.sleep(pause)
        sweep(store.directory)  # what those who were killed were about to write
        progress(len(tasks), len(tasks))


class _Look:
    """What is there already, and what is not, as far as this process has seen."""

    def __init__(self, store: FileStore, tasks: Sequence[Task], begin: int) -> None:
        self._store, self._total = store, len(tasks)
        ordered, there = [*tasks[begin:], *tasks[:begin]], store.present()
        self.open = {task.id: task for task in ordered if task.id not in there or store.get(task) is None}
        self._untried = list(reversed(self.open.values()))

    @property
    def done(self) -> int:
        return self._total - len(self.open)

    def settle(self, task: Task) -> None:
        self.open.pop(task.id, None)

    def next(self, claims: Claims) -> Task | None:
        """The next task that is neither done nor somebody else's."""
        while self._untried:
            task = self._untried.pop()
            times = claims.take(task) if task.id in self.open else 0
            if not times:
                continue
            if self._store.get(task) is None:
                if times <= ATTEMPTS:
                    return task
                self._store.put(task, Failed(f"those who worked on it were killed {ATTEMPTS} times, {MEMORY}"))
            claims.release(task)  # else done between the look and the claim
            self.settle(task)
        return None

    def again(self) -> bool:
        """Look at the files again. Whether something is still missing."""
        there = self._store.present()
        for task in [task for task in self.open.values() if task.id in there]:
            if self._store.get(task, ()) is not None:
                self.settle(task)
        self._untried = list(reversed(self.open.values()))
        return bool(self.open)
