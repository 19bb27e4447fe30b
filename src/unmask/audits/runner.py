"""One skeleton for all audits: a plan and its inputs are an `Audit`; a `Runner` carries all that changes no number."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from unmask.audits.plan import Plan
from unmask.errors import ParameterError
from unmask.results.result import Result
from unmask.simulation.draws import DRAWS, open_draws
from unmask.simulation.executors import Executor, Progress, no_progress
from unmask.simulation.executors.local import Local
from unmask.simulation.executors.shared import Shared
from unmask.simulation.store import Store
from unmask.simulation.task import Setting, Task
from unmask.threads import all_cores

Say = Callable[[str], None]

DRAWING, JUDGING = "Making the draws", "Judging the draws"


class Audit(Protocol):
    """A plan with its inputs, read and checked."""

    @property
    def plan(self) -> Plan:
        """Every choice that changes a number."""
        ...

    def expected(self) -> Result:
        """What is known of the result before the work begins."""
        ...

    def run(self, runner: Runner) -> Result:
        """Do the work."""
        ...


def silent(text: str) -> None:
    """For callers who do not listen."""


@dataclass(frozen=True)
class Runner:
    """Who works, where draws are kept, who watches, who listens, and until when."""

    executor: Executor = Local(1)
    out: Path | None = None  # the run directory
    draws: Path | None = None  # where draws are kept; None: in memory
    progress: Progress = no_progress
    say: Say = silent
    seconds: float | None = None  # that the work may take
    began: float = field(default_factory=time.monotonic)
    group: bool = False  # whether draws are for others of the same group too
    stage: Say = silent  # hears what is being done
    damaged: set[str] = field(default_factory=set)  # stored draws that were none of this run, and were drawn again

    @classmethod
    def of(
        cls,
        workers: int | Executor | None = None,
        *,
        out: str | Path | None = None,
        pool: str | Path | None = None,
        time_budget: float | None = None,
        progress: Progress = no_progress,
        say: Say = silent,
    ) -> Runner:
        """From what the verbs take. `workers` is a number of processes (None: all cores) or an executor.

        Draws live in a pool of their own, else in the run directory, else in memory.
        """
        if time_budget is not None and not 0 < time_budget < float("inf"):
            raise ParameterError(f"The time budget is {time_budget!r}; give seconds above 0, or leave it out.")
        executor = Local(all_cores()) if workers is None else Local(workers) if isinstance(workers, int) else workers
        draws = Path(pool) if pool else Path(out) / DRAWS if out else None
        return cls(executor, Path(out) if out else None, draws, progress, say, time_budget)

    @property
    def workers(self) -> int:
        """Tasks that are worked on at a time."""
        return self.executor.workers

    @property
    def threads(self) -> int:
        """Threads of this process for what is not a task: an executor elsewhere leaves all cores here free."""
        return self.executor.workers if isinstance(self.executor, Local | Shared) else all_cores()

    @property
    def is_late(self) -> bool:
        """Whether the time is used up: nothing further is begun."""
        return self.seconds is not None and time.monotonic() - self.began > self.seconds

    def store(self, plan: Plan, more: Mapping[str, Any]) -> Store:
        """The draws of a plan; `more` is what else changes them. A directory that holds others is refused."""
        identity = plan.fixed() | {"seed": plan.seed} | dict(more)
        return open_draws(self.draws, identity, plan.defaults(), self.damaged, group=self.group)

    def draw(self, setting: Setting, tasks: Sequence[Task], store: Store) -> None:
        """Play every task that the store does not hold yet."""
        self.stage(DRAWING)
        self.executor.run(setting, tasks, store, self.progress)
        self.stage(JUDGING)

    def here(self) -> Runner:
        """The same in this process alone, for what is too small to be sent."""
        return replace(self, executor=Local(1))

    def showing(self, done: int, total: int) -> Runner:
        """The same with progress as a part of something larger: `done` are behind it."""
        return replace(self, progress=lambda more, _: self.progress(done + more, total))

    def watched(self, progress: Progress, stage: Say = silent) -> Runner:
        """The same with somebody who watches."""
        return replace(self, progress=progress, stage=stage)

    def unwatched(self) -> Runner:
        """The same for small work on the side."""
        return replace(self, progress=no_progress, stage=silent)
