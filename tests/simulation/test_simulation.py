"""Draws are the same whatever the workers; killed workers and killed runs cost nothing but time; failures are kept."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from unmask.errors import GeneratorError
from unmask.generators.independent import Independent
from unmask.generators.raw import Raw
from unmask.simulation.executors.local import Local
from unmask.simulation.release import check_release
from unmask.simulation.store import FileStore, MemoryStore
from unmask.simulation.target import TargetSetting, masked_targets
from unmask.simulation.target_pool import draws_of, pool_of
from unmask.simulation.task import Failed, Task, Whose, tasks_for
from unmask.stream import stream
from unmask.threats.game import Game, lay_ground
from unmask.threats.knowledge import Access, Goal

TARGETS = np.array([0, 1])


@dataclass(frozen=True)
class Share:
    """A feature for tests: the share of the first code in each column."""

    name: ClassVar[str] = "share"
    key: ClassVar[str] = "share"

    def compute(self, synthetic, targets):
        return (synthetic.codes == 0).mean(axis=0)


@dataclass(frozen=True)
class Reaches:
    """An attack for tests that asks for what it did not list."""

    name: ClassVar[str] = "reaches"
    goals: ClassVar = frozenset(Goal)
    needs: ClassVar = frozenset({Access.SYNTHETIC})

    def prepare(self, view, targets, secret, rng):
        return self

    def score(self, view, targets, secret, rng):
        return view.model.log_likelihood(targets)


@dataclass(frozen=True)
class Fails:
    """A generator that fails on every second table or so."""

    name: ClassVar[str] = "fails"
    row_level: ClassVar[bool] = False
    claim: ClassVar = None
    always: bool = False

    def fit(self, table, rng):
        if self.always or rng.random() < 0.5:
            raise RuntimeError("no luck")
        return Independent().fit(table, rng)


@dataclass(frozen=True)
class KillsItsWorker:
    """A generator whose first table on a machine kills the process, as a memory limit would."""

    flag: str
    name: ClassVar[str] = "kills"
    row_level: ClassVar[bool] = False
    claim: ClassVar = None

    def fit(self, table, rng):
        try:
            os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return Independent().fit(table, rng)
        os.kill(os.getpid(), signal.SIGKILL)


def setting(people, generator=None, **fields):
    game = Game(rows=40, synthetic_rows=30)
    ground = lay_ground(people, TARGETS, game, np.random.default_rng(0))
    return TargetSetting(5, game, ground, generator or Independent(), features=(Share(),), **fields)


def same(one, other, tasks):
    for task in tasks:
        a, b = one.get(task), other.get(task)
        assert a.keys() == b.keys()
        assert all(np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a)


def test_one_worker_or_two_in_memory_or_in_files_give_the_same(people, tmp_path):
    tasks = tasks_for(6, 5, 2, isolate=False)
    memory, files = MemoryStore(), FileStore(tmp_path)
    Local(1).run(setting(people), tasks, memory)
    Local(2).run(setting(people), tasks, files)
    same(memory, files, tasks)


def test_more_draws_extend_a_run_unchanged_and_finished_ones_are_not_repeated(people, tmp_path):
    files, seen = FileStore(tmp_path), []
    Local(1).run(setting(people), tasks_for(3, 2, 2, isolate=False), files)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    more = tasks_for(5, 4, 2, isolate=False)
    Local(1).run(setting(people), more, files, progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (5, 9)
    assert seen[-1] == (9, 9)
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())


def test_a_damaged_file_is_drawn_again(people, tmp_path):
    files, tasks = FileStore(tmp_path), tasks_for(2, 2, 2, isolate=False)
    Local(1).run(setting(people), tasks, files)
    whole = {task: files.get(task) for task in tasks}
    path = tmp_path / f"{tasks[0].id}.npz"
    path.write_bytes(path.read_bytes()[:40])
    Local(1).run(setting(people), tasks, files)
    assert np.array_equal(files.get(tasks[0])["feature/share"], whole[tasks[0]]["feature/share"])


def test_a_killed_worker_costs_its_task_not_the_run(people, tmp_path):
    tasks = tasks_for(6, 6, 2, isolate=False)
    store, clean = MemoryStore(), MemoryStore()
    Local(2).run(setting(people, KillsItsWorker(str(tmp_path / "flag"))), tasks, store)
    Local(1).run(setting(people), tasks, clean)
    assert (tmp_path / "flag").exists()
    same(store, clean, tasks)


@pytest.mark.parametrize("workers", [1, 2])
def test_failed_draws_are_kept_with_their_reason(people, workers):
    tasks = tasks_for(10, 10, 2, isolate=False)
    store = MemoryStore()
    Local(workers).run(setting(people, Fails()), tasks, store)
    failed = [task for task in tasks if isinstance(store.get(task), Failed)]
    assert 2 <= len(failed) <= 18
    assert store.get(failed[0]).message == "RuntimeError: no luck"
    test = draws_of(setting(people), tasks, store, Whose.TEST)
    shadow = draws_of(setting(people), tasks, store, Whose.SHADOW)
    assert len(test) + len(shadow) + len(failed) == 20
    assert len(test.failures) + len(shadow.failures) == len(failed)


def test_failures_survive_in_files(people, tmp_path):
    task = Task(Whose.TEST, 0)
    Local(1).run(setting(people, Fails(always=True)), [task], FileStore(tmp_path))
    assert FileStore(tmp_path).get(task) == Failed("RuntimeError: no luck")


def test_an_attack_that_reaches_for_more_gets_an_error_and_costs_only_itself(people):
    arrays = setting(people, attacks={"reaches": Reaches()}).play(Task(Whose.TEST, 0))
    assert "does not give the attacker the fitted model" in str(arrays["problem/reaches"])
    assert "score/reaches" not in arrays
    assert "feature/share" in arrays


def test_pools_hold_what_was_drawn(people):
    tasks = tasks_for(4, 3, 2, isolate=True)
    assert len(tasks) == 14
    store = MemoryStore()
    alone = replace(setting(people), game=Game(rows=40, synthetic_rows=30, isolate_targets=True))
    Local(1).run(alone, tasks, store)
    draws = draws_of(alone, tasks, store, Whose.SHADOW)
    assert draws.members.shape == (8, 2)
    pool = pool_of(alone, draws)
    assert pool.about(1).sum() == 4
    assert not draws.members[pool.about(1), 0].any()
    assert pool.features("share", 0).shape == (8, 6)


def test_streams_depend_on_the_task_alone():
    a = stream(1, "test-000001").random(3)
    assert np.array_equal(a, stream(1, "test-000001").random(3))
    assert not np.array_equal(a, stream(1, "test-000002").random(3))
    assert not np.array_equal(a, stream(2, "test-000001").random(3))
    assert not np.array_equal(stream(1, "a", "b").random(3), stream(1, "ab").random(3))


def test_wrong_releases_are_refused(people):
    game = Game(rows=40)
    check_release(people, people, 200, row_level=False)
    with pytest.raises(GeneratorError, match="199 rows where 200"):
        check_release(people.take(np.arange(199)), people, 200, row_level=False)
    check_release(people.take(np.arange(199)), people, 200, row_level=True)
    with pytest.raises(GeneratorError, match="other columns: missing \\['smoker'\\]"):
        check_release(people.select(people.schema.names[:-1]), people, 200, row_level=False)
    broken = replace(people, numbers=np.where(np.arange(200)[:, None] == 3, np.nan, people.numbers))
    with pytest.raises(GeneratorError, match="missing values in 'age'"):
        check_release(broken, people, 200, row_level=False)
    assert masked_targets(people, game).codes is not None


def test_secrets_are_masked_for_attacks(people):
    for secret in ("region", "income"):
        masked = masked_targets(people, Game(goal=Goal.ATTRIBUTE, secret=secret))
        position = people.schema.position(secret)
        assert (masked.codes[:, position] == people.schema.columns[position].unlisted_code).all()
        if secret == "income":
            assert np.isnan(masked.numbers[:, people.schema.numeric.index(position)]).all()
        others = [p for p in range(6) if p != position]
        assert np.array_equal(masked.codes[:, others], people.codes[:, others])


def test_raw_draws_publish_the_dealt_table(people):
    arrays = replace(setting(people, Raw()), keep_synthetic=True).play(Task(Whose.RAW, 3))
    assert arrays["synthetic/codes"].shape == (40, 6)


RUN = """
    import sys, pathlib, numpy as np
    sys.path.insert(0, {root!r})
    from tests.simulation.test_simulation import setting
    from unmask.simulation.executors.local import Local
    from unmask.simulation.store import FileStore
    from unmask.simulation.task import tasks_for
    from unmask.tables.read import read_table
    import time

    class Slow(FileStore):
        def put(self, task, outcome):
            super().put(task, outcome)
            time.sleep(0.02)

    people = read_table({csv!r}, {schema!r})
    Local(1).run(setting(people), tasks_for(60, 60, 2, isolate=False), Slow(pathlib.Path({out!r})))
"""


def test_a_run_killed_half_way_continues_to_the_same_draws(people, tmp_path):
    from pathlib import Path

    from unmask.tables.read import read_table, write_csv, write_schema

    write_csv(people, tmp_path / "people.csv")
    write_schema(people.schema, tmp_path / "schema.json")
    out = tmp_path / "draws"
    code = textwrap.dedent(RUN).format(
        root=str(Path(__file__).parents[2]),
        csv=str(tmp_path / "people.csv"),
        schema=str(tmp_path / "schema.json"),
        out=str(out),
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and (not out.exists() or len(list(out.glob("*.npz"))) < 20):
        time.sleep(0.02)
    process.kill()
    process.wait()
    finished = len(list(out.glob("*.npz")))
    assert 20 <= finished < 120
    table = read_table(tmp_path / "people.csv", tmp_path / "schema.json")
    tasks = tasks_for(60, 60, 2, isolate=False)
    Local(2).run(setting(table), tasks, FileStore(out))
    whole = MemoryStore()
    Local(1).run(setting(table), tasks, whole)
    same(FileStore(out), whole, tasks)


WORKERS = """
    import os, time
    from unmask.simulation.executors.local import Local
    from unmask.simulation.store import MemoryStore
    from unmask.simulation.task import tasks_for

    class Work:
        def play(self, task):
            os.write(2, f"{os.getpid()}\\n".encode())  # at once: two of them write
            time.sleep(60)

    if __name__ == "__main__":
        Local(2).run(Work(), tasks_for(8, 0, 1, isolate=False), MemoryStore())
"""


def test_workers_end_when_the_run_is_killed(tmp_path):
    """A worker that outlives its run would hold memory, a core, and the streams of the shell that started it."""
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(WORKERS))
    process = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE, text=True)
    worker = int(process.stderr.readline())
    process.kill()
    process.communicate(timeout=30)  # returns when nobody holds the stream any more
    deadline = time.monotonic() + 30
    while alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(worker)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
