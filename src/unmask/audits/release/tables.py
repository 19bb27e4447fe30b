"""The tables of a release audit, each read once and all encoded against one schema."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from unmask.audits.release.preflight.columns import (
    CODES,
    FEWEST,
    LeftOut,
    Loaded,
    common_columns,
    identifying,
    names_of,
    only_published,
    uninformative,
)
from unmask.errors import InputError, ParameterError
from unmask.memory import give_back
from unmask.tables._streamed import stacked
from unmask.tables.encode import Unlisted
from unmask.tables.infer import Hints
from unmask.tables.noticed import Noticed, sentences
from unmask.tables.read import Frame, encode_frame, identifiers_in, infer, read_frame, read_schema
from unmask.tables.schema import Schema
from unmask.tables.table import Table, check_columns, concatenate


@dataclass(frozen=True, eq=False)
class Release:
    """A real table, the sets that were published, and people whom the generator never saw."""

    real: Table
    sets: tuple[Table, ...]
    holdout: Table | None
    notes: tuple[str, ...] = ()
    readings: tuple[
        Noticed, ...
    ] = ()  # how texts were read as dates and numbers, and what else that could be; in notes too
    left_out: tuple[LeftOut, ...] = ()  # columns that no attack looks at
    rows: np.ndarray | None = None  # of the real table as it was read, where some are left out
    aligned: bool = False  # row i of each set stems from row i of the real table as it was read

    @cached_property
    def synthetic(self) -> Table:
        """All published rows: an attacker has all sets."""
        return concatenate([replace(table, notes=(), persons=None) for table in self.sets])  # one set is not copied

    @property
    def tables(self) -> tuple[tuple[str, Table], ...]:
        """Every table with its role."""
        held = (("holdout", self.holdout),) if self.holdout is not None else ()
        names = (
            ["synthetic"] if len(self.sets) == 1 else [f"synthetic {place}" for place in range(1, len(self.sets) + 1)]
        )
        return (("real", self.real), *zip(names, self.sets, strict=True), *held)

    @property
    def schema(self) -> Schema:
        return self.real.schema

    @property
    def guessed(self) -> tuple[str, ...]:
        """The columns that are guessed: the secrets, or every column if none is named."""
        return self.schema.secrets or self.schema.names


def read_release(
    real: Any,
    synthetic: Any,
    holdout: Any,
    schema: Any,
    *,
    secrets: Sequence[str] = (),
    keys: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> Release:
    """Read everything against one schema: the given one, that of the real table, or one inferred from real and holdout.

    Columns that not all tables have, that identify people, or that tell nothing are left out, and the release says so.
    """
    given = list(synthetic) if isinstance(synthetic, list | tuple) else [synthetic]
    if not given:
        raise InputError("There is no synthetic table to audit. Give at least one.")
    loaded, held = loaded_table(real), None if holdout is None else loaded_table(holdout)
    sets = [loaded_table(table) for table in given]
    known, left_out, readings = _schema(loaded, held, sets, schema, columns)
    known = _with_roles(known, secrets, keys, left_out)
    read_real = _under(loaded, known, Unlisted.ERROR)
    del loaded  # what was read takes as much room as what it becomes
    give_back()
    # A value that only the holdout has would match nothing, which never happens to a member: so it is an error.
    read_holdout = None if held is None else _under(held, known, Unlisted.ERROR)
    del held
    read_sets = tuple(_under(sets.pop(0), known, Unlisted.NOTE) for _ in given)
    give_back()
    _check_sizes(read_holdout, read_sets)
    told = [table for table in (read_real, *read_sets, read_holdout) if table is not None]
    notes = tuple(dict.fromkeys(note for table in told for note in table.notes))
    notes = (*sentences(readings), *notes, *_origin_note(known))
    whole = Release(read_real, read_sets, read_holdout, notes, readings, left_out)
    return _informative(whole, kept=(*secrets, *keys, *columns))


def file_name(source: Any) -> str:
    """The name of the file that a table comes from, of several the first; "" for frames and tables."""
    source = source[0] if isinstance(source, list | tuple) and source else source
    return Path(source).name if isinstance(source, str | os.PathLike) else ""


def _check_sizes(holdout: Table | None, sets: Sequence[Table]) -> None:
    for name, table in (("holdout", holdout), *(("synthetic table", table) for table in sets)):
        if table is not None and len(table) == 0:
            raise InputError(f"The {name} has no rows.")
    if holdout is not None and len(holdout) < 4:
        raise ParameterError(f"The holdout has {len(holdout)} rows; at least 4 are needed, hundreds to see anything.")


def loaded_table(source: Any) -> Loaded:
    """A table that is read, whatever holds it."""
    return source if isinstance(source, Table | Frame) else read_frame(source)


def _schema(
    real: Loaded, holdout: Loaded | None, sets: Sequence[Loaded], schema: Any, chosen: Sequence[str]
) -> tuple[Schema, tuple[LeftOut, ...], tuple[Noticed, ...]]:
    """The schema of the columns that are examined, the columns that are not, and how texts were read for it."""
    known = read_schema(schema) if isinstance(schema, str | os.PathLike) else schema
    if known is None and isinstance(real, Table):
        known = real.schema
    if not isinstance(known, Schema):
        known = _with_identifiers(real, known or Hints())
    elif isinstance(real, Frame):
        check_columns(real.held, known, real.where, person_needed=True)
    apart = {*known.identifiers, known.person}
    candidates = known.names if isinstance(known, Schema) else tuple(n for n in names_of(real) if n not in apart)
    others = [("release", table) for table in sets] + ([("holdout", holdout)] if holdout is not None else [])
    names, differing = common_columns(candidates, real, others, chosen, apart)
    readings: tuple[Noticed, ...] = ()
    if isinstance(known, Schema):
        examined = known.with_columns(column for column in known.columns if column.name in names)
    else:
        examined, readings = _inferred(real, holdout, names, known)
    people = (*examined.identifiers, *([examined.person] if examined.person else ()))
    left = (*identifying(people, real, holdout, sets, examined.person), *differing)
    return examined, (*left, *only_published((*candidates, *people), sets)), readings


def _with_identifiers(real: Loaded, hints: Hints) -> Hints:
    """Hints that name the columns which identify people.

    By the real table alone: where real table and holdout number their rows from 1, every number occurs twice in both together.
    """
    seen = _frame(real)
    found = identifiers_in(seen, hints)
    if len(found) + (hints.person is not None) == len(seen.held.columns):
        raise InputError(f"{seen.where}: every column identifies people, nothing is left to analyse.")
    return replace(hints, identifiers=found)


def _inferred(
    real: Loaded, holdout: Loaded | None, names: Sequence[str], hints: Hints
) -> tuple[Schema, tuple[Noticed, ...]]:
    """From real table and holdout: a value that only the holdout has belongs to the population too."""
    kinds = {name: kind for name, kind in hints.kinds.items() if name in names}
    seen, plain = _frame(real), replace(hints, identifiers=(), person=None, kinds=kinds)
    seen = replace(seen, held=seen.held[list(names)])
    if holdout is not None and (other := _frame(holdout)).from_file == seen.from_file:
        seen = replace(seen, held=stacked([seen.held, other.held[list(names)]], from_file=seen.from_file))
    found = infer(seen, plain)
    identifiers = (*hints.identifiers, *found.schema.identifiers)
    return replace(found.schema, identifiers=identifiers, person=hints.person), found.readings


def _with_roles(known: Schema, secrets: Sequence[str], keys: Sequence[str], left_out: Sequence[LeftOut]) -> Schema:
    """The schema with the secrets and keys that were asked for."""
    gone = {each.name: each.why for each in left_out}
    for option, names in (("--secret", secrets), ("--key", keys)):
        if lost := [name for name in names if name in gone and name not in known.names]:
            raise ParameterError(f"{option} {lost[0]}: this column is not examined: {gone[lost[0]]}.")
    known = replace(known, keys=tuple(keys) or known.keys, secrets=tuple(secrets) or known.secrets)
    both = set(known.keys) & set(known.secrets)
    return replace(known, keys=tuple(key for key in known.keys if key not in both)) if both else known


def _informative(release: Release, kept: Sequence[str]) -> Release:
    """Without the columns that tell nothing about anybody, unless somebody asked for them."""
    tables = [table for _, table in release.tables]
    people = [release.real] if release.holdout is None else [release.real, release.holdout]
    useless = uninformative(tables, people, kept)
    names = [name for name in release.schema.names if name not in dict(useless)]
    if not useless or len(names) < FEWEST:
        return release
    return replace(
        release,
        real=release.real.select(names),
        sets=tuple(table.select(names) for table in release.sets),
        holdout=None if release.holdout is None else release.holdout.select(names),
        left_out=(
            *release.left_out,
            *(LeftOut(name, why, code=CODES.get(why, "copy-of-a-column")) for name, why in useless),
        ),
    )


def _frame(loaded: Loaded) -> Frame:
    return loaded if isinstance(loaded, Frame) else read_frame(loaded)


def _under(loaded: Loaded, schema: Schema, unlisted: Unlisted) -> Table:
    if isinstance(loaded, Table) and loaded.schema.columns == schema.columns:
        return replace(loaded, schema=schema)
    whole = _frame(loaded)
    person = [schema.person] if schema.person and schema.person in whole.held.columns else []
    return encode_frame(replace(whole, held=whole.held[[*schema.names, *person]]), schema, unlisted=unlisted)


def _origin_note(schema: Schema) -> tuple[str, ...]:
    if str(schema.origin) == "public":
        return ()
    return (
        "The schema was inferred from the data. No value of it is shown; a claim of differential privacy could not rest on it.",
    )
