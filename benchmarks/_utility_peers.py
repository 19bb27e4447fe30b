"""A peer's utility measures on two tables, timed: runs in the peer's own environment, so it imports nothing of unmask.

    python _utility_peers.py job.json

The job names the peer, the two files, the columns that are categories, and the file to write to. CPU seconds are those of all
processes and threads, without imports and reading; the least of two runs counts.
"""

from __future__ import annotations

import json
import os
import sys

import pandas as pd

SLOW = 60.0  # a run this long is not repeated


def sdmetrics(real: pd.DataFrame, synthetic: pd.DataFrame, categories: list[str]) -> None:
    """The quality report: the shape of every column, the trend of every pair."""
    from sdmetrics.reports.single_table.quality_report import QualityReport

    kinds = {name: {"sdtype": "categorical" if name in categories else "numerical"} for name in real}
    QualityReport().generate(real, synthetic, {"columns": kinds}, verbose=False)


def syntheval(real: pd.DataFrame, synthetic: pd.DataFrame, categories: list[str]) -> None:
    """Its measures that we have too: distance of columns, correlations, mutual information, propensity."""
    from syntheval import SynthEval

    measures = {"ks_test": {}, "h_dist": {}, "corr_diff": {}, "mi_diff": {}, "p_mse": {}}
    SynthEval(real, cat_cols=categories, verbose=False).evaluate(synthetic, **measures)


PEERS = {"sdmetrics": sdmetrics, "syntheval": syntheval}


def cpu() -> float:
    """CPU seconds of this process and of its finished children."""
    return sum(os.times()[:4])


def main() -> None:
    """Run the job."""
    with open(sys.argv[1]) as file:
        job = json.load(file)
    real, synthetic = (pd.read_csv(job[name]) for name in ("real", "synthetic"))
    times: list[float] = []
    while len(times) < 2 and not (times and times[0] > SLOW):
        start = cpu()
        PEERS[job["peer"]](real.copy(), synthetic.copy(), job["categories"])
        times.append(cpu() - start)
    with open(job["result"], "w") as file:
        json.dump({"seconds": min(times), "runs": len(times)}, file)


if __name__ == "__main__":
    main()
