"""Singling out, linking and inferring at 20,000 rows and 1,000 attacks each, beside anonymeter."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks._peer import peer_seconds
from benchmarks._timing import cpu_seconds, line
from unmask import datasets
from unmask.metrics.inference import inference
from unmask.metrics.linkability import linkability
from unmask.metrics.singling_out import Mode, singling_out
from unmask.tables.table import Table

ROWS, ATTACKS = 20_000, 1_000
SECRET = "education"
# CPU seconds of anonymeter at 20,000 rows, 1,000 attacks, control included: recorded, for where it is not installed
RECORDED = {"singling out, univariate": 2.8, "singling out, multivariate": 23.7, "linking": 7.9, "inferring": 6.3}
SHARE = 8  # ours may take at most one in so many of its CPU seconds


def tables(rows: int) -> tuple[Table, Table, Table]:
    """Real, synthetic and holdout rows of Adult (drawn with repetition where it has too few)."""
    adult = datasets.adult()
    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(adult)) if 2.4 * rows <= len(adult) else rng.integers(len(adult), size=3 * rows)
    holdout = len(chosen[2 * rows :])
    return (
        adult.take(chosen[:rows]),
        adult.take(chosen[rows : 2 * rows]),
        adult.take(chosen[2 * rows : 2 * rows + min(holdout, rows)]),
    )


def calls(rows: int) -> dict[str, Callable[[], object]]:
    """The four attacks with their baselines and controls; the secret is guessed from all other columns."""
    real, synthetic, holdout = tables(rows)
    keys = [name for name in real.schema.names if name != SECRET]

    def rng() -> np.random.Generator:
        return np.random.default_rng(1)

    return {
        "singling out, univariate": lambda: singling_out(
            real, synthetic, holdout=holdout, mode=Mode.UNIVARIATE, attempts=ATTACKS, rng=rng()
        ),
        "singling out, multivariate": lambda: singling_out(
            real, synthetic, holdout=holdout, attempts=ATTACKS, rng=rng()
        ),
        "linking": lambda: linkability(real, synthetic, holdout=holdout, attempts=ATTACKS, rng=rng()),
        "inferring": lambda: inference(
            real, synthetic, secret=SECRET, keys=keys, holdout=holdout, attempts=ATTACKS, rng=rng()
        ),
    }


def total(rows: int, *, repeat: int = 3) -> float:
    """CPU seconds of all four."""
    return sum(cpu_seconds(call, repeat=repeat) for call in calls(rows).values())


def main() -> None:
    """Print everything; about half a minute."""
    print(f"  Adult, {ROWS:,} real and synthetic rows, {ATTACKS:,} attacks each, baseline and control included")
    given = dict(zip(("real", "synthetic", "holdout"), tables(ROWS), strict=True))
    found = peer_seconds("anonymeter", given, attacks=ATTACKS, secret=SECRET)
    theirs, how = (found, "measured now") if found else (RECORDED, "recorded")
    spent = 0.0
    for name, call in calls(ROWS).items():
        seconds = cpu_seconds(call, repeat=3)
        spent += seconds
        against = f"anonymeter: {theirs[name]:.1f} s, {theirs[name] / seconds:.0f} x as long ({how})"
        line(f"{name}: {1000 * seconds:.0f} ms", seconds, against=against)
    ratio = sum(theirs.values()) / spent
    bar = f"{'met' if ratio >= SHARE else 'MISSED'}: at most 1/{SHARE} of anonymeter"
    line("all four", spent, bar=bar, against=f"anonymeter: {ratio:.0f} x as long ({how})")
    sizes = (1_000, 10_000, 100_000)
    costs = [total(size, repeat=1) for size in sizes]
    for size, seconds in zip(sizes, costs, strict=True):
        line(f"all four, {size:,} rows: {1000 * seconds:.0f} ms", seconds)
    exponent = math.log(costs[-1] / costs[-2]) / math.log(sizes[-1] / sizes[-2])
    print(
        f"  from {sizes[-2]:,} to {sizes[-1]:,} rows the cost grows like n^{exponent:.2f} (the attacks stay {ATTACKS:,})"
    )


if __name__ == "__main__":
    main()
