"""Shadow attacks on one record of Adult against the AUC of an independent implementation (PEERS.md, "Reference AUC").

The reference: n = m = 1000, target appended, every column resampled on its own, numbers in 10 bins on the full range, forests
of 100 trees, each trained on 200 releases. Its one split of the population into the two sides matters, most of all for
`naive`: what betrays the target there is its capital loss, and how that compares with the few other large ones
on either side (single splits gave .513 to .543 with us, .550 with them). So ours is the mean over several splits.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from unmask.attacks.shadow import Correlation, Groundhog, Histogram, Naive, Queries
from unmask.simulation.executors.local import Local
from unmask.simulation.store import MemoryStore
from unmask.simulation.target import TargetSetting
from unmask.simulation.task import Task, Whose
from unmask.stats.auc import auc
from unmask.tables.read import read_table
from unmask.tables.table import Table
from unmask.threats.game import Game, lay_ground
from unmask.threats.knowledge import Placement
from unmask.threats.pool import Pool

pytestmark = pytest.mark.calibration

TARGET = 44591  # Private, 7th-8th, Widowed, Priv-house-serv, capital-loss 3175, Puerto-Rico: the least likely record
SPLITS, SHADOWS, TESTS = 8, 200, 1000

ALL_OF_ORDER_3 = 364
REFERENCE = {
    Naive(): 0.550,
    Histogram(): 0.817,
    Correlation(): 0.541,
    Groundhog(): 0.636,
    Queries(order=1): 0.838,
    Queries(order=3, count=ALL_OF_ORDER_3): 0.827,
}
RANDOM_QUERIES = [Queries(order=3, count=100, subsets=split) for split in range(SPLITS)]


@dataclass(frozen=True)
class Resampled:
    """Every column drawn on its own from the values of the real table, numbers as they are."""

    name: ClassVar[str] = "resampled"
    row_level: ClassVar[bool] = False
    claim: ClassVar[None] = None

    def fit(self, table, rng):
        return ResampledModel(table)


@dataclass(frozen=True, eq=False)
class ResampledModel:
    table: Table
    claim: ClassVar[None] = None

    def sample(self, rows, rng):
        schema = self.table.schema
        codes = np.empty((rows, len(schema.columns)), dtype=schema.code_type, order="F")
        numbers = np.empty((rows, len(schema.numeric)), order="F")
        for position in range(len(schema.columns)):
            drawn = rng.integers(0, len(self.table), rows)
            codes[:, position] = self.table.codes[drawn, position]
            if position in schema.numeric:
                place = schema.numeric.index(position)
                numbers[:, place] = self.table.numbers[drawn, place]
        return Table(schema, codes, numbers)


def ten_bins(table):
    """The same people, without fnlwgt, numbers in ten equal bins."""
    table = table.select([name for name in table.schema.names if name != "fnlwgt"])
    columns = [replace(column, cuts=(), bins=10) if column.is_numeric else column for column in table.schema.columns]
    return Table.from_pandas(table.to_pandas(), table.schema.with_columns(columns))


def pool_of(store, tasks, targets):
    drawn = [store.get(task) for task in tasks]
    stacked = {name: np.stack([arrays[name] for arrays in drawn]) for name in drawn[0]}
    features = {name.removeprefix("feature/"): array for name, array in stacked.items() if name.startswith("feature/")}
    return Pool(targets, features, answers=(stacked["members"], stacked["secrets"]))


def play(population, attacks, split):
    """AUC of each attack in a game with its own split of the population."""
    game = Game(rows=1000, synthetic_rows=1000, placement=Placement.APPEND)
    ground = lay_ground(population, np.array([TARGET]), game, np.random.default_rng(split))
    features = {feature.key: feature for attack in attacks for feature in attack.features}
    setting = TargetSetting(split, game, ground, Resampled(), tuple(features.values()))
    shadows, tests = (
        [Task(whose, k) for k in range(count)] for whose, count in ((Whose.SHADOW, SHADOWS), (Whose.TEST, TESTS))
    )
    store = MemoryStore()
    Local().run(setting, [*shadows, *tests], store)
    own, judged = (pool_of(store, tasks, setting.masked) for tasks in (shadows, tests))
    members = judged.members[:, 0]
    found = {}
    for attack in attacks:
        scores = attack.fit(own, np.random.default_rng(split)).score(judged.blind())[:, 0]
        found[attack] = auc(scores[members], scores[~members]).value
    return found


@pytest.fixture(scope="module")
def games(data):
    """AUC of every attack in every game; `None` stands for 100 random queries, others in each game."""
    population = ten_bins(read_table(data / "adult" / "adult_complete.csv.gz"))
    played = []
    for split, random_queries in enumerate(RANDOM_QUERIES):
        found = play(population, [*REFERENCE, random_queries], split)
        played.append(found | {None: found[random_queries]})
    return played


@pytest.mark.parametrize("attack", REFERENCE, ids=lambda attack: attack.name)
def test_auc_is_that_of_the_reference(games, attack):
    """Standard errors of the mean: .004 to .01 here, about as much in the reference."""
    assert np.mean([game[attack] for game in games]) == pytest.approx(REFERENCE[attack], abs=0.03)


def test_what_a_hundred_random_queries_see_depends_on_the_draw(games):
    """The reference has .827 for one draw of 100 of the 364 sets, which is what all 364 give us.

    A draw is as good as its best set of capital-loss and two columns in which nearly everybody is like the target: with
    capital-gain and race (84 % of people) .82, with workclass and income at best (55 %) .75, in one and the same game.
    """
    found = [game[None] for game in games]
    assert min(found) > 0.70
    assert 0.76 < np.mean(found) < 0.83
    assert max(found) > 0.80


def test_a_few_targeted_counts_beat_everything_else(games):
    """The point of Houssiau et al.: and at least one attack reaches .83."""
    best = np.mean([game[Queries(order=1)] for game in games])
    assert best >= 0.83
    assert best > np.mean([game[Groundhog()] for game in games]) + 0.1
