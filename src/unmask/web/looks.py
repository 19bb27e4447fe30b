"""What we found in your files: read by the command line in a process of its own, and kept beside the draft.

Corrections go the same way: `unmask schema --corrections` writes the schema that the run then reads, and the files are looked
over again with it.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unmask.errors import InputError, RunError
from unmask.files import write_atomically
from unmask.web.corrected import columns_of_schema, corrections_of, shown_columns
from unmask.web.drafts import Draft
from unmask.web.forms import VerbForm
from unmask.web.places import read_bytes
from unmask.web.processes import UNMASK, answer, environment
from unmask.web.settings import Settings

FOUND, PROPOSED, CORRECTIONS, SCHEMA = "found.json", "proposed.json", "corrections.json", "schema.json"
SECONDS = 1800  # for a table of many millions of rows
LARGEST = 60_000_000
AT_ONCE = 2  # drafts


@dataclass(frozen=True)
class Look:
    """What is known of the files of a draft."""

    state: str  # none (nothing to look at), looking, failed, done
    problem: str = ""
    found: dict[str, Any] = field(default_factory=dict)
    columns: Sequence[dict[str, Any]] = ()

    def noticed(self, level: str) -> list[str]:
        """Sentences of one level: stops, question or note."""
        return [each["sentence"] for each in self.found.get("noticed", []) if each["level"] == level]

    @property
    def can_run(self) -> bool:
        return self.state == "none" or (self.state == "done" and not self.noticed("stops"))


class Looks:
    """Files that are being looked over."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._room = threading.Semaphore(AT_ONCE)
        self._busy: set[str] = set()
        self._lock = threading.Lock()

    def of(self, draft: Draft, form: VerbForm) -> Look:
        """What was found; if nobody has looked yet, somebody begins to."""
        tables = [each.name for each in form.tables if draft.paths(each.name)]
        if not tables:
            return Look("none")
        found = self._kept(draft, FOUND)
        if not found:
            self._begin(draft, tables)
            return Look("looking")
        if "problem" in found:
            return Look("failed", str(found["problem"]))
        proposed = self._kept(draft, PROPOSED) or found
        return Look("done", found=found, columns=shown_columns(proposed, found, draft.given))

    def correct(self, draft: Draft, form: VerbForm) -> None:
        """Write a schema with what the form corrects, if it differs from what was proposed; else there is none."""
        proposed = self._kept(draft, PROPOSED)
        if not proposed:
            return
        wanted = corrections_of(proposed, draft.given)
        folder = draft.folder(self.settings)
        if wanted == self._kept(draft, CORRECTIONS):
            return
        for name in (SCHEMA, CORRECTIONS):
            (folder / name).unlink(missing_ok=True)
        if wanted:
            asked = folder / "asked.json"
            write_atomically(asked, json.dumps(wanted), private=True)
            table = next(each.name for each in form.tables if draft.paths(each.name))
            words = ["schema", draft.paths(table)[0], f"--corrections={asked}", f"--out={folder / SCHEMA}", "--quiet"]
            words += [f"--holdout={path}" for path in draft.paths("holdout")]
            code, _, said = self._answer([*words, *(f"--from={path}" for path in draft.paths("schema"))])
            if code:
                raise InputError(said.replace(str(asked), "The form")[-2000:])
            asked.replace(folder / CORRECTIONS)
        (folder / FOUND).unlink(missing_ok=True)

    def schema(self, draft: Draft) -> Path | None:
        """The corrected schema, if there is one."""
        path = draft.folder(self.settings) / SCHEMA
        return path if path.is_file() else None

    def copy(self, old: Draft, new: Draft) -> None:
        """The same look for a draft with the same files."""
        for name in (FOUND, PROPOSED, CORRECTIONS, SCHEMA):
            if (old.folder(self.settings) / name).is_file():
                shutil.copyfile(old.folder(self.settings) / name, new.folder(self.settings) / name)

    def _begin(self, draft: Draft, tables: Sequence[str]) -> None:
        with self._lock:
            if draft.id in self._busy:
                return
            self._busy.add(draft.id)
        threading.Thread(target=self._look, args=(draft, tables), daemon=True).start()  # nobody waits for it at the end

    def _look(self, draft: Draft, tables: Sequence[str]) -> None:
        folder = draft.folder(self.settings)
        try:
            with self._room:
                found = self._found(draft, tables)
            if "problem" not in found and not (folder / PROPOSED).exists():
                write_atomically(folder / PROPOSED, json.dumps(found), private=True)
            write_atomically(folder / FOUND, json.dumps(found), private=True)
        except RunError as problem:  # the draft was discarded, or the disk is full
            if os.path.isdir(folder):
                write_atomically(folder / FOUND, json.dumps({"problem": str(problem)}), private=True)
        finally:
            with self._lock:
                self._busy.discard(draft.id)

    def _found(self, draft: Draft, tables: Sequence[str]) -> dict[str, Any]:
        """What the command line says: of a release, everything; of a single table, its columns."""
        own = self.schema(draft)
        schemas = [str(own)] if own else draft.paths("schema")
        paths = [path for name in tables for path in draft.paths(name)]
        if "synthetic" in tables:
            words = ["check", *paths, *(f"--holdout={path}" for path in draft.paths("holdout")), "--found"]
            words += [f"--schema={path}" for path in schemas]
        else:
            words = ["schema", paths[0], *(f"--from={path}" for path in schemas)]
        code, out, said = self._answer(words)
        try:
            plain = json.loads(out)
        except ValueError:
            return {"problem": said[-3000:] or f"The files could not be read (exit code {code})."}
        return plain if "synthetic" in tables else columns_of_schema(plain, said)

    def _answer(self, words: Sequence[str]) -> tuple[int, str, str]:
        variables = environment(self.settings.upload_limit)
        return answer([*UNMASK, *words], folder=self.settings.runs, variables=variables, seconds=SECONDS)

    def _kept(self, draft: Draft, name: str) -> dict[str, Any]:
        content = read_bytes(draft.folder(self.settings), name, LARGEST)
        try:
            plain = json.loads(content) if content else {}
        except ValueError:
            return {}
        return plain if isinstance(plain, dict) else {}
