"""Real records that stand verbatim in the synthetic table, more often than chance explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.errors import InputError
from unmask.stats import Estimate, clopper_pearson, difference
from unmask.stats.labels import fisher
from unmask.tables.matching import By, group_ids
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
    ids_s, ids_r, ids_h = group_ids(synthetic, real, held, by=by)
    often = np.bincount(np.concatenate([ids_r, ids_h]), minlength=ids_s.max() + 1)
    released = np.zeros(len(often), dtype=bool)
    released[ids_s] = True
    alone_r, alone_h = often[ids_r] == 1, often[ids_h] == 1
    published = alone_r & released[ids_r]
    mine, theirs = (
        _of_persons(table, alone, released[ids])
        for table, alone, ids in ((real, alone_r, ids_r), (held, alone_h, ids_h))
    )
    notes = []
    if not mine[1]:
        notes.append("Every real row has an equal one, so nobody can be recognised by a verbatim copy.")
    elif holdout is None:
        notes.append("There is no holdout, so how many copies chance explains cannot be said.")
    elif not theirs[1]:
        notes.append("Every holdout row has an equal one, so how many copies chance explains cannot be said.")
    return Copies(
        clopper_pearson(int(np.isin(ids_s, ids_r).sum()), len(ids_s), confidence=confidence),
        clopper_pearson(*mine, confidence=confidence) if mine[1] else None,
        difference(mine, theirs, confidence=confidence) if mine[1] and theirs[1] else None,
        mine,
        theirs,
        fisher(mine, theirs) if mine[1] and theirs[1] else None,
        published,
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
