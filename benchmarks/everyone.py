"""The audit of everyone: all of it against the K fits alone, how it grows, and what one-target shadow modelling would cost.

Bars: at most 4 x the CPU of fitting and sampling for `cart` at 2,000 people, 5 x at 10,000, under 2 GB.
"""

from __future__ import annotations

import math
import resource
import time

import numpy as np

from benchmarks._timing import line
from unmask import datasets
from unmask.audits.attack.audit import AttackAudit
from unmask.audits.attack.plan import AttackPlan
from unmask.audits.everyone.audit import EveryoneAudit, set_up
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.runner import Runner
from unmask.generators.cart import Cart
from unmask.simulation.coin import coin_tasks, members_of
from unmask.stream import stream
from unmask.tables.table import Table

RUNS = 128
BARS = {2_000: 4.0, 10_000: 5.0}
GENERATOR = Cart(min_leaf=5)


def people(count: int) -> Table:
    """So many people of Adult."""
    adult = datasets.adult()
    return adult.take(np.random.default_rng(count).choice(len(adult), count, replace=False))


def fits_alone(real: Table, plan: EveryonePlan, runs: int) -> float:
    """CPU seconds of fitting and sampling, with the same coins and sizes."""
    setting, _, _ = set_up(plan, GENERATOR, real)
    start = time.process_time()
    for task in coin_tasks(runs):
        rng = stream(plan.seed, task.id, "release")
        members = members_of(plan.seed, setting.game, task)
        GENERATOR.fit(real.take(members), rng).sample(setting.synthetic_rows, rng)
    return time.process_time() - start


def whole_audit(real: Table, plan: EveryonePlan) -> float:
    """CPU seconds from the table to the result."""
    start = time.process_time()
    EveryoneAudit(plan, GENERATOR, real).run(Runner())
    return time.process_time() - start


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
