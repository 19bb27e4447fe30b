"""Where finished draws are kept: in memory, or one atomic file per draw in a run directory."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from unmask.errors import InputError
from unmask.files import parse_json, read_text, write_atomically
from unmask.simulation.sealed import DamagedError, Identity, seal, unseal
from unmask.simulation.task import Arrays, Failed, Task


@dataclass(frozen=True)
class MemoryStore:
    """Keeps draws as long as the process lives."""

    drawn: dict[str, Arrays | Failed] = field(default_factory=dict)

    def get(self, task: Task, names: Sequence[str] | None = None) -> Arrays | Failed | None:
        """The outcome of a task; all of it, since it is in memory."""
        return self.drawn.get(task.id)

    def has(self, task: Task) -> bool:
        """Whether a task is done; a failed one is not."""
        return isinstance(self.drawn.get(task.id), Mapping)

    def put(self, task: Task, outcome: Arrays | Failed) -> None:
        self.drawn[task.id] = outcome


@dataclass(frozen=True)
class FileStore:
    """Keeps each draw in a file of its own, so that a killed run continues where it stopped.

    A file is read only as what it was written as: the draw of this task of this run, byte by byte. Any other is as good as none,
    and `damaged` has its task.
    """

    directory: Path
    run: str = ""  # the digest of what these draws are of
    unsealed: bool = False  # whether draws of older versions, which have no seal, are taken
    group: bool = False  # whether others of the same group work here too
    damaged: set[str] = field(default_factory=set, compare=False)

    def get(self, task: Task, names: Sequence[str] | None = None) -> Arrays | Failed | None:
        """The outcome of a task; None if it has none yet, or if its file is damaged and must be drawn again.

        `names` reads these arrays only. Of two who played it one may have failed, for lack of memory say: a draw counts more.
        """
        try:
            arrays = unseal(self._path(task), self._identity(task), names)
        except DamagedError:
            self.damaged.add(task.id)
            arrays = None
        if arrays is not None:
            return arrays
        failed = self._failed(task)
        return Failed(_message(failed)) if failed.exists() else None

    def has(self, task: Task) -> bool:
        """Whether a task is done: whether `get` has arrays for it."""
        return os.path.exists(self._path(task)) and isinstance(self.get(task), Mapping)

    def put(self, task: Task, outcome: Arrays | Failed) -> None:
        if isinstance(outcome, Failed):
            text = json.dumps({"message": outcome.message})
            self._write(self._failed(task), text)
            return
        self._write(self._path(task), seal(outcome, self._identity(task)))
        if os.path.lexists(failed := self._failed(task)):
            with suppress(OSError):  # it counts for nothing now
                os.unlink(failed)

    def _write(self, path: Path, content: str | bytes) -> None:
        write_atomically(path, content, private=True, group=self.group, through_links=False)

    def forget_failures(self, tasks: Sequence[Task]) -> None:
        """So that they are tried again, by whoever works here."""
        there = self.present()
        for task in tasks:
            if task.id in there:
                with suppress(OSError):
                    self._failed(task).unlink()

    def present(self) -> set[str]:
        """The tasks that have a file of either kind, by one look at the folder; `get` says what it is worth."""
        with os.scandir(self.directory) as entries:
            return {entry.name.partition(".")[0] for entry in entries}

    def _failed(self, task: Task) -> Path:
        return self.directory / f"{task.id}.failed.json"

    def _path(self, task: Task) -> Path:
        return self.directory / f"{task.id}.npz"

    def _identity(self, task: Task) -> Identity:
        return Identity(task.id, self.run, self.unsealed)


def _message(path: Path) -> str:
    """What a draw failed of; its file may be damaged too."""
    if not os.path.isfile(path):  # a pipe would never end
        return "unknown: its file cannot be read"
    try:
        plain = parse_json(read_text(path), str(path))
    except (InputError, FileNotFoundError):
        return "unknown: its file cannot be read"
    return str(plain["message"]) if isinstance(plain, dict) and "message" in plain else "unknown: its file is damaged"


Store = MemoryStore | FileStore
