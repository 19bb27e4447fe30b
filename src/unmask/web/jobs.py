"""Jobs: ordinary runs of the command line in processes of their own, at most so many at once, the others in a queue on disk.

The server may stop and start: a job goes on, and is found again by its process number together with the moment when that process
began. What is queued lies in the server's own folder and not in run directories, since those may come from strangers.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from unmask.errors import InputError, RunError, UnmaskError
from unmask.files import make_folder, parse_json, read_text, write_atomically
from unmask.results.progress import PROGRESS, RunProgress, read_progress
from unmask.web.forms import VerbForm, verb_forms
from unmask.web.places import is_allowed, plain_file, read_bytes
from unmask.web.processes import UNMASK, end, environment, is_same, start, started_at
from unmask.web.settings import Settings

FINISHED = (0, 1, 4, 5)  # exit codes of a run that has a result
LATEST = 2**40  # seconds since 1970: no job has a larger number (nor NaN)
PAUSE = 0.3  # seconds between two looks at the queue
GRACE = 20.0  # seconds after which a cancelled job is told more clearly
SIGNALS = (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM))
STATES = ("waiting", "starting", "running", "finished", "failed", "cancelled")
ID = re.compile("[0-9a-f]{16}")
NAME = re.compile(r"[\w-]+\Z")
BUDGET = re.compile(r"[\w.]+\Z")


@dataclass(frozen=True)
class PageJob:
    """A run that this page began, or will begin."""

    id: str
    run: str
    verb: str
    words: tuple[str, ...]  # of the command line, after the verb
    queued: float
    state: str = "waiting"  # one of STATES
    pid: int = 0
    began: str = ""
    exit_code: int | None = None
    cancelled: float = 0.0  # when somebody asked for it
    draft: str = ""

    @property
    def is_over(self) -> bool:
        return self.state in ("finished", "failed", "cancelled")


class Jobs:
    """The queue, and a thread that looks after it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = settings.own / "jobs"
        self._lock = threading.RLock()
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._stop = threading.Event()
        self._jobs = {job.id: job for job in map(_read, sorted(self.folder.glob("*.json"))) if job is not None}
        self._thread = threading.Thread(target=self._watch, name="jobs", daemon=True)

    def open(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stop looking; the jobs themselves go on."""
        self._stop.set()
        self._thread.join(timeout=5)

    def add(self, run: str, verb: str, words: list[str], draft: str = "") -> PageJob:
        """Put a run into the queue."""
        make_folder(self.settings.runs / run)
        job = PageJob(secrets.token_hex(8), run, verb, tuple(words), time.time(), draft=draft)
        with self._lock:
            if self.of(run) is not None:
                self._forget(run)
            self._keep(job)
        self.look()
        return job

    def of(self, run: str) -> PageJob | None:
        """The job of a run, if this page began it."""
        with self._lock:
            return next((job for job in self._jobs.values() if job.run == run), None)

    def all(self) -> list[PageJob]:
        with self._lock:
            return sorted(self._jobs.values(), key=lambda job: job.queued)

    def before(self, job: PageJob) -> int:
        """How many wait or run before a waiting job."""
        return sum(not other.is_over and other.queued < job.queued for other in self.all())

    def cancel(self, run: str) -> None:
        """Take a waiting job out of the queue, or ask a running one to stop; what it has drawn is kept."""
        with self._lock:
            job = self.of(run)
            if job is None or job.is_over:
                raise InputError("There is nothing to cancel: this run has ended.")
            if job.state == "waiting":
                self._keep(replace(job, state="cancelled"))
                return
            if not job.cancelled:
                self._keep(replace(job, cancelled=time.time()))
                end(job.pid, job.began, SIGNALS[0])

    def again(self, run: str) -> None:
        """The same command once more: what is drawn already is not drawn again."""
        with self._lock:
            job = self.of(run)
            if job is None or not job.is_over:
                raise InputError("There is no ended job of this page to continue.")
            self._keep(
                replace(job, state="waiting", queued=time.time(), pid=0, began="", exit_code=None, cancelled=0.0)
            )
        self.look()

    def forget(self, run: str) -> PageJob | None:
        """When a run is deleted."""
        with self._lock:
            job = self.of(run)
            if job is not None and not job.is_over:
                raise InputError("This run is not over. Cancel it first.")
            self._forget(run)
            return job

    def said(self, job: PageJob) -> str:
        """What the command line said at last, in its own words."""
        content = read_bytes(self.folder, f"{job.id}.log", 1 << 22) or b""
        return content[-4000:].decode("utf-8", errors="replace").strip()

    def progress(self, run: Path) -> RunProgress | None:
        """What the run itself says about how far it is."""
        try:
            return read_progress(run) if plain_file(run, PROGRESS) else None
        except RunError:
            return None

    def look(self) -> None:
        """See who has ended, and begin what there is room for."""
        with self._lock:
            for job in self.all():
                if job.state in ("running", "starting"):
                    self._look_at(job)
            room = self.settings.at_once - sum(job.state == "running" for job in self.all())
            for job in self.all():
                if job.state == "waiting" and room > 0:
                    self._begin(job)
                    room -= 1

    def _watch(self) -> None:
        while not self._stop.wait(PAUSE):
            try:
                self.look()
            except Exception:  # noqa: BLE001 - a full disk, or a defect: without this thread nothing would begin or end
                continue

    def _begin(self, job: PageJob) -> None:
        run = self.settings.runs / job.run
        if not self._is_ours(job):
            self._keep(replace(job, state="failed"))
            return
        self._keep(replace(job, state="starting"))
        words = [*UNMASK, job.verb, *job.words, f"--out={run}"]
        try:
            make_folder(run)
            log = self.folder / f"{job.id}.log"
            child = start(words, self.settings.runs, log, environment(self.settings.upload_limit))
        except OSError:
            self._keep(replace(job, state="failed"))
            return
        self._children[job.id] = child
        self._keep(replace(job, state="running", pid=child.pid, began=started_at(child.pid)))

    def _is_ours(self, job: PageJob) -> bool:
        """Whether a form of this page could have asked for it: files that may be named, and no code that was not trusted."""
        form = verb_forms().get(job.verb)
        if form is None or not NAME.match(job.run.replace("/", "-").lower()):
            return False
        return all(self._is_word(form, word) for word in job.words)

    def _is_word(self, form: VerbForm, word: str) -> bool:
        """Whether a form writes such a word: a flag of its own, or a file that may be named, by its whole path."""
        if word == "--trust":
            return self.settings.trust and form.takes_trust
        if word in {option for _, option, _ in form.flags}:
            return True
        option, _, path = word.partition("=") if word.startswith("-") else ("", "", word)
        if option == "--time-budget":
            return bool(form.time_budget) and BUDGET.match(path) is not None
        known = option in {"", "--plan", "--schema", *(each.option for each in form.files)}
        return known and os.path.isabs(path) and is_allowed(self.settings, Path(path))

    def _look_at(self, job: PageJob) -> None:
        child = self._children.get(job.id)
        code = child.poll() if child is not None else None
        if code is None and is_same(job.pid, job.began):
            self._press(job)
            return
        self._children.pop(job.id, None)
        run = self.settings.runs / job.run
        if child is None:  # of an earlier server: the run itself says how it ended
            told = self.progress(run)
            code = told.exit_code if told is not None and told.pid == job.pid else None
        done = code in FINISHED or (code is None and job.pid and _is_newer(run / "result.json", job.queued))
        state = "finished" if done else "cancelled" if job.cancelled or code == 3 else "failed"
        self._keep(replace(job, state=state, exit_code=code))

    def _press(self, job: PageJob) -> None:
        """A cancelled job that does not listen is asked again, and more clearly."""
        if not job.cancelled:
            return
        late = int((time.time() - job.cancelled) / GRACE)
        if late:
            end(job.pid, job.began, SIGNALS[min(late, len(SIGNALS) - 1)])

    def _keep(self, job: PageJob) -> None:
        self._jobs[job.id] = job
        write_atomically(self.folder / f"{job.id}.json", json.dumps(vars(job)) + "\n", private=True)

    def _forget(self, run: str) -> None:
        for job in [job for job in self._jobs.values() if job.run == run]:
            del self._jobs[job.id]
            for path in (self.folder / f"{job.id}.json", self.folder / f"{job.id}.log"):
                path.unlink(missing_ok=True)


def _is_newer(path: Path, moment: float) -> bool:
    return plain_file(path.parent, path.name) is not None and os.stat(path).st_mtime >= moment


def _read(path: Path) -> PageJob | None:
    try:
        plain = parse_json(read_text(path), path.name)
        job = PageJob(**{**plain, "words": tuple(plain["words"])})
    except (OSError, UnmaskError, KeyError, TypeError):
        return None
    return job if job.id == path.stem and _is_sound(job) else None


def _is_sound(job: PageJob) -> bool:
    """Whether every part is what we would have written."""
    texts = (job.id, job.run, job.verb, job.state, job.began, job.draft, *job.words)
    if not all(isinstance(text, str) for text in texts) or not ID.fullmatch(job.id) or job.state not in STATES:
        return False
    whole = (job.pid, 0 if job.exit_code is None else job.exit_code)
    numbers = (job.queued, job.cancelled, *whole)
    if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in numbers):
        return False
    sound = all(isinstance(each, int) for each in whole) and all(abs(each) < LATEST for each in numbers)
    return sound and job.pid >= 0
