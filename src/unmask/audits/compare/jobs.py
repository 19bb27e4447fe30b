"""A piece of work of a comparison: the tasks of one part for one mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unmask.simulation.task import Task


@dataclass(frozen=True, eq=False)
class Job:
    """Tasks of one kind for one mechanism."""

    part: str
    name: str
    setting: Any  # a Setting of this part
    tasks: tuple[Task, ...]
