"""CPU of the audit of a claim: fits, attacks and bets together, on the worst-case tables."""

from __future__ import annotations

import time

from benchmarks._timing import line
from unmask.audits.epsilon.audit import audit_epsilon

RUNS = 1000


def seconds_of(generator: str, pairs: str) -> float:
    """CPU of an audit to its planned end, after a short one that compiles."""
    audit_epsilon(generator, pairs=pairs, runs=40, controls=False)
    start = time.process_time()
    audit_epsilon(generator, pairs=pairs, runs=RUNS, stop_early=False, controls=False)
    return time.process_time() - start


def main() -> None:
    """Print one line per generator; the bars of issue 6 are 4 s for PrivBayes and 16 s for MST."""
    for generator, pairs, bar in (
        ("privbayes", "worst-case", "under 4 s CPU"),
        ("privbayes", "tiny", "under 4 s CPU"),
        ("mst", "worst-case", "under 16 s CPU"),
        ("mst", "tiny", "under 16 s CPU"),
        ("histogram", "worst-case", ""),
    ):
        seconds = seconds_of(generator, pairs)
        line(f"{RUNS:,} runs, {generator}, {pairs} ({seconds:.2f} s)", seconds, bar=bar)


if __name__ == "__main__":
    main()
