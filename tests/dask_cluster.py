"""A real dask cluster on loopback for tests: a scheduler and (mostly) two workers, each a process that can be killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

PATIENCE = 60  # seconds; nobody waits for ever


class Cluster:
    """A scheduler and two workers. What is killed is started again, as whoever runs a cluster would."""

    def __init__(self, folder, *, nanny=False, threads=1, workers=2, environment=None):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.folder, self.address = folder, f"tcp://127.0.0.1:{self.port}"
        self._threads, self._nanny = str(threads), "--nanny" if nanny else "--no-nanny"
        self._environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **(environment or {})}
        self.scheduler = self._scheduler()
        self.workers = [self._worker() for _ in range(workers)]

    def _start(self, *arguments):
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env=self._environment,
        )  # fmt: skip

    def _scheduler(self):
        return self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-jupyter"
        )

    def _worker(self):
        return self._start(
            "dask_worker", self.address, "--nthreads", self._threads, self._nanny, "--no-dashboard", "--host", "127.0.0.1",
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
        self.keep_up()

    def keep_up(self):
        """Workers that ended are started again; without a scheduler they end by themselves."""
        self.workers = [each if each.poll() is None else self._worker() for each in reversed(self.workers)]

    def stop(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@contextmanager
def a_cluster(folder, **more):
    cluster = Cluster(folder, **more)
    try:
        yield cluster
    finally:
        cluster.stop()


def wait_until(true, seconds=PATIENCE):
    """Look again and again. Whether it came true."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
