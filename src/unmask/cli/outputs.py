"""What a verb writes: never over what it reads, and over a file of another kind only with --force."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from unmask.errors import ParameterError
from unmask.files import is_stream

FIRST = 65_536  # bytes that tell what a file is
RUN_FILES = (
    "result.json",
    "records.csv",
    "run.json",
    "report.html",
    "summary.md",
)  # what an audit writes into its directory
PROGRESS = "progress.json"  # written from the beginning on: one without a result is that of a run which was interrupted
DELIMITERS = (",", ";", "\t", "|")

KINDS = {  # kind: what people call it
    "table": "a table",
    "schema": "a schema of unmask",
    "page": "a page (HTML)",
    "plan": "a plan of unmask",
    "junit": "a JUnit file",
    "scores": "a file of scores (.npz)",
    "pdf": "a PDF",
}


class OutputFile(click.Path):
    """A file to write, and what kind of file it is."""

    def __init__(self, kind: str) -> None:
        super().__init__(path_type=Path)
        self.kind = kind


class RunFolder(click.Path):
    """A directory that an audit writes its files into."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)


def force() -> click.Option:
    return click.Option(
        ["--force"], is_flag=True, help="Replace existing files of another kind. Inputs are never replaced."
    )


def writes(parameters: Iterable[click.Parameter]) -> bool:
    """Whether a verb with these parameters writes files."""
    return any(isinstance(each.type, OutputFile | RunFolder) for each in parameters)


def guarded(run: Callable[..., Any]) -> Callable[..., Any]:
    """The same verb, which looks at its outputs before it does anything."""

    @wraps(run)
    def checked(*arguments: Any, force: bool = False, **given: Any) -> Any:
        context = click.get_current_context()
        taken: dict[str, str] = {}
        for parameter in context.command.params:
            path = given.get(parameter.name or "")
            if isinstance(path, Path) and isinstance(parameter.type, OutputFile):
                option = parameter.opts[-1]
                if (other := taken.setdefault(os.path.realpath(path), option)) != option:
                    raise ParameterError(f"{path}: {other} and {option} name the same file. Name two.")
                check_output(path, parameter.type.kind, force=force)
            elif isinstance(path, Path) and isinstance(parameter.type, RunFolder):
                _check_folder(path, force=force)
        return run(*arguments, **given)

    return checked


def check_output(path: Path, kind: str, *, force: bool | None = None) -> None:
    """Refuse to write over an input of the verb that is running, or, without --force, over a file of another kind."""
    context = click.get_current_context()
    _not_an_input(path)
    if force is None:
        force = bool(context.params.get("force"))
    if not force and os.path.isfile(path) and not is_stream(path) and not _is(path, kind):
        raise ParameterError(
            f"{path}: there is a file of this name, and it is not {KINDS[kind]}. Name another, or replace it with --force."
        )


def _check_folder(folder: Path, *, force: bool) -> None:
    """A run directory: not the place of an input, and no folder with files of the same names that no audit wrote."""
    for name in (*RUN_FILES, PROGRESS):
        _not_an_input(folder / name)
    if force or os.path.exists(folder / RUN_FILES[0]):
        return  # whose result it is, is asked later
    others = [name for name in RUN_FILES if os.path.lexists(folder / name)]
    if os.path.lexists(folder / PROGRESS) and not _is(folder / PROGRESS, "progress"):
        others += [] if os.path.isdir(folder / "draws") else [PROGRESS]
    if others:
        raise ParameterError(
            f"{folder}: holds {', '.join(others)}, but no result of unmask. Choose another --out, or replace them with --force."
        )


def _not_an_input(path: Path) -> None:
    for given in _inputs(click.get_current_context()):
        if os.path.exists(path) and os.path.exists(given) and os.path.samefile(path, given) and not _is_device(path):
            raise ParameterError(f"{path}: this is what is read ({given}). Name another file to write.")


def _inputs(context: click.Context) -> list[Path]:
    """Files that the running verb reads: its arguments and options that are paths, and the results in its directories."""
    found: list[Path] = []
    for parameter in context.command.params:
        if isinstance(parameter.type, OutputFile | RunFolder):
            continue
        value = context.params.get(parameter.name or "")
        items = value if isinstance(value, tuple) else (value,)
        if isinstance(parameter.type, click.Path):
            found += [item for item in items if isinstance(item, Path)]
        elif parameter.name == "policy":
            found += [Path(item) for item in items if isinstance(item, str)]
    return [*found, *(place / name for place in found if os.path.isdir(place) for name in RUN_FILES[:3])]


def _is_device(path: Path) -> bool:
    return not os.path.isfile(path) and not os.path.isdir(path)


def _is(path: Path, kind: str) -> bool:
    """Whether a file looks like one of this kind; an empty one is of every kind."""
    try:
        with open(path, "rb") as handle:
            start = handle.read(FIRST)
    except OSError:
        return True  # whether it can be written is asked by those who write it
    if not start:
        return True
    if kind == "table":
        return start[:2] == b"\x1f\x8b" if path.suffix.lower() == ".gz" else _is_table(path, start)
    begins = {
        "schema": start.lstrip()[:1] == b"{" and b'"unmask_schema"' in start,
        "page": start.lstrip()[:14].lower() == b"<!doctype html",
        "plan": start.startswith(b"# A plan for: unmask"),
        "junit": start.startswith(b"<?xml") and b"<testsuite" in start,
        "scores": start.startswith(b"PK\x03\x04"),
        "pdf": start.startswith(b"%PDF"),
        "progress": start.startswith(b"{") and b'"eta_seconds"' in start,
    }
    return begins[kind]


def _is_table(path: Path, start: bytes) -> bool:
    """Text under the name of a table, or whose first lines are cut into equally many fields."""
    if b"\0" in start or start.lstrip()[:1] in (b"{", b"[", b"<"):
        return False
    if path.suffix.lower() in (".csv", ".tsv"):
        return True
    lines = start.decode("utf-8", errors="replace").splitlines()[:20]
    widths = [{line.count(each) for line in lines if line} for each in DELIMITERS]
    return any(len(found) == 1 and min(found) > 0 for found in widths)
