"""ReconSyn as users run it (`unmask.reconstruct`): CPU seconds on the settings of ganev2023, beside the reference kernel.

The authors ran every setting in less than 24 hours on 16 CPUs and give no other time, so the ratio to it is a limit and no
measurement of a peer. Census needs its file: UNMASK_DATA names the folder of the data sets.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import unmask
from benchmarks._timing import line, reference_seconds
from unmask.datasets import challenge

GENERATOR = "bayesnet:degree=2"
AUTHORS = 24 * 3600 * 16  # CPU seconds, at most


@dataclass(frozen=True)
class Job:
    """A setting of the paper, how it is attacked, and the CPU seconds that it may take."""

    data: str
    most: float
    rounds: int
    search: str
    distance: int | None
    goal: str = "outliers"
    needs: str | None = None  # a folder of UNMASK_DATA


JOBS = (
    Job("adult-small", 10, 1000, "guided", None),
    Job("adult", 60, 1000, "paper", 4),
    Job("adult", 15, 1000, "guided", 4),
    Job("digits", 120, 500, "guided", None, "any"),
    Job("census", 120, 5000, "guided", 10, needs="census_kdd"),
)


def played(job: Job, folder: Path | None) -> tuple[float, float]:
    """CPU seconds, data read before, and the share of the wanted records that was rebuilt."""
    made = challenge(job.data, seed=1, path=folder)
    start = time.process_time()
    result = unmask.reconstruct(
        GENERATOR, made.train, holdout=made.holdout, rounds=job.rounds, search=job.search, distance=job.distance,
        goal=job.goal, locator="shared", clusters=made.clusters, mitigations=False, workers=1, seed=1,
    )  # fmt: skip
    cost = next(grid for grid in result.grids if grid.name == "cost")
    return time.process_time() - start, float(cost.rows[-1][2])


def main() -> None:
    """A line per setting. The first run compiles and is not counted."""
    print(f"  reference kernel: {reference_seconds() * 1e3:.1f} ms")
    played(Job("adult-small", 0, 5, "guided", None), None)
    played(Job("adult-small", 0, 5, "paper", 1), None)
    data = os.environ.get("UNMASK_DATA")
    for job in JOBS:
        name = f"{job.data}, {job.rounds} rounds, {job.search} search"
        if job.needs and not data:
            print(f"  {name:<58} left out: UNMASK_DATA is not set")
            continue
        seconds, share = played(job, Path(data) / job.needs if job.needs and data else None)
        bar = f"{'met' if seconds <= job.most else 'MISSED'}: at most {job.most:g} s"
        line(
            f"{name}: {seconds:.1f} s, {share:.2f} rebuilt",
            seconds,
            bar=bar,
            against=f"less than the authors' limit / {AUTHORS / seconds:.0f}",
        )


if __name__ == "__main__":
    main()
