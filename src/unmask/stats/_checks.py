"""Arguments that have no meaning are refused here, with what was given and what would do."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.errors import ParameterError

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.int64]


def check_share(name: str, value: float, *, closed: bool = False) -> None:
    """A number between 0 and 1, ends excluded unless `closed`."""
    inside = 0.0 <= value <= 1.0 if closed else 0.0 < value < 1.0
    if not inside:
        ends = "from 0 to 1" if closed else "between 0 and 1 (both excluded)"
        raise ParameterError(f"{name} = {value!r} has no meaning. Give a number {ends}.")


def check_delta(delta: float) -> None:
    """Delta lies in [0, 1)."""
    if not 0.0 <= delta < 1.0:
        raise ParameterError(f"delta = {delta!r} has no meaning. Give a number from 0 up to, not including, 1.")


def check_nonnegative(name: str, value: float) -> None:
    """A finite number that is not negative."""
    if not (np.isfinite(value) and value >= 0):
        raise ParameterError(f"{name} = {value!r} has no meaning. Give a finite number that is not negative.")


def check_count(name: str, count: int, total: int) -> None:
    """A whole number of cases out of a positive total."""
    if total < 1:
        raise ParameterError(f"{name}: there are {total} cases. At least one is needed.")
    if not 0 <= count <= total:
        raise ParameterError(f"{name}: {count} out of {total} cases is impossible. Give 0 to {total}.")


def as_scores(name: str, scores: ArrayLike) -> FloatArray:
    """Scores as a flat float array; infinities are allowed (a certain guess), missing scores are not."""
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ParameterError(f"{name} must be a flat, non-empty array of scores; its shape is {array.shape}.")
    if np.isnan(array).any():
        raise ParameterError(
            f"{name} has {int(np.isnan(array).sum())} missing scores (NaN). "
            "Give an attack that cannot score a target the lowest score, so that it counts as a failure."
        )
    return array


def as_probabilities(name: str, values: ArrayLike) -> FloatArray:
    """A flat array of numbers from 0 to 1."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.all((array >= 0) & (array <= 1)):
        raise ParameterError(f"{name} must be a flat array of numbers from 0 to 1.")
    return array
