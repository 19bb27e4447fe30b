"""The release audit's metrics beside peers: anonymeter, sdmetrics, mostlyai-qa and syntheval.

Each part has a function of its own; `main` runs them all. One thread. Peers run in environments of their own, which
UNMASK_PEERS=/path/to/venv[:/path/to/another] names; where one is in none, its recorded figure stands in and the line says so.
Recorded seconds come from another machine, so a bar that is met by a small factor wants a run side by side.
"""

from __future__ import annotations

import numpy as np

from benchmarks import _release_cap, _release_legal
from benchmarks._peer import peer_seconds
from benchmarks._timing import cpu_seconds, line
from benchmarks.distance import people
from unmask.metrics.copies import copies
from unmask.metrics.similarity import Distance, Similarity

ROWS = 20_000
FEWER = 5_000  # rows for syntheval, whose memory grows with rows x rows
# CPU seconds of peers, recorded before, and at how many rows; the bar: ours takes at most one in so many
RECORDED = {"mostlyai": (14.1, ROWS, 8), "syntheval": (8.4, FEWER, 80)}
CURVE = (1_000, 3_000, 10_000, 30_000, 100_000)


def similarity() -> None:
    """DCR, NNDR and IMS of synthetic and holdout rows, with the share, its test and the curves."""
    real, synthetic, holdout = (people(ROWS, seed) for seed in (1, 2, 3))

    def run(distance: Distance, rows: int = ROWS) -> None:
        parts = [table.take(range(rows)) for table in (real, synthetic, holdout)]
        Similarity(distance=distance).compare(parts[0], parts[1], holdout=parts[2], rng=np.random.default_rng(0))

    for peer, (recorded, rows, times) in RECORDED.items():
        seconds = cpu_seconds(lambda n=rows: run(Distance.HAMMING, n), repeat=3)
        tables = {"real": real, "synthetic": synthetic, "holdout": holdout}
        found = peer_seconds(peer, tables, rows=rows).get("distances")
        theirs, how = (recorded, "recorded") if found is None else (found, "measured now")
        line(
            f"IMS + DCR + NNDR + share, {rows:,} x 3: {seconds:.2f} s",
            seconds,
            bar=f"{'met' if seconds <= theirs / times else 'MISSED'}: at most 1/{times} of {theirs:.3g} s",
            against=f"{peer}: {theirs / seconds:.0f} x ({how})",
        )
    for distance in (Distance.GOWER, Distance.EUCLID):
        seconds = cpu_seconds(lambda d=distance: run(d), repeat=1)
        line(f"the same with {distance}: {seconds:.2f} s", seconds)
    seconds = cpu_seconds(lambda: copies(real, synthetic, holdout=holdout), repeat=3)
    line(f"verbatim copies of unique rows: {seconds:.3f} s", seconds)


def similarity_curve() -> None:
    """How the cost grows with the rows: near 2, since every pair is looked at."""
    times = []
    for rows in CURVE:
        tables = [people(rows, seed) for seed in (1, 2, 3)]

        def run(real=tables[0], synthetic=tables[1], holdout=tables[2]) -> None:  # type: ignore[no-untyped-def]
            Similarity().compare(real, synthetic, holdout=holdout, rng=np.random.default_rng(0))

        times.append(cpu_seconds(run, repeat=1 if rows > 20_000 else 3))
        line(f"IMS + DCR + NNDR + share, {rows:,} rows: {times[-1]:.3f} s", times[-1])
    for low in range(len(CURVE) - 1):
        exponent = np.log(times[low + 1] / times[low]) / np.log(CURVE[low + 1] / CURVE[low])
        print(f"  exponent from {CURVE[low]:,} to {CURVE[low + 1]:,} rows: {exponent:.2f}")


def main() -> None:
    """Print everything; about three minutes, and some more with peers."""
    similarity()
    similarity_curve()
    _release_cap.main()
    _release_legal.main()
