"""A task is plain data with its own id; a setting plays it; what comes of it is arrays, or a recorded failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import numpy as np

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Failed:
    """A task whose generator failed: recorded with the reason, counted in the result, never dropped."""

    message: str


class Setting(Protocol):
    """All that a worker needs for any task of one kind: importable, so that it pickles, and sent to each worker once."""

    def play(self, task: Any) -> Arrays:
        """What comes of a task. Its random stream depends on the seed and the task alone."""
        ...


class Whose(StrEnum):
    """Whose releases: the attacker's own, or those under attack."""

    SHADOW = "shadow"
    TEST = "test"
    RAW = "raw"  # the real table itself, published: what there is to lose
    RUN = "run"  # of the coin game: about everybody at once


@dataclass(frozen=True)
class Task:
    """One release to draw. `target` is set where each target is played alone."""

    whose: Whose
    index: int
    target: int | None = None

    @property
    def id(self) -> str:
        about = "" if self.target is None else f"-target{self.target:04d}"
        return f"{self.whose}{about}-{self.index:06d}"


def tasks_for(shadows: int, tests: int, targets: int, *, isolate: bool) -> tuple[Task, ...]:
    """All releases of an audit: for every target alone where targets are isolated."""
    about: list[int | None] = list(range(targets)) if isolate else [None]
    return tuple(
        Task(whose, index, target)
        for whose, count in ((Whose.SHADOW, shadows), (Whose.TEST, tests))
        for target in about
        for index in range(count)
    )
