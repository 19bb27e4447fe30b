"""The folder that is kept for this user from run to run: where it lies, whose it is, and for which version of everything.

Compiled loops and templates of the report are in it, and loading them runs what they hold. It is `unmask/loops` below the
system's place for caches (or below NUMBA_CACHE_DIR); one that others own or can write is not used. Each version of the sources,
of numba and of Python has a folder of its own there: code of another version is never looked at.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from unmask.files import OWNER_FOLDER, shown

KEPT_VERSIONS = 6  # folders of versions; what was not used for longest goes first
_NAME = re.compile(r"[^/\\]*-numba[^/\\]*-py\d+-[0-9a-f]{16}")


@cache
def kept_folder() -> tuple[Path | None, str]:
    """The folder for this version of everything, made if need be; or None, and why there is none."""
    root, mine = _root()
    if root is None:
        return None, "there is no folder for caches"
    folder = root / _version()
    try:
        if mine and not root.parent.exists() and not _is_ours(_first_there(root.parent).stat()):
            return None, f"{shown(root.parent)} would lie in a folder of somebody else"  # sudo with the home of another
        for each in (root, folder) if mine else (folder,):
            each.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                each.mkdir(mode=OWNER_FOLDER)
            if not _is_safe(os.lstat(each)):
                return None, f"{shown(each)} is not a folder of yours alone"
        os.utime(folder)
    except OSError as problem:
        readable = os.path.isdir(folder)
        return (folder, "") if readable else (None, f"{shown(root)} cannot be made ({problem.strerror})")
    if not os.access(folder, os.W_OK):
        return folder, ""
    _forget_oldest(root)
    return folder, ""


def _root() -> tuple[Path | None, bool]:
    """Where folders of versions lie, and whether this is our own choice."""
    if named := os.environ.get("NUMBA_CACHE_DIR", ""):
        return Path(named).absolute(), False
    with suppress(RuntimeError):  # no home
        if sys.platform == "win32":
            caches = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            caches = Path.home() / "Library" / "Caches"
        else:
            asked = os.environ.get("XDG_CACHE_HOME", "")
            caches = Path(asked) if os.path.isabs(asked) else Path.home() / ".cache"
        return caches / "unmask" / "loops", True
    return None, True


def _first_there(path: Path) -> Path:
    return next(each for each in (path, *path.parents) if each.exists())


def _is_ours(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def _is_safe(found: os.stat_result) -> bool:
    """A folder, no link, that only its owner can write: this user, or the system's, who installs programs anyway."""
    if not hasattr(os, "geteuid"):
        return stat.S_ISDIR(found.st_mode)  # Windows: below the profile, whose rights it has
    ours = found.st_uid in (os.geteuid(), 0)
    return stat.S_ISDIR(found.st_mode) and ours and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _version() -> str:
    """Names this version: all files with loops by their content, numba, Python."""
    from unmask.versions import version_of

    digest = hashlib.sha256()
    package = Path(__file__).parent
    for name in _sources(str(package)):
        with open(name, "rb", buffering=0) as file:
            content = file.read()
        if b"unmask.compiled import" in content:
            digest.update(os.path.relpath(name, package).encode() + b"\0" + content)
    digest.update((package / "compiled.py").read_bytes())
    python = f"py{sys.version_info[0]}{sys.version_info[1]}"
    return f"{version_of('unmask')}-numba{version_of('numba')}-{python}-{digest.hexdigest()[:16]}"


def _sources(folder: str) -> list[str]:
    """All Python files below a folder, in order."""
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [os.path.join(place, name) for name in files if name.endswith(".py")]
    return sorted(found)


def _forget_oldest(root: Path) -> None:
    """Remove the folders of versions that were not used for longest."""
    with suppress(OSError):
        found = [each for each in os.scandir(root) if _NAME.fullmatch(each.name) and each.is_dir(follow_symlinks=False)]
        for old in sorted(found, key=lambda each: each.stat().st_mtime, reverse=True)[KEPT_VERSIONS:]:
            shutil.rmtree(old.path, ignore_errors=True)
