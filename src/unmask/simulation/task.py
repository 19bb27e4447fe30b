"""A task is plain data with its own id and its own random stream."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

import numpy as np


class Part(StrEnum):
    """Whose releases: the attacker's own, or those under attack."""

    SHADOW = "shadow"
    TEST = "test"
    RAW = "raw"  # the real table itself, published: what there is to lose
    RUN = "run"  # of the coin game: about everybody at once


@dataclass(frozen=True)
class Task:
    """One release to draw. `target` is set where each target is played alone."""

    part: Part
    index: int
    target: int | None = None

    @property
    def id(self) -> str:
        about = "" if self.target is None else f"-target{self.target:04d}"
        return f"{self.part}{about}-{self.index:06d}"


def stream(seed: int, *words: str) -> np.random.Generator:
    """The random stream of a task: it depends on the seed and the task alone, so more tasks change no other."""
    digest = hashlib.sha256("\x1f".join(words).encode()).digest()
    return np.random.default_rng(np.random.SeedSequence([seed, int.from_bytes(digest[:16], "little")]))


def tasks_for(shadows: int, tests: int, targets: int, *, isolate: bool) -> tuple[Task, ...]:
    """All releases of an audit: for every target alone where targets are isolated."""
    about: list[int | None] = list(range(targets)) if isolate else [None]
    return tuple(
        Task(part, index, target)
        for part, count in ((Part.SHADOW, shadows), (Part.TEST, tests))
        for target in about
        for index in range(count)
    )
