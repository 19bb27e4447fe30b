"""The runs below RUNS and what each comes to. Verdicts are read by another process, once for every state of a directory."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unmask.errors import InputError, RunError
from unmask.results.progress import RunProgress
from unmask.web.jobs import Jobs, PageJob
from unmask.web.places import NoSuchRun, run_directory, run_names
from unmask.web.processes import answer, environment
from unmask.web.settings import Settings

GLANCE = (sys.executable, "-P", "-m", "unmask.web.glance")
WATCHED = ("result.json", "run.json", "report.html", "decision.json")
AT_ONCE = 10  # directories that one process reads
SECONDS = 120
UNKNOWN: dict[str, Any] = {
    "badge": {"name": "untested", "shape": "—", "label": "no verdict"}, "sentence": "", "support": [], "files": [], "inputs": [],
    "generator": "", "seed": None, "size": 0, "count": 0, "error": "", "report": "",
}  # fmt: skip


@dataclass(frozen=True)
class Shelved:
    """A run as the list shows it."""

    name: str
    moment: float  # of its last change
    job: PageJob | None
    seen: dict[str, Any] = field(default_factory=dict)  # what the other process told; empty: not read yet
    progress: RunProgress | None = None  # of a run that is not over, as it says itself

    @property
    def told(self) -> dict[str, Any]:
        """The same with a place for everything that pages show."""
        return UNKNOWN | self.seen

    @property
    def title(self) -> str:
        """What kind of run it is."""
        verb = self.job.verb if self.job else self.progress.verb if self.progress else "run"
        return str(self.seen.get("title") or verb.capitalize())

    @property
    def state(self) -> str:
        """waiting, running, failed, cancelled, unfinished, unread, finished."""
        if self.job is not None and self.job.state != "finished":
            return "running" if self.job.state == "starting" else self.job.state
        if self.progress is not None and self.progress.seen == "running":
            return "running"
        if not self.seen:
            return "unread"
        return "unfinished" if "error" in self.seen else "finished"

    def matches(self, words: Sequence[str]) -> bool:
        """Whether every word stands somewhere in what is known of it."""
        texts = [self.name, self.state, self.seen.get("title", ""), self.seen.get("sentence", "")]
        texts += [self.seen.get("badge", {}).get("label", ""), self.seen.get("generator", "")]
        texts += [name for _, name in self.seen.get("files", [])]
        whole = " ".join(texts).casefold()
        return all(word.casefold() in whole for word in words)


class Shelf:
    """Every run, and a thread that reads what has changed."""

    def __init__(self, settings: Settings, jobs: Jobs) -> None:
        self.settings, self.jobs = settings, jobs
        self._seen: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        self._waiting: set[str] = set()
        self._lock = threading.Lock()
        self._reading = threading.Lock()

    def all(self) -> list[Shelved]:
        """All runs, the newest first; verdicts that were not read yet are read on the side."""
        names = run_names(self.settings)
        waiting = [job.run for job in self.jobs.all() if job.run not in names]
        found = [self._there(name) for name in (*names, *waiting)]
        return sorted((each for each in found if each is not None), key=lambda each: -each.moment)

    def _there(self, name: str) -> Shelved | None:
        """A run, unless somebody has removed its directory; then its job is forgotten once it is over."""
        try:
            return self.one(name)
        except (NoSuchRun, OSError):
            if _is_gone(self.settings.runs / name):
                with suppress(InputError, OSError):
                    self.jobs.forget(name)
            return None

    def one(self, name: str) -> Shelved:
        """A run by its name, as far as it is known."""
        directory = run_directory(self.settings, name)
        job = self.jobs.of(name)
        mark = _mark(directory)
        kept = self._seen.get(name)
        fresh = kept is not None and kept[0] == mark
        over = job is None or job.is_over
        if not fresh and over:
            self._read_later([name])
        progress = self.jobs.progress(directory)
        moment = max([job.queued if job else 0.0, *(each[1] / 1e9 for each in mark if each)])
        seen = kept[1] if kept is not None and fresh and over else {}
        return Shelved(name, moment or os.stat(directory).st_mtime, job, seen, progress)

    def now(self, name: str) -> Shelved:
        """The same, waiting for the verdict if it was not read yet."""
        found = self.one(name)
        if found.state != "unread":
            return found
        self._read([name])
        return self.one(name)

    def _read_later(self, names: list[str]) -> None:
        with self._lock:
            busy = bool(self._waiting)
            self._waiting |= set(names)
        if not busy:
            threading.Thread(target=self._read_all, name="shelf", daemon=True).start()

    def _read_all(self) -> None:
        while True:
            with self._lock:
                names = sorted(self._waiting)[:AT_ONCE]
            if not names:
                return
            try:
                self._read(names)
            except Exception:  # noqa: BLE001 - they are asked for again; the others are read meanwhile
                continue
            finally:
                with self._lock:
                    self._waiting -= set(names)

    def _read(self, names: list[str]) -> None:
        with self._reading:
            marks = {name: _mark(self.settings.runs / name) for name in names}
            names = [name for name in names if self._seen.get(name, ((), {}))[0] != marks[name]]
            if not names:
                return
            for name, told in zip(names, self._told(names), strict=True):
                self._seen[name] = (marks[name], told)

    def _told(self, names: list[str]) -> list[dict[str, Any]]:
        """What each comes to. If one of them ends or stops the reading, each is read alone: the others are not to blame."""
        places = [str(self.settings.runs / name) for name in names]
        variables = environment(self.settings.upload_limit)
        try:
            _, out, _ = answer(
                GLANCE, folder=self.settings.runs, variables=variables, seconds=SECONDS, given=json.dumps(places)
            )
            told = [json.loads(line) for line in out.splitlines()]
        except (RunError, ValueError):
            told = []
        if len(told) == len(names):
            return told
        if len(names) == 1:
            return [{"error": "This result could not be read in time.", "size": 0, "count": 0}]
        return [self._told([name])[0] for name in names]


def _is_gone(directory: Path) -> bool:
    """Whether there is certainly nothing: a disk that does not answer is no reason to forget."""
    try:
        os.lstat(directory)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _mark(directory: Path) -> tuple[Any, ...]:
    """What tells one state of a run directory from another."""
    found: list[Any] = []
    for name in WATCHED:
        try:
            kept = os.lstat(directory / name)
            found.append((name, kept.st_mtime_ns, kept.st_size, kept.st_ino))
        except OSError:
            found.append(None)
    return tuple(found)
