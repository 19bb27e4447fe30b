"""Shadow attacks: milliseconds per release for each feature set, and the job of TAPAS for 1, 5 and 25 targets.

TAPAS (a7069d7) is on no package index, so it is not run here: its CPU seconds were measured once on the same kind of machine,
one thread, and stand below. Ours are measured in this run, beside a reference kernel that tells how fast this machine is now.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks._timing import cpu_seconds, line, reference_seconds
from unmask import datasets
from unmask.attacks._attack import FeatureSet
from unmask.attacks.features import CorrelationFeatures, HistogramFeatures, NaiveFeatures, QueryFeatures
from unmask.attacks.shadow import Correlation, Groundhog, Histogram, Naive, Queries, Shadow
from unmask.generators.independent import Independent
from unmask.simulation.executors.local import Local
from unmask.simulation.store import MemoryStore
from unmask.simulation.target import TargetSetting
from unmask.simulation.task import Whose, tasks_for
from unmask.tables.table import Table
from unmask.threats.game import Game, lay_ground
from unmask.threats.pool import Pool

SHADOWS, TESTS = 200, 100
ATTACKS: tuple[Shadow, ...] = (Naive(), Histogram(), Correlation(), Groundhog(), Queries(order=3, count=100))

# feature set, milliseconds that it may take, milliseconds of TAPAS
FEATURES: tuple[tuple[FeatureSet, float, float], ...] = (
    (NaiveFeatures(), 0.9, 10.1),
    (HistogramFeatures(), 0.9, 5.6),
    (HistogramFeatures(bins=10), 0.9, 5.6),
    (CorrelationFeatures(), 2.0, 9.2),
    (QueryFeatures(order=3, count=100), 1.0, 34.4),
)
# targets: CPU seconds of TAPAS, the share of it that is allowed without forests and with them
TAPAS = {1: (30.0, 12, 12), 5: (118.0, 35, 35)}
TAPAS_FORESTS = 1.7  # seconds per target


def people() -> Table:
    """Adult without fnlwgt: 14 columns."""
    adult = datasets.adult()
    return adult.select([name for name in adult.schema.names if name != "fnlwgt"])


def feature_times(population: Table) -> None:
    """CPU per release of 1000 rows and one target."""
    rng = np.random.default_rng(1)
    release = population.take(rng.choice(len(population), 1000, replace=False))
    target = population.take([0])
    for feature, most, peer in FEATURES:
        seconds = cpu_seconds(lambda f=feature: [f.compute(release, target) for _ in range(100)], repeat=5) / 100
        verdict = "met" if seconds * 1e3 <= most else "MISSED"
        line(
            f"{feature.key.split(',')[0]}: {seconds * 1e3:.3f} ms per release",
            seconds,
            bar=f"{verdict}: at most {most} ms",
            against=f"TAPAS takes {peer / seconds / 1e3:.0f} x as long",
        )


def play(population: Table, targets: int) -> tuple[float, float]:
    """CPU seconds of TAPAS' job: drawing 300 releases with all features, then learning and scoring five attacks."""
    rng = np.random.default_rng(targets)
    game = Game(rows=1000, synthetic_rows=1000)
    ground = lay_ground(population, rng.choice(len(population), targets, replace=False), game, rng)
    features = {feature.key: feature for attack in ATTACKS for feature in attack.features}
    setting = TargetSetting(targets, game, ground, Independent(), tuple(features.values()))
    store = MemoryStore()
    tasks = tasks_for(SHADOWS, TESTS, targets, isolate=False)
    start = time.process_time()
    Local().run(setting, tasks, store)
    pools = {}
    for whose in (Whose.SHADOW, Whose.TEST):
        drawn = [store.get(task) for task in tasks if task.whose is whose]
        members = np.stack([arrays["members"] for arrays in drawn])
        arrays = {key: np.stack([arrays[f"feature/{key}"] for arrays in drawn]) for key in features}
        pools[whose] = Pool(setting.masked, arrays, answers=(members, np.zeros(members.shape)))
    drawn_at = time.process_time()
    for attack in ATTACKS:
        attack.fit(pools[Whose.SHADOW], rng).score(pools[Whose.TEST].blind())
    return drawn_at - start, time.process_time() - drawn_at


def job_times(population: Table) -> None:
    """All but the forests, and all, against TAPAS."""
    play(population, 1)  # compiles
    found = {}
    for targets in (1, 5, 25):
        releases, forests = found[targets] = play(population, targets)
        for what, seconds, place in (("without", releases, 1), ("with", releases + forests, 2)):
            bar = against = ""
            if targets in TAPAS:
                peer, share = TAPAS[targets][0], TAPAS[targets][place]
                peer -= TAPAS_FORESTS * targets if place == 1 else 0
                bar = f"{'met' if seconds <= peer / share else 'MISSED'}: at most 1/{share} of TAPAS"
                against = f"TAPAS takes {peer / seconds:.0f} x as long"
            name = f"{targets} target{'s' * (targets > 1)}, {what} forests: {seconds:.2f} s"
            line(name, seconds, bar=bar, against=against)
    drawn, learnt = ((found[25][part] - found[1][part]) / 24 * 1e3 for part in (0, 1))
    print(
        f"  each further target costs {drawn:.0f} ms of releases and features and {learnt:.0f} ms of forests; TAPAS 22 s"
    )


def main() -> None:
    """Print everything; about half a minute."""
    population = people()
    print(f"  reference kernel: {reference_seconds():.3f} s; releases of 1000 rows x 14 columns (Adult without fnlwgt)")
    feature_times(population)
    print(
        f"  {SHADOWS} + {TESTS} releases, n = m = 1000, independent; naive, histogram, correlation, groundhog, 100 queries\n"
        "  TAPAS: recorded figures (30 and 118 CPU s for 1 and 5 targets, forests included); ours: measured now"
    )
    job_times(population)
