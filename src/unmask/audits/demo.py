"""The demonstration: one table, a leaky and a careful release of it, and what the audit says about each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from unmask import generators
from unmask.audits.release.audit import audit
from unmask.audits.release.plan import ReleasePlan
from unmask.results.grid import Cell, Grid
from unmask.results.result import Finding, Result
from unmask.datasets import adult
from unmask.stream import stream

PEOPLE = 8000
LEAKY, CAREFUL = "cart", "privbayes:epsilon=1"


def demo(*, seed: int = 0, workers: int = 1, progress: Callable[[int, int], None] = lambda done, total: None) -> Result:
    """Split people of Adult in two, publish one half through two generators, and audit both releases.

    The findings are those of the leaky release; the careful one stands beside it in the first table.
    """
    people = adult()
    people = people.take(np.sort(stream(seed, "people").choice(len(people), PEOPLE, replace=False)))
    real, holdout = people.split(0.5, seed=seed)

    def audited(name: str, before: int) -> Result:
        rng = stream(seed, "release", name)
        synthetic = generators.parse(name).fit(real, rng).sample(len(real), rng)

        def told(done: int, total: int) -> None:
            progress(before * total + done, 2 * total)

        return audit(real, synthetic, holdout=holdout, seed=seed, workers=workers, progress=told)

    leaky, careful = audited(LEAKY, 0), audited(CAREFUL, 1)
    return replace(
        leaky,
        audit="demo",
        plan=expected(seed).plan,
        findings=tuple(replace(finding, title=f"{LEAKY}: {finding.title}") for finding in leaky.findings),
        grids=(_side_by_side(leaky, careful), *leaky.grids),
        notes=(
            f"The tables and findings below are about the release made by {LEAKY}; the first table shows {CAREFUL} beside it.",
            f"The worst finding about {CAREFUL}: {careful.severity}.",
            *leaky.notes,
        ),
    )


def expected(seed: int) -> Result:
    """What is known of the result before the work begins."""
    plan = {**ReleasePlan(seed=seed).to_plain(), "people": PEOPLE, "leaky": LEAKY, "careful": CAREFUL}
    return Result(audit="demo", seed=seed, plan=plan, inputs=())


def _side_by_side(leaky: Result, careful: Result) -> Grid:
    beside = {finding.name: finding for finding in careful.findings}
    rows: list[tuple[Cell, ...]] = []
    for finding in leaky.findings:
        rows.append((finding.name, *_told(finding), *_told(beside.get(finding.name))))
    heads = ("attack", LEAKY, "severity", CAREFUL.partition(":")[0], "severity ")
    return Grid("demo", f"What each attack gains over its control: {LEAKY} against {CAREFUL}", heads, tuple(rows))


def _told(finding: Finding | None) -> tuple[Cell, Cell]:
    if finding is None:
        return None, None
    figure = finding.estimate
    return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})", str(finding.severity)
