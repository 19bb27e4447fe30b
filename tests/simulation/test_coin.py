"""Draws of the coin game: the same whatever the workers and interruptions, and nothing in them but the generator tells coins."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import chi2

from unmask.attacks.everyone.features import FeaturePlan, Features
from unmask.errors import GeneratorError
from unmask.generators.copycat import Copycat
from unmask.generators.independent import Independent
from unmask.generators.oblivious import Oblivious
from unmask.simulation.coin import CoinSetting, coin_tasks, members_of
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.executors.local import Local
from unmask.simulation.store import FileStore, MemoryStore
from unmask.simulation.task import Failed
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.units import units
from unmask.threats.coins import CoinGame
from unmask.threats.knowledge import FEWEST_RUNS, Coins
from unmask.threats.pairs import table_of

SEED = 11


@dataclass(frozen=True)
class FailsForSome:
    """A generator that fails on tables with an even number of rows."""

    name: ClassVar[str] = "fails"
    row_level: ClassVar[bool] = False
    claim: ClassVar = None

    def fit(self, table, rng):
        if len(table) % 2 == 0:
            raise RuntimeError("an even number")
        return Independent().fit(table, rng)


@dataclass(frozen=True)
class Remembers:
    """A generator that shows what it was given."""

    name: ClassVar[str] = "remembers"
    row_level: ClassVar[bool] = True
    claim: ClassVar = None

    def fit(self, table, rng):
        object.__setattr__(self, "given", table)
        return self

    def sample(self, rows, rng):
        return self.given


def setting(people, generator=None, coins=Coins.INDEPENDENT, rows=30):
    unit = units(people)
    features = Features.of(FeaturePlan(distances=False), people, unit, np.random.default_rng(0))
    game = CoinGame.of(coins, unit.count, np.random.default_rng(1))
    return CoinSetting(SEED, game, features, generator or Independent(), rows)


def same(one, other, tasks):
    for task in tasks:
        a, b = one.get(task), other.get(task)
        assert a.keys() == b.keys()
        assert all(np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a)


def test_one_worker_or_two_in_memory_or_in_files_give_the_same(people, tmp_path):
    tasks, memory, files = coin_tasks(6), MemoryStore(), FileStore(tmp_path)
    Local(1).run(setting(people), tasks, memory)
    Local(2).run(setting(people), tasks, files)
    same(memory, files, tasks)


def test_more_runs_keep_the_old_draws_byte_by_byte(people, tmp_path):
    """16, then 24: the first 16 files are not touched, and all are those of 24 at once."""
    Local(1).run(setting(people), coin_tasks(16), FileStore(tmp_path / "grown"))
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in (tmp_path / "grown").iterdir()}
    Local(1).run(setting(people), coin_tasks(24), FileStore(tmp_path / "grown"))
    Local(1).run(setting(people), coin_tasks(24), FileStore(tmp_path / "at once"))
    assert len(before) == 16
    for name, kept in before.items():
        path = tmp_path / "grown" / name
        assert (path.read_bytes(), path.stat().st_mtime_ns) == kept
    for path in (tmp_path / "at once").iterdir():
        assert path.read_bytes() == (tmp_path / "grown" / path.name).read_bytes()


def test_a_run_that_was_interrupted_continues_and_damaged_draws_are_drawn_again(people, tmp_path):
    def stop(done: int, total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    tasks, files, whole = coin_tasks(10), FileStore(tmp_path), MemoryStore()
    with pytest.raises(KeyboardInterrupt):
        Local(1).run(setting(people), tasks, files, progress=stop)
    assert len(list(tmp_path.iterdir())) == 5
    damaged = tmp_path / f"{tasks[2].id}.npz"
    damaged.write_bytes(damaged.read_bytes()[:100])
    Local(1).run(setting(people), tasks, files)
    Local(1).run(setting(people), tasks, whole)
    same(files, whole, tasks)


def test_failed_runs_are_kept_with_their_reason_and_counted(people):
    tasks, store = coin_tasks(40), MemoryStore()
    chosen = setting(people, FailsForSome())
    Local(1).run(chosen, tasks, store)
    pool = CoinPool.gather(chosen, tasks, store)
    even = [int(members_of(SEED, chosen.game, task).sum()) % 2 == 0 for task in tasks]
    assert len(pool.failures) == sum(even)
    assert len(pool) == 40 - sum(even)
    assert all("an even number" in message for message in pool.failures)
    assert [isinstance(store.get(task), Failed) for task in tasks] == even
    for run, task in enumerate(pool.tasks):
        assert np.array_equal(pool.members[run], members_of(SEED, chosen.game, task))
        assert np.array_equal(pool.load(run)[0], store.get(task)["counts"])


def test_too_few_runs_that_worked_are_an_error_with_the_reason(people):
    tasks, store = coin_tasks(FEWEST_RUNS), MemoryStore()
    Local(1).run(setting(people, FailsForSome()), tasks, store)
    with pytest.raises(GeneratorError, match="an even number"):
        CoinPool.gather(setting(people), tasks, store)


def test_coins_hang_on_the_seed_and_the_run_alone(people):
    """Not on the generator, its randomness, the features or the number of rows: files can be written before anybody fits."""
    tasks = coin_tasks(5)
    for generator, rows in ((Independent(), 30), (Copycat(0.5), 7), (Oblivious(), 50)):
        for task in tasks:
            chosen = setting(people, generator, rows=rows)
            assert np.array_equal(chosen.play(task)["members"], members_of(SEED, chosen.game, task))
    game = setting(people).game
    dealt = [members_of(SEED, game, task).tobytes() for task in coin_tasks(50)]
    assert len(set(dealt)) == 50
    assert members_of(SEED + 1, game, tasks[0]).tobytes() not in dealt


@pytest.mark.parametrize("coins", list(Coins))
def test_the_generator_gets_exactly_the_members(people, coins):
    for task in coin_tasks(4):
        chosen = setting(people, Remembers(), coins)
        arrays = chosen.play(task)
        given = sorted(map(bytes, np.ascontiguousarray(arrays["synthetic/codes"])))
        rows = chosen.features.units.rows(arrays["members"])
        assert given == sorted(map(bytes, np.ascontiguousarray(people.codes[rows])))


def test_the_order_of_the_training_rows_tells_nothing():
    """The first of 40 training rows is each equally often, whatever its place in the table (99.99 % limit)."""
    numbered = table_of(Schema((Column("n", Kind.CATEGORICAL, values=tuple(range(40))),)), np.arange(40)[:, None])
    generator = Remembers()
    chosen, seen = setting(numbered, generator), np.zeros(40)
    for task in coin_tasks(2000):
        chosen.play(task)
        seen[generator.given.codes[0, 0]] += 1
    assert ((seen - 50) ** 2 / 50).sum() < chi2.ppf(0.9999, 39)


def test_every_release_has_the_rows_that_were_asked_for(people):
    """The number of synthetic rows is a constant, so that it cannot give away how many were in."""
    for task in coin_tasks(8):
        assert len(setting(people).play(task)["synthetic/codes"]) == 30


def test_the_release_comes_back_from_the_pool(people):
    tasks, store, chosen = coin_tasks(8), MemoryStore(), setting(people, Copycat(1.0), rows=150)
    Local(1).run(chosen, tasks, store)
    pool = CoinPool.gather(chosen, tasks, store)
    counts, _ = chosen.features.compute(pool.synthetic(3))
    assert np.array_equal(counts, pool.load(3)[0])
