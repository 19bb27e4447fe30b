"""Networks on Adult: ours beside the ctgan package at equal epochs, and quality against steps.

The package runs in an environment of its own (UNMASK_PEERS=/path/to/venv; it is skipped where no environment has it). Both see
the same 5,000 rows; utility is the mean total variation of marginals between them and as many synthetic rows. CPU times are
those of one thread, fit and sample(5000), the load of torch not counted.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._timing import reference_seconds
from benchmarks.generators import distances, interpreter, some
from unmask import generators
from unmask.tables.encode import Unlisted
from unmask.tables.read import write_csv
from unmask.tables.table import Table

ROWS, EPOCHS = 5000, 30
SEEDS = tuple(range(int(os.environ.get("UNMASK_SEEDS", "2"))))
PEERS = {"ctgan": "CTGAN", "tvae": "TVAE"}
CURVE = (100, 300, 1000)  # steps


def main() -> None:
    """Equal epochs first, then the curves."""
    print(f"  Adult, {ROWS:,} rows, one thread; reference kernel {1000 * reference_seconds():.1f} ms CPU")
    generators.get("tvae", steps=1).fit(some(100), np.random.default_rng(0))  # loads torch
    print(f"  {EPOCHS} epochs, mean over seeds {', '.join(map(str, SEEDS))}{'CPU s':>34}{'1-way':>9}{'2-way':>9}")
    for name in ("ctgan", "tvae", "tabddpm"):
        show(name, [ours(f"{name}:epochs={EPOCHS}", seed) for seed in SEEDS])
        if name in PEERS and (python := interpreter("ctgan")):
            show(f"  the package's {PEERS[name]}", [theirs(PEERS[name], python, seed) for seed in SEEDS])
    print("  quality against steps, seed 0")
    for name in ("ctgan", "tvae", "tabddpm"):
        for steps in CURVE:
            show(f"{name}, {steps:,} steps", [ours(f"{name}:steps={steps}", 0)])


def show(what: str, found: list[tuple[float, float, float]]) -> None:
    """One line: CPU seconds and both distances, mean over seeds."""
    seconds, one, two = np.mean(found, axis=0)
    print(f"  {what:<60}{seconds:8.1f}{one:9.4f}{two:9.4f}", flush=True)


def ours(spec: str, seed: int) -> tuple[float, float, float]:
    """CPU seconds and distances of one fit and sample."""
    table, rng = some(ROWS), np.random.default_rng(seed)
    start = time.process_time()
    sampled = generators.parse(spec).fit(table, rng).sample(ROWS, rng)
    return time.process_time() - start, *distances(table, sampled)


def theirs(peer: str, python: str, seed: int) -> tuple[float, float, float]:
    """The same of the package."""
    table = some(ROWS)
    with tempfile.TemporaryDirectory() as folder:
        files = {file: str(Path(folder, f"{file}.csv")) for file in ("values", "out", "result")}
        write_csv(table, files["values"])
        categorical = [column.name for column in table.schema.columns if not column.is_numeric]
        job = {"peer": peer, "epochs": EPOCHS, "rows": ROWS, "seed": seed, "categorical": categorical, **files}
        Path(folder, "job.json").write_text(json.dumps(job))
        script = Path(__file__).with_name("_deep_peers.py")
        subprocess.run([python, "-I", script, Path(folder, "job.json")], check=True, stdout=subprocess.DEVNULL)
        frame = pd.read_csv(files["out"], dtype=str, keep_default_na=False)
        sampled = Table.from_pandas(frame, table.schema, unlisted=Unlisted.NOTE, from_file=True)
        return json.loads(Path(files["result"]).read_text())["seconds"], *distances(table, sampled)


if __name__ == "__main__":
    main()
