"""How far a run is: progress.json in its directory, a local file as run.json is. It is no part of a result."""

from __future__ import annotations

import datetime
import json
import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from unmask.errors import RunError
from unmask.files import HERE, is_running, parse_json, read_text, shown, write_atomically
from unmask.results.plain import from_plain, to_plain

PROGRESS = "progress.json"
VERSION = 1
STALE = 120.0  # seconds without a sign from another machine after which its run counts as ended
MOST = 2**53  # no number in it is as large
LONGEST = 100_000  # bytes; more is none of ours


class RunState(StrEnum):
    """Where a run stands."""

    RUNNING = "running"
    FINISHED = "finished"  # to its end, whatever its exit code says of the findings
    FAILED = "failed"
    CANCELLED = "cancelled"  # somebody ended it (SIGTERM)
    INTERRUPTED = "interrupted"  # Ctrl-C


@dataclass(frozen=True)
class RunProgress:
    """What progress.json holds."""

    verb: str  # as it is typed behind `unmask`
    stage: str  # what is being done
    done: int
    total: int | None  # None: not known yet
    started: str  # ISO, UTC
    updated: str
    eta_seconds: float | None  # from `updated` on; None: not known
    pid: int
    host: str  # which machine, as a digest of its name
    state: RunState = RunState.RUNNING
    message: str = ""  # of one that failed: what, where, what to do
    exit_code: int | None = None
    version: int = VERSION

    @property
    def is_abandoned(self) -> bool:
        """Whether it says running although nobody runs it: the process was killed, or its machine is gone.

        On this machine the process is asked for, and must be older than its last word: numbers of processes are used again. Of
        another machine nothing is known but its last word; a living run says one every few seconds.
        """
        if self.state is not RunState.RUNNING:
            return False
        last = datetime.datetime.fromisoformat(self.updated).timestamp()
        if self.host == HERE:
            return not is_running(self.pid, at=last)
        return datetime.datetime.now(datetime.UTC).timestamp() - last > STALE

    @property
    def seen(self) -> RunState:
        """The state for people: one that was abandoned is interrupted."""
        return RunState.INTERRUPTED if self.is_abandoned else self.state


def utc_now() -> str:
    """The time as progress.json and decision.json have it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def write_progress(directory: Path, progress: RunProgress, *, group: bool = False) -> None:
    """Write it for its owner's eyes (with `group` for its group's): the message may quote a value."""
    if os.path.islink(directory / PROGRESS):  # of somebody's directory: it could lead to any file
        raise RunError(f"{shown(directory / PROGRESS)}: this is a link, which is not followed.")
    text = json.dumps(to_plain(progress), indent=1) + "\n"
    lasting = progress.state is not RunState.RUNNING
    write_atomically(directory / PROGRESS, text, private=True, group=group, lasting=lasting)


def read_progress(directory: str | Path) -> RunProgress | None:
    """How far the run of this directory is; None if it says nothing. Damaged or of somebody else: a RunError."""
    path = Path(directory) / PROGRESS
    if not os.path.lexists(path):
        return None
    if not os.path.isfile(path) or os.path.getsize(path) > LONGEST:
        raise RunError(f"{shown(path)}: this is not the progress of a run.")
    try:
        plain = parse_json(read_text(path, error=RunError), shown(path), error=RunError)
    except FileNotFoundError:  # removed since
        return None
    if not isinstance(plain, dict) or plain.get("version") != VERSION:
        raise RunError(f"{shown(path)}: this is not the progress of a run that this version of unmask reads.")
    found: RunProgress = from_plain(RunProgress, plain, shown(path))
    try:
        times = [datetime.datetime.fromisoformat(each) for each in (found.started, found.updated)]
    except ValueError:
        raise RunError(f"{shown(path)}: 'started' or 'updated' is no time.") from None
    numbers = (found.done, found.total or 0, found.eta_seconds or 0.0, found.pid, found.exit_code or 0)
    if not all(abs(each) < MOST for each in numbers):  # nor NaN
        raise RunError(f"{shown(path)}: a number in it is none that a run writes.")
    if found.pid < 1 or any(each.tzinfo is None for each in times):
        raise RunError(f"{shown(path)}: damaged; the run writes it anew.")
    return found
