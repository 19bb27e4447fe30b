"""Processes of the command line: started apart from the server, known again, and ended only if they are the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from unmask.errors import RunError

UNMASK = (sys.executable, "-P", "-m", "unmask")  # -P: a folder called unmask below RUNS is no code
LONGEST = 64_000_000  # characters of an answer


def environment(expanded: int) -> dict[str, str]:
    """Of a child: nothing that compresses to little may fill the memory, unless the user raised the limit."""
    kept = {name: value for name, value in os.environ.items() if name != "UNMASK_DEBUG"}
    return {"UNMASK_MAX_EXPANDED": str(expanded)} | kept


def started_at(process: int) -> str:
    """When a process began, in words that no other process of its number has; empty if there is none, or it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return "" if os.path.isdir("/proc/self") else _asked(process)
    return "" if fields[0] in ("Z", "X") else f"{boot}:{fields[19]}"


def _asked(process: int) -> str:
    """The same where there is no /proc."""
    try:
        done = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(process)], capture_output=True, encoding="utf-8", timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def is_same(process: int, began: str) -> bool:
    """Whether the process that began then is still there."""
    return bool(began) and process > 1 and started_at(process) == began


def end(process: int, began: str, how: signal.Signals) -> bool:
    """Send a signal to a process, if it is the one that began then."""
    if not is_same(process, began):
        return False
    try:
        os.kill(process, how)
    except OSError:
        return False
    return True


def start(words: Sequence[str], folder: Path, log: Path, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """A process in a session of its own: it outlives the server, and what it says goes to a file for its owner alone."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        return subprocess.Popen(
            words,
            cwd=folder,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=handle,
            start_new_session=True,
        )
    finally:
        os.close(handle)


def answer(
    words: Sequence[str], *, folder: Path, variables: Mapping[str, str], seconds: float, given: str = ""
) -> tuple[int, str, str]:
    """Exit code, output and messages of a short command."""
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env=dict(variables),
            input=given,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"There was no answer within {seconds:g} seconds. Are the files very large?") from None
    except OSError as problem:
        raise RunError(f"The command line could not be started ({problem.strerror}).") from None
    if len(done.stdout) > LONGEST:
        raise RunError("There is more to show than a page holds.")
    return done.returncode, done.stdout, done.stderr.strip()
