"""CAP, RNNR and rank linkage: CPU beside sdmetrics, and how cost grows with the rows. Called by `release`.

sdmetrics runs in an environment of its own: UNMASK_PEERS=/path/to/venv names it. Its CAP is linear in the rows (one pandas
look-up for each), so it is timed on fewer rows and scaled; without it, the figure of PEERS.md stands in.
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
from unmask.metrics.cap_continuous import predict
from unmask.metrics.rank_linkage import links
from unmask.tables.distance import Criterion
from unmask.tables.table import Table

KEYS = ["sex", "race", "marital-status", "relationship", "workclass", "education"]
SECRETS = ["occupation", "income"]
ROWS, PEER_ROWS = 20_000, 2_000
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


def people(rows: int, seed: int) -> Table:
    """Random people of Adult, with replacement beyond its 48,842; missing values are the text "?"."""
    table = datasets.adult()
    rng = np.random.default_rng(seed)
    return table.take(rng.choice(len(table), rows, replace=rows > len(table)))


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
    real, synthetic = people(ROWS, 1), people(ROWS, 2)
    few = people(PEER_ROWS, 1), people(PEER_ROWS, 2)
    theirs, how = PEER_SECONDS, "PEERS.md"
    if found := peer(*few):
        ours = cap(*few, keys=KEYS, secrets=SECRETS, generalised=False).measure("CAP").real
        if ours is None or abs(ours.value - found[1]) > 1e-12:
            raise SystemExit(f"CAP differs from sdmetrics: {ours} against {found[1]}")
        theirs, how = found[0] * ROWS / PEER_ROWS, f"sdmetrics, {PEER_ROWS:,} rows scaled; same value"
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
    """Print everything; about two minutes."""
    against_sdmetrics()
    sizes = [1_000, 5_000, 20_000, 100_000]
    tables = {rows: (people(rows, 1), people(rows, 2)) for rows in sizes}
    rng = np.random.default_rng(0)
    curve(
        "CAP family without GCAP, with control",
        sizes,
        [
            cpu_seconds(lambda p=pair: cap(*p, keys=KEYS, secrets=SECRETS, holdout=p[1], generalised=False), repeat=2)
            for pair in tables.values()
        ],
    )
    fine = [*KEYS, "age", "hours-per-week", "occupation"]
    few = sizes[:3]
    curve(
        "GCAP per record (9 keys, most without a match)",
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
    for criterion in Criterion:
        curve(
            f"rank linkage, 15 columns, {criterion}",
            few[:2],
            [
                cpu_seconds(lambda p=tables[rows], c=criterion: [0 for _ in links(*p, criterion=c)], repeat=1)
                for rows in few[:2]
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
