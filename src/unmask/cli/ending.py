"""How a command ends that did not go through: what is told, and the exit code. One place for the terminal and progress.json."""

from __future__ import annotations

import errno
import signal
from dataclasses import dataclass
from types import FrameType

import click

from unmask.errors import UnmaskError
from unmask.results.progress import RunState

NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF, getattr(errno, "EDQUOT", errno.ENOSPC))


class Cancelled(KeyboardInterrupt):
    """Somebody asked the process to end (SIGTERM): what is done stays, as with Ctrl-C."""


def end_when_asked() -> None:
    """Have SIGTERM end this process in good order; asked twice, it ends at once."""
    signal.signal(signal.SIGTERM, _cancel)


def _cancel(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Cancelled


@dataclass(frozen=True)
class Ending:
    """What people are told, and what the shell is."""

    message: str
    code: int
    state: RunState = RunState.FAILED


def ending(problem: BaseException) -> Ending:
    """What a problem comes to: a sentence, never a traceback."""
    if isinstance(problem, click.exceptions.Exit):
        return Ending("", problem.exit_code, RunState.FINISHED)
    if isinstance(problem, click.ClickException):
        return Ending(problem.format_message(), problem.exit_code)
    if isinstance(problem, UnmaskError):
        return Ending(str(problem), 2)
    if isinstance(problem, KeyboardInterrupt | click.Abort):
        state = RunState.CANCELLED if isinstance(problem, Cancelled) else RunState.INTERRUPTED
        return Ending("Interrupted. With --out the same command continues where it stopped.", 3, state)
    if isinstance(problem, BrokenPipeError):  # nobody reads the output any more
        return Ending("", 0, RunState.FINISHED)
    if isinstance(problem, MemoryError):
        return Ending("Out of memory. Use fewer rows, or a machine with more memory.", 2)
    if isinstance(problem, OSError) and problem.errno in NO_ROOM:
        return Ending(f"Nothing more can be written: {problem.strerror}.", 2)
    what = f"{type(problem).__name__}: {str(problem)[:2000]}"
    return Ending(f"This is a defect of unmask: {what}\nRun again with UNMASK_DEBUG=1 and report what it prints.", 70)
