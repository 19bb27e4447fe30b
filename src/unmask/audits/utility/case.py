"""What the parts of a look at utility share: the release, the plan, and what was learnt from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unmask.audits.part import Part
from unmask.audits.release.tables import Release
from unmask.audits.utility.plan import UtilityPlan
from unmask.errors import InputError
from unmask.results.grid import Cell, Grid, GridKind, Role, Section
from unmask.results.result import NotTested
from unmask.simulation.executors import Progress, no_progress
from unmask.stats.results import Estimate
from unmask.stream import stream
from unmask.utility.comparison import Gaps
from unmask.utility.prediction import Taught, TrainAndTest

MOST_COLUMNS = 40  # that are compared pair by pair
UNLABELLED = NotTested(
    "prediction",
    "no column to predict was named, and the schema has no secret",
    "name one with --label (unmask utility) or --secret (unmask audit --utility)",
)


@dataclass(frozen=True, eq=False)
class UtilityCase:
    """A release whose use is measured."""

    release: Release
    plan: UtilityPlan
    progress: Progress = no_progress  # of the models that are trained
    in_full: bool = True  # with all pictures

    def rng(self, *words: str) -> np.random.Generator:
        """The random stream of a step."""
        return stream(self.plan.seed, "utility", *words)

    @property
    def positions(self) -> tuple[int, ...]:
        """Columns that are compared pair by pair."""
        return tuple(range(min(MOST_COLUMNS, len(self.release.schema.columns))))

    @property
    def label(self) -> str | None:
        """The column to predict."""
        return self.plan.label or next(iter(self.release.schema.secrets), None)

    @cached_property
    def taught(self) -> Taught | NotTested:
        """What models learn from the release, once for all parts."""
        release, plan = self.release, self.plan
        if self.label is None:
            return UNLABELLED
        if len(release.schema.columns) < 2:
            return NotTested("prediction", "there is no other column to predict from", "give tables with more columns")
        asked = TrainAndTest(self.label, plan.repeats, plan.train_rows, confidence=plan.confidence)
        try:
            return asked.run(
                release.real, release.sets, holdout=release.holdout, progress=self.progress, rng=self.rng("prediction")
            )
        except InputError as problem:
            return NotTested("prediction", str(problem).rstrip("."), "give larger tables, or another --label")


@dataclass(frozen=True, eq=False)
class UtilityPart(Part):
    """What a part contributes, and its lines of the overview."""

    overview: tuple[tuple[Cell, ...], ...] = ()


@dataclass(frozen=True)
class UtilityMeasure:
    """A part of the look: its name, and what it does."""

    name: str
    run: Callable[[UtilityCase], Part]


def kept(gaps: Gaps) -> tuple[Estimate, float]:
    """One less the mean gap (1 = as in the real table), and the same of a fresh sample of real people."""
    mean = gaps.mean
    interval = 1 - mean.high, min(1.0, 1 - mean.low)
    return replace(mean, value=1 - mean.value, interval=interval), 1 - gaps.mean_noise


def line(what: str, estimate: Estimate, fresh: float | None) -> tuple[Cell, ...]:
    """A line of the overview."""
    return what, *three(estimate), None if fresh is None else rounded(fresh), estimate.n, estimate.method


def three(estimate: Estimate, digits: int = 4) -> tuple[float | None, float | None, float | None]:
    """A value with its interval."""
    return rounded(estimate.value, digits), rounded(estimate.low, digits), rounded(estimate.high, digits)


def rounded(value: float, digits: int = 4) -> float | None:
    """For a table; what is no number is left out."""
    return round(float(value), digits) if math.isfinite(value) else None


def significant(value: float) -> float | None:
    """Three digits: an aggregate, and never one person's own value."""
    return float(f"{value:.3g}") if math.isfinite(value) else None


def table(name: str, title: str, heads: tuple[str, ...], rows: list[tuple[Cell, ...]], **more: object) -> Grid:
    """A table of the utility section."""
    return Grid(name, title, heads, tuple(rows), Section.UTILITY, **more)  # type: ignore[arg-type]


def heat(name: str, title: str, names: list[str], matrix: np.ndarray) -> Grid:
    """A matrix of pairs of columns."""
    rows = [(each, *(rounded(value, 3) for value in line)) for each, line in zip(names, matrix, strict=True)]
    return table(name, title, ("column", *names), rows, kind=GridKind.HEAT, detail=True)


DRAWN = (Role.ESTIMATE, Role.LOW, Role.HIGH, Role.CLAIM)
