"""CPU time of a call beside a reference kernel of the same run: ratios travel between machines, seconds do not."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np


def cpu_seconds(call: Callable[[], object], *, repeat: int = 5) -> float:
    """Least CPU time (user + system, all threads) of `repeat` calls, after one warm-up call."""
    call()
    times = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def child_seconds(words: list[str], bytecode: Path, **environment: str) -> float:
    """CPU seconds of Python with these words, user and system; an audit may end with 1, since it may find something.

    As where unmask is installed, Python keeps what it makes of sources, here in a folder: the first run fills it.
    """
    left_out = ("NUMBA_CACHE_DIR", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        [sys.executable, *words], env=kept | {"PYTHONPYCACHEPREFIX": str(bytecode)} | environment, check=False
    )
    if ended.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(words)}: exit code {ended.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@cache
def reference_seconds() -> float:
    """CPU time of a fixed numpy job (a sort of two million floats): the yardstick of this machine, now."""
    values = np.random.default_rng(0).random(2_000_000)
    return cpu_seconds(lambda: np.sort(values), repeat=5)


def line(what: str, seconds: float, *, bar: str = "", against: str = "") -> None:
    """Print one result: the time in units of the reference kernel, the bar it must meet, the ratio to a peer."""
    ratio = seconds / reference_seconds()
    print(f"  {what:<58} {ratio:9.3f} x reference   {bar:<34} {against}")
