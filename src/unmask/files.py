"""Files that are either old or new, never half."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unmask.errors import InputError, RunError


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader, or a crash, sees either the old content or the new."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_bytes(content if isinstance(content, bytes) else content.encode())
        scratch.replace(path)
    except OSError as problem:
        raise RunError(f"{path}: cannot be written ({problem.strerror}). Choose another place.") from None
    finally:
        if scratch.exists():
            scratch.unlink()


def read_toml(path: Path, known: Sequence[str] | None = None, *, absent: str = "") -> dict[str, Any]:
    """The fields of a TOML file; an unknown one is an error that lists the known. `absent` is said if there is no such file."""
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file. {absent}".rstrip()) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: cannot be read ({problem}).") from None
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{path}: not valid TOML: {problem}.") from None
    if known is not None and (unknown := [name for name in plain if name not in known]):
        raise InputError(f"{path}: unknown field {', '.join(unknown)}. Known: {', '.join(sorted(known))}.")
    return plain
