"""The rounds of the attacker: synthetic rows worth asking about, a few rounds per task, so that a killed run continues."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.attacks.reconstruction.sample import candidates
from unmask.generators._generator import Generator, Model
from unmask.metrics.filters import Filter
from unmask.simulation.provider import Provider
from unmask.simulation.task import Arrays, Task, Whose
from unmask.stream import stream
from unmask.tables.regions import Region
from unmask.tables.table import Table
from unmask.threats.oracle import Rules

PER_TASK = 10  # rounds


@dataclass(frozen=True, eq=False)
class Deployment:
    """What the provider does before anybody asks: a split, a fit, and filters."""

    seed: int
    generator: Generator
    train: Table
    holdout: Table
    filters: tuple[Filter, ...]

    @cached_property
    def model(self) -> Model:
        """The fitted generator: the same wherever it is fitted."""
        return self.generator.fit(self.train, stream(self.seed, "fit"))

    def provider(self, rules: Rules | None = None, filters: tuple[Filter, ...] | None = None) -> Provider:
        """An oracle that was not asked yet."""
        rng = stream(self.seed, "noise")
        filters = self.filters if filters is None else filters
        return Provider(self.model, self.train, self.holdout, rng, rules=rules, filters=filters)


@dataclass(frozen=True, eq=False)
class RoundsSetting:
    """All that a worker needs for some rounds."""

    deployment: Deployment
    rows: int
    region: Region | None

    def play(self, task: Task) -> Arrays:
        """Rows of these rounds in the region, with their rounds."""
        first = task.index * PER_TASK
        streams = (stream(self.deployment.seed, "round", str(first + each)) for each in range(PER_TASK))
        codes, rounds = candidates(self.deployment.provider(), self.rows, streams, self.region)
        return {"codes": codes, "rounds": rounds + first}


def round_tasks(rounds: int) -> tuple[Task, ...]:
    """Tasks that hold so many rounds; the last may hold more than are used."""
    return tuple(Task(Whose.RUN, index) for index in range(-(-rounds // PER_TASK)))


def used(outcome: Arrays, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and rounds of a task, without rounds that were not asked for."""
    kept = outcome["rounds"] < rounds
    return outcome["codes"][kept], outcome["rounds"][kept]
