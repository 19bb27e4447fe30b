"""How the release audit grows with rows and columns: CPU, wall time and peak memory, each audit in a process of its own.

Rows: Adult resampled with jitter, real table and release of so many rows, a holdout of a quarter. Columns: half
categories, half numbers, 2,000 rows. `UNMASK_BENCH_ROWS=10000,1000000` chooses sizes; ten million rows are run only if they are
asked for. Compiled loops are warm: the smallest audit runs twice.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._timing import line
from unmask.datasets import adult

ROWS = (10_000, 100_000, 1_000_000)
COLUMNS, PEOPLE = 500, 2_000
AT_ONCE = 250_000  # rows that are made and written at a time
BUDGET = 60.0  # seconds, for the largest table


def jittered(frame: pd.DataFrame, rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Rows drawn with replacement; half of the numbers moved by a twentieth of their spread, 3 in 100 categories drawn anew."""
    drawn = frame.take(rng.integers(len(frame), size=rows)).reset_index(drop=True)
    for name in frame.columns:
        values, column = drawn[name].to_numpy(), frame[name]
        if pd.api.types.is_numeric_dtype(column):
            moved = np.rint(values + rng.normal(0, 0.05 * column.std(), rows)).clip(column.min(), column.max())
            drawn[name] = np.where((rng.random(rows) < 0.5) & (values != 0), moved, values).astype(np.int64)
        else:
            other = column.to_numpy()[rng.integers(len(frame), size=rows)]
            drawn[name] = np.where(rng.random(rows) < 0.03, other, values)
    return drawn


def write_rows(folder: Path, rows: int) -> None:
    """Three files of people, some rows at a time."""
    frame = adult().to_pandas()
    sizes = {"real": rows, "synthetic": rows, "holdout": max(5_000, rows // 4)}
    for place, (name, size) in enumerate(sizes.items()):
        rng = np.random.default_rng([rows, place])
        for low in range(0, size, AT_ONCE):
            part = jittered(frame, min(AT_ONCE, size - low), rng)
            part.to_csv(folder / f"{name}.csv", index=False, mode="a" if low else "w", header=not low)


def write_columns(folder: Path) -> None:
    """Many columns that share a few causes."""
    causes = np.random.default_rng(99).normal(size=(8, COLUMNS)) / 3
    for place, name in enumerate(("real", "synthetic", "holdout")):
        rng = np.random.default_rng(place)
        values = rng.normal(size=(PEOPLE, 8)) @ causes + rng.normal(size=(PEOPLE, COLUMNS))
        columns: dict[str, Any] = {}
        for column in range(COLUMNS):
            if column % 2:
                columns[f"n{column}"] = np.round(values[:, column], 1 if column % 4 == 1 else 4)
            else:
                levels = (1.5 * values[:, column] + 5).astype(int).clip(0, 3 + column % 8)
                columns[f"c{column}"] = [f"v{level}" for level in levels]
        pd.DataFrame(columns).to_csv(folder / f"{name}.csv", index=False)


def once(folder: Path, budget: float | None = None) -> dict[str, Any]:
    """The figures of one audit."""
    words = [sys.executable, "-m", "benchmarks._scale_once", str(folder), *([str(budget)] if budget else [])]
    found: dict[str, Any] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return found


def told(what: str, found: dict[str, Any], bar: str = "") -> None:
    """Two lines and what the report says about power."""
    memory = f"{found['memory to read']:.2f} GB to read, {found['memory']:.2f} GB in all"
    line(f"{what}: reading {found['reading']:.1f} s CPU", found["reading"], bar=memory)
    line(f"{what}: audit {found['audit']:.1f} s CPU, {found['wall']:.1f} s in all", found["audit"], bar=bar)
    for each in (*found["visible"], *found["left out"]):
        print(f"      {each}")


def main() -> None:
    """Rows, a time budget, columns; about five minutes up to a million rows."""
    asked = os.environ.get("UNMASK_BENCH_ROWS")
    sizes = [int(size) for size in asked.split(",")] if asked else ROWS
    first = None
    for rows in sizes:
        with tempfile.TemporaryDirectory() as place:
            write_rows(Path(place), rows)
            found = once(Path(place))
            if first is None:
                first = found = once(Path(place))  # the first one may have compiled
            times = found["audit"] / first["audit"]
            told(f"{rows:,} rows", found, bar=f"{times:.1f} x the smallest; at most 3 at a million")
            if rows == sizes[-1]:
                short = once(Path(place), BUDGET)
                told(f"{rows:,} rows, budget {BUDGET:.0f} s", short, bar=f"at most {1.2 * BUDGET:.0f} s in all")
    with tempfile.TemporaryDirectory() as place:
        write_columns(Path(place))
        told(f"{COLUMNS} columns x {PEOPLE:,} rows", once(Path(place)), bar="at most 1 GB and 5 minutes")
