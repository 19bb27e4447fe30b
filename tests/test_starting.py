"""What a command costs before it does any work: which libraries are loaded, and how many threads they may use."""

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import unmask
from unmask.threads import VARIABLES, one_thread

SLOW = ("sklearn", "scipy.stats", "scipy.optimize", "torch", "matplotlib", "rich", "jinja2", "distributed", "starlette")


@pytest.mark.parametrize(
    "module", ["unmask.audits.release.audit", "unmask.cli.audit", "unmask.metrics", "unmask.stats", "unmask.generators"]
)
def test_importing_loads_nothing_that_only_a_part_needs(module):
    code = f"import sys, {module}; print(*(name for name in {SLOW} if name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert found.stdout.split() == []


SEEN = """
import json, os, sys
from threadpoolctl import threadpool_info
import unmask.audits.release.audit as release

run = release.ReleaseAudit.run
seen = []

def watched(self, runner):
    result = run(self, runner)
    seen.extend((each["user_api"], each["num_threads"]) for each in threadpool_info())
    seen.extend((name, int(os.environ[name])) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"))
    return result

release.ReleaseAudit.run = watched
"""
COMMAND = "from unmask.cli.main import answer\nanswer(['audit', *sys.argv[1:], '--workers', '2', '--quiet'])\n"
FUNCTION = "import unmask\nunmask.audit(sys.argv[1], sys.argv[2], holdout=sys.argv[4], workers=2)\n"
TOLD = "print(json.dumps([seen, [each['num_threads'] for each in threadpool_info()]]))"


@pytest.mark.parametrize("way", [COMMAND, FUNCTION], ids=["command", "function"])
def test_libraries_have_one_thread_however_many_workers_there_are(people, tmp_path, way):
    """scikit-learn and its OpenMP are loaded in the middle of the audit, BLAS before it begins. Afterwards all is as it was."""
    for name, part in (("real", slice(0, 60)), ("synthetic", slice(60, 120)), ("holdout", slice(120, 180))):
        unmask.write_csv(people.take(np.arange(200)[part]), tmp_path / f"{name}.csv")
    files = [str(tmp_path / "real.csv"), str(tmp_path / "synthetic.csv"), "--holdout", str(tmp_path / "holdout.csv")]
    three = dict.fromkeys((*VARIABLES, "UNMASK_WORKERS"), "3")
    found = subprocess.run(
        [sys.executable, "-c", SEEN + way + TOLD, *files],
        capture_output=True, text=True, timeout=300, check=True, env=os.environ | three,
    )  # fmt: skip
    seen, after = json.loads(found.stdout)
    assert {"blas", "openmp"} <= {library for library, _ in seen}
    assert {threads for _, threads in seen} == {1}
    assert max(after) == 3


def threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info()}


def test_libraries_have_afterwards_what_they_had():
    with threadpool_limits(3):
        with one_thread():
            with one_thread():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == {3}


def test_several_threads_may_ask_at_a_time_and_none_takes_it_from_another():
    """The first to come is the first to go: libraries have one number of threads for all."""
    first_is_gone, second_is_there, seen = threading.Event(), threading.Event(), []

    def second():
        with one_thread():
            second_is_there.set()
            assert first_is_gone.wait(20)
            seen.append(threads())

    with threadpool_limits(3, user_api="blas"):
        other = threading.Thread(target=second)
        with one_thread():
            other.start()
            assert second_is_there.wait(20)
        first_is_gone.set()
        other.join()
        assert seen == [{1}]
        assert {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"} == {3}


def test_torch_has_one_thread_too():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_the_environment_is_as_it_was(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with one_thread():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "5"
    assert "MKL_NUM_THREADS" not in os.environ
