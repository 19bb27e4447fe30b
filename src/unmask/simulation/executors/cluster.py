"""Plays tasks on a dask cluster. The truth is what the store holds: futures are asked, never believed.

The driver lists what is missing, submits some of it, waits for a while, stores what came, and looks again. A lost worker costs
its task; a lost scheduler costs what was under way, and the driver waits for it to come back.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Sequence
from concurrent import futures
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from unmask.errors import MissingExtraError, ParameterError, RunError
from unmask.simulation.executors import MEMORY, Progress, attempt, no_progress
from unmask.simulation.executors.local import setting_as_bytes
from unmask.simulation.store import Store
from unmask.simulation.task import Arrays, Failed, Setting, Task
from unmask.versions import difference, that_change_numbers

AHEAD = (
    3,
    24,
)  # tasks in line for each thread of the cluster: at first, and where tasks are so short that workers wait for us
LOOK = 2.0  # seconds after which the driver looks whether all is well though nothing came
GIVE_UP = 300.0  # seconds without a scheduler or a worker after which the run stops; what is drawn is kept

# What a cluster does that is lost: its connections break, its tasks are cancelled, its client closes.
LOST = (OSError, TimeoutError, asyncio.CancelledError, futures.CancelledError, RuntimeError)


@dataclass(frozen=True)
class Dask:
    """A cluster by the address of its scheduler; an empty one is taken from dask's own configuration, as TLS is."""

    address: str = ""
    give_up: float = GIVE_UP

    @property
    def workers(self) -> int:
        """Nobody knows before the cluster answers."""
        return 1

    def run(self, setting: Setting, tasks: Sequence[Task], store: Store, progress: Progress = no_progress) -> None:
        waiting = {task.id: task for task in tasks if not store.has(task)}
        progress(len(tasks) - len(waiting), len(tasks))
        if not waiting:
            return
        work = _Undone(waiting, store, lambda left: progress(len(tasks) - left, len(tasks)))
        content = setting_as_bytes(setting)
        seen = time.monotonic()
        while work.waiting:
            before = len(work.waiting)
            try:
                with self._client() as client, client.as_current():
                    work.on(client, content, self.give_up)
            except LOST as problem:
                if len(work.waiting) < before:
                    seen = time.monotonic()
                if time.monotonic() - seen > self.give_up:
                    raise RunError(
                        f"The cluster at {self.address or 'the configured address'} does not answer "
                        f"({type(problem).__name__}: {problem}). What is drawn is kept; the same command continues."
                    ) from problem
                time.sleep(min(LOOK, self.give_up / 4))

    def _client(self) -> Any:
        try:
            from distributed import Client
        except ModuleNotFoundError:
            raise MissingExtraError('A cluster needs dask. Install it: pip install "unmask[cluster]"') from None
        import dask

        address = self.address or dask.config.get("scheduler-address", None)
        if not address:  # dask would start a cluster of its own here
            raise ParameterError(
                "No scheduler is configured for dask. Set DASK_SCHEDULER_ADDRESS, or name it: --cluster tcp://HOST:8786."
            )
        try:
            return Client(address, timeout=10, set_as_default=False)  # type: ignore[no-untyped-call]
        except LOST:
            raise
        except Exception as problem:  # not the cluster's: no such scheme, no library for it, no certificates
            raise ParameterError(
                f"No cluster can be reached by '{address}' ({type(problem).__name__}: {problem}). Write it as tcp://HOST:8786."
            ) from problem


@dataclass
class _Undone:
    """What is still to be done; survives the loss of a cluster."""

    waiting: dict[str, Task]
    store: Store
    progress: Callable[[int], None]
    versions: dict[str, str] = field(default_factory=that_change_numbers)
    suspect: dict[str, Task] = field(default_factory=dict)  # whose workers were killed, more often than dask likes

    def on(self, client: Any, content: bytes, patience: float) -> None:
        """Work with this cluster until all is done; raises when it is lost."""
        from distributed import wait

        client.wait_for_workers(1, timeout=patience)
        setting = client.scatter(content, broadcast=True, hash=False)
        digest = hashlib.sha256(content + repr(self.versions).encode()).hexdigest()
        line = list(reversed(self.waiting.values()))
        running: dict[Any, Task] = {}
        threads, ahead, asked, seen = 1, AHEAD[0], 0.0, time.monotonic()
        while self.waiting:
            if time.monotonic() - asked > LOOK:
                threads, asked = sum(client.nthreads().values()), time.monotonic()
                seen = asked if threads else seen
            if time.monotonic() - seen > patience:
                raise RunError(
                    f"The cluster has had no worker for {patience:.0f} seconds. What is drawn is kept; the same command "
                    "continues."
                )
            for task in self._next(line, ahead * max(1, threads) - len(running), idle=not running):
                running[client.submit(_play, digest, setting, task, self.versions, pure=False, retries=0)] = task
            with suppress(TimeoutError):
                wait(list(running), timeout=LOOK, return_when="FIRST_COMPLETED")  # type: ignore[no-untyped-call]
            for future in [future for future in running if future.status != "pending"]:
                task = running.pop(future)
                if future.status == "finished":
                    self._keep(task, future.result(timeout=patience))
                elif future.status == "error":
                    self._lost(task, future.exception(timeout=patience))
                else:  # cancelled or lost: with it the setting may be, so begin anew
                    raise ConnectionError("the cluster forgot a task")
            if not running:  # nothing was left for the workers to do
                ahead = min(2 * ahead, AHEAD[1])

    def _next(self, line: list[Task], room: int, *, idle: bool) -> list[Task]:
        """What to submit now. Dask blames all that were at a worker for its end, so those that it suspects go alone, and last."""
        while line and line[-1].id in self.suspect:
            line.pop()
        if line:
            taken = [line.pop() for _ in range(min(max(room, 0), len(line)))]
            return [task for task in taken if task.id not in self.suspect]
        alone = [task for task in self.suspect.values() if task.id in self.waiting]
        return alone[:1] if idle else []

    def _keep(self, task: Task, outcome: Arrays | Failed) -> None:
        self.store.put(task, outcome)
        self.waiting.pop(task.id, None)
        self.progress(len(self.waiting))

    def _lost(self, task: Task, problem: BaseException | None) -> None:
        """A task never raises, so its worker was killed, more often than dask likes, or cannot do it."""
        if type(problem).__name__ != "KilledWorker":
            raise RunError(
                f"The workers of the cluster cannot do this ({type(problem).__name__}: {problem}). Is the same unmask installed "
                "there, with what the generator needs?"
            )
        if task.id in self.suspect:  # it was alone
            self._keep(task, Failed(f"its worker was killed again and again, {MEMORY}"))
        self.suspect[task.id] = task


@dataclass
class _Kept:
    """On a worker: the last setting, which is sent once and read once."""

    last: tuple[str, Any] = ("", None)

    def read(self, digest: str, content: bytes, versions: dict[str, str]) -> Any:
        import cloudpickle

        known, setting = self.last
        if setting is None or known != digest:
            if other := difference(versions):
                raise RunError(f"a worker has {other}")
            setting = cloudpickle.loads(content)
            self.last = digest, setting  # in one step: other threads of this worker may be at another run
        return setting


_KEPT = _Kept()


def _play(digest: str, content: bytes, task: Task, versions: dict[str, str]) -> Arrays | Failed:
    return attempt(_KEPT.read(digest, content, versions), task, interrupts=True)
