"""Worker processes: killed at any moment, even while they speak, they cost their task and nobody waits for ever."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from unmask.errors import ParameterError, RunError
from unmask.simulation.executors.local import ATTEMPTS, Local
from unmask.simulation.store import MemoryStore
from unmask.simulation.task import Failed, Task, Whose

TASKS = [Task(Whose.TEST, index) for index in range(12)]


class Large:
    """Outcomes that no pipe takes at once; the worker of every third task is killed while it sends, the first time."""

    def __init__(self, folder, megabytes):
        self.folder, self.megabytes = str(folder), megabytes

    def play(self, task):
        if task.index % 3 == 0:
            try:
                os.close(os.open(f"{self.folder}/{task.index}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                threading.Thread(target=self._die, daemon=True).start()
        return {"x": np.full(self.megabytes * 131_072, float(task.index))}

    def _die(self):
        time.sleep(0.001 * (os.getpid() % 60))
        os.kill(os.getpid(), signal.SIGKILL)


class Always:
    def play(self, task):
        if task.index == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"x": np.array(task.index)}


class Forks:
    """Leaves a process behind that holds all its files, and is killed."""

    def __init__(self, folder):
        self.folder = str(folder)

    def play(self, task):
        if task.index == 3 and not os.path.exists(f"{self.folder}/forked"):
            child = os.fork()
            if not child:
                time.sleep(300)
                os._exit(0)
            with open(f"{self.folder}/forked", "w") as file:
                file.write(str(child))
            os.kill(os.getpid(), signal.SIGKILL)
        return {"x": np.array(task.index)}


class Ends:
    """Wants to end the process that it is in."""

    def play(self, task):
        if task.index < 3:
            raise (SystemExit(0), GeneratorExit(), KeyboardInterrupt())[task.index]
        return {"x": np.array(task.index)}


class Unreadable:
    """Cannot be made again elsewhere."""

    def __reduce__(self):
        return (_fail, ())


class Unsendable:
    def __init__(self):
        self.lock = threading.Lock()


def _fail():
    raise ImportError("not here")


def watched(act, seconds=120):
    """Fail instead of waiting for ever."""
    problem = []

    def run():
        try:
            act()
        except BaseException as found:  # noqa: BLE001
            problem.append(found)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "nothing came for two minutes"
    if problem:
        raise problem[0]


def test_workers_killed_while_they_send_large_outcomes_hang_nobody(tmp_path):
    store = MemoryStore()
    watched(lambda: Local(2).run(Large(tmp_path, 40), TASKS, store))
    assert all((store.get(task)["x"] == task.index).all() for task in TASKS)


def test_a_task_that_kills_its_worker_each_time_fails_and_the_others_do_not():
    store = MemoryStore()
    watched(lambda: Local(2).run(Always(), TASKS, store))
    assert isinstance(store.get(TASKS[2]), Failed)
    assert f"{ATTEMPTS} times" in store.get(TASKS[2]).message
    assert [int(store.get(task)["x"]) for task in TASKS if task.index != 2] == [0, 1, *range(3, 12)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked elsewhere")
def test_a_killed_worker_is_noticed_though_what_it_forked_lives_on(tmp_path):
    store = MemoryStore()
    try:
        watched(lambda: Local(2).run(Forks(tmp_path), TASKS, store), 60)
    finally:
        os.kill(int((tmp_path / "forked").read_text()), signal.SIGKILL)
    assert [int(store.get(task)["x"]) for task in TASKS] == list(range(12))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_generator_that_wants_to_end_the_process_has_failed(workers):
    """Exit code 0, without a result, would tell a script that nothing was found."""
    store, asked = (
        MemoryStore(),
        TASKS[:2] + TASKS[2 if workers > 1 else 3 :],
    )  # in this process the interrupt is the user's
    watched(lambda: Local(workers).run(Ends(), asked, store))
    told = [store.get(task).message.partition(":")[0] for task in asked if isinstance(store.get(task), Failed)]
    assert told == ["SystemExit", "GeneratorExit", "KeyboardInterrupt"][: 3 if workers > 1 else 2]
    if workers == 1:
        with pytest.raises(KeyboardInterrupt):
            Local(1).run(Ends(), TASKS[2:3], store)


def test_a_setting_that_workers_cannot_read_is_an_error_not_a_failed_draw():
    with pytest.raises(RunError, match="ImportError: not here"):
        watched(lambda: Local(2).run(Unreadable(), TASKS, MemoryStore()))
    with pytest.raises(ParameterError, match="--workers 1"):
        watched(lambda: Local(2).run(Unsendable(), TASKS, MemoryStore()))


SCRIPT = """
    import subprocess, sys
    import numpy as np
    from unmask.simulation.executors.local import Local
    from unmask.simulation.store import MemoryStore
    from unmask.simulation.task import Task, Whose

    class Talks:  # no guard below, and a class that is importable nowhere
        def play(self, task):
            print("chatter of a generator")
            count = [sys.executable, "-c", "import sys; print(len(sys.stdin.read()))"]
            return {"read": np.array(int(subprocess.check_output(count)))}

    store = MemoryStore()
    tasks = [Task(Whose.TEST, index) for index in range(4)]
    Local(2).run(Talks(), tasks, store)
    print([int(store.get(task)["read"]) for task in tasks])
"""


def test_a_plain_script_can_use_workers_and_what_generators_print_stays_out_of_the_output(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "[0, 0, 0, 0]\n", done.stderr
    assert done.stderr.count("chatter") == 4
