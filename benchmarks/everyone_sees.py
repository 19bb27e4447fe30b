"""What the audit of everyone sees: pooled AUC and listed people on Adult, seed by seed, beside the coins of other runs.

    python -m benchmarks.everyone_sees [GENERATOR ...] [--seeds N]

2,000 people drawn with `default_rng(1)`, 64 runs of 1,000 synthetic rows; docs/explanation/everyone.md has the results.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from unmask import datasets, generators
from unmask.audits.everyone.audit import EveryoneAudit
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.runner import Runner
from unmask.tables.table import Table

BARS = {"cart": 0.85, "copula": 0.81, "bayesnet": 0.70}
PRIVATE = ("privbayes:epsilon=1", "mst:epsilon=1")  # nobody is to be listed
SEEDS = 5


def people() -> Table:
    """2,000 people of Adult."""
    adult = datasets.adult()
    return adult.take(np.random.default_rng(1).choice(len(adult), 2000, replace=False))


def seen(generator: str, real: Table, seed: int) -> tuple[float, int, int, float]:
    """AUC, people listed, people listed with the coins of other runs, CPU seconds."""
    start = time.process_time()
    plan = EveryonePlan(generator=generator, runs=64, synthetic_rows=1000, seed=seed)
    result = EveryoneAudit(plan, generators.parse(generator), real).run(Runner())
    grids = {grid.name: grid for grid in result.grids}
    listed, other = (int(row[1]) for row in grids["controls"].rows[:2])
    return float(grids["attacks"].rows[0][1]), listed, other, time.process_time() - start


def main(asked: tuple[str, ...] = (*BARS, *PRIVATE), seeds: int = SEEDS) -> None:
    """Print a line per audit, and the mean against its bar."""
    real = people()
    for generator in asked:
        areas = []
        for seed in range(seeds):
            area, listed, other, seconds = seen(generator, real, seed)
            areas.append(area)
            figures = f"AUC {area:.4f}, listed {listed:,}, coins of other runs {other}, {seconds:.1f} s"
            print(f"  {generator}, seed {seed}: {figures}", flush=True)
        bar = BARS.get(generator)
        verdict = "" if bar is None else f" ({'met' if np.mean(areas) >= bar else 'MISSED'}: at least {bar})"
        print(f"  {generator}: mean AUC {np.mean(areas):.4f}{verdict}", flush=True)


if __name__ == "__main__":
    given = sys.argv[1:]
    count = int(given.pop(given.index("--seeds") + 1)) if "--seeds" in given else SEEDS
    main(tuple(name for name in given if name != "--seeds") or (*BARS, *PRIVATE), count)
