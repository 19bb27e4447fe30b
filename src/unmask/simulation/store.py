"""Where finished draws are kept: in memory, or one atomic file per draw in a run directory."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from unmask.errors import InputError
from unmask.files import parse_json, read_text, write_atomically
from unmask.simulation.task import Arrays, Failed, Task

# What a file that is missing, cut off or overwritten does to those who read it.
DAMAGED = (FileNotFoundError, zipfile.BadZipFile, zlib.error, ValueError, EOFError, NotImplementedError, RuntimeError)


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
    """Keeps each draw in a file of its own, so that a killed run continues where it stopped."""

    directory: Path

    def get(self, task: Task, names: Sequence[str] | None = None) -> Arrays | Failed | None:
        """The outcome of a task; None if it has none yet, or if its file is damaged and must be drawn again.

        `names` reads these arrays only.
        """
        failed = self.directory / f"{task.id}.failed.json"
        if failed.exists():
            return Failed(_message(failed))
        try:
            with (self.directory / f"{task.id}.npz").open("rb") as handle, np.load(handle, allow_pickle=False) as file:
                return {name: file[name] for name in file.files if names is None or name in names}
        except DAMAGED:
            return None

    def has(self, task: Task) -> bool:
        """Whether a task is done; a failed one is not, nor one whose file is damaged: every byte is checked."""
        if (self.directory / f"{task.id}.failed.json").exists():
            return False
        try:
            with zipfile.ZipFile(self.directory / f"{task.id}.npz") as file:
                return file.testzip() is None
        except DAMAGED:
            return False

    def put(self, task: Task, outcome: Arrays | Failed) -> None:
        if isinstance(outcome, Failed):
            text = json.dumps({"message": outcome.message})
            write_atomically(self.directory / f"{task.id}.failed.json", text, private=True)
            return
        (self.directory / f"{task.id}.failed.json").unlink(missing_ok=True)
        content = io.BytesIO()
        np.savez(content, **outcome)  # type: ignore[arg-type]
        write_atomically(self.directory / f"{task.id}.npz", content.getvalue(), private=True)


def _message(path: Path) -> str:
    """What a draw failed of; its file may be damaged too."""
    try:
        plain = parse_json(read_text(path), str(path))
    except (InputError, FileNotFoundError):
        return "unknown: its file cannot be read"
    return str(plain["message"]) if isinstance(plain, dict) and "message" in plain else "unknown: its file is damaged"


Store = MemoryStore | FileStore
