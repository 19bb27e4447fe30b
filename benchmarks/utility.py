"""Utility beside sdmetrics' quality report and syntheval: CPU on the same two tables of 20,000 rows, for the same measures.

Peers run in environments of their own: UNMASK_PEERS=/path/to/venv[:/path/to/another] names them. Where one is in none, its
recorded figure stands in, scaled by the reference kernel, and the line says so.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks._timing import cpu_seconds, line, reference_seconds
from benchmarks.generators import interpreter
from unmask import datasets
from unmask.generators.bayesnet import BayesNet
from unmask.tables.read import write_csv
from unmask.tables.schema import Kind
from unmask.tables.table import Table
from unmask.utility.dependence import correlations, mutual_information, on_a_scale
from unmask.utility.marginals import marginals, subsets_of, variations
from unmask.utility.moments import quantiles
from unmask.utility.propensity import propensity

ROWS = 20_000
SHARE = 10  # ours may take at most one in so many of a peer's CPU seconds
# CPU seconds, of the reference kernel beside it, and at how many rows. Those of syntheval grow with the rows, so that
# fewer rows favour it; the kernel beside it is estimated, not of the same run.
RECORDED = {"sdmetrics": (1.22, 0.027, ROWS), "syntheval": (19.8, 0.033, 2_000)}


def tables() -> tuple[Table, Table]:
    """People of Adult without a missing value (syntheval takes no others), and a release of as many rows."""
    adult, rng = datasets.adult(), np.random.default_rng(0)
    columns = adult.schema.columns
    whole = np.all([adult.codes[:, place] < column.listed for place, column in enumerate(columns)], axis=0)
    real = adult.take(np.sort(rng.choice(np.flatnonzero(whole), ROWS, replace=False)))
    return real, BayesNet().fit(real, rng).sample(ROWS, rng)


def quality_report(real: Table, synthetic: Table) -> None:
    """What sdmetrics' report has: distance of every column (shares, quantiles), every pair (correlation, shares)."""
    every, rng = range(len(real.schema.columns)), np.random.default_rng(0)
    for size in (1, 2):
        subsets = subsets_of(every, size, rng=rng)
        variations(marginals(real, subsets), marginals(synthetic, subsets))
    for table in (real, synthetic):
        quantiles(table)
        correlations(table, on_a_scale(table))


def measures(real: Table, synthetic: Table) -> None:
    """What was asked of syntheval: distance of every column, correlations, mutual information, propensity."""
    every, rng = tuple(range(len(real.schema.columns))), np.random.default_rng(0)
    subsets = subsets_of(every, 1, rng=rng)
    variations(marginals(real, subsets), marginals(synthetic, subsets))
    for table in (real, synthetic):
        quantiles(table)
        correlations(table, on_a_scale(table))
        mutual_information(table, every)
    propensity(real, synthetic, rng=rng)


def peer_seconds(peer: str, real: Table, synthetic: Table) -> float | None:
    """CPU seconds of a peer, measured now; None if no environment has it."""
    if not (python := interpreter(peer)):
        return None
    with tempfile.TemporaryDirectory() as folder:
        files = {name: str(Path(folder, f"{name}.csv")) for name in ("real", "synthetic")}
        write_csv(real, files["real"])
        write_csv(synthetic, files["synthetic"])
        categories = [column.name for column in real.schema.columns if column.kind is Kind.CATEGORICAL]
        result = Path(folder, "result.json")
        job = {"peer": peer, "categories": categories, "result": str(result), **files}
        Path(folder, "job.json").write_text(json.dumps(job))
        script = Path(__file__).with_name("_utility_peers.py")
        done = subprocess.run(
            [python, "-I", script, Path(folder, "job.json")], capture_output=True, text=True, check=False, cwd=folder
        )
        if done.returncode:
            print(f"  {peer} failed: {done.stderr.strip().splitlines()[-1]}")
            return None
        return float(json.loads(result.read_text())["seconds"])


def main() -> None:
    """Both peers; sdmetrics takes seconds, syntheval minutes."""
    real, synthetic = tables()
    print(f"  reference kernel: {reference_seconds():.3f} s; {ROWS:,} x {len(real.schema.columns)} (Adult, bayesnet)")
    ours: dict[str, Callable[[Table, Table], None]] = {"sdmetrics": quality_report, "syntheval": measures}
    for peer, call in ours.items():
        seconds = cpu_seconds(lambda call=call: call(real, synthetic), repeat=3)
        theirs = peer_seconds(peer, real, synthetic)
        how = "measured now"
        if theirs is None:
            recorded, kernel, rows = RECORDED[peer]
            theirs, how = recorded * reference_seconds() / kernel, f"recorded at {rows:,} rows, scaled by the kernel"
        line(
            f"the measures of {peer}: {seconds:.2f} s",
            seconds,
            bar=f"{'met' if seconds <= theirs / SHARE else 'MISSED'}: at most 1/{SHARE} of it",
            against=f"{peer} takes {theirs:.2f} s, {theirs / seconds:.0f} x as long ({how})",
        )
