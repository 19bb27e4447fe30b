"""Peak memory of a command with all its processes: resident sets of the tree, added up, ten times a second (Linux)."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

PAUSE = 0.1  # seconds between two looks
PAGE = 4096


def peak_gigabytes(command: Sequence[str], *, seconds: float) -> float:
    """Run the command to its end; a command that takes longer than that is ended, and an error."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak, end = 0, time.monotonic() + seconds
    try:
        while process.poll() is None:
            peak = max(peak, sum(_resident(each) for each in _tree(process.pid)))
            if time.monotonic() > end:
                raise TimeoutError(f"{command[0]} takes longer than {seconds:.0f} s.")
            time.sleep(PAUSE)
    finally:
        process.kill()
        process.wait()
    return peak / 1e9


def _tree(process: int) -> list[int]:
    """A process and its descendants; those that end meanwhile are left out."""
    found = [process]
    try:
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += _tree(int(child))
    except OSError:
        pass
    return found


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0
