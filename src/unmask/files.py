"""Files that are either old or new, never half, and files of strangers that are read without surprises."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import secrets
import stat
import time
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from unmask.errors import InputError, ParameterError, RunError, UnmaskError

OWNER_FILE, OWNER_FOLDER = 0o600, 0o700  # what concerns single people is for its owner's eyes
GROUP_FILE, GROUP_FOLDER = (
    0o660,
    0o2770,
)  # or for those of a group, where the owner said so; files made there are the group's
CLOCKS_DIFFER = 60.0  # seconds by which a clock may have been set since a machine was started
A_DAY = 86_400.0  # seconds: what takes so long to be written is not being written any more, whatever the clocks of machines say
NO_ROOM = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
_STREAMS = ("/dev/", "/proc/")  # names of what is open already: never replaced, whatever stands behind them


def _machine() -> str:
    """A digest of where numbers of processes mean the same: of this machine, or of this container.

    A name alone does not tell: many are called localhost, and containers may have the name of the machine that they are on.
    """
    told = [platform.node()]
    with suppress(OSError):
        told.append(Path("/etc/machine-id").read_text(encoding="ascii", errors="replace"))
    with suppress(OSError, AttributeError):
        told.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:12]


HERE = _machine()  # as names of scratch files, claims and progress.json have it


def write_atomically(
    path: Path,
    content: str | bytes,
    *,
    private: bool = False,
    group: bool = False,
    lasting: bool = True,
    first: bool = False,
    through_links: bool = True,
) -> None:
    """Write a file so that a reader, or a crash, sees either the old content or the new.

    A link stays a link: what it leads to is replaced. Devices and pipes are written to. Not so without `through_links`: what has
    the name is replaced itself, for in a directory of somebody else it could lead to any file. `private` files are readable by
    their owner only (with `group`, by its group too), whatever the umask; others keep the rights that they have. What is not
    `lasting` is soon written again: nobody waits until the disk has it, and a power cut may leave nothing. Of several who
    write a file as the `first`, one does, and the others change nothing.
    """
    # What a text cannot say in UTF-8 (half a character, from somebody's JSON) is written as JSON escapes it.
    data = content if isinstance(content, bytes) else content.encode("utf-8", errors="backslashreplace")
    try:
        if through_links and is_stream(path):
            with open(path, "ab") as handle:  # not from the start: a shell may have opened it to append
                handle.write(data)
        else:
            rights = (GROUP_FILE if group else OWNER_FILE) if private else None
            target = Path(os.path.realpath(path)) if through_links and os.path.islink(path) else path
            _replace(target, data, rights=rights, lasting=lasting, first=first)
    except OSError as problem:
        advice = "Make room there, or choose another place." if problem.errno in NO_ROOM else "Choose another place."
        raise RunError(f"{shown(path)}: cannot be written ({problem.strerror}). {advice}") from None
    except ValueError as problem:  # a path with a NUL
        raise RunError(f"{shown(path)}: cannot be written ({problem}). Choose another place.") from None


def is_stream(path: Path) -> bool:
    """Whether this is a device, a pipe, or a name of something that is open already, such as /dev/stdout."""
    if str(path).startswith(_STREAMS) and os.path.exists(path):
        return True
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _replace(target: Path, data: bytes, *, rights: int | None, lasting: bool, first: bool) -> None:
    if not os.path.isdir(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
    # Short: the name itself may be as long as is allowed. Whose it is, is for `sweep`.
    scratch = target.with_name(f".unmask-{HERE}-{os.getpid()}-{secrets.token_hex(6)}.part")
    left = True  # under its own name
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(scratch, flags, 0o666 if rights is None else OWNER_FILE), "wb") as handle:
            handle.write(data)
            handle.flush()
            if lasting:
                os.fsync(handle.fileno())  # on the disk before it has its name: a power cut leaves the old or the new
        if rights is not None:
            set_rights(scratch, rights)
        elif target.exists():
            set_rights(scratch, stat.S_IMODE(target.stat().st_mode))
        if not (first and _is_named(scratch, target)):
            os.replace(scratch, target)
            left = False
        if lasting:
            _keep_names(target.parent)
    finally:
        if left:
            with suppress(OSError):
                os.unlink(scratch)


def _is_named(scratch: Path, target: Path) -> bool:
    """Give a file its name unless another has it already. Whether one of them has it now; False where links cannot be made."""
    try:
        os.link(scratch, target)
    except OSError:
        return os.path.exists(target)
    return True


def _keep_names(folder: Path) -> None:
    """Have a new name on the disk too; where a folder cannot be opened (Windows) the system sees to it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sweep(folder: Path) -> None:
    """Remove what processes that are gone were about to write: of this machine at once, of others after a day."""
    for path in folder.glob(".unmask-*-*.part"):
        _, machine, owner, *_ = path.name.split("-")
        with suppress(OSError):
            if machine == HERE:
                gone = owner.isdigit() and not is_running(int(owner))
            else:
                gone = time.time() - path.stat().st_mtime > A_DAY
            if gone:
                path.unlink()


def is_running(process: int, *, at: float | None = None) -> bool:
    """Whether there is such a process on this machine; with `at` (seconds since 1970), one that ran at that time already."""
    if os.name != "posix":
        return True  # there is no harmless way to ask
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass  # it is somebody else's
    if at is None:
        return True
    state, began = _process(process)
    return state != "Z" and began <= at + CLOCKS_DIFFER


def _process(process: int) -> tuple[str, float]:
    """The state of a process (Z: ended, and its parent has not asked yet) and when it began, where the system tells."""
    with suppress(OSError, ValueError, IndexError, StopIteration):
        state, *words = Path(f"/proc/{process}/stat").read_text(encoding="latin-1").rpartition(")")[2].split()
        lines = Path("/proc/stat").read_text(encoding="latin-1").splitlines()
        boot = next(float(line.split()[1]) for line in lines if line.startswith("btime"))
        return state, boot + int(words[18]) / os.sysconf("SC_CLK_TCK")
    return "", 0.0


def make_folder(path: Path, *, group: bool = False) -> None:
    """Make a folder that only its owner (or its group) can look into; one that is there keeps its rights."""
    if not os.path.isdir(path):
        rights = GROUP_FOLDER if group else OWNER_FOLDER
        path.mkdir(parents=True, exist_ok=True, mode=rights & 0o777)
        set_rights(path, rights)


def let_group_in(path: Path) -> None:
    """Have a folder that was just made open to its owner's group, whatever the umask; what is in it has rights of its own."""
    set_rights(path, stat.S_IMODE(path.stat().st_mode) | (GROUP_FOLDER & ~stat.S_IWGRP))


def is_for_group(path: Path) -> bool:
    """Whether a folder was made for a group."""
    return os.name == "posix" and bool(path.stat().st_mode & stat.S_IWGRP)


def set_rights(path: Path, mode: int) -> None:
    """Set rights where the system has them: Windows has other ones, and some shared folders none."""
    if os.name == "posix":
        with suppress(OSError):
            os.chmod(path, mode)


def shown(path: Path) -> str:
    """A path for a message; nobody reads thousands of characters."""
    text = str(path)
    return text if len(text) <= 240 else f"{text[:120]}...{text[-60:]}"


def digest_of_file(path: Path) -> str:
    """The SHA-256 of its content."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def read_text(path: Path, *, error: type[UnmaskError] = InputError) -> str:
    """The text of a UTF-8 file, with or without a byte-order mark. That there is none is the caller's to explain."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise
    except OSError as problem:
        raise error(f"{shown(path)}: cannot be read ({problem.strerror}).") from None
    except ValueError as problem:  # not UTF-8, or a path with a NUL
        raise error(f"{shown(path)}: cannot be read ({problem}).") from None


def parse_json(text: str | bytes, where: str, *, error: type[UnmaskError] = InputError) -> Any:
    """What a JSON text holds. Files of strangers may be nested without end, or hold numbers of thousands of digits."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise error(f"{where}: line {problem.lineno} is not valid JSON: {problem.msg}.") from None
    except RecursionError:
        raise error(f"{where}: is nested too deeply to be read.") from None
    except ValueError:  # Python's own limit on digits, or bytes that are no text
        raise error(f"{where}: holds a number with too many digits, or is not UTF-8.") from None


def read_toml(path: Path, known: Sequence[str] | None = None, *, absent: str = "") -> dict[str, Any]:
    """The fields of a TOML file; an unknown one is an error that lists the known. `absent` is said if there is no such file."""
    try:
        plain = tomllib.loads(read_text(path))
    except FileNotFoundError:
        raise InputError(f"{shown(path)}: there is no such file. {absent}".rstrip()) from None
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{path}: not valid TOML: {problem}.") from None
    except RecursionError:
        raise InputError(f"{path}: is nested too deeply to be read.") from None
    except ValueError:  # Python's own limit on digits
        raise InputError(f"{path}: holds a number with too many digits.") from None
    if known is not None and (unknown := [name for name in plain if name not in known]):
        named = ", ".join(" ".join(name[:60].splitlines()) for name in unknown[:8])
        raise InputError(f"{path}: unknown field {named}. Known: {', '.join(sorted(known))}.")
    return plain


def limit(name: str, usual: int) -> int:
    """A limit that keeps a strange file from filling the memory; the environment variable of this name raises it."""
    asked = os.environ.get(name, "")
    if not asked:
        return usual
    if not (asked.isascii() and asked.isdigit()) or len(asked) > 18 or int(asked) < 1:
        raise ParameterError(f"{name} is '{asked}'; use a whole number from 1, or unset it.")
    return int(asked)
