"""The draws of a run directory: kept, continued, and never mixed with those of another plan."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from unmask.errors import InputError, RunError
from unmask.files import (
    digest_of_file,
    is_for_group,
    make_folder,
    parse_json,
    read_text,
    shown,
    sweep,
    write_atomically,
)
from unmask.registry import files_named
from unmask.simulation.sealed import digest_of
from unmask.simulation.store import FileStore, MemoryStore, Store

DRAWS = "draws"
CODE = "code"  # in plan.json: digests of the files whose classes draw
SEALED = "sealed"  # in plan.json of a directory whose draws all have a seal


def failures_in_words(failures: Sequence[str], what: str = "runs") -> str:
    """How many draws failed, and of what kind; never the messages, which may quote values of a table."""
    kinds = ", ".join(sorted({failure.partition(":")[0] for failure in failures}))
    return (
        f"{len(failures)} {what} failed and are part of no number ({kinds}; with --out the messages are in {DRAWS}/)."
    )


def held_by(directory: Path | None, name: str) -> Any:
    """One field of what a directory of draws says of itself; None if it holds none, or is damaged (`open_draws` says so)."""
    try:
        return (
            None if directory is None else json.loads((directory / "plan.json").read_text(encoding="utf-8")).get(name)
        )
    except (OSError, ValueError, AttributeError, RecursionError):
        return None


def open_draws(
    directory: Path | None,
    identity: Mapping[str, Any],
    defaults: Mapping[str, Any] | None = None,
    damaged: set[str] | None = None,
    *,
    group: bool = False,
) -> Store:
    """A store for the draws that `identity` describes: all that changes a draw, as plain data.

    Without a directory they live in memory. A directory that holds other draws is refused, and the field is named. One of an
    older version may lack a field: then it has the value of `defaults`. `damaged` is told of files that are no draw of this run.
    A new directory may be made for a `group`.
    """
    if directory is None:
        return MemoryStore()
    code = _code_of(identity)
    identity = {**identity, **({CODE: code} if code else {})}
    path = directory / "plan.json"
    if not os.path.exists(path):
        try:
            make_folder(directory, group=group)
        except OSError as problem:
            raise RunError(
                f"{shown(directory)}: no draws can be kept here ({problem.strerror}). Choose another place."
            ) from None
        told = json.dumps({**identity, SEALED: True}, indent=1)
        write_atomically(path, told, private=True, group=is_for_group(directory), first=True, through_links=False)
    try:
        written = parse_json(read_text(path), str(path))
        known = {CODE: code, **(defaults or {}), **written}
    except (InputError, TypeError):
        raise RunError(
            f"{path}: damaged, so it cannot be told which run these draws belong to. Remove {directory}."
        ) from None
    for name, mine in identity.items():
        if name == CODE and known[CODE] != code:
            files = ", ".join(shown(Path(each)) for each in code)
            raise RunError(
                f"{shown(directory)}: this directory holds draws of other code: {files} has changed since.\n"
                "Choose another directory, or remove this one."
            )
        if known.get(name) != mine:
            raise RunError(
                f"{directory}: this directory holds draws of another run: {name} was {known.get(name)!r}, now it is {mine!r}.\n"
                "Choose another directory, or remove this one."
            )
    sweep(directory)
    return FileStore(
        directory,
        digest_of(written),
        unsealed=SEALED not in written,
        group=is_for_group(directory),
        damaged=set() if damaged is None else damaged,
    )


def _code_of(identity: Mapping[str, Any]) -> dict[str, str]:
    """The files of classes that an identity names (`./file.py:Class`), by their content: changed code draws other numbers."""
    paths = sorted({path for value in identity.values() for path in _files_in(value) if os.path.isfile(path)})
    return {path: digest_of_file(Path(path)) for path in paths}


def _files_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from files_named(value)
    elif isinstance(value, Mapping):
        yield from (path for each in value.values() for path in _files_in(each))
    elif isinstance(value, list | tuple):
        yield from (path for each in value for path in _files_in(each))
