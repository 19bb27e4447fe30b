"""What a command costs before it does any work: which libraries are loaded, and how many threads they may use."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import unmask
from unmask.threads import VARIABLES, bound

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
COMMAND = "from unmask.cli.main import answer\nanswer(['audit', *sys.argv[1:], '--workers', '1', '--quiet'])\n"
FUNCTION = "import unmask\nunmask.audit(sys.argv[1], sys.argv[2], holdout=sys.argv[4], workers=1)\n"
TOLD = "print(json.dumps([seen, [each['num_threads'] for each in threadpool_info()]]))"


@pytest.mark.parametrize("way", [COMMAND, FUNCTION], ids=["command", "function"])
def test_one_worker_is_one_thread_in_every_library(people, tmp_path, way):
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


def test_fewer_threads_that_the_user_asked_for_stay():
    with threadpool_limits(1), bound(4):
        assert {each["num_threads"] for each in threadpool_info()} == {1}


def test_the_environment_is_as_it_was(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with bound(2):
        assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "2"
    assert os.environ["OMP_NUM_THREADS"] == "5"
    assert "MKL_NUM_THREADS" not in os.environ
