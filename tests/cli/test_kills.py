"""Commands killed at random moments, by process id.

The same command, given again, ends with the bytes of an undisturbed run. Nobody waits for ever, no process outlives its driver,
no file stays behind. Three kills of each kind here, twenty with `make soak`; those of a cluster's own processes are in
tests/simulation/test_cluster.py.
"""

import os
import random
import secrets
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from tests.cli.test_work import ATTACK, UNMASK, contents, folder, here  # noqa: F401 - a fixture
from tests.dask_cluster import PATIENCE, a_cluster, wait_until

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")
MARK = "UNMASK_KILL_TEST"
DRAWS = 120  # of the run
KINDS = [
    "local driver", "local worker", "local workers", "dask driver", "shared driver", "shared shard", "shared everybody",
]  # fmt: skip


def names(directory):
    """All that is in a run directory, also while others remove some of it."""
    return {str(Path(place, name).relative_to(directory)) for place, _, found in os.walk(directory) for name in found}


@dataclass
class Disturbed:
    """A run with whoever helps it, and the means to kill some of them."""

    folder: Path
    out: str
    options: tuple[str, ...]
    shards: int = 0
    driver: subprocess.Popen | None = None
    helpers: dict[int, subprocess.Popen] = field(default_factory=dict)
    mark: str = field(default_factory=lambda: secrets.token_hex(8))
    longest: float = 0.0  # seconds in which nothing happened

    def start(self, *arguments):
        (self.folder / "tmp").mkdir(exist_ok=True)
        environment = {**os.environ, MARK: self.mark, "TMPDIR": str(self.folder / "tmp")}
        return subprocess.Popen(
            [UNMASK, *map(str, arguments)], cwd=self.folder, env=environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def keep_up(self):
        """Give the command again if it is not running, and start the helpers that are not there."""
        if self.driver is None or self.driver.poll() is not None:
            assert self.driver is None or self.driver.returncode in (0, -9)
            self.driver = self.start(*ATTACK, *self.options, "--out", self.out)
        for shard in range(self.shards):
            if shard not in self.helpers and (self.folder / self.out / "work.json").exists():
                self.helpers[shard] = self.start("work", self.out, "--shard", f"{shard}/{self.shards}", "--workers", 1)

    @property
    def drawn(self):
        return len(list((self.folder / self.out).glob("draws/*.npz")))

    @property
    def is_over(self):
        return self.driver.poll() is not None

    def wait_for(self, true):
        """Until it is true, or the run is over. A change is a new file, or an end."""
        there, since = None, time.monotonic()
        while not true() and not self.is_over:
            now = names(self.folder / self.out)
            if now != there:
                there, since = now, time.monotonic()
            self.longest = max(self.longest, time.monotonic() - since)
            assert self.longest < PATIENCE, "it hangs"
            self.keep_up_helpers()
            time.sleep(0.02)

    def keep_up_helpers(self):
        if self.driver.poll() is None:
            self.keep_up()

    def victims(self, whom):
        found = [
            each
            for each in psutil.Process(self.driver.pid).children()
            if "executors.worker" in " ".join(each.cmdline())
        ]
        return {
            "driver": [self.driver],
            "worker": found[:1],
            "workers": found,
            "shard": [each for each in self.helpers.values() if each.poll() is None][:1],
            "everybody": [self.driver, *self.helpers.values()],
        }[whom]

    def kill(self, whom):
        """Returns whether somebody was there to be killed."""
        try:
            victims = self.victims(whom)
            for process in victims:
                process.kill()
        except psutil.NoSuchProcess:
            return False
        for process in victims:
            process.wait(PATIENCE)  # so that it is gone, and not a name that its parent has not asked about
        self.helpers = {shard: each for shard, each in self.helpers.items() if each not in victims}
        if whom in ("driver", "everybody"):
            assert wait_until(lambda: not [each for each in self.processes() if each not in self.helping()])
        return bool(victims)

    def helping(self):
        return {each.pid for each in self.helpers.values()} | {
            child.pid
            for each in self.helpers.values()
            if each.poll() is None
            for child in psutil.Process(each.pid).children(True)
        }

    def processes(self):
        """All that were started for this run and still are, wherever in the tree they ended up."""
        found, told = [], f"{MARK}={self.mark}".encode()
        for process in psutil.pids():
            try:
                if (
                    told in Path(f"/proc/{process}/environ").read_bytes()
                    and psutil.Process(process).status() != "zombie"
                ):
                    found.append(process)
            except (OSError, psutil.NoSuchProcess):
                continue
        return found


def disturb(run, whom, kills, rng):
    """Kill that often, at moments that are told by draws, or by time where nothing is drawn yet, or all is."""
    done = 0
    while done < kills:
        run.keep_up()
        kind = rng.choice(["early", "draws", "draws", "draws", "late"] if whom == "driver" else ["draws"])
        wanted = {"early": 0, "late": DRAWS}.get(kind, run.drawn + rng.randint(1, max(1, (DRAWS - run.drawn) // 4)))
        if kind != "early":
            run.wait_for(lambda: run.drawn >= wanted)  # noqa: B023
        began = time.monotonic()
        pause = rng.random() * {"early": 2, "draws": 0.05, "late": 1}[kind]
        run.wait_for(lambda: time.monotonic() - began > pause)  # noqa: B023
        if not run.is_over:
            done += run.kill(whom)
        elif done < kills:  # too late: another run in its place
            run.driver.wait()
            subprocess.run(["rm", "-r", str(run.folder / run.out)], check=True)


def survives(folder, kind, kills, rng, cluster=None):  # noqa: F811
    """A run that is killed some times, and then left to its end."""
    where, whom = kind.split()
    options = {
        "local": ("--workers", "2"),
        "shared": ("--workers", "2", "--cluster", "shared"),
        "dask": ("--cluster", cluster.address if cluster else ""),
    }[where]
    run = Disturbed(folder, f"{where}-{whom}-{secrets.token_hex(3)}", options, shards=2 if where == "shared" else 0)
    try:
        disturb(run, whom, kills, rng)
        run.keep_up()
        run.wait_for(lambda: False)
        assert run.driver.returncode == 0
        assert all(each.wait(PATIENCE) == 0 for each in run.helpers.values())
        assert wait_until(lambda: not run.processes()), "an orphan"
    finally:
        for process in run.processes():
            psutil.Process(process).kill()
    out = folder / run.out
    assert contents(out) == contents(folder / "alone")
    assert names(out) - {"work.json"} == names(folder / "alone")
    assert not (out / "draws" / "claims").exists()
    assert not list((folder / "tmp").iterdir())
    return run.longest


@pytest.fixture
def cluster(request, tmp_path):
    """For the kinds that want one."""
    if not request.getfixturevalue("kind").startswith("dask"):
        yield None
        return
    pytest.importorskip("distributed")
    with a_cluster(tmp_path) as cluster:
        yield cluster


@pytest.mark.parametrize("kind", KINDS)
def test_after_three_kills_the_same_command_gives_the_same_bytes(folder, kind, cluster):  # noqa: F811
    survives(folder, kind, 3, random.Random(kind), cluster)


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_kills_at_twenty_random_moments(folder, kind, cluster, capsys):  # noqa: F811
    rng = random.Random(f"{kind} twenty")
    longest = [survives(folder, kind, 4, rng, cluster) for _ in range(5)]
    with capsys.disabled():
        print(f"\n{kind}: 20 kills in 5 runs, the longest wait {max(longest):.0f} s")  # noqa: T201
