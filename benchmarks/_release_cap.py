"""CAP, RNNR and rank linkage: CPU beside sdmetrics, and how cost grows with the rows. Called by `release`.

sdmetrics runs in an environment of its own: UNMASK_PEERS=/path/to/venv names it; without one, the figure of PEERS.md stands in.
It is timed at the full size, about a minute: its cost per row grows with the matches of each key (.9 ms at 1,000 rows, 2.9 at
20,000), so fewer rows cannot be scaled up.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._timing import cpu_seconds, line
from unmask import datasets
from unmask.metrics.attribute_scenario import attribute_scenario
from unmask.metrics.cap import cap, matches
from unmask.metrics.cap_continuous import Neighbourhood, predict
from unmask.metrics.rank_linkage import links
from unmask.tables.distance import RankCriterion
from unmask.tables.table import Table

KEYS = ["sex", "race", "marital-status", "relationship", "workclass", "education"]
SECRETS = ["occupation", "income"]
ROWS = 20_000
PEER_SECONDS = 56.0  # PEERS.md: sdmetrics, 20,000 rows

PEER = """
import sys, time, warnings
import pandas as pd
warnings.simplefilter("ignore")
from sdmetrics.single_table import CategoricalCAP
real, synthetic = (pd.read_csv(path, keep_default_na=False, dtype=object) for path in sys.argv[1:3])
keys, secrets = (names.split(",") for names in sys.argv[3:5])
columns = {"columns": {name: {"sdtype": "categorical"} for name in real}}
start = time.process_time()
score = CategoricalCAP.compute(real, synthetic, columns, key_fields=keys, sensitive_fields=secrets)
print(time.process_time() - start, 1 - score)
"""


def pair(rows: int) -> tuple[Table, Table]:
    """Two tables from disjoint halves of Adult, so that nobody is in both; with repeats beyond 24,421 rows."""
    table, rng = datasets.adult(), np.random.default_rng(1)
    order, half = rng.permutation(len(table)), len(table) // 2
    parts = order[:half], order[half : 2 * half]
    first, second = (rng.choice(part, rows, replace=rows > half) for part in parts)
    return table.take(first), table.take(second)


def peer(real: Table, synthetic: Table) -> tuple[float, float] | None:
    """CPU seconds and CAP of sdmetrics, or None if no environment has it."""
    for folder in filter(None, os.environ.get("UNMASK_PEERS", "").split(os.pathsep)):
        python = Path(folder, "bin", "python")
        if (
            not python.exists()
            or subprocess.run([python, "-c", "import sdmetrics"], check=False, capture_output=True).returncode
        ):
            continue
        with tempfile.TemporaryDirectory() as place:
            files = [str(Path(place, name)) for name in ("real.csv", "synthetic.csv")]
            for table, file in zip((real, synthetic), files, strict=True):
                frame = table.select(KEYS + SECRETS).to_pandas().astype(object)
                frame.where(frame.notna(), "?").to_csv(file, index=False)
            command = [python, "-c", PEER, *files, ",".join(KEYS), ",".join(SECRETS)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, value = map(float, done.stdout.split())
        return seconds, value
    return None


def against_sdmetrics() -> None:
    """CAP at 20,000 rows; the values must agree where the peer is there."""
    real, synthetic = pair(ROWS)
    theirs, how = PEER_SECONDS, "PEERS.md"
    if found := peer(real, synthetic):
        ours = cap(real, synthetic, keys=KEYS, secrets=SECRETS, generalised=False).measure("CAP").real
        if ours is None or abs(ours.value - found[1]) > 1e-12:
            raise SystemExit(f"CAP differs from sdmetrics: {ours} against {found[1]}")
        theirs, how = found[0], "sdmetrics in this run, same value"
    alone = cpu_seconds(lambda: matches(real, synthetic, keys=KEYS, secrets=SECRETS))
    whole = cpu_seconds(lambda: cap(real, synthetic, keys=KEYS, secrets=SECRETS, holdout=synthetic, generalised=False))
    for what, seconds in (("CAP per record", alone), ("CAP family, original and holdout, intervals", whole)):
        ratio = theirs / seconds
        verdict = "met" if ratio >= 500 else "MISSED"
        line(
            f"{what}, {ROWS:,} rows: {seconds:.3f} s",
            seconds,
            bar=f"{verdict}: at most 1/500",
            against=f"1/{ratio:,.0f} of {theirs:.0f} s ({how})",
        )


def curve(what: str, sizes: list[int], seconds: list[float]) -> None:
    """One line: the times, and the exponent of the last doubling."""
    exponent = np.log(seconds[-1] / seconds[-2]) / np.log(sizes[-1] / sizes[-2])
    shown = ", ".join(f"{size // 1000}k {one:.3g}" for size, one in zip(sizes, seconds, strict=True))
    print(f"  {what:<52} CPU s: {shown}   exponent {exponent:.2f}")


def main() -> None:
    """Print everything; about three minutes with sdmetrics."""
    against_sdmetrics()
    sizes = [1_000, 5_000, 20_000, 100_000]
    tables = {rows: pair(rows) for rows in (*sizes, 40_000)}
    rng = np.random.default_rng(0)
    curve(
        "CAP family without GCAP, with control",
        sizes,
        [
            cpu_seconds(lambda p=both: cap(*p, keys=KEYS, secrets=SECRETS, holdout=p[1], generalised=False), repeat=2)
            for both in (tables[rows] for rows in sizes)
        ],
    )
    fine = [*KEYS, "age", "hours-per-week", "occupation"]
    few = sizes[:3]
    lost = (matches(*tables[few[-1]], keys=fine, secrets=["income"]).found == 0).mean()
    curve(
        f"GCAP per record, 9 keys, {lost:.0%} unmatched at 20k",
        few,
        [
            cpu_seconds(lambda p=tables[rows]: matches(*p, keys=fine, secrets=["income"], generalised=True), repeat=1)
            for rows in few
        ],
    )
    curve(
        "RNNR, one key of 3 columns, most distinct",
        few,
        [
            cpu_seconds(
                lambda p=tables[rows]: predict(*p, keys=["age", "fnlwgt", "sex"], secret="hours-per-week"), repeat=1
            )
            for rows in few
        ],
    )
    near = Neighbourhood(radius=0.1)
    curve(
        "RNNR, the same key, radius .1",
        few,
        [
            cpu_seconds(
                lambda p=tables[rows]: predict(*p, keys=["age", "fnlwgt", "sex"], secret="hours-per-week", how=near),
                repeat=1,
            )
            for rows in few
        ],
    )
    most = [1_000, 5_000, 20_000, 40_000]
    curve(
        f"rank linkage, 15 columns, {RankCriterion.SUM}",
        most,
        [cpu_seconds(lambda n=rows: [0 for _ in links(*tables[n])], repeat=1) for rows in most],
    )
    for criterion in (RankCriterion.MAX, RankCriterion.EUCLID, RankCriterion.MIN):
        asked = few[:2] if criterion is RankCriterion.MIN else most
        curve(
            f"rank linkage, 15 columns, {criterion}",
            asked,
            [
                cpu_seconds(lambda n=rows, c=criterion: [0 for _ in links(*tables[n], criterion=c)], repeat=1)
                for rows in asked
            ],
        )
    curve(
        "attribute scenario, one attribute, one set, sum",
        few,
        [
            cpu_seconds(lambda p=tables[rows]: attribute_scenario(p[0], [p[1]], attribute="income", rng=rng), repeat=1)
            for rows in few
        ],
    )
