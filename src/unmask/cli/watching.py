"""Who watches a run: a bar on the error stream, and progress.json in the run directory for other programs."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from unmask import compiled
from unmask.cli.ending import ending
from unmask.errors import UnmaskError
from unmask.files import HERE, sweep
from unmask.results.progress import RunProgress, RunState, read_progress, utc_now, write_progress
from unmask.results.readable import readable

PAUSE = 0.5  # seconds between two writings at least
SIGN_OF_LIFE = 5.0  # and at most
LONGEST = 4_000  # characters of a message


@dataclass(frozen=True)
class Watch:
    """What a run tells those who watch it: how many of how many, and what it is doing."""

    progress: Callable[[int, int], None] = lambda done, total: None
    stage: Callable[[str], None] = lambda text: None

    def __add__(self, other: Watch) -> Watch:
        def progress(done: int, total: int) -> None:
            self.progress(done, total)
            other.progress(done, total)

        def stage(text: str) -> None:
            self.stage(text)
            other.stage(text)

        return Watch(progress, stage)


@contextmanager
def watch(what: str, *, quiet: bool) -> Iterator[Watch]:
    """A progress bar with the time that is left, on the error stream; silent where nobody watches.

    A line above it says if loops are compiled, which takes longer than a small audit.
    """
    if quiet:
        yield Watch()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        compiled.tell(lambda text: bar.console.print(readable(text), markup=False, highlight=False, soft_wrap=True))
        try:
            yield Watch(
                lambda done, total: bar.update(task, completed=done, total=total),
                lambda text: bar.update(task, description=text),
            )
        finally:
            compiled.tell(None)


class ProgressFile:
    """progress.json of a run, for the time of a `with`; without a directory it does nothing.

    A thread writes it, so that the work never waits for a disk, and a stage that takes long shows signs of life. What cannot be
    written is not written: the run goes on. A run that only `helps` others keeps quiet while one of them writes.
    """

    def __init__(self, directory: Path | None, verb: str, *, group: bool = False, helps: bool = False) -> None:
        self._directory, self._group, self._helps = directory, group, helps
        now = utc_now()
        self._now = RunProgress(verb, "Starting", 0, None, now, now, None, os.getpid(), HERE)
        self._pace = _Pace()
        self._lock = threading.Lock()
        self._changed, self._over = threading.Event(), threading.Event()
        self._writer: threading.Thread | None = None

    def begin(self) -> None:
        """Write from now on: the directory is known to be this run's."""
        if self._directory is None or self._writer is not None:
            return
        with suppress(OSError):
            sweep(self._directory)  # what a run that was killed was about to write
        self._write()
        self._writer = threading.Thread(target=self._go_on, daemon=True)
        self._writer.start()

    @property
    def watch(self) -> Watch:
        """For the run."""
        return Watch(self._progress, self._stage)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, problem: BaseException | None, trace: TracebackType | None) -> None:
        if self._writer is None:
            return
        self._over.set()
        self._changed.set()
        self._writer.join()
        state, message, code = RunState.FINISHED, "", 0
        if problem is not None:
            end = ending(problem)
            state, message, code = end.state, readable(end.message, LONGEST), end.code
        # One that has finished has nothing left, also where fewer steps were needed than were thought.
        done = self._now.total if state is RunState.FINISHED and self._now.total else self._now.done
        self._now = replace(self._now, done=done, state=state, message=message, exit_code=code)
        self._write()

    def _progress(self, done: int, total: int) -> None:
        with self._lock:
            self._now = replace(self._now, done=done, total=total)
            self._pace.hear(done, total)
        self._changed.set()

    def _stage(self, text: str) -> None:
        with self._lock:
            self._now = replace(self._now, stage=text)
        self._changed.set()

    def _go_on(self) -> None:
        while not self._over.is_set():
            self._changed.wait(SIGN_OF_LIFE)
            self._changed.clear()
            self._write()
            self._over.wait(PAUSE)

    def _write(self) -> None:
        with self._lock:
            left = self._pace.left if self._now.state is RunState.RUNNING else None
            self._now = now = replace(self._now, updated=utc_now(), eta_seconds=left)
        with suppress(UnmaskError, OSError):
            if self._directory is not None and not (self._helps and self._is_led(self._directory)):
                write_progress(self._directory, now, group=self._group)

    def _is_led(self, directory: Path) -> bool:
        """Whether another process that lives writes how far the run is."""
        try:
            found = read_progress(directory)
        except UnmaskError:
            return False
        mine = found is None or (found.pid, found.host) == (self._now.pid, HERE)
        return not mine and found is not None and found.seen is RunState.RUNNING


class _Pace:
    """How fast things are done, counted from the first word of each count: what was found done took no time."""

    def __init__(self) -> None:
        self._first = (0, 0, 0.0)  # done, total, when
        self._end: float | None = None  # when all should be done

    def hear(self, done: int, total: int) -> None:
        now = time.monotonic()
        before, of, since = self._first
        if of != total or done < before:
            self._first, self._end = (done, total, now), None
        elif done > before:
            self._end = now + (now - since) / (done - before) * (total - done)

    @property
    def left(self) -> float | None:
        """Seconds; None if nothing tells, or if it takes longer than was thought."""
        left = -1.0 if self._end is None else self._end - time.monotonic()
        return round(left, 1) if left >= 0 else None
