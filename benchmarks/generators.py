"""Every built-in generator on Adult: CPU time against its bar and against peers, and how well it keeps marginals.

Peers run in environments of their own: UNMASK_PEERS=/path/to/venv[:/path/to/another] names them; a peer that is in none is
skipped. DataSynthesizer and mbi get numbers in our bins, so that utility compares like with like.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._timing import cpu_seconds, line, reference_seconds
from unmask import datasets, generators
from unmask.errors import UnmaskError
from unmask.generators.mst import MST
from unmask.tables.encode import Unlisted
from unmask.tables.read import write_csv
from unmask.tables.table import Table

SIZES = (1000, 5000)
SAMPLED = 1000
UTILITY_ROWS, SEEDS = 5000, 3

# CPU milliseconds for fit + sample(1000) at 1000 and 5000 rows.
BARS = {
    "independent": (1.5, 2.0),
    "privbayes:degree=1": (4.0, 8.0),
    "privbayes:degree=2": (9.0, 22.0),
    "mst": (25.0, 60.0),
    "copula": (6.0, 20.0),
    "cart": (90.0, 400.0),
}
OTHERS = (
    "raw",
    "random",
    "independent:epsilon=1",
    "bayesnet:degree=1",
    "bayesnet:degree=2",
    "sanitiser:keys=sex+race",
    "copula:margins=parametric",
)
KEPT = (
    "raw",
    "random",
    "independent",
    "bayesnet:degree=1",
    "bayesnet:degree=2",
    "copula",
    "copula:margins=parametric",
    "cart",
    "sanitiser:keys=sex+race",
)
PRIVATE = ("independent", "privbayes:degree=1", "privbayes:degree=2", "mst")
EPSILONS = (1.0, 10.0)

# Our generator -> the peer that does the same, and what it is told.
PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "privbayes:degree=1": ("DataSynthesizer", {"degree": 1}),
    "privbayes:degree=2": ("DataSynthesizer", {"degree": 2}),
    "mst": ("mbi", {"iterations": 5000}),
    "cart": ("synthpop", {}),
    "copula": ("sdv", {}),
}


@cache
def people() -> Table:
    """The complete rows of Adult, in 20 bins of about equally many people (the schema that `read_table` infers)."""
    return Table.from_pandas(datasets.adult().to_pandas().dropna().reset_index(drop=True))


def some(rows: int, seed: int = 0) -> Table:
    """That many people, chosen at random."""
    return people().take(np.random.default_rng(seed).permutation(len(people()))[:rows])


def main() -> None:
    """Times at both sizes, then utility."""
    print(f"  Adult, {len(people().schema.columns)} columns; reference kernel {1000 * reference_seconds():.1f} ms CPU")
    for rows in SIZES:
        print(f"  fit + sample({SAMPLED}), {rows:,} rows")
        for name in (*BARS, *OTHERS):
            time_one(name, rows)
    utility()


def time_one(name: str, rows: int) -> None:
    """One line: milliseconds, the bar, the peer."""
    generator, table = generators.parse(name), some(rows)

    def call() -> None:
        rng = np.random.default_rng(0)
        generator.fit(table, rng).sample(SAMPLED, rng)

    seconds = cpu_seconds(call)
    bar = f"{1000 * seconds:.2f} ms"
    if name in BARS:
        limit = BARS[name][SIZES.index(rows)]
        bar += f" = {1000 * seconds / limit:.2f} of the bar ({limit:g})"
    peer = run_peer(name, table, SAMPLED, 1.0)
    line(name, seconds, bar=bar, against=f"{peer[0]} {peer[1] / seconds:,.0f} x" if peer else "")


def utility() -> None:
    """Mean total variation between the training table and a sample of equal size, over columns and over pairs of columns."""
    print(f"\n  Mean total variation of marginals, {UTILITY_ROWS:,} rows, {SEEDS} seeds{'1-way':>29}{'2-way':>8}")
    show(
        "two samples of Adult",
        [distances(some(UTILITY_ROWS, 1), people().take(np.arange(s, s + UTILITY_ROWS))) for s in (0, 9999)],
    )
    for name in KEPT:
        show(name, [utility_of(name, seed) for seed in range(SEEDS)])
    for name, epsilon in itertools.product(PRIVATE, EPSILONS):
        sign = "," if ":" in name else ":"
        show(
            f"{name}{sign}epsilon={epsilon:g}",
            [utility_of(f"{name}{sign}epsilon={epsilon}", seed) for seed in range(SEEDS)],
        )
        if name in PEERS and (peer := run_peer(name, some(UTILITY_ROWS), UTILITY_ROWS, epsilon)):
            show(f"  {peer[0]} (one run)", [distances(some(UTILITY_ROWS), peer[2])])


def utility_of(name: str, seed: int) -> tuple[float, float] | None:
    """The distances of one fit and sample; None if no rows are left."""
    table, rng = some(UTILITY_ROWS), np.random.default_rng(seed)
    sampled = generators.parse(name).fit(table, rng).sample(UTILITY_ROWS, rng)
    return distances(table, sampled) if len(sampled) else None


def show(what: str, found: list[tuple[float, float] | None]) -> None:
    """Print the mean over seeds."""
    shares = np.array([pair for pair in found if pair])
    numbers = "".join(f"{share:8.4f}" for share in shares.mean(axis=0)) if len(shares) else "   no rows left"
    print(f"  {what:<68}{numbers}")


def distances(first: Table, second: Table) -> tuple[float, float]:
    """Mean total variation of all 1-way and of all 2-way marginals of the codes."""
    sizes = [column.code_count for column in first.schema.columns]
    one = [total_variation(first.codes[:, i], second.codes[:, i], size) for i, size in enumerate(sizes)]
    two = []
    for i, j in itertools.combinations(range(len(sizes)), 2):
        cells = [table.codes[:, i].astype(np.int64) * sizes[j] + table.codes[:, j] for table in (first, second)]
        two.append(total_variation(*cells, sizes[i] * sizes[j]))
    return float(np.mean(one)), float(np.mean(two))


def total_variation(first: np.ndarray, second: np.ndarray, size: int) -> float:
    """Half the sum of absolute differences between shares."""
    shares = [np.bincount(codes, minlength=size) / len(codes) for codes in (first, second)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def run_peer(name: str, table: Table, rows: int, epsilon: float) -> tuple[str, float, Table] | None:
    """The peer of one of ours: its name, its CPU seconds, and what it sampled, in our codes."""
    if name not in PEERS or not (python := interpreter(PEERS[name][0])):
        return None
    peer, extra = PEERS[name]
    mechanism = MST(epsilon)
    with tempfile.TemporaryDirectory() as folder:
        files = {file: str(Path(folder, file)) for file in ("values", "codes", "out", "result")}
        write_csv(table, files["values"])
        coded = pd.DataFrame(table.codes, columns=[f"c{i}" for i in range(table.codes.shape[1])])
        coded.to_csv(files["codes"], index=False)
        job = {"peer": peer, "sizes": table.schema.sizes.tolist(), "rows": rows, "epsilon": epsilon, "seed": 0}
        job |= {"rho": mechanism.rho, "sigma": mechanism.sigma, **files, **extra}
        Path(folder, "job.json").write_text(json.dumps(job))
        script = Path(__file__).with_name("_generator_peers.py")
        done = subprocess.run(
            [python, "-I", script, Path(folder, "job.json")], capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"  {peer} failed: {done.stderr.strip().splitlines()[-1]}")
            return None
        result = json.loads(Path(files["result"]).read_text())
        return peer, result["seconds"], _table_of(pd.read_csv(files["out"], dtype=str), table)


def _table_of(frame: pd.DataFrame, table: Table) -> Table | None:
    """What a peer sampled as codes: it returns codes, or values."""
    if list(frame) == [f"c{i}" for i in range(len(table.schema.columns))]:
        codes = np.asfortranarray(frame.astype(float).to_numpy(), dtype=table.schema.code_type)
        return Table(table.schema, codes, np.zeros((len(codes), len(table.schema.numeric))))
    try:
        return Table.from_pandas(frame, table.schema, unlisted=Unlisted.NOTE, from_file=True)
    except UnmaskError:
        return None  # only the time counts then


@cache
def interpreter(peer: str) -> str:
    """The Python of the first environment in UNMASK_PEERS that has the peer; "" and a message if none has."""
    for folder in filter(None, os.environ.get("UNMASK_PEERS", "").split(os.pathsep)):
        python = str(Path(folder, "bin", "python"))
        found = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({peer!r}) is None)"
        if Path(python).exists() and not subprocess.run([python, "-c", found], check=False).returncode:
            return python
    print(f"  ({peer} is skipped: no environment in UNMASK_PEERS has it)")
    return ""


if __name__ == "__main__":
    main()
