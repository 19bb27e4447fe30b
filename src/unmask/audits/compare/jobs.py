"""The work of a comparison: the tasks of every part for every mechanism, handed to the workers at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from unmask.audits.runner import Runner
from unmask.simulation.executors.local import Local
from unmask.simulation.store import Store
from unmask.simulation.task import Arrays, Failed, Task


@dataclass(frozen=True, eq=False)
class CompareJob:
    """Tasks of one part for one mechanism."""

    part: str
    name: str
    setting: Any  # a Setting of this part
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class JobTask(Task):
    """A task that knows its part and mechanism; its id, and so its random stream, does not: mechanisms share draws."""

    part: str = ""
    name: str = ""


@dataclass(frozen=True, eq=False)
class AllJobs:
    """All that a worker needs for any task of a comparison. Sent to each worker once."""

    settings: Mapping[tuple[str, str], Any]

    def play(self, task: JobTask) -> Arrays:
        """What comes of a task in the setting that it belongs to."""
        arrays: Arrays = self.settings[task.part, task.name].play(task)
        return arrays


@dataclass(frozen=True, eq=False)
class AllStores:
    """Keeps every outcome in the store of its part and mechanism."""

    stores: Mapping[tuple[str, str], Store]

    def get(self, task: JobTask, names: Sequence[str] | None = None) -> Arrays | Failed | None:
        return self.stores[task.part, task.name].get(task, names)

    def has(self, task: JobTask) -> bool:
        return self.stores[task.part, task.name].has(task)

    def put(self, task: JobTask, outcome: Arrays | Failed) -> None:
        self.stores[task.part, task.name].put(task, outcome)


def draw_all(jobs: Sequence[CompareJob], stores: Mapping[tuple[str, str], Store], runner: Runner) -> None:
    """Draw what is missing of all jobs. Workers here are started once; others go by ids, which mechanisms share, job by job."""
    total, done = sum(len(job.tasks) for job in jobs), 0
    if isinstance(runner.executor, Local):
        settings = {(job.part, job.name): job.setting for job in jobs}
        tasks = [JobTask(task.whose, task.index, task.target, job.part, job.name) for job in jobs for task in job.tasks]
        runner.draw(AllJobs(settings), tasks, cast(Store, AllStores(stores)))
        return
    for job in jobs:
        runner.showing(done, total).draw(job.setting, job.tasks, stores[job.part, job.name])
        done += len(job.tasks)
