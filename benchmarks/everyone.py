"""The audit of everyone: all of it against the K fits alone, how it grows, and what one-target shadow modelling would cost.

Bars: at most 4 x the CPU of fitting and sampling for `cart` at 2,000 people, 5 x at 10,000, under 2 GB. For cheap generators the
rest is nearly all: `UNMASK_BENCH_PEOPLE` (10000) and `UNMASK_BENCH_RUNS` (64) say at what size it is printed for cart,
bayesnet and mst, and at which the memory of the command with all its processes is looked at (20,000 people: under 3 GB).
`UNMASK_BENCH_BEFORE` is a folder with the sources of another version (its `src`): the same audits are then run by both in turn.
"""

from __future__ import annotations

import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks._process_tree import peak_gigabytes
from benchmarks._timing import line
from unmask import datasets, generators
from unmask.audits.attack.audit import AttackAudit
from unmask.audits.attack.plan import AttackPlan
from unmask.audits.everyone.audit import EveryoneAudit, set_up
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.runner import Runner
from unmask.generators._generator import Generator
from unmask.generators.cart import Cart
from unmask.simulation.coin import coin_tasks, members_of
from unmask.stream import stream
from unmask.tables.table import Table

RUNS = 128
BARS = {2_000: 4.0, 10_000: 5.0}
GENERATOR = Cart(min_leaf=5)
CHEAP = ("cart", "bayesnet", "mst")
SIZE, FEWER_RUNS = int(os.environ.get("UNMASK_BENCH_PEOPLE", 10_000)), int(os.environ.get("UNMASK_BENCH_RUNS", 64))
MOST_GIGABYTES, MOST_SECONDS = 3.0, 3600.0
BEFORE = os.environ.get("UNMASK_BENCH_BEFORE")
ONCE = "from benchmarks.everyone import once; once()"


def people(count: int) -> Table:
    """So many people of Adult."""
    adult = datasets.adult()
    return adult.take(np.random.default_rng(count).choice(len(adult), count, replace=False))


def fits_alone(real: Table, plan: EveryonePlan, runs: int, generator: Generator = GENERATOR) -> float:
    """CPU seconds of fitting and sampling, with the same coins and sizes."""
    setting, _, _ = set_up(plan, generator, real)
    start = time.process_time()
    for task in coin_tasks(runs):
        rng = stream(plan.seed, task.id, "release")
        members = members_of(plan.seed, setting.game, task)
        generator.fit(real.take(members), rng).sample(setting.synthetic_rows, rng)
    return time.process_time() - start


def whole_audit(real: Table, plan: EveryonePlan, generator: Generator = GENERATOR) -> float:
    """CPU seconds from the table to the result."""
    start = time.process_time()
    EveryoneAudit(plan, generator, real).run(Runner())
    return time.process_time() - start


def once() -> None:
    """In a process of its own: print the CPU seconds of the fits and of the audit for the generator on the command line."""
    name = sys.argv[1]
    whole_audit(people(2_500), EveryonePlan(generator=name, runs=16), generators.get(name))  # compiles
    real, plan, generator = people(SIZE), EveryonePlan(generator=name, runs=FEWER_RUNS), generators.get(name)
    fits = fits_alone(real, plan, FEWER_RUNS, generator)
    print(fits, whole_audit(real, plan, generator), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


def other_process(name: str, sources: str | None = None) -> tuple[float, float, float]:
    """CPU seconds of the fits and of the audit, and peak memory, by these sources or by those of another version."""
    environment = dict(os.environ)
    if sources is not None:
        compiled = str(Path(sources) / "compiled")  # loops of one version are no loops of another
        environment |= {"PYTHONPATH": str(Path(sources) / "src"), "NUMBA_CACHE_DIR": compiled}
    command = [sys.executable, "-c", ONCE, name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    fits, whole, peak = (float(number) for number in done.stdout.split()[-3:])
    return fits, whole, peak


def cheap_generators() -> None:
    """What the audit costs beside the fits, and beside another version."""
    for name in CHEAP:
        before = other_process(name, BEFORE)[1] if BEFORE else None
        fits, whole, peak = other_process(name)
        told = f"{whole / fits:.1f} x the fits alone ({fits:.2f} s), {peak:.2f} GB"
        if before is not None:
            told += f"; {whole / before:.2f} x the version before ({before:.1f} s)"
        line(f"{name}, {SIZE:,} people, {FEWER_RUNS} runs: {whole:.1f} s", whole, against=told)


def memory() -> None:
    """The whole command, with one worker and with two."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "people.csv"
        people(SIZE).to_pandas().to_csv(table, index=False)
        for workers in (1, 2):
            command = [sys.executable, "-m", "unmask", "everyone", str(table), "--generator", "cart"]
            command += ["--runs", str(FEWER_RUNS), "--workers", str(workers), "--out", f"{folder}/{workers}", "--quiet"]
            peak = peak_gigabytes(command, seconds=MOST_SECONDS)
            verdict = "met" if peak < MOST_GIGABYTES else "MISSED"
            print(f"  cart, {SIZE:,} people, {FEWER_RUNS} runs, --workers {workers}: {peak:.2f} GB in all processes "
                  f"({verdict}: under {MOST_GIGABYTES:g} GB)")  # fmt: skip


def one_target(population: Table) -> float:
    """CPU seconds of 300 releases about one person, as one-target shadow modelling draws them, and of its attack."""
    plan = AttackPlan(
        generator="cart", targets="random:1", attacks=("queries:order=1",), shadows=200, tests=100, train_rows=1000
    )
    start = time.process_time()
    AttackAudit(plan, GENERATOR, population).run(Runner())
    return time.process_time() - start


def main() -> None:
    """Print ratios."""
    cheap_generators()
    memory()
    small = EveryonePlan(generator="cart", runs=16)
    fits_alone(people(200), small, 2)
    whole_audit(people(200), small)  # compiles
    total, fits = {}, {}
    for count, bar in BARS.items():
        real, plan = people(count), EveryonePlan(generator="cart", runs=RUNS)
        fits[count] = fits_alone(real, plan, RUNS)
        total[count] = whole_audit(real, plan)
        ratio = total[count] / fits[count]
        verdict = "met" if ratio <= bar else "MISSED"
        line(f"{count:,} people, {RUNS} runs: {total[count]:.1f} s", total[count], bar=f"{verdict}: at most {bar:g} x the fits",
             against=f"{ratio:.2f} x the fits alone ({fits[count]:.1f} s)")  # fmt: skip
    few, many = BARS
    growth = math.log(total[many] / total[few]) / math.log(many / few)
    fit_growth = math.log(fits[many] / fits[few]) / math.log(many / few)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"  cost grows as people^{growth:.2f} (fits alone: ^{fit_growth:.2f}); peak memory {peak:.2f} GB "
          f"({'met' if peak < 2 else 'MISSED'}: under 2 GB)")  # fmt: skip
    seconds = one_target(people(4_000))
    print(f"  one-target shadow modelling: {seconds:.1f} s for one person with 300 releases of 1,000 rows; for {few:,} people "
          f"{seconds * few / total[few]:,.0f} x this audit (extrapolated)")  # fmt: skip
