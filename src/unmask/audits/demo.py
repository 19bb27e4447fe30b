"""The demonstration: one table, a leaky and a careful release of it, and what the audit says about each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unmask import generators
from unmask.audits.plan import Plan, takes
from unmask.audits.release.audit import ReleaseAudit
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.runner import Runner
from unmask.datasets import adult
from unmask.results.grid import Cell, Grid, Section
from unmask.results.result import Finding, Result
from unmask.simulation.executors import Executor, Progress, no_progress
from unmask.stream import stream
from unmask.tables.table import Table

PEOPLE = 8000
LEAKY, CAREFUL = "cart", "privbayes:epsilon=1"


@takes(Plan)
def demo(*, workers: int | Executor | None = None, progress: Progress = no_progress, **choices: Any) -> Result:
    """Split people of Adult in two, publish one half through two generators, and audit both releases.

    The findings are those of the leaky release; the careful one stands beside it in the first table.
    """
    return Demonstration(Plan.of(choices)).run(Runner.of(workers, progress=progress))


@dataclass(frozen=True)
class Demonstration:
    """A plan; the tables are made on the way."""

    plan: Plan

    @classmethod
    def of(cls, plan: Plan) -> Demonstration:
        """There is nothing to read."""
        return cls(plan)

    @property
    def release_plan(self) -> ReleasePlan:
        return ReleasePlan(seed=self.plan.seed, policy=self.plan.policy)

    def expected(self) -> Result:
        known = self.release_plan.expected("demo", (), growing=("inputs",))  # the tables are made on the way
        return replace(known, plan={**known.plan, "people": PEOPLE, "leaky": LEAKY, "careful": CAREFUL})

    def run(self, runner: Runner) -> Result:
        people, seed = adult(), self.plan.seed
        people = people.take(np.sort(stream(seed, "people").choice(len(people), PEOPLE, replace=False)))
        real, holdout = people.split(0.5, seed=seed)
        leaky, careful = (
            self._audited(name, real, holdout, runner, half) for half, name in enumerate((LEAKY, CAREFUL))
        )
        return replace(
            leaky,
            audit="demo",
            plan=self.expected().plan,
            findings=tuple(replace(finding, title=f"{LEAKY}: {finding.title}") for finding in leaky.findings),
            grids=(_side_by_side(leaky, careful), *leaky.grids),
            notes=(
                f"The tables and findings below are about the release made by {LEAKY}; "
                f"the first table shows {CAREFUL} beside it.",
                f"The worst finding about {CAREFUL}: {careful.severity}.",
                *leaky.notes,
            ),
        )

    def _audited(self, name: str, real: Table, holdout: Table, runner: Runner, half: int) -> Result:
        rng = stream(self.plan.seed, "release", name)
        synthetic = generators.parse(name).fit(real, rng).sample(len(real), rng)

        def told(done: int, total: int) -> None:
            runner.progress(half * total + done, 2 * total)

        audit = ReleaseAudit.of(self.release_plan, real=real, synthetic=synthetic, holdout=holdout)
        return audit.run(replace(runner, progress=told))


def _side_by_side(leaky: Result, careful: Result) -> Grid:
    beside = {finding.name: finding for finding in careful.findings}
    rows: list[tuple[Cell, ...]] = []
    for finding in leaky.findings:
        rows.append((finding.name, *_told(finding), *_told(beside.get(finding.name))))
    heads = ("attack", LEAKY, "severity", CAREFUL.partition(":")[0], "severity ")
    title = f"What each attack gains over its control: {LEAKY} against {CAREFUL}"
    return Grid("demo", title, heads, tuple(rows), Section.ATTACKS)


def _told(finding: Finding | None) -> tuple[Cell, Cell]:
    if finding is None:
        return None, None
    figure = finding.estimate
    return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})", str(finding.severity)
