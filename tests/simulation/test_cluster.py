"""A real dask cluster on loopback: the bytes of the local run, whoever is killed."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from unmask.errors import RunError
from unmask.simulation.executors.cluster import Dask
from unmask.simulation.executors.local import Local
from unmask.simulation.store import FileStore, MemoryStore
from unmask.simulation.task import Task, Whose

pytest.importorskip("distributed")
TASKS = [Task(Whose.TEST, index) for index in range(40)]
PATIENCE = 120


class Slow:
    """A setting whose draws are told by their task alone, and take their time."""

    def play(self, task):
        time.sleep(0.05)
        if task.index == 7:
            raise ValueError("no luck")
        return {"x": np.random.default_rng(task.index).random(500)}


class Unreadable:
    def __reduce__(self):
        return (_fail, ())


def _fail():
    raise ImportError("not here")


class Cluster:
    """A scheduler and two workers, each a process that can be killed and started again."""

    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.folder, self.address = folder, f"tcp://127.0.0.1:{self.port}"
        self.scheduler = self._scheduler()
        self.workers = [self._worker(), self._worker()]

    def _start(self, *arguments):
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip

    def _scheduler(self):
        return self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-jupyter"
        )

    def _worker(self):
        return self._start(
            "dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1",
            "--death-timeout", "60",
        )  # fmt: skip

    def kill(self, whom):
        """Kill one worker, both, or the scheduler, and start anew what was killed."""
        gone = {"worker": self.workers[:1], "workers": self.workers[:], "scheduler": [self.scheduler]}[whom]
        for process in gone:
            process.send_signal(signal.SIGKILL)
            process.wait()
        if whom == "scheduler":
            self.scheduler = self._scheduler()
            for process in self.workers:  # they cannot know when to give up on the old one
                process.kill()
                process.wait()
            gone = self.workers[:]
        for process in gone:
            self.workers[self.workers.index(process)] = self._worker()

    def stop(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.stop()


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


def kill_at(cluster, whole, folder, whom, rng):
    store = FileStore(folder)
    thread, problems = in_background(lambda: Dask(cluster.address, give_up=PATIENCE).run(Slow(), TASKS, store))
    wanted, deadline = rng.randrange(30), time.monotonic() + PATIENCE
    while len(list(folder.glob("*.npz"))) < wanted and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    cluster.kill(whom)
    thread.join(PATIENCE)
    assert not thread.is_alive(), "it hangs"
    assert not problems
    same(store, whole)


@pytest.mark.parametrize("whom", ["worker", "workers", "scheduler"])
def test_what_a_cluster_loses_is_done_again(cluster, whole, tmp_path, whom):
    kill_at(cluster, whole, tmp_path, whom, random.Random(whom))


@pytest.mark.soak
@pytest.mark.parametrize("moment", range(20))
@pytest.mark.parametrize("whom", ["worker", "workers", "scheduler"])
def test_kills_of_a_cluster_at_twenty_random_moments(cluster, whole, tmp_path, whom, moment):
    kill_at(cluster, whole, tmp_path, whom, random.Random(f"{whom} {moment}"))


def test_what_workers_cannot_read_is_an_error_at_once(cluster):
    with pytest.raises(RunError, match="not here"):
        Dask(cluster.address).run(Unreadable(), TASKS, MemoryStore())


def test_a_cluster_that_is_not_there_is_an_error_and_nothing_is_lost(tmp_path):
    store = FileStore(tmp_path)
    Local(1).run(Slow(), TASKS[:2], store)
    with pytest.raises(RunError, match="same command continues"):
        Dask("tcp://127.0.0.1:9", give_up=1.0).run(Slow(), TASKS[:4], store)
    assert store.has(TASKS[0])
