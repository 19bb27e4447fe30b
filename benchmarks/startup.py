"""What a small audit costs as a command: cold, with everything to compile, and warm.

600 rows of Adult, a release of `cart`, a holdout of 600; default plan, so that the learnt auditor leads. CPU seconds of the
process and its children, user and system, one thread. Cold runs have an empty folder for compiled loops each; bytecode of Python
is there, as where unmask is installed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import unmask
from benchmarks._timing import child_seconds, line

ROWS = 600
REPEAT = 3
COLD, WARM, IMPORT = 15.0, 6.0, 1.0  # bars, in seconds of a quiet machine
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def write_tables(folder: Path) -> list[str]:
    """The three files, as the words of the command name them."""
    table, rng = unmask.datasets.adult(), np.random.default_rng(1)
    rows = rng.permutation(len(table))
    real, holdout = table.take(rows[:ROWS]), table.take(rows[ROWS : 2 * ROWS])
    tables = {
        "real": real,
        "synthetic": unmask.generators.get("cart").fit(real, rng).sample(ROWS, rng),
        "holdout": holdout,
    }
    for name, each in tables.items():
        unmask.write_csv(each, folder / f"{name}.csv")
    return [str(folder / "real.csv"), str(folder / "synthetic.csv"), "--holdout", str(folder / "holdout.csv")]


def main() -> None:
    """Least of three each; about two minutes."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        tables, bytecode = write_tables(folder), folder / "bytecode"
        cold, warm = [], []
        for turn in range(REPEAT + 1):
            caches = folder / f"caches-{turn}"
            caches.mkdir()
            for times in (cold, warm):
                out = folder / f"out-{turn}-{len(times)}-{len(warm)}"
                audit = ["-m", "unmask", "audit", *tables, "--workers", "1", "--quiet", "--out", str(out)]
                times.append(child_seconds(audit, bytecode, XDG_CACHE_HOME=str(caches), **ONE_THREAD))
        del cold[0], warm[0]  # Python itself made bytecode then
        importing = ["-c", "import unmask.audits.release.audit"]
        loading = min(child_seconds(importing, bytecode, **ONE_THREAD) for _ in range(REPEAT))
        line(f"{ROWS} rows, cold: {min(cold):.1f} s CPU", min(cold), bar=f"under {COLD:.0f} s on a quiet machine")
        line(f"{ROWS} rows, warm: {min(warm):.1f} s CPU", min(warm), bar=f"under {WARM:.0f} s on a quiet machine")
        line(f"importing the release audit: {loading:.2f} s CPU", loading, bar=f"about {IMPORT:.0f} s")
