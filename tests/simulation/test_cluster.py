"""A real dask cluster on loopback: what this machine alone gives, whoever is killed."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from tests.dask_cluster import PATIENCE, a_cluster
from unmask import versions
from unmask.errors import ParameterError, RunError
from unmask.generators.adapters._frames import global_seed
from unmask.simulation.executors.cluster import Dask
from unmask.simulation.executors.local import Local
from unmask.simulation.store import FileStore, MemoryStore
from unmask.simulation.task import Failed, Task, Whose

pytest.importorskip("distributed")
TASKS = [Task(Whose.TEST, index) for index in range(40)]


class Slow:
    """A setting whose draws are told by their task alone, and take their time."""

    def play(self, task):
        time.sleep(0.05)
        if task.index == 7:
            raise ValueError("no luck")
        return {"x": np.random.default_rng(task.index).random(500)}


class Deadly:
    """One task kills whoever works on it."""

    def play(self, task):
        if task.index == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"x": np.array(task.index)}


class Foreign:
    """Draws from numpy's global state, as classes of others do, and asks how many threads BLAS may use."""

    def play(self, task):
        drawn, threads = [], []
        with global_seed(task.index):
            for _ in range(20):
                drawn.append(np.random.rand())  # noqa: NPY002
                threads += [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]
                time.sleep(0.001 * (task.index % 3))
        return {"x": np.array(drawn), "threads": np.array([max(threads)])}


class Unreadable:
    def __reduce__(self):
        return (_fail, ())


def _fail():
    raise ImportError("not here")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with a_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def whole():
    store = MemoryStore()
    Local(1).run(Slow(), TASKS, store)
    return store


def in_background(act):
    problems = []

    def run():
        try:
            act()
        except BaseException as problem:  # noqa: BLE001
            problems.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, problems


def same(one, other):
    for task in TASKS:
        a, b = one.get(task), other.get(task)
        assert a == b if task.index == 7 else np.array_equal(a["x"], b["x"])


def test_a_cluster_gives_what_this_machine_gives(cluster, whole, tmp_path):
    seen, store = [], FileStore(tmp_path)
    thread, problems = in_background(
        lambda: Dask(cluster.address).run(Slow(), TASKS, store, lambda done, total: seen.append((done, total)))
    )
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert not problems
    same(store, whole)
    assert (seen[0], seen[-1]) == ((0, 40), (40, 40))


def test_threads_of_one_worker_disturb_no_draw(tmp_path):
    """They have one global state and one BLAS together: `dask worker` takes as many threads as there are cores."""
    alone, store = MemoryStore(), MemoryStore()
    environment = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    with a_cluster(tmp_path, threads=4, workers=1, environment=environment) as own:
        Dask(own.address).run(Foreign(), TASKS, store)
    Local(1).run(Foreign(), TASKS, alone)
    assert [store.get(task)["x"].tolist() for task in TASKS] == [alone.get(task)["x"].tolist() for task in TASKS]
    assert max(store.get(task)["threads"].item() for task in TASKS) == 1


def killed(cluster, whole, folder, whom, moments):
    """Kill at moments of one run, told by how many draws are there. Returns the seconds that the longest wait took."""
    store, longest = FileStore(folder), 0.0
    thread, problems = in_background(lambda: Dask(cluster.address).run(Slow(), TASKS, store))
    for wanted in [*moments, len(TASKS)]:
        there, since = -1, time.monotonic()
        while thread.is_alive() and (now := len(list(folder.iterdir()))) < wanted:
            if now != there:
                there, since = now, time.monotonic()
            longest = max(longest, time.monotonic() - since)
            assert longest < PATIENCE, "it hangs"
            cluster.keep_up()
            time.sleep(0.01)
        if wanted < len(TASKS):
            assert thread.is_alive()
            cluster.kill(whom)
    thread.join(PATIENCE)
    assert not thread.is_alive(), "it hangs"
    assert not problems
    same(store, whole)
    kinds = {7: "failed.json"}
    assert {each.name for each in folder.iterdir()} == {f"{each.id}.{kinds.get(each.index, 'npz')}" for each in TASKS}
    return longest


@pytest.mark.parametrize("whom", ["worker", "workers", "scheduler"])
def test_what_a_cluster_loses_is_done_again(cluster, whole, tmp_path, whom):
    killed(cluster, whole, tmp_path, whom, sorted(random.Random(whom).sample(range(36), 3)))


@pytest.mark.soak
@pytest.mark.parametrize("whom", ["worker", "workers", "scheduler"])
def test_kills_of_a_cluster_at_twenty_random_moments(cluster, whole, tmp_path, whom, capsys):
    rng, longest = random.Random(f"{whom} twenty"), []
    for run in range(5):
        (tmp_path / str(run)).mkdir()
        longest.append(killed(cluster, whole, tmp_path / str(run), whom, sorted(rng.sample(range(36), 4))))
    with capsys.disabled():
        print(f"\ndask, {whom}: 20 kills in 5 runs, the longest wait {max(longest):.0f} s")  # noqa: T201


def test_a_task_that_kills_its_worker_each_time_fails_and_the_others_do_not(tmp_path):
    """Dask blames all that were at the worker; allowed failures are 0 here, so that few workers have to die."""
    store = MemoryStore()
    with a_cluster(tmp_path, nanny=True, environment={"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}) as own:
        thread, problems = in_background(lambda: Dask(own.address).run(Deadly(), TASKS, store))
        thread.join(2 * PATIENCE)
        assert not thread.is_alive()
    assert not problems
    assert isinstance(store.get(TASKS[2]), Failed)
    assert "lack of memory" in store.get(TASKS[2]).message
    assert [int(store.get(task)["x"]) for task in TASKS if task.index != 2] == [0, 1, *range(3, 40)]


def test_what_workers_cannot_read_is_an_error_at_once(cluster):
    with pytest.raises(RunError, match="not here"):
        Dask(cluster.address).run(Unreadable(), TASKS, MemoryStore())


def test_workers_with_other_versions_are_refused(cluster, monkeypatch):
    monkeypatch.setattr(versions, "version_of", lambda name: "0.0.1")
    store = MemoryStore()
    with pytest.raises(RunError, match=r"a worker has unmask .* instead of 0\.0\.1"):
        Dask(cluster.address).run(Slow(), TASKS, store)
    assert not store.drawn


def test_a_cluster_that_is_not_there_is_an_error_and_nothing_is_lost(tmp_path):
    store = FileStore(tmp_path)
    Local(1).run(Slow(), TASKS[:2], store)
    with pytest.raises(RunError, match="same command continues"):
        Dask("tcp://127.0.0.1:9", give_up=1.0).run(Slow(), TASKS[:4], store)
    assert store.has(TASKS[0])


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8786", "tcp://127.0.0.1", "tcp://127.0.0.1:port", "tls://127.0.0.1:8786"]
)
def test_what_is_no_address_is_an_error_of_the_user(address):
    with pytest.raises(ParameterError, match="tcp://HOST:8786"):
        Dask(address).run(Slow(), TASKS, MemoryStore())


def test_a_cluster_whose_workers_are_gone_for_good_is_an_error(tmp_path):
    with a_cluster(tmp_path) as own:
        thread, problems = in_background(lambda: Dask(own.address, give_up=3.0).run(Slow(), TASKS, FileStore(tmp_path)))
        while thread.is_alive() and not list(tmp_path.glob("*.npz")):
            time.sleep(0.01)
        for process in own.workers:
            process.kill()
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert "same command continues" in str(problems[0])
