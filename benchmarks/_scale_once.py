"""One audit of `benchmarks/scale.py` in a process of its own, so that its peak of memory is its own: prints JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from unmask.audits.release.audit import ReleaseAudit
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.runner import Runner


def main(folder: Path, budget: float | None) -> None:
    """Audit real.csv, synthetic.csv and holdout.csv of a folder."""
    began = time.perf_counter()
    runner = Runner.of(1, time_budget=budget)
    start = time.process_time()
    tables = {name: folder / f"{name}.csv" for name in ("real", "synthetic", "holdout")}
    audit = ReleaseAudit.of(ReleasePlan(), **tables)
    read = time.process_time()
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = audit.run(runner)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    figures = {
        "reading": read - start,
        "audit": time.process_time() - read,
        "wall": time.perf_counter() - began,
        "memory to read": held / 2**20,
        "memory": peak / 2**20,
        "visible": list(result.facts.visible),
        "left out": [f"{each.name}: {each.reason}" for each in result.not_tested],
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else None)
