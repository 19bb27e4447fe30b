"""Shadow attacks on one record of Adult against the AUC of an independent implementation (PEERS.md, "Reference AUC").

The reference: n = m = 1000, target appended, every column resampled on its own, numbers in 10 bins on the full range, forests
of 100 trees, each trained on 200 releases. Its one split of the population into the two sides matters, most of all for
`naive`: what betrays the target there is its capital loss, and how that compares with the few other large ones
on either side (single splits gave .513 to .543 with us, .550 with them). So ours is the mean over several splits. The reference
counts rows in the target's bin, so these queries do too; what equal numbers tell is measured below.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from unmask import datasets
from unmask.attacks.shadow import Correlation, Groundhog, Histogram, Naive, Queries
from unmask.generators.independent import Independent
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
    Queries(order=1, numbers="bin"): 0.838,
    Queries(order=3, count=ALL_OF_ORDER_3, numbers="bin"): 0.827,
}
RANDOM_QUERIES = [Queries(order=3, count=100, numbers="bin", subsets=split) for split in range(SPLITS)]


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
    found = areas(population, (TARGET,), attacks, Resampled(), game, (split, TESTS))
    return {attack: float(area[0]) for attack, area in found.items()}


def areas(population, rows, attacks, generator, game, sizes):
    """AUC of each attack on each target; all targets share the releases. `sizes`: the split's number, and the tests."""
    split, count = sizes
    ground = lay_ground(population, np.array(rows), game, np.random.default_rng(split))
    features = {feature.key: feature for attack in attacks for feature in attack.features}
    setting = TargetSetting(split, game, ground, generator, tuple(features.values()))
    shadows, tests = ([Task(whose, k) for k in range(n)] for whose, n in ((Whose.SHADOW, SHADOWS), (Whose.TEST, count)))
    store = MemoryStore()
    Local().run(setting, [*shadows, *tests], store)
    own, judged = (pool_of(store, tasks, setting.masked) for tasks in (shadows, tests))
    found = {}
    for attack in attacks:
        scores = attack.fit(own, np.random.default_rng(split)).score(judged.blind())
        sides = zip(scores.T, judged.members.T, strict=True)
        found[attack] = np.array([auc(score[inside], score[~inside]).value for score, inside in sides])
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
    best = np.mean([game[Queries(order=1, numbers="bin")] for game in games])
    assert best >= 0.83
    assert best > np.mean([game[Groundhog()] for game in games]) + 0.1


EQUAL, BIN, BOTH = (Queries(order=1, numbers=numbers) for numbers in ("equal", "bin", "both"))
RARE_AMOUNTS = (9147, 20417, 20265, 8963, 16260, 36100)  # four with an amount that few share, two of the commonplace


def test_equal_numbers_betray_whom_bins_hide():
    """A generator that draws each column from people's own values, and one that draws numbers anew within bins.

    Order 1, n = m = 1000, 200 shadows, 300 tests, 22 people of Adult (seed 1): means .87 by equality, .62 by bins, .86 by
    both, under the first; .56, .62, .61 under the second. Standard error of one AUC: about .03.
    """
    people = datasets.adult()
    found = areas(people, RARE_AMOUNTS, (EQUAL, BIN, BOTH), Resampled(), Game(), (1, 300))
    assert (found[EQUAL] - found[BIN] > -0.05).all()
    assert (found[EQUAL] - found[BIN]).mean() > 0.15
    assert found[EQUAL][0] > 0.85 > 0.70 > found[BIN][0]
    assert abs(found[BOTH] - found[EQUAL]).mean() < 0.05
    redrawn = areas(people, RARE_AMOUNTS, (EQUAL, BIN, BOTH), Independent(), Game(), (1, 300))
    assert redrawn[BIN][2] > 0.70 > 0.60 > redrawn[EQUAL][2]  # nothing exact is left to be seen
    assert abs(redrawn[BOTH] - redrawn[BIN]).mean() < 0.05
