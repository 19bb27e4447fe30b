"""Who works on which task, told by files, so that processes that see one directory do not do the same work twice.

A claim is a courtesy, not a lock: a task that is played twice comes out the same twice. Each process has a file of its own that
it touches while it lives; claims of one that has stopped are void.
"""

from __future__ import annotations

import os
import secrets
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from unmask.files import HERE, is_running, make_folder
from unmask.simulation.task import Task

BEAT = 5.0  # seconds between signs of life
LEASE = 45.0  # seconds without one after which claims are void


@dataclass(frozen=True)
class Claims:
    """Claims of one process in a directory that others see too."""

    directory: Path
    group: bool = False
    name: str = field(default_factory=lambda: f"{HERE}-{os.getpid()}-{secrets.token_hex(4)}")

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Show that this process lives, until the end of the block; then its claims are gone."""
        make_folder(self.directory, group=self.group)
        self._sign().touch()
        stop = threading.Event()
        beat = threading.Thread(target=self._beat, args=(stop,), daemon=True)
        beat.start()
        try:
            yield
        finally:
            stop.set()
            beat.join()
            self._leave()

    def take(self, task: Task) -> bool:
        """Claim a task, unless a process that lives has."""
        path = self._path(task)
        try:
            with open(
                os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o660 if self.group else 0o600),
                "w",
                encoding="utf-8",
            ) as file:
                file.write(self.name)
            return True
        except FileExistsError:
            return self._void(path) and self._take_over(path)

    def release(self, task: Task) -> None:
        """The task is done, or left to others."""
        self._path(task).unlink(missing_ok=True)

    def _take_over(self, path: Path) -> bool:
        mine = path.with_name(f"{path.name}.{self.name}")
        mine.write_text(self.name, encoding="utf-8")
        mine.replace(path)
        return True

    def _void(self, path: Path) -> bool:
        """Whether a claim is of a process that is gone."""
        with suppress(OSError):
            owner = path.read_text(encoding="utf-8")
            # Nothing is in it at the moment when it is made, and for ever if that one was killed at that moment.
            return not self._lives(owner) if owner else self._age(path) > LEASE
        return True

    def _lives(self, owner: str) -> bool:
        """Whether a process shows signs of life; of one on this machine it is known at once."""
        machine, _, rest = owner.partition("-")
        process = rest.partition("-")[0]
        if machine == HERE and process.isdigit() and not is_running(int(process)):
            return False
        with suppress(OSError):
            return self._age(self.directory / f"alive-{owner}") <= LEASE
        return False

    def _age(self, path: Path) -> float:
        """As the clock of the directory has it, which may be on another machine."""
        sign = self._sign()
        sign.touch()
        return sign.stat().st_mtime - path.stat().st_mtime

    def _beat(self, stop: threading.Event) -> None:
        while not stop.wait(BEAT):
            with suppress(OSError):
                self._sign().touch()

    def _leave(self) -> None:
        """The last one removes what those who were killed have left."""
        with suppress(OSError):
            others = [path.name.removeprefix("alive-") for path in self.directory.glob("alive-*")]
            if not any(self._lives(other) for other in others if other != self.name):
                shutil.rmtree(self.directory)
        self._sign().unlink(missing_ok=True)

    def _sign(self) -> Path:
        return self.directory / f"alive-{self.name}"

    def _path(self, task: Task) -> Path:
        return self.directory / f"{task.id}.claim"
