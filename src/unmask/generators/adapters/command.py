"""Any program, in any language and any interpreter, as `command: ./synth {train} {rows} {out} {seed}`."""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from unmask.errors import GeneratorError, ParameterError
from unmask.files import HERE, is_running
from unmask.generators._generator import check_fits, check_positive
from unmask.generators.adapters import _guard
from unmask.generators.adapters._frames import empty, seed_from, table_from, without_persons
from unmask.generators.claim import Claim
from unmask.tables.read import write_csv
from unmask.tables.schema import Schema, quoted
from unmask.tables.table import Table

PLACEHOLDERS = ("train", "rows", "out", "seed")
NEEDED = ("train", "out")
PLACEHOLDER = re.compile(r"\{(\w*)\}")
SHELL_SIGNS = ("|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "2>&1")
TAIL = 2000  # characters of standard error that an error message shows


@dataclass(frozen=True)
class Command:
    """Run a program that reads the training CSV {train} and writes {rows} rows of CSV to {out}, seeded by {seed}.

    A program fits and samples at once, so all the work is done when sampling, and every sample is a new fit. It runs
    without a shell, in the current directory, in a process group of its own that is ended at the time limit, and when we are.
    """

    name: ClassVar[str] = "command"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None

    command: str
    timeout: float = 600  # seconds

    def __post_init__(self) -> None:
        check_positive("timeout", self.timeout, "command")
        words = _words(self.command)
        found = [name for word in words for name in PLACEHOLDER.findall(word)]
        if unknown := [f"{{{name}}}" for name in found if name not in PLACEHOLDERS]:
            known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise ParameterError(f"command: there is no placeholder {quoted(unknown)}. There are: {known}.")
        if absent := [f"{{{name}}}" for name in NEEDED if name not in found]:
            raise ParameterError(
                f"command: {' and '.join(absent)} does not occur in '{self.command}'.\n"
                "Write it as in: command: ./synth {train} {rows} {out} {seed}"
            )
        if signs := [word for word in words if word in SHELL_SIGNS]:
            raise ParameterError(
                f"command: {quoted(signs)} needs a shell, and none is used. Put the steps into a script and name that."
            )

    def fit(self, table: Table, rng: np.random.Generator | None) -> CommandModel:
        """Keep the table; the program sees it when rows are asked for."""
        check_fits(table, self.name)
        return CommandModel(self, table.schema, without_persons(table))


@dataclass(frozen=True, eq=False)
class CommandModel:
    """A program and the table to train it on."""

    generator: Command
    schema: Schema
    table: Table
    claim: ClassVar[Claim | None] = None

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        if rows == 0:
            return empty(self.schema)
        _sweep(Path(tempfile.gettempdir()))
        with tempfile.TemporaryDirectory(prefix=f"unmask-{HERE}-{os.getpid()}-") as folder:
            train, out = Path(folder, "train.csv"), Path(folder, "out.csv")
            write_csv(self.table, train)
            values = {"train": train, "rows": rows, "out": out, "seed": seed_from(rng)}
            words = [
                PLACEHOLDER.sub(lambda match: str(values[match[1]]), word) for word in _words(self.generator.command)
            ]
            complaint = _run(words, Path(folder), self.generator.timeout)
            who = f"command '{words[0]}'"
            if not out.is_file():
                raise GeneratorError(f"{who} ended well but wrote no file {{out}}.{complaint}")
            return table_from(out, self.schema, rows, who)


def _words(command: str) -> list[str]:
    """The program and its arguments, taken apart as a shell would, but with no other meaning."""
    try:
        words = _split(command) if isinstance(command, str) else []
    except ValueError as problem:
        raise ParameterError(f"command: '{command}' cannot be taken apart: {problem}.") from None
    if not words:
        raise ParameterError("command: there is none. Write it as in: command: ./synth {train} {rows} {out} {seed}")
    return words


def _split(command: str) -> list[str]:
    """Words as a shell would see them; on Windows a backslash is part of a path, and quotes are all that binds words."""
    if os.name != "nt":
        return shlex.split(command)
    return [re.sub(r"""^(["'])(.*)\1$""", r"\2", word) for word in shlex.split(command, posix=False)]


def _run(words: list[str], folder: Path, timeout: float) -> str:
    """Run a program to its end, or to the time limit; returns the end of its standard error, for messages.

    Its output goes to files, not pipes: a pipe that a grandchild keeps open would block us past the limit.
    """
    who, log = f"command '{words[0]}'", folder / "stderr"
    limit = None if timeout == float("inf") else timeout
    try:
        code = _guarded(words, folder, limit) if os.name == "posix" else _alone(words, folder, limit)
    except subprocess.TimeoutExpired:
        raise GeneratorError(
            f"{who} was ended after {timeout:g} seconds. Raise timeout if it needs longer.{_tail(log)}"
        ) from None
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise GeneratorError(f"{who} cannot be started: {why}. Is the path right and executable?") from None
    if code:
        how = f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
        raise GeneratorError(f"{who} {how}.{_tail(log)}")
    return _tail(log)


def _guarded(words: list[str], folder: Path, limit: float | None) -> int:
    """The exit code of a program that does not outlive us, even if we are killed: see `_guard`."""
    asked = [sys.executable, "-I", "-S", _guard.__file__, str(folder), *words]
    guard = subprocess.Popen(asked, stdin=subprocess.PIPE, **_apart())
    try:
        guard.wait(limit)
    finally:
        with suppress(OSError):  # gone, as it should be
            guard.stdin.write(b".")  # type: ignore[union-attr]
            guard.stdin.flush()  # type: ignore[union-attr]
        guard.wait()
        with suppress(OSError):
            guard.stdin.close()  # type: ignore[union-attr]
    told = (folder / _guard.ENDED).read_text(encoding="utf-8") if (folder / _guard.ENDED).exists() else ""
    if told.removeprefix("-").isdecimal():
        return int(told)
    if guard.returncode:  # killed, together with the program
        return guard.returncode
    raise ValueError(told)


def _alone(words: list[str], folder: Path, limit: float | None) -> int:
    """The same on Windows, where a program that we started outlives us if we are killed."""
    with open(folder / "stderr", "wb") as errors, open(folder / "stdout", "wb") as output:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, **_apart())
        try:
            return process.wait(limit)
        finally:
            _end_tree(process)


def _apart() -> dict[str, Any]:
    """What starts a program apart from us: what interrupts us, does not interrupt it."""
    if os.name == "nt":
        return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    return {"start_new_session": True}


def _end_tree(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it started, on Windows."""
    if process.poll() is None:
        with suppress(OSError, subprocess.TimeoutExpired):
            tree = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
            subprocess.run(tree, capture_output=True, timeout=20, check=False)
        with suppress(OSError):
            process.kill()
    process.wait()


@functools.cache
def _sweep(place: Path) -> None:
    """Remove what processes that were killed together with their guards left there: it holds real rows. Once is enough."""
    for path in place.glob(f"unmask-{HERE}-*"):
        owner = path.name.split("-")[2]
        if owner.isdigit() and not is_running(int(owner)):
            shutil.rmtree(path, ignore_errors=True)


def _tail(log: Path) -> str:
    text = log.read_bytes()[-TAIL:].decode("utf-8", errors="replace").strip() if log.exists() else ""
    return f"\nIts standard error ends with:\n{text}" if text else "\nIt wrote nothing to standard error."
