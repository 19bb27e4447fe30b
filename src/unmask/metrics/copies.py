"""Real records that stand verbatim in the synthetic table, more often than chance explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.errors import InputError
from unmask.stats import Estimate, clopper_pearson, difference
from unmask.stats.labels import fisher
from unmask.tables.matching import By, occur_in, occur_once, row_keys
from unmask.tables.table import Table
from unmask.tables.units import units


@dataclass(frozen=True, eq=False)
class Copies:
    """Who is published verbatim. A person counts as unique if no other real or holdout row is equal."""

    identical: Estimate  # share of synthetic rows equal to some real row
    unique: Estimate | None  # share of the unique real rows that stand in the synthetic table
    excess: Estimate | None  # minus the same share of unique holdout rows: above 0 = more than chance
    mine: tuple[int, int]  # unique people of the real table who stand in the synthetic one, and all unique ones
    theirs: tuple[int, int]  # the same of the holdout
    p_value: float | None  # one-sided (Fisher), of "no more often than unique holdout rows"; None without any
    published: np.ndarray  # of each real row: unique, and in the synthetic table
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def copies(
    real: Table, synthetic: Table, *, holdout: Table | None = None, by: By = By.VALUES, confidence: float = 0.95
) -> Copies:
    """Exact matches by hashing, on the whole tables: nothing is subsampled, milliseconds, linear in the rows.

    Uniqueness is judged in real and holdout together. If nothing leaks, a unique row is as likely in one as in the other
    whatever the sizes, so the two shares differ by chance only.
    """
    for name, table in (("real", real), ("synthetic", synthetic), ("holdout", holdout)):
        if table is not None and not len(table):
            raise InputError(f"The {name} table has no rows to compare. Give it rows.")
    held = real.take(np.empty(0, dtype=np.int64)) if holdout is None else holdout
    published_keys, *keys = row_keys(synthetic, real, held, by=by)
    alone = np.split(occur_once(np.concatenate(keys)), [len(real)])
    released = np.split(occur_in(np.concatenate(keys), published_keys), [len(real)])
    mine, theirs = (_of_persons(table, *of_rows) for table, *of_rows in zip((real, held), alone, released, strict=True))
    notes = []
    if not mine[1]:
        notes.append("Every real row has an equal one, so nobody can be recognised by a verbatim copy.")
    elif holdout is None:
        notes.append("There is no holdout, so how many copies chance explains cannot be said.")
    elif not theirs[1]:
        notes.append("Every holdout row has an equal one, so how many copies chance explains cannot be said.")
    return Copies(
        clopper_pearson(int(occur_in(published_keys, keys[0]).sum()), len(synthetic), confidence=confidence),
        clopper_pearson(*mine, confidence=confidence) if mine[1] else None,
        difference(mine, theirs, confidence=confidence) if mine[1] and theirs[1] else None,
        mine,
        theirs,
        fisher(mine, theirs) if mine[1] and theirs[1] else None,
        alone[0] & released[0],
        ("No copies proves nothing: rows moved by a tiny amount are no longer identical.",),
        tuple(notes),
    )


def _of_persons(table: Table, alone: np.ndarray, released: np.ndarray) -> tuple[int, int]:
    """Persons with a unique row that is published, and persons with a unique row: rows of one person are no independent draws.

    The first unique row stands for its person.
    """
    rows = np.flatnonzero(alone)
    if table.persons is not None:
        rows = rows[np.unique(units(table).of_row[rows], return_index=True)[1]]
    return int(released[rows].sum()), len(rows)
