"""An audit before it runs: which verb, which files, what was chosen. Kept on disk, so that nothing is lost on the way."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unmask.errors import InputError, UnmaskError
from unmask.files import make_folder, parse_json, read_text, write_atomically
from unmask.web.corrected import PREFIXES, PUBLIC
from unmask.web.forms import VerbForm, label_of
from unmask.web.places import is_allowed, named_path
from unmask.web.settings import Settings
from unmask.web.uploads import Uploaded

DRAFT = "draft.json"


@dataclass(frozen=True)
class ChosenFile:
    """A file of a draft: where it lies, and what its owner calls it."""

    path: str
    called: str
    size: int

    @classmethod
    def at(cls, path: Path, called: str) -> ChosenFile:
        return cls(str(path), called, path.stat().st_size if path.is_file() else 0)


@dataclass(frozen=True)
class Draft:
    """Everything that a run will need."""

    id: str
    verb: str
    files: Mapping[str, tuple[ChosenFile, ...]]
    given: Mapping[str, list[str]]  # fields of the form of choices
    made: float
    run: str = ""  # once it has begun

    def folder(self, settings: Settings) -> Path:
        return settings.own / "drafts" / self.id

    def paths(self, name: str) -> list[str]:
        return [each.path for each in self.files.get(name, ())]

    def write(self, settings: Settings) -> Draft:
        make_folder(self.folder(settings))
        plain = {
            **vars(self),
            "files": {role: [vars(each) for each in files] for role, files in self.files.items()},
        }
        write_atomically(self.folder(settings) / DRAFT, json.dumps(plain, indent=1) + "\n", private=True)
        return self


def new_draft(verb: str, files: Mapping[str, tuple[ChosenFile, ...]], given: Mapping[str, list[str]]) -> Draft:
    """A draft under a name that nobody can guess."""
    return Draft(secrets.token_hex(8), verb, files, given, time.time())


def read_draft(settings: Settings, name: str) -> Draft:
    """A draft by its id; an error in words if there is none."""
    gone = InputError("There is no such draft any more. Begin anew.")
    if re.fullmatch("[0-9a-f]{16}", name) is None:
        raise gone
    try:
        plain = parse_json(read_text(settings.own / "drafts" / name / DRAFT), DRAFT)
        files = {role: tuple(ChosenFile(**each) for each in listed) for role, listed in plain["files"].items()}
        return Draft(**{**plain, "files": files})
    except (OSError, UnmaskError, KeyError, TypeError, AttributeError):
        raise gone from None


def drafts(settings: Settings) -> list[Draft]:
    """All drafts, the newest first."""
    found = []
    for path in (settings.own / "drafts").iterdir():
        try:
            found.append(read_draft(settings, path.name))
        except InputError:
            continue
    return sorted(found, key=lambda each: -each.made)


def gathered(
    settings: Settings, form: VerbForm, given: Mapping[str, Sequence[str]], uploaded: Sequence[Uploaded]
) -> dict[str, tuple[ChosenFile, ...]]:
    """The files of each role: uploaded, or named on this machine. An error says which one is missing."""
    found: dict[str, tuple[ChosenFile, ...]] = {}
    for each in form.files:
        mine = [file for file in uploaded if file.role == each.name and file.size]
        brought = [ChosenFile(str(file.path), file.called, file.size) for file in mine]
        named = [
            line.strip() for text in given.get(f"path-{each.name}", ()) for line in text.splitlines() if line.strip()
        ]
        brought += [ChosenFile.at(named_path(settings, line, folder=each.name in form.folders), line) for line in named]
        if len(brought) > 1 and not each.many:
            raise InputError(f"{label_of(each.name)}: give one file, uploaded or named, not {len(brought)}.")
        if each.required and not brought:
            raise InputError(f"{label_of(each.name)} is missing. {each.help}")
        if brought:
            found[each.name] = tuple(brought)
    return found


def check_files(settings: Settings, draft: Draft) -> None:
    """Whether every file is still there, and where files may be named."""
    for role, files in draft.files.items():
        for each in files:
            if not is_allowed(settings, Path(each.path)):
                raise InputError(f"{label_of(role)}: {each.called} is not there any more. Choose the files anew.")


def discard(settings: Settings, draft: Draft) -> None:
    """Remove a draft and the uploads that no other draft has."""
    shutil.rmtree(draft.folder(settings), ignore_errors=True)
    uploads = settings.own / "uploads"
    kept = {Path(path).parent for other in drafts(settings) for role in other.files for path in other.paths(role)}
    for role in draft.files:
        for path in map(Path, draft.paths(role)):
            if path.parent.parent == uploads and path.parent not in kept and os.path.isdir(path.parent):
                shutil.rmtree(path.parent, ignore_errors=True)


def begun(settings: Settings, draft: Draft, run: str) -> Draft:
    """The draft, now a run."""
    return replace(draft, run=run).write(settings)


def words_of(draft: Draft, form: VerbForm, plan: Path | None, schema: Path | None) -> list[str]:
    """The command line of a draft, after the verb, but for --out."""
    words: list[str] = []
    for each in form.files:
        paths = draft.paths(each.name)
        if each.name == "schema" and schema is not None:
            paths = [str(schema)]
        words += paths if not each.option else [f"{each.option}={path}" for path in paths]
    words += [f"--plan={plan}"] if plan else []
    words += [option for name, option, _ in form.flags if draft.given.get(f"flag-{name}")]
    budget = "".join(draft.given.get("time-budget", ())).strip()
    return [*words, *([f"--time-budget={budget}"] if budget and form.time_budget else [])]


def plain_given(given: Mapping[str, Any]) -> dict[str, list[str]]:
    """The fields of a form that belong to choices."""
    return {
        name: [text[:20_000] for text in texts]
        for name, texts in given.items()
        if name.startswith(("choice-", "flag-", *PREFIXES)) or name in ("time-budget", "name", PUBLIC)
    }
