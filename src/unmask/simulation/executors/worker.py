"""A worker process: takes a setting once, then tasks, over a pipe of its own. Nothing is shared with other workers.

Frames are a length and a pickle. Tasks come by the standard input, outcomes go by the standard output; what a generator prints
goes to the standard error, so that it ends up in nobody's numbers.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import sys
import threading
import time
from contextlib import suppress
from typing import Any, BinaryIO

SAFE_PATH = "PYTHONSAFEPATH"  # Python starts without the current directory on its path: data lie there, not code

MODULES = "UNMASK_WORKER_PATH"  # where the parent finds modules, as JSON
KEEP_SAFE = "UNMASK_WORKER_SAFE"  # set if the user asked for a safe path
# What the interpreter is told to do: find modules where the parent does, then begin.
BEGIN = (
    f"import json, os, sys; sys.path[:] = json.loads(os.environ.pop('{MODULES}')); "
    "from unmask.simulation.executors.worker import main; main()"
)

_LENGTH = struct.Struct("<Q")


def send(stream: BinaryIO, content: bytes) -> None:
    """Write a frame."""
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def receive(stream: BinaryIO) -> bytes | None:
    """Read a frame; None if the other end is gone, also in the middle of one."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    content = stream.read(length)
    return content if len(content) == length else None


def main() -> None:
    """Work until the parent is gone or has nothing more."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)  # programs that a generator starts read no tasks of ours
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # workers are killed, and what waits would be lost
    if not os.environ.pop(KEEP_SAFE, ""):
        os.environ.pop(SAFE_PATH, None)  # those programs have their own ways
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    frames: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(source, frames), daemon=True).start()
    try:
        setting = pickle.loads(frames.get())
    except BaseException as problem:  # noqa: BLE001 - whatever it is, the parent must hear of it
        send(target, pickle.dumps((None, 0.0, f"{type(problem).__name__}: {problem}")))
        return
    while True:
        task = pickle.loads(frames.get())
        with suppress(BrokenPipeError):  # the parent is gone; `_listen` knows
            send(target, played(setting, task))


def played(setting: Any, task: Any) -> bytes:
    """What came of a task, and how long it took."""
    from unmask.simulation.executors import attempt

    began = time.monotonic()
    outcome = attempt(setting, task, interrupts=True)
    return pickle.dumps((task, time.monotonic() - began, outcome), protocol=pickle.HIGHEST_PROTOCOL)


def _listen(source: BinaryIO, frames: queue.Queue[bytes]) -> None:
    """Hand on what comes. When the parent is gone, killed perhaps, this worker must not outlive it, whatever it is doing."""
    while (frame := receive(source)) is not None:
        frames.put(frame)
    os._exit(0)
