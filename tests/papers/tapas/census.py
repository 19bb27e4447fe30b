"""The census microdata as Houssiau et al. (2022) attack them: people, the target, and the scores of each attack."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from unmask.audits.attack.audit import AttackAudit, score_all
from unmask.audits.attack.plan import AttackPlan
from unmask.simulation.executors.local import Local
from unmask.simulation.store import MemoryStore
from unmask.simulation.target_pool import draws_of
from unmask.simulation.task import Whose, tasks_for
from unmask.tables.read import read_schema, read_table
from unmask.tables.table import Table
from unmask.threats.targets import independent_log_likelihood

SECRET = "Sex"  # of the authors' script (examples/paper/experiment_aia.py of alan-turing-institute/tapas)
QUERIES = "queries:order=1-3,count=500"  # theirs: 20 of order 1, 500 each of orders 2 and 3
GROUNDHOG = "groundhog"
# All attacks of the authors' two scripts, in their order.
ATTRIBUTE_ATTACKS = (
    "closest-record:metric=hamming",
    "synthetic-predictor",
    GROUNDHOG,
    "groundhog:classifier=logistic",
    QUERIES,
)
PAPERS_WORDS = {
    "closest-record:metric=hamming": "closest record, Hamming",
    "closest-record:metric=hamming,reference=false": "closest record, Hamming",
    "synthetic-predictor": "synthetic predictor, forest",
    "density": "kernel density",
    GROUNDHOG: "Groundhog, forest",
    "groundhog:classifier=logistic": "Groundhog, logistic",
    QUERIES: "random queries, orders 1-3",
}
MEMBERSHIP_ATTACKS = (
    "closest-record:metric=hamming,reference=false",
    "density",
    GROUNDHOG,
    "groundhog:classifier=logistic",
    QUERIES,
)


@cache
def census(data: Path) -> Table:
    """50,000 of the 570,000 people, under TAPAS' own schema, without the person's number."""
    folder = data / "ons_census2011"
    schema = replace(read_schema(folder / "tapas_schema.json"), identifiers=("Person ID",))
    return read_table(folder / "2011-census-microdata-small.csv.gz", schema)


def outlier(population: Table, place: int = 0) -> int:
    """The row of lowest likelihood, were columns independent, among a thousand random people; or the next ones."""
    some = np.random.default_rng(0).choice(len(population), 1000, replace=False)
    return int(some[np.argsort(independent_log_likelihood(population)[some], kind="stable")[place]])


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of each attack on the one target of a game, with the truth."""

    members: np.ndarray
    secrets: np.ndarray
    by_attack: dict[str, np.ndarray]


def scores(generator: str, population: Table, *, workers: int = 1, **choices) -> Scores:
    """Play a game as `unmask.attack` does, and hand out the scores themselves."""
    plan = AttackPlan(generator=generator, **choices)
    setting, targets, chosen = AttackAudit(plan, plan.made(), population).set_up()
    store, tasks = MemoryStore(), tasks_for(plan.shadows, plan.tests, len(targets), isolate=False)
    Local(workers).run(setting, tasks, store)
    shadow, test = (draws_of(setting, tasks, store, whose) for whose in (Whose.SHADOW, Whose.TEST))
    scored, refused = score_all(setting, chosen, shadow, test)
    if refused or shadow.failures or test.failures:
        raise RuntimeError(f"not tested: {refused}; failed: {shadow.failures[:1] + test.failures[:1]}")
    return Scores(test.members[:, 0], test.secrets[:, 0], {attack.name: attack.test[:, 0] for attack in scored})


def neighbours(population: Table, target: int, rows: int, seed: int) -> Table:
    """A population of one game: the target first, then `rows` others, of whom one will be the record t' in its place."""
    rest = np.delete(np.arange(len(population)), target)
    drawn = np.random.default_rng([seed, 1]).choice(rest, rows, replace=False)
    return population.take(np.concatenate([[target], drawn]))
