"""Shadow attacks: milliseconds per release for each feature set, and the job of TAPAS for 1, 5 and 25 targets; as a command, too.

TAPAS (a7069d7) is on no package index (what is called `tapas` there is something else), so it is not run here: its CPU seconds
were measured once, one thread, and stand below. Its forests are scikit-learn's, which are run here on the same features: what
they took then and take now tells how much faster this machine is, and what TAPAS would take on it.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks._timing import child_seconds, cpu_seconds, line, reference_seconds
from unmask import datasets
from unmask.attacks._attack import FeatureSet
from unmask.attacks.features import CorrelationFeatures, HistogramFeatures, NaiveFeatures, QueryFeatures
from unmask.attacks.shadow import Correlation, Groundhog, Histogram, Naive, Queries, Shadow
from unmask.generators.independent import Independent
from unmask.simulation.executors.local import Local
from unmask.simulation.store import MemoryStore
from unmask.simulation.target import TargetSetting
from unmask.simulation.task import Whose, tasks_for
from unmask.tables.read import write_csv
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
NAMES = (
    "naive",
    "histogram",
    "correlation",
    "groundhog",
    "queries:order=3,count=100",
)  # the same five for the command line
# targets: CPU seconds of TAPAS, the share of it that is allowed without forests and with them
TAPAS = {1: (30.0, 12, 12), 5: (118.0, 35, 35)}
COMMAND = {1: 10, 5: 30}  # targets: the share of TAPAS that a whole command may take
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


def draw(population: Table, targets: int) -> tuple[dict[Whose, Pool], float, np.random.Generator]:
    """300 releases with all features, and CPU seconds."""
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
    return pools, time.process_time() - start, rng


def play(population: Table, targets: int) -> tuple[float, float]:
    """CPU seconds of TAPAS' job: drawing 300 releases with all features, then learning and scoring five attacks."""
    pools, drawn, rng = draw(population, targets)
    start = time.process_time()
    for attack in ATTACKS:
        attack.fit(pools[Whose.SHADOW], rng).score(pools[Whose.TEST].blind())
    return drawn, time.process_time() - start


def foreign_forests(population: Table) -> float:
    """CPU seconds of scikit-learn's forests for one target: what TAPAS learns with."""
    pools, _, _ = draw(population, 1)
    answers, seconds = pools[Whose.SHADOW].members[:, 0], 0.0
    for attack in ATTACKS:
        shadow, test = (
            np.concatenate([pools[whose].features(feature.key, 0) for feature in attack.features], axis=1)
            for whose in (Whose.SHADOW, Whose.TEST)
        )
        start = time.process_time()
        RandomForestClassifier(100, random_state=0, n_jobs=1).fit(shadow, answers).predict_proba(test)
        seconds += time.process_time() - start
    return seconds


def command_seconds(file: Path, targets: int) -> float:
    """CPU seconds of `unmask attack`, interpreter, imports, reading, draws on disk and report included; the least of three."""
    attacks = [word for name in NAMES for word in ("--attacks", name)]
    words = ["attack", str(file), "--generator", "independent", "--targets", f"unlikely:{targets}", *attacks]
    found = []
    for place in range(4):  # the first one may compile
        out = file.with_name(f"run-{targets}-{place}")
        given = [*words, "--workers", "1", "--seed", "1", "--out", str(out), "--quiet", "--fail-on", "none"]
        found.append(child_seconds(["-m", "unmask", *given], file.with_name("bytecode")))
    return min(found[1:])


def command_times(population: Table) -> None:
    """The same job as users start it, against TAPAS as recorded and as this machine would run it."""
    pace = min(foreign_forests(population) for _ in range(3)) / TAPAS_FORESTS  # the least, as of the command
    print(
        f"  scikit-learn's forests of one target: {pace * TAPAS_FORESTS:.2f} s now, {TAPAS_FORESTS} s when TAPAS was recorded,\n"
        f"  so that TAPAS would take about {', '.join(f'{pace * TAPAS[n][0]:.0f} s for {n}' for n in COMMAND)} here"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "population.csv")
        write_csv(population, file)
        for targets, share in COMMAND.items():
            seconds, peer = command_seconds(file, targets), TAPAS[targets][0]
            recorded, here = (_verdict(seconds, most / share) for most in (peer, pace * peer))
            line(
                f"as a command, {targets} target{'s' * (targets > 1)}: {seconds:.2f} s",
                seconds,
                bar=f"at most 1/{share} of TAPAS: {recorded} as recorded, {here} at this pace",
                against=f"TAPAS takes {peer / seconds:.0f} x as long as recorded, {pace * peer / seconds:.0f} x at this pace",
            )


def _verdict(seconds: float, most: float) -> str:
    return "met" if seconds <= most else "MISSED"


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
    """Print everything; about a minute."""
    population = people()
    print(f"  reference kernel: {reference_seconds():.3f} s; releases of 1000 rows x 14 columns (Adult without fnlwgt)")
    feature_times(population)
    print(
        f"  {SHADOWS} + {TESTS} releases, n = m = 1000, independent; naive, histogram, correlation, groundhog, 100 queries\n"
        "  TAPAS: recorded figures (30 and 118 CPU s for 1 and 5 targets, forests included); ours: measured now"
    )
    job_times(population)
    command_times(population)
