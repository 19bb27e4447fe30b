"""The one loop that collects what came of tasks: in their order, whoever played them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from unmask.simulation.store import Store
from unmask.simulation.task import Arrays, Failed, Task

AnyTask = TypeVar("AnyTask", bound=Task)

LOST = Failed("its outcome was lost")


def outcomes(
    tasks: Sequence[AnyTask], store: Store, names: Sequence[str] | None = None
) -> Iterator[tuple[AnyTask, Arrays | Failed]]:
    """What came of each task; `names` reads these arrays only. One that the store does not hold has failed."""
    for task in tasks:
        outcome = store.get(task, names)
        yield task, LOST if outcome is None else outcome


@dataclass(frozen=True, eq=False)
class Gathered:
    """What came of many tasks."""

    done: tuple[tuple[Task, Arrays], ...]
    failures: tuple[str, ...]  # the reasons

    def __len__(self) -> int:
        return len(self.done)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Those that did not fail."""
        return tuple(task for task, _ in self.done)

    def stacked(self, name: str, empty: tuple[int, ...] = (0,)) -> np.ndarray:
        """One array of all tasks, or an empty one of this shape."""
        return np.stack([arrays[name] for _, arrays in self.done]) if self.done else np.zeros(empty)


def gather(tasks: Sequence[Task], store: Store, names: Sequence[str] | None = None) -> Gathered:
    """Collect arrays and failures apart."""
    done: list[tuple[Task, Arrays]] = []
    failures = []
    for task, outcome in outcomes(tasks, store, names):
        if isinstance(outcome, Failed):
            failures.append(outcome.message)
        else:
            done.append((task, outcome))
    return Gathered(tuple(done), tuple(failures))
