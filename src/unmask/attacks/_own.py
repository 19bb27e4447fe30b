"""A pool of releases that somebody made by themselves, for attacks that learn from releases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unmask.attacks._attack import FeatureSet, ShadowAttack
from unmask.attacks._known import masked, secret_in
from unmask.errors import ParameterError
from unmask.tables.schema import Column
from unmask.tables.table import Table
from unmask.threats.pool import Pool


def pool_of(
    attacks: ShadowAttack | Sequence[ShadowAttack],
    releases: Sequence[Table],
    targets: Table,
    *,
    members: ArrayLike | None = None,
    secret: str | None = None,
    secrets: ArrayLike | None = None,
) -> Pool:
    """Releases of your own as attacks that learn from releases take them: `fit` with answers, `score` without.

    `members` (releases x targets) says who was in each; leave it out for releases that are to be attacked. With `secret`, the
    column that is to be guessed, `secrets` (releases x targets) are the values that the targets had; left out, their own.
    All tables follow one schema. Features of all given attacks are computed, once each.
    """
    chosen = [attacks] if isinstance(attacks, ShadowAttack) else list(attacks)
    if not releases or not len(targets):
        raise ParameterError("A pool needs a release and a target at least.")
    if other := [place for place, release in enumerate(releases) if release.schema.names != targets.schema.names]:
        raise ParameterError(f"Release {other[0]} has other columns than the targets. Read all tables with one schema.")
    shape = (len(releases), len(targets))
    sought = None if secret is None else secret_in(targets, secret)
    hidden = masked(targets, sought)
    features: dict[str, FeatureSet] = {feature.key: feature for each in chosen for feature in each.features}
    arrays = {
        key: np.stack([np.asarray(feature.compute(release, hidden), dtype=np.float64) for release in releases])
        for key, feature in features.items()
    }
    answers = None
    if members is not None:
        had = np.zeros(shape) if sought is None else _secrets(targets, sought.position, secrets, shape)
        answers = (_shaped("members", members, shape).astype(bool), had)
    return Pool(hidden, arrays, answers=answers, levels=0 if sought is None else sought.levels)


def _secrets(targets: Table, position: int, given: ArrayLike | None, shape: tuple[int, int]) -> np.ndarray:
    """Codes of categories, numbers as they are."""
    column = targets.schema.columns[position]
    if given is None:
        own = targets.codes[:, position]
        if column.is_numeric:
            own = targets.numbers[:, targets.schema.numeric.index(position)]
        return np.broadcast_to(own.astype(np.float64), shape)
    values = _shaped("secrets", given, shape)
    return values.astype(np.float64) if column.is_numeric else _codes(column, values)


def _codes(column: Column, values: np.ndarray) -> np.ndarray:
    code_of = {str(value): code for code, value in enumerate(column.values)}
    if unknown := sorted({str(value) for value in values.ravel()} - set(code_of)):
        raise ParameterError(f"secrets: '{unknown[0]}' is no value of '{column.name}' that the schema lists.")
    return np.array([[code_of[str(value)] for value in row] for row in values], dtype=np.float64)


def _shaped(name: str, given: ArrayLike, shape: tuple[int, int]) -> np.ndarray:
    found = np.asarray(given)
    if found.shape != shape:
        raise ParameterError(
            f"{name} has the shape {found.shape}; it needs a row per release and a column per target: {shape}."
        )
    return found
