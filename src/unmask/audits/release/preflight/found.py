"""What was found in the files of a release, as plain data: for programs that show it and ask what to correct.

It is for whoever has the files, and no part of a result: it names columns and counts, and an error may quote a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unmask.audits.release.preflight.columns import Loaded, names_of
from unmask.audits.release.preflight.files import looked_over
from unmask.audits.release.tables import Release, file_name, loaded_table, read_release
from unmask.errors import UnmaskError
from unmask.tables.noticed import Level, Noticed
from unmask.tables.schema import Schema
from unmask.tables.table import Table

VERSION = 1


@dataclass(frozen=True)
class FileFound:
    """A file that was read."""

    role: str
    name: str
    rows: int
    columns: int


@dataclass(frozen=True)
class ColumnFound:
    """A column of the real table: what it is taken for, and whether attacks look at it."""

    name: str
    kind: str  # "" if it was not looked at
    role: str  # key, secret, identifier, person, or ""
    examined: bool
    why: str  # it is not examined
    size: int | None  # values or bins, as the schema has them
    missing: float | None  # share of real rows


@dataclass(frozen=True)
class FilesFound:
    """Everything, in the order of the real table."""

    files: tuple[FileFound, ...]
    columns: tuple[ColumnFound, ...]
    noticed: tuple[Noticed, ...]
    schema: str  # where domains come from; "" if nothing could be examined
    version: int = VERSION

    @property
    def can_be_audited(self) -> bool:
        return all(each.level is not Level.STOPS for each in self.noticed)


def found_in(real: Any, synthetic: Any, *, holdout: Any = None, schema: Any = None) -> FilesFound:
    """Look over the tables of a release. What would stop an audit is told among the rest, not raised."""
    given = list(synthetic) if isinstance(synthetic, list | tuple) else [synthetic]
    roles = ["real", *(_numbered(len(given))), *(["holdout"] if holdout is not None else [])]
    sources = [real, *given, *([holdout] if holdout is not None else [])]
    files: list[FileFound] = []
    tables: list[Loaded] = []
    stops: list[Noticed] = []
    for role, source in zip(roles, sources, strict=True):
        try:
            tables.append(loaded_table(source))
            files.append(FileFound(role, file_name(source), _rows(tables[-1]), len(names_of(tables[-1]))))
        except UnmaskError as problem:
            stops.append(Noticed("unreadable", str(problem), level=Level.STOPS))
    if stops:
        return FilesFound(tuple(files), (), tuple(stops), "")
    held = tables.pop() if holdout is not None else None
    names = [file_name(each) for each in (real, synthetic, holdout)]
    whole: Release | None = None
    try:
        whole = read_release(tables[0], tables[1:], held, schema)
        preflight = looked_over(whole, names)
    except UnmaskError as problem:
        columns = () if whole is None else _columns(whole, names_of(tables[0]))
        code = "cannot-be-read-together" if whole is None else "no-holdout"
        stop = Noticed(code, str(problem), level=Level.STOPS)
        return FilesFound(tuple(files), columns, (stop,), "" if whole is None else str(whole.schema.origin))
    columns = _columns(whole, names_of(tables[0]))
    return FilesFound(tuple(files), columns, _noticed(whole, preflight.seen), str(whole.schema.origin))


def _numbered(many: int) -> list[str]:
    return ["synthetic"] if many == 1 else [f"synthetic {place}" for place in range(1, many + 1)]


def _rows(table: Loaded) -> int:
    return len(table) if isinstance(table, Table) else len(table.held)


def _noticed(release: Release, seen: Sequence[Noticed]) -> tuple[Noticed, ...]:
    """Questions first, then columns that are left out, then how texts were read, then the rest."""
    left: dict[tuple[str, str], Noticed] = {}
    for each in release.left_out:
        key = (each.code, each.why)
        columns = (*(left[key].columns if key in left else ()), each.name)
        left[key] = Noticed(each.code, f"Left out: {', '.join(columns)} ({each.why}).", columns)
    told = {reading.sentence for reading in release.readings}
    others = tuple(Noticed("reading", note) for note in release.notes if note not in told)
    ordered = sorted(seen, key=lambda one: one.level is not Level.QUESTION)
    doubtful = (replace(one, level=Level.QUESTION) if one.code in DOUBTFUL else one for one in release.readings)
    return (*ordered, *left.values(), *doubtful, *others)


DOUBTFUL = ("ambiguous-dates", "ambiguous-numbers", "two-digit-years", "compact-dates")  # only a person can tell


def _columns(release: Release, names: Sequence[str]) -> tuple[ColumnFound, ...]:
    schema, real = release.schema, release.real
    why = {each.name: each.why for each in release.left_out}
    made = []
    for name in names:
        role = _role(name, schema)
        if name not in schema.names:
            made.append(ColumnFound(name, "", role, False, why.get(name, ""), None, None))
            continue
        position, column = schema.position(name), schema.column(name)
        gaps = real.codes[:, position] == column.missing_code if column.missing else np.zeros(1, dtype=bool)
        made.append(ColumnFound(name, str(column.kind), role, True, "", column.listed, round(float(gaps.mean()), 6)))
    return tuple(made)


def _role(name: str, schema: Schema) -> str:
    if name == schema.person:
        return "person"
    listed = (("identifier", schema.identifiers), ("secret", schema.secrets), ("key", schema.keys))
    return next((role for role, names in listed if name in names), "")
