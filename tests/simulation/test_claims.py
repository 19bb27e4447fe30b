"""Claims tell who works on what: by signs of life alone, whatever the clocks of machines say and whoever is killed."""

import ctypes
import errno
import os
import stat
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from unmask.errors import RunError
from unmask.simulation.executors import ATTEMPTS, claims
from unmask.simulation.executors.claims import LEASE, LONG_GONE, Claims
from unmask.simulation.executors.shared import Shared
from unmask.simulation.store import FileStore
from unmask.simulation.task import Failed, Task, Whose

TASK, OTHER = Task(Whose.TEST, 0), Task(Whose.TEST, 1)
ELSEWHERE = "elsewhere-1-00"  # the name of a process of another machine


@pytest.fixture
def place(tmp_path):
    return tmp_path / "claims"


@pytest.fixture
def clock(monkeypatch):
    """The time that passes for this process, moved by hand."""
    now = [1000.0]
    monkeypatch.setattr(claims.time, "monotonic", lambda: now[0])
    return lambda seconds: now.__setitem__(0, now[0] + seconds)


def gone(place):
    """A claimant of this machine that was killed."""
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    killed = Claims(place)
    killed = Claims(place, name=killed.name.replace(f"-{os.getpid()}-", f"-{child.pid}-"))
    killed._enter()
    return killed


def touch(place, at):
    """A sign of life of another machine, at a time as the clock there has it."""
    sign = place / f"alive-{ELSEWHERE}"
    sign.touch()
    os.utime(sign, (at, at))


def test_a_task_is_claimed_once_and_is_free_when_its_owner_leaves(place):
    mine, theirs = Claims(place), Claims(place)
    with mine.alive():
        with theirs.alive():
            assert theirs.take(TASK) == 1
            assert mine.take(TASK) == 0
            assert mine.take(OTHER) == 1
        assert mine.take(TASK) == 1  # they left without releasing it, but in good order
    assert not place.exists()


def test_claims_of_those_who_were_killed_are_void_and_counted(place):
    with Claims(place).alive():
        for times in range(1, 4):
            assert gone(place).take(TASK) == times
        last = Claims(place)
        with last.alive():
            assert last.take(TASK) == 4
            assert gone(place).take(OTHER) == 1
        assert list(place.iterdir())  # somebody is still there
    assert not place.exists()


@pytest.mark.parametrize("behind", [-600, 0, 600])
def test_a_clock_that_is_ten_minutes_off_does_not_matter(place, clock, behind):
    mine, theirs = Claims(place), Claims(place, name=ELSEWHERE)
    with mine.alive():
        theirs._enter()
        assert theirs.take(TASK) == 1
        for beat in range(30):
            touch(place, time.time() - behind + 5 * beat)
            assert mine.take(TASK) == 0
            clock(5)
        clock(LEASE - 10)
        assert mine.take(TASK) == 0
        clock(10)
        assert mine.take(TASK) == 2


def test_one_that_was_killed_long_ago_is_not_waited_for(place):
    mine, theirs = Claims(place), Claims(place, name=ELSEWHERE)
    with mine.alive():
        theirs._enter()
        theirs.take(TASK)
        touch(place, time.time() - LONG_GONE - 10)
        assert mine.take(TASK) == 2
    assert not place.exists()


def test_a_folder_that_the_last_one_removed_is_made_again(place):
    mine = Claims(place)
    with mine.alive():
        for path in place.iterdir():
            path.unlink()
        place.rmdir()
        assert mine.take(TASK) == 1
        assert Claims(place).take(TASK) == 0


def test_where_files_have_one_name_only_claims_are_files_of_their_own(place, monkeypatch, clock):
    def no_links(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    mine, theirs = Claims(place), Claims(place)
    with mine.alive(), theirs.alive():
        assert mine.take(TASK) == 1
        assert theirs.take(TASK) == 0
        (place / f"{OTHER.id}.claim").touch()  # of one that was killed before it wrote its name
        assert theirs.take(OTHER) == 0
        clock(LEASE + 1)
        assert theirs.take(OTHER) == 2


@pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")
def test_claims_for_a_group_are_readable_whatever_the_umask(place):
    """Whoever cannot read that a colleague was killed waits for ever."""
    before = os.umask(0o077)
    try:
        mine = Claims(place, group=True)
        with mine.alive():
            mine.take(TASK)
            assert {stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()} == {0o660}
            killed = gone(place)
            mine._path(OTHER).write_text(f"{killed.name} 1")
            assert mine.take(OTHER) == 2
            assert stat.S_IMODE(mine._path(OTHER).stat().st_mode) == 0o660
    finally:
        os.umask(before)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names elsewhere")
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_claim_is_not_waited_for_longer_than_one_of_the_dead(place, clock, make):
    mine = Claims(place)
    with mine.alive():
        make(mine._path(TASK))
        assert mine.take(TASK) == 0
        clock(LEASE + 1)
        if make is os.mkfifo:
            assert mine.take(TASK) == 2
        else:
            with pytest.raises(RunError, match="claims"):
                mine.take(TASK)


def test_a_folder_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "claims").write_text("no folder")
    with pytest.raises(RunError, match="claims: nothing can be written here"), Claims(tmp_path / "claims").alive():
        pass


@pytest.mark.skipif(os.name != "posix", reason="sleeps in C")
def test_a_generator_that_keeps_the_interpreter_for_itself_does_not_silence_the_signs(place, monkeypatch):
    monkeypatch.setattr(claims, "BEAT", 0.02)
    mine = Claims(place)
    with mine.alive():
        sign = next(place.glob("alive-*"))
        before, deadline = sign.stat().st_mtime_ns, time.monotonic() + 30
        while sign.stat().st_mtime_ns == before and time.monotonic() < deadline:
            ctypes.PyDLL(None).usleep(100_000)  # no other thread runs meanwhile
        assert sign.stat().st_mtime_ns > before


DEADLY = """
    import os, signal, sys
    from pathlib import Path
    import numpy as np
    from unmask.simulation.executors.shared import Shared
    from unmask.simulation.store import FileStore
    from unmask.simulation.task import Task, Whose

    class Deadly:
        def play(self, task):
            if task.index == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            return {"x": np.array(task.index)}

    Shared(1).run(Deadly(), [Task(Whose.TEST, index) for index in range(4)], FileStore(Path(sys.argv[1])))
"""


def test_a_task_that_kills_every_helper_is_recorded_as_failed(tmp_path):
    """As containers do that are started again whenever they run out of memory."""
    script, store = tmp_path / "run.py", FileStore(tmp_path / "draws")
    script.write_text(textwrap.dedent(DEADLY))
    store.directory.mkdir()
    ask = [sys.executable, str(script), str(store.directory)]
    codes = [subprocess.run(ask, timeout=60, check=False).returncode for _ in range(ATTEMPTS + 1)]
    assert codes == [-9] * ATTEMPTS + [0]
    tasks = [Task(Whose.TEST, index) for index in range(4)]
    assert isinstance(store.get(tasks[1]), Failed)
    assert f"killed {ATTEMPTS} times" in store.get(tasks[1]).message
    assert all(int(store.get(task)["x"]) == task.index for task in tasks if task.index != 1)
    assert not (store.directory / "claims").exists()


class Numbers:
    def play(self, task):
        return {"x": np.array(task.index)}


def test_a_helper_takes_one_look_at_the_folder_not_one_for_each_task(tmp_path, monkeypatch):
    """With 100,000 draws that are still to come, on a disk that is far away."""
    store, asked = FileStore(tmp_path), []
    real = FileStore.get
    monkeypatch.setattr(FileStore, "get", lambda self, task, names=None: asked.append(task) or real(self, task, names))
    tasks = [Task(Whose.TEST, index) for index in range(50)]
    Shared(1).run(Numbers(), tasks, store)
    assert len(asked) <= 2 * len(tasks)
    assert all(store.has(task) for task in tasks)
