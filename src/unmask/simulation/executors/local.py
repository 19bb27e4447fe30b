"""Plays tasks in this process, or in worker processes. A worker that is killed costs its task, not the run."""

from __future__ import annotations

import json
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from unmask.errors import ParameterError, RunError
from unmask.simulation.executors import ATTEMPTS, MEMORY, Progress, attempt, no_progress
from unmask.simulation.executors.worker import BEGIN, KEEP_SAFE, MODULES, SAFE_PATH, receive, send
from unmask.simulation.store import Store
from unmask.simulation.task import Arrays, Failed, Setting, Task
from unmask.threads import ONE_THREAD

SHORT = 0.05  # seconds; tasks that take less wait in line at their worker, so that it is never idle
AHEAD = 4  # that wait there
LOOK = 2.0  # seconds without a word after which workers are looked at

Take = Callable[[], Task | None]  # the next task, or None if there is nothing more to do now
Keep = Callable[[Task, Arrays | Failed], None]


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
        if not waiting:
            return
        line = deque(waiting)

        def keep(task: Task, outcome: Arrays | Failed) -> None:
            nonlocal done
            store.put(task, outcome)
            progress(done := done + 1, len(tasks))

        play(setting, lambda: line.popleft() if line else None, keep, min(self.workers, len(waiting)))


def play(setting: Setting, take: Take, keep: Keep, workers: int) -> None:
    """Play what `take` gives until it gives nothing more, and hand what comes of it to `keep`: here, or in worker processes."""
    if workers == 1:
        while (task := take()) is not None:
            keep(task, attempt(setting, task))
        return
    crew = _Crew(setting_as_bytes(setting), workers)
    try:
        crew.play(take, keep)
    finally:
        crew.dismiss()


def setting_as_bytes(setting: Setting) -> bytes:
    """A setting as another process can read it; classes of a script or a notebook go along by value."""
    import cloudpickle

    try:
        content: bytes = cloudpickle.dumps(setting)
    except Exception as problem:
        raise ParameterError(
            f"This cannot be sent to worker processes ({type(problem).__name__}: {problem}). Use --workers 1."
        ) from problem
    return content


@dataclass(eq=False)
class _Worker:
    """A process with what it was given and has not answered yet, in this order."""

    process: subprocess.Popen[bytes]
    given: deque[Task] = field(default_factory=deque)

    def give(self, task: Task) -> None:
        self.given.append(task)
        self.tell(pickle.dumps(task))

    def tell(self, content: bytes) -> None:
        """Send a frame; one that is gone is noticed by whoever listens to it."""
        with suppress(OSError):
            send(self.process.stdin, content)  # type: ignore[arg-type]

    def end(self) -> None:
        """Whatever it is doing, or if it is gone already."""
        self.process.kill()
        self.process.wait()
        with suppress(OSError):  # what could not be written to it any more
            self.process.stdin.close()  # type: ignore[union-attr]


Heard = tuple[_Worker, "tuple[Task | None, float, Arrays | Failed | str] | None"]


class _Crew:
    """Workers, one pipe for each: what one of them leaves undone, or half said, disturbs no other."""

    def __init__(self, setting: bytes, size: int) -> None:
        self._setting, self._size = setting, size
        self._heard: queue.SimpleQueue[Heard] = queue.SimpleQueue()
        self._workers: list[_Worker] = []

    def play(self, take: Take, keep: Keep) -> None:
        """A task whose worker is gone goes to another, a few times."""
        again, lost, ahead = deque[Task](), dict[str, int](), 1
        while True:
            self._hand_out(lambda: again.popleft() if again else take(), ahead)
            if not any(worker.given for worker in self._workers):
                return
            worker, answer = self._hear()
            if worker not in self._workers:
                continue  # it was given up
            if answer is None:
                self._workers.remove(worker)
                worker.end()
                again.extendleft(reversed(worker.given))
                if worker.given and self._is_lost(again[0], lost):
                    keep(again.popleft(), Failed(f"its worker was killed {ATTEMPTS} times, {MEMORY}"))
                continue
            task, seconds, outcome = _understood(answer)
            worker.given.popleft()
            ahead = AHEAD if seconds < SHORT else 1
            keep(task, outcome)

    def _hear(self) -> Heard:
        """The next word of a worker, or that it is gone. Mostly its pipe says so; not if a process that its generator forked
        lives on, which has the other end too.
        """
        gone: list[_Worker] = []
        while True:
            with suppress(queue.Empty):
                return self._heard.get(timeout=LOOK)
            if gone:  # at the last look already, and all that it said has been heard since
                return gone[0], None
            gone = [worker for worker in self._workers if worker.process.poll() is not None]

    @staticmethod
    def _is_lost(task: Task, lost: dict[str, int]) -> bool:
        """Whether the task that a worker died of has had its attempts; those behind it in its line are not to blame."""
        lost[task.id] = lost.get(task.id, 0) + 1
        return lost[task.id] == ATTEMPTS

    def dismiss(self) -> None:
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _hand_out(self, take: Take, ahead: int) -> None:
        """In turn, so that nobody has two while another has none. Workers are hired when there is work for them."""
        for depth in range(ahead):
            for place in range(self._size):
                if place < len(self._workers) and len(self._workers[place].given) > depth:
                    continue
                task = take()
                if task is None:
                    return
                if place >= len(self._workers):
                    self._workers.append(self._hire())
                self._workers[place].give(task)

    def _hire(self) -> _Worker:
        keep = {KEEP_SAFE: "1"} if SAFE_PATH in os.environ else {}
        process = subprocess.Popen(
            [sys.executable, "-c", BEGIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | ONE_THREAD | {SAFE_PATH: "1", MODULES: json.dumps(sys.path)} | keep,
        )
        worker = _Worker(process)
        threading.Thread(target=self._listen, args=(worker,), daemon=True).start()
        worker.tell(self._setting)
        return worker

    def _listen(self, worker: _Worker) -> None:
        """Hand on what a worker says, until it is gone: also if it is killed in the middle of a word."""
        with worker.process.stdout as stream:  # type: ignore[union-attr]
            while (frame := receive(stream)) is not None:  # type: ignore[arg-type]
                self._heard.put((worker, pickle.loads(frame)))
        self._heard.put((worker, None))


def _understood(answer: tuple[Any, float, Any]) -> tuple[Task, float, Arrays | Failed]:
    task, seconds, outcome = answer
    if task is None:
        raise RunError(f"A worker process could not begin: {outcome}\nUse --workers 1 to work in this process alone.")
    return task, seconds, outcome
