"""Who works on which task, told by files, so that processes that see one directory do not do the same work twice.

A claim is a courtesy, not a lock: a task that is played twice comes out the same twice. Each process has a file of its own that
is touched while it lives; claims of one that has stopped are void.
"""

from __future__ import annotations

import math
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from unmask.errors import RunError
from unmask.files import GROUP_FILE, HERE, OWNER_FILE, is_running, make_folder, set_rights, shown
from unmask.simulation.task import Task

BEAT = 5.0  # seconds between signs of life
LEASE = 45.0  # seconds without one after which claims are void
LONG_GONE = 3600.0  # seconds by which no two clocks differ: a sign that is older by so much needs no watching

# Touches a file until nobody holds the other end of its input. It is a process, since a generator that keeps the interpreter for
# itself would silence a thread; and a small one, which reads nothing of what is installed.
BEATING = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
while True:
    time.sleep(float(sys.argv[2]))
    try:
        os.utime(sys.argv[1])
    except OSError:
        pass
"""


@dataclass(frozen=True)
class Claims:
    """Claims of one process in a directory that others see too."""

    directory: Path
    group: bool = False
    name: str = field(default_factory=lambda: f"{HERE}-{os.getpid()}-{secrets.token_hex(4)}")
    _mine: set[str] = field(default_factory=set, compare=False)  # tasks
    _seen: dict[str, tuple[int, float]] = field(default_factory=dict, compare=False)  # files: their time, since when

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Show that this process lives, until the end of the block; then its claims are gone."""
        self._enter()
        beat = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", BEATING, str(self._sign().absolute()), str(BEAT)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        all_done = False
        try:
            yield
            all_done = True
        finally:
            beat.kill()
            beat.communicate()
            self._leave(all_done=all_done)

    def take(self, task: Task) -> int:
        """Claim a task, unless a process that lives has.

        Returns how often it has been begun, this time included: more often than once if those who had it are gone. 0: not ours.
        """
        path = self._path(task)
        try:
            times = self._taken(path)
            if times is None:  # whoever left last has removed the folder in the meantime
                self._enter()
                times = self._taken(path)
        except OSError as problem:
            raise self._unusable(problem) from None
        if times:
            self._mine.add(task.id)
        return times or 0

    def release(self, task: Task) -> None:
        """The task is done, or left to others."""
        self._mine.discard(task.id)
        with suppress(OSError):
            self._path(task).unlink()

    def _taken(self, path: Path) -> int | None:
        """How often it has been begun, 0 if it is another's, None if there is no folder."""
        with suppress(FileNotFoundError):
            try:
                self._make(path)
                return 1
            except FileExistsError:
                times = self._begun(path)
            if not times:
                return 0
            mine = path.with_name(f"{path.name}.{self.name}")
            self._write(mine, os.O_EXCL, times + 1)
            mine.replace(path)
            return times + 1
        return None

    def _make(self, path: Path) -> None:
        """Another name of the sign, so that a claim says from its first moment whose it is; where there are none, a file."""
        try:
            os.link(self._sign(), path)
        except (FileExistsError, FileNotFoundError):
            raise
        except OSError:
            self._write(path, os.O_EXCL)

    def _write(self, path: Path, flags: int, times: int = 1) -> None:
        rights = GROUP_FILE if self.group else OWNER_FILE
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | flags, rights), "w", encoding="utf-8") as file:
            set_rights(path, rights)  # whatever the umask: what colleagues cannot read they would wait for
            file.write(f"{self.name} {times}")

    def _begun(self, path: Path) -> int:
        """How often a task was begun by processes that are gone; 0 if the one that claims it lives."""
        try:
            text = path.read_text(encoding="utf-8", errors="replace") if os.path.isfile(path) else ""
        except FileNotFoundError:
            return 0  # released just now
        except OSError:
            text = ""  # of somebody whose files cannot be read: what is seen of it must do
        owner, _, times = text.partition(" ")
        if owner == self.name:  # a shared folder may say of what it has just made that it was there
            return 1
        # Nothing is in a file at the moment when it is made, and for ever if its maker was killed at that moment.
        if self._lives(owner) if owner else self._is_touched(path):
            return 0
        return max(int(times), 1) if times.isdecimal() and len(times) < 9 else 1

    def _lives(self, owner: str) -> bool:
        """Whether a process shows signs of life; of one on this machine it is known at once."""
        machine, _, rest = owner.partition("-")
        process = rest.partition("-")[0]
        if machine == HERE and process.isdigit() and not is_running(int(process)):
            return False
        return self._is_touched(self.directory / f"alive-{owner}")

    def _is_touched(self, path: Path) -> bool:
        """Whether a file was touched within the lease, by the clock of this process alone: those of machines differ.

        Only a change tells that somebody is there, so that one who is seen for the first time has the whole lease.
        """
        try:
            # Opened, since of a mere look a shared folder may tell what was a minute ago.
            with open(path, "rb", opener=_at_once) as handle:
                touched = os.fstat(handle.fileno()).st_mtime_ns
        except FileNotFoundError:
            return False
        except OSError:
            touched = _seen_from_outside(path)
        before, since = self._seen.get(path.name, (None, 0.0))
        if touched != before:
            long_gone = before is None and self._now() - touched / 1e9 > LONG_GONE
            since = -math.inf if long_gone else time.monotonic()
            self._seen[path.name] = touched, since
        return time.monotonic() - since <= LEASE

    def _now(self) -> float:
        """The time as the directory has it, which may be on another machine."""
        with suppress(OSError):
            os.utime(self._sign())
            return self._sign().stat().st_mtime
        return time.time()

    def _enter(self) -> None:
        try:
            for _ in range(20):  # somebody who leaves may remove the folder between two steps
                make_folder(self.directory, group=self.group)
                with suppress(FileNotFoundError):
                    self._write(self._sign(), os.O_TRUNC)
                    return
            self._write(self._sign(), os.O_TRUNC)
        except OSError as problem:
            raise self._unusable(problem) from None

    def _leave(self, *, all_done: bool) -> None:
        """The last one removes what those who were killed have left, but only once all is done: till then it tells of whom."""
        for name in self._mine:
            with suppress(OSError):
                (self.directory / f"{name}.claim").unlink()
        with suppress(OSError):
            self._sign().unlink()
        with suppress(OSError):
            others = [path.name.removeprefix("alive-") for path in self.directory.glob("alive-*")]
            if all_done and not any(self._lives(other) for other in others):
                for path in self.directory.iterdir():
                    path.unlink()
            self.directory.rmdir()  # not if somebody came meanwhile

    def _unusable(self, problem: OSError) -> RunError:
        return RunError(
            f"{shown(self.directory)}: nothing can be written here ({problem.strerror}). All who work on a run must be able to; "
            "for several users begin it with --share-with-group."
        )

    def _sign(self) -> Path:
        return self.directory / f"alive-{self.name}"

    def _path(self, task: Task) -> Path:
        return self.directory / f"{task.id}.claim"


def _at_once(path: str, flags: int) -> int:
    """Open a file without waiting for the other end of what may be a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _seen_from_outside(path: Path) -> int:
    """When a file was touched that cannot be opened; 0 if nothing tells."""
    with suppress(OSError):
        return os.stat(path).st_mtime_ns
    return 0
