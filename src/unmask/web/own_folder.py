"""The server's own folder is known again by a mark that only this user can make, for this place alone.

An archive that is unpacked over RUNS may bring such a folder along, with a queue, sessions, or links in it: it has no mark, or
one of another place, and is not used.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import shutil
import stat
from pathlib import Path

from unmask.errors import ParameterError, UnmaskError
from unmask.files import OWNER_FOLDER, make_folder, set_rights, shown, write_atomically

OWNER = "owner"  # the mark
KEY = "page.key"
BYTES = 32
FOLDERS = ("uploads", "drafts", "jobs", "comparisons", "tokens")


def prepare_own(own: Path) -> None:
    """Make the folder and those in it, or see that they are ours. They are for their owner alone."""
    if not os.path.lexists(own):
        _make(own)
    _check_mine(own)
    if not hmac.compare_digest(_kept(own / OWNER), _mark(own, own)):
        raise ParameterError(
            f"{shown(own)}: this folder comes from elsewhere, or was moved. Remove it (uploads and the queue in it are lost, "
            "runs are not), or choose other RUNS."
        )
    for folder in (own / name for name in FOLDERS):
        if os.path.lexists(folder):
            _check_mine(folder)
        make_folder(folder)
        set_rights(folder, OWNER_FOLDER)
    set_rights(own, OWNER_FOLDER)


def _make(own: Path) -> None:
    """The mark is in the folder before the folder has its name: another server never sees one without."""
    scratch = own.with_name(f"{own.name}-{secrets.token_hex(8)}")
    make_folder(scratch)
    try:
        write_atomically(scratch / OWNER, _mark(scratch, own), private=True)
        scratch.rename(own)
    except OSError:  # another server was first, or the check that follows says what is wrong
        pass
    finally:
        shutil.rmtree(scratch, ignore_errors=True)  # nothing is left of it if it has its name now


def _check_mine(folder: Path) -> None:
    try:
        found = os.lstat(folder)
    except OSError as problem:
        raise ParameterError(f"{shown(folder)}: cannot be made ({problem.strerror}). Choose other RUNS.") from None
    mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    if not stat.S_ISDIR(found.st_mode) or not mine:
        raise ParameterError(f"{shown(folder)}: not a folder of yours. Remove it, or choose other RUNS.")


def _mark(folder: Path, place: Path) -> bytes:
    """What a folder holds that we made for this place."""
    found = os.lstat(folder)
    told = f"{os.path.realpath(place)}:{found.st_ino}"
    return hmac.new(_key(), os.fsencode(told), hashlib.sha256).hexdigest().encode()


def _kept(path: Path) -> bytes:
    """The content of a small regular file; nothing if it is anything else."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return b""
        with open(path, "rb") as file:
            return file.read(1000)
    except OSError:
        return b""


def _key() -> bytes:
    """A secret of this user, below no RUNS. Without a home it is empty: then the place alone makes the mark."""
    try:
        path = _state() / "unmask" / KEY
        if len(kept := _kept(path)) == BYTES:
            return kept
        make_folder(path.parent)
        write_atomically(path, secrets.token_bytes(BYTES), private=True)
    except (OSError, RuntimeError, UnmaskError):
        return b""
    kept = _kept(path)  # as it is now: another server may have written it too
    return kept if len(kept) == BYTES else b""


def _state() -> Path:
    told = os.environ.get("XDG_STATE_HOME", "")
    return Path(told) if os.path.isabs(told) else Path.home() / ".local" / "state"
