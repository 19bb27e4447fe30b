"""The tables of a release audit, each read once and all encoded against one schema."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from unmask.errors import InputError, ParameterError
from unmask.tables.encode import Unlisted
from unmask.tables.infer import Hints
from unmask.tables.read import Frame, encode_frame, infer, read_frame, read_schema
from unmask.tables.schema import Schema
from unmask.tables.table import Table, concatenate

Loaded = Table | Frame


@dataclass(frozen=True, eq=False)
class Release:
    """A real table, the sets that were published, and people whom the generator never saw."""

    real: Table
    sets: tuple[Table, ...]
    holdout: Table | None
    notes: tuple[str, ...] = ()

    @cached_property
    def synthetic(self) -> Table:
        """All published rows: an attacker has all sets."""
        return concatenate([replace(table, notes=(), persons=None) for table in self.sets])

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
    real: Any, synthetic: Any, holdout: Any, schema: Any, *, secrets: Sequence[str] = (), keys: Sequence[str] = ()
) -> Release:
    """Read everything against one schema: the given one, that of the real table, or one inferred from real and holdout."""
    sets = list(synthetic) if isinstance(synthetic, list | tuple) else [synthetic]
    if not sets:
        raise InputError("There is no synthetic table to audit. Give at least one.")
    loaded, held = _loaded(real), None if holdout is None else _loaded(holdout)
    known, readings = _schema(loaded, held, schema)
    known = replace(known, keys=tuple(keys) or known.keys, secrets=tuple(secrets) or known.secrets)
    if both := sorted(set(known.keys) & set(known.secrets)):
        known = replace(known, keys=tuple(key for key in known.keys if key not in both))
    read_real = _under(loaded, known, Unlisted.ERROR)
    # A value that only the holdout has would match nothing, which never happens to a member: so it is an error.
    read_holdout = None if held is None else _under(held, known, Unlisted.ERROR)
    read_sets = tuple(_under(_loaded(table), known, Unlisted.NOTE) for table in sets)
    for name, table in (("holdout", read_holdout), *(("synthetic table", table) for table in read_sets)):
        if table is not None and len(table) == 0:
            raise InputError(f"The {name} has no rows.")
    if read_holdout is not None and len(read_holdout) < 4:
        raise ParameterError(
            f"The holdout has {len(read_holdout)} rows; at least 4 are needed, hundreds to see anything."
        )
    notes = tuple(
        dict.fromkeys(
            note for table in (read_real, *read_sets, read_holdout) if table is not None for note in table.notes
        )
    )
    return Release(read_real, read_sets, read_holdout, (*readings, *notes, *_origin_note(known)))


def _loaded(source: Any) -> Loaded:
    return source if isinstance(source, Table) else read_frame(source)


def _schema(real: Loaded, holdout: Loaded | None, schema: Any) -> tuple[Schema, tuple[str, ...]]:
    """The given schema, that of a real Table, or one inferred from real and holdout; and how texts were read for it."""
    if schema is None and isinstance(real, Table):
        return real.schema, ()
    found = read_schema(schema) if isinstance(schema, str | os.PathLike) else schema
    if isinstance(found, Schema):
        return found, ()
    seen = _frame(real)
    if holdout is not None:  # a value that only the holdout has belongs to the population too
        other = _frame(holdout)
        if set(other.frame.columns) == set(seen.frame.columns) and other.from_file == seen.from_file:
            both = pd.concat([seen.frame, other.frame[seen.frame.columns]], ignore_index=True)
            seen = replace(seen, frame=both)
    inferred = infer(seen, found or Hints())
    return inferred.schema, inferred.readings


def _frame(loaded: Loaded) -> Frame:
    return loaded if isinstance(loaded, Frame) else read_frame(loaded)


def _under(loaded: Loaded, schema: Schema, unlisted: Unlisted) -> Table:
    if isinstance(loaded, Table) and loaded.schema.columns == schema.columns:
        return replace(loaded, schema=schema)
    return encode_frame(_frame(loaded), schema, unlisted=unlisted)


def _origin_note(schema: Schema) -> tuple[str, ...]:
    if str(schema.origin) == "public":
        return ()
    return (
        "The schema was inferred from the data. No value of it is shown; a claim of differential privacy could not rest on it.",
    )
