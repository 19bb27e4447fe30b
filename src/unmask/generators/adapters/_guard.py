"""Runs a program, and ends it with all that it started when whoever asked for it is gone, killed perhaps.

    python -I -S _guard.py FOLDER PROGRAM ARGUMENTS ...

It is a process of its own, since one that is killed ends nobody. It needs the standard library alone and starts at once. The
other end of its input is held by the asker: a word there ends the program; silence, once the asker is gone, removes the folder
too, which holds real rows. What became of the program is left in the file `ended`: its exit code, or why it did not start.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress

ENDED = "ended"


def main(folder: str, words: list[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the asker decides what an interrupt means
    try:
        with open(os.path.join(folder, "stdout"), "wb") as output, open(os.path.join(folder, "stderr"), "wb") as errors:
            program = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, process_group=0
            )  # fmt: skip
    except (OSError, ValueError) as problem:
        _tell(folder, str(getattr(problem, "strerror", None) or problem))
        return
    signal.signal(signal.SIGTERM, lambda *_: _end(program))  # then it has ended, and so do we
    alone = threading.Event()
    listener = threading.Thread(target=_listen, args=(program, folder, alone), daemon=True)
    listener.start()
    code = program.wait()
    _end(program)  # what it left running behind it
    if alone.is_set():
        listener.join()
    _tell(folder, str(code))


def _listen(program: subprocess.Popen[bytes], folder: str, alone: threading.Event) -> None:
    if sys.stdin.buffer.read(1):
        _end(program)
    else:
        alone.set()
        _end(program)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)


def _end(program: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):  # this runs nowhere else
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(program.pid, signal.SIGKILL)  # it leads its own group, whose number is its own


def _tell(folder: str, text: str) -> None:
    with suppress(OSError), open(os.path.join(folder, ENDED), "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
