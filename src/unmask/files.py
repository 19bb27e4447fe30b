"""Files that are either old or new, never half."""

from __future__ import annotations

import os
from pathlib import Path

from unmask.errors import RunError


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
