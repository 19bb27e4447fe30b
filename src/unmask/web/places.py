"""Names from a browser, and the files that they may mean: nothing outside RUNS and the data directory, and no link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from unmask.errors import InputError
from unmask.results.readable import one_line
from unmask.web.settings import Settings

MARKS = ("result.json", "progress.json", "run.json", "work.json")  # one of them makes a folder a run directory
DEEPEST = 4  # folders below RUNS
MOST = 5_000  # folders that are looked into
TABLES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".parquet")
OFFERED = 500  # files of this machine to choose from


class NoSuchRun(InputError):  # noqa: N818 - a sentence for people, like its kin
    """There is no run of this name below RUNS."""


def run_directory(settings: Settings, name: str) -> Path:
    """The directory of this name below RUNS, or an error; it need not hold a run yet."""
    parts = name.split("/")
    strange = any(part.startswith(".") or "\\" in part or "\0" in part or not part for part in parts)
    if strange or len(name) > 1000 or len(parts) > DEEPEST:
        raise NoSuchRun(f"There is no run '{one_line(name, 80)}'.")
    place = settings.runs
    for part in parts:
        place = place / part
        try:
            found = os.lstat(place)
        except (OSError, ValueError):
            raise NoSuchRun(f"There is no run '{one_line(name, 80)}'.") from None
        if not stat.S_ISDIR(found.st_mode):  # nor a link to one
            raise NoSuchRun(f"There is no run '{one_line(name, 80)}'.")
    return place


def plain_file(folder: Path, name: str) -> Path | None:
    """A regular file in a folder that was checked; no link, no pipe, no device."""
    path = folder / name
    try:
        return path if stat.S_ISREG(os.lstat(path).st_mode) else None
    except OSError:
        return None


def read_bytes(folder: Path, name: str, most: int) -> bytes | None:
    """What a regular file holds; None if there is none, or if it is larger than anything we write."""
    path = plain_file(folder, name)
    if path is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    with open(handle, "rb") as file:
        content = file.read(most + 1)
    return content if len(content) <= most else None


def run_names(settings: Settings) -> list[str]:
    """Every run directory below RUNS, whatever wrote it. Links are not followed, and runs hold no other runs."""
    return [path.relative_to(settings.runs).as_posix() for path in _runs(settings.runs)]


def _runs(top: Path) -> Iterator[Path]:
    waiting, seen = [(top, 0)], 0
    while waiting and seen < MOST:
        folder, depth = waiting.pop()
        seen += 1
        try:
            with os.scandir(folder) as entries:
                found = list(entries)
        except OSError:
            continue
        if depth and is_run(folder):
            yield folder
        elif depth < DEEPEST:
            waiting += [
                (Path(each.path), depth + 1)
                for each in found
                if each.is_dir(follow_symlinks=False) and not each.name.startswith(".") and _is_text(each.name)
            ]


def _is_text(name: str) -> bool:
    """Whether a name is UTF-8: no other can stand in an address."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_run(folder: Path) -> bool:
    """Whether a verb of unmask wrote here."""
    return any(plain_file(folder, mark) for mark in MARKS)


def named_path(settings: Settings, text: str, *, folder: bool = False) -> Path:
    """A file (or a folder) of this machine that a form names, from RUNS or the data directory; links out of them are refused."""
    refused = InputError(
        f"'{one_line(text, 120)}': only files below {' and '.join(map(str, settings.roots))} can be named here."
    )
    if not text or "\0" in text or len(text) > 4000:
        raise refused
    for root in reversed(settings.roots):  # the data directory first
        try:
            path = Path(os.path.realpath(root / text, strict=True))
        except (OSError, ValueError):
            continue
        if not path.is_relative_to(root) or path.is_relative_to(settings.own):
            raise refused
        if path.is_dir() if folder else path.is_file():
            return path
    raise refused


def is_allowed(settings: Settings, path: Path) -> bool:
    """Whether a path of a draft or a job still lies where files may be named, or among the uploads."""
    try:
        real = Path(os.path.realpath(path, strict=True))
    except (OSError, ValueError):
        return False
    return any(real.is_relative_to(root) for root in settings.roots)


def offered_files(settings: Settings) -> list[str]:
    """Tables of the data directory and of RUNS, as forms name them."""
    found: list[str] = []
    for root in reversed(settings.roots):
        for folder, folders, files in os.walk(root):
            depth = len(Path(folder).relative_to(root).parts)
            folders[:] = sorted(
                name for name in folders if not name.startswith(".") and name != "draws" and depth < DEEPEST
            )
            found += [
                (Path(folder) / name).relative_to(root).as_posix()
                for name in sorted(files)
                if name.lower().endswith(TABLES)
                and name != "records.csv"
                and not name.startswith(".")
                and _is_text(folder + name)
            ]
            if len(found) >= OFFERED:
                return found[:OFFERED]
    return found


def suffix_of(name: str) -> str:
    """How an uploaded table is stored: only the kind of its name is kept."""
    lower = name.lower()
    return next((end for end in sorted(TABLES, key=len, reverse=True) if lower.endswith(end)), ".csv")
