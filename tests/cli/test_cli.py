"""The command line as a user meets it: in its own process, by exit code and by what it prints."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

UNMASK = Path(sys.executable).with_name("unmask")


def unmask(*arguments, cwd=None, **environment):
    return subprocess.run(
        [str(UNMASK), *map(str, arguments)],
        capture_output=True, text=True, cwd=cwd, env={**os.environ, "COLUMNS": "120", **environment}, timeout=300,
    )  # fmt: skip


@pytest.fixture
def real(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 300),
            "sex": rng.choice(["f", "m"], 300),
            "pay": rng.lognormal(10, 1, 300).round(2),
        }
    )
    frame.to_csv(tmp_path / "real.csv", index=False)
    return tmp_path / "real.csv"


def test_version_and_help_answer_without_heavy_imports():
    assert unmask("--version").stdout.startswith("unmask 0.")
    assert "synthesize" in unmask("--help").stdout
    code = "import sys, unmask.cli.main; sys.exit(bool({'numpy', 'pandas', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(
    "verb", ["demo", "audit", "schema", "describe", "generators", "synthesize", "attacks", "attack", "filter", "report"]
)
def test_every_verb_explains_itself(verb):
    answer = unmask(verb, "--help")
    assert answer.returncode == 0
    assert "Usage: unmask" in answer.stdout


def test_schema_describe_report(real, tmp_path):
    written = unmask("schema", real, "-o", tmp_path / "schema.json", "--secret", "pay")
    assert written.returncode == 0
    assert "Wrote" in written.stderr
    assert json.loads((tmp_path / "schema.json").read_text())["secrets"] == ["pay"]
    described = unmask("describe", real, "--schema", tmp_path / "schema.json", "--out", tmp_path / "run")
    assert described.returncode == 0, described.stderr
    assert "Records that stand out most" in described.stdout
    again = unmask("report", tmp_path / "run")
    assert again.stdout.split("Seed")[0].split("Records")[0] == described.stdout.split("Seed")[0].split("Records")[0]
    as_json = unmask("report", tmp_path / "run", "--json")
    assert json.loads(as_json.stdout) == json.loads((tmp_path / "run" / "result.json").read_text())
    other = unmask("describe", real, "--out", tmp_path / "run", "--seed", 5)
    assert other.returncode == 2
    assert "seed was 0, now it is 5" in other.stderr


def test_schema_is_printed_when_no_file_is_named_and_leaves_out_what_is_said(real):
    answer = unmask("schema", real, "--identifier", "pay", "--equal-width", "--bins", 7)
    schema = json.loads(answer.stdout)
    assert schema["identifiers"] == ["pay"]
    assert schema["columns"]["age"]["bins"] == 7


def test_wrong_input_is_exit_2_without_a_traceback(real, tmp_path):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n")
    for arguments in (
        ("describe", tmp_path / "none.csv"),
        ("describe", tmp_path / "bad.csv"),
        ("describe", real, "--schema", tmp_path / "none.json"),
        ("schema", real, "--person", "nobody"),
        ("report", tmp_path),
        ("synthesize", real, "--generator", "nonsense", "-o", tmp_path / "x.csv"),
        ("synthesize", real, "--generator", "random", "--set", "epsilon", "-o", tmp_path / "x.csv"),
        ("describe",),
        ("nonsense",),
    ):
        answer = unmask(*arguments)
        assert answer.returncode == 2, arguments
        assert answer.stderr
        assert "Traceback" not in answer.stderr
    assert not (tmp_path / "x.csv").exists()


def test_a_defect_is_reported_as_one_and_debug_shows_where(real):
    code = (
        "import sys; from unmask.cli import main, describe; "
        "sys.argv = ['unmask', 'describe', sys.argv[1]]; "
        "import unmask.tables.read as read; read.read_table = lambda *a, **k: 1 / 0; main.run()"
    )
    answer = subprocess.run([sys.executable, "-c", code, str(real)], capture_output=True, text=True)
    assert answer.returncode == 70
    assert "defect of unmask: ZeroDivisionError" in answer.stderr
    assert "Traceback" not in answer.stderr
    debug = subprocess.run(
        [sys.executable, "-c", code, str(real)], capture_output=True, text=True, env={**os.environ, "UNMASK_DEBUG": "1"}
    )
    assert "Traceback" in debug.stderr


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_is_exit_3_and_the_command_continues(real, tmp_path, workers):
    plan = (
        "attack",
        real,
        "--generator",
        "random",
        "--train-rows",
        50,
        "--targets",
        "1",
        "--attacks",
        "closest-record",
        "--quiet",
    )
    sizes = ("--shadows", 3000, "--tests", 3000, "--out", tmp_path / "run", "--workers", workers)
    process = subprocess.Popen(
        [str(UNMASK), *map(str, (*plan, *sizes))], stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell may have us ignore it in the background
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and len(list((tmp_path / "run" / "draws").glob("*.npz"))) < 5:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 3, errors
    assert "Interrupted" in errors
    assert "Traceback" not in errors
    kept = len(list((tmp_path / "run" / "draws").glob("*.npz")))
    again = unmask(*plan, "--shadows", 10, "--tests", 10, "--out", tmp_path / "run", "--workers", 1)
    assert again.returncode in (0, 1), again.stderr
    assert kept >= 5


def test_settings_reach_a_class_of_ones_own(real, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import pandas as pd\n"
        "class Same:\n"
        "    def __init__(self, times=1):\n"
        "        self.times = times\n"
        "    def fit(self, frame):\n"
        "        self.frame = frame\n"
        "    def sample(self, rows):\n"
        "        return self.frame.sample(rows, replace=True).reset_index(drop=True)\n"
    )
    common = (real, "--generator", "./mine.py:Same", "--set", "times=2")
    made = unmask("synthesize", *common, "-o", tmp_path / "x.csv", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    attacked = unmask(
        "attack", *common, "--train-rows", 50, "--targets", "1", "--attacks", "closest-record", "--shadows", 4, "--tests", 4,
        "--workers", 1, "--fail-on", "none", cwd=tmp_path,
    )  # fmt: skip
    assert attacked.returncode == 0, attacked.stderr
    wrong = unmask("attack", real, "--generator", "./mine.py:Same", "--set", "tines=2", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "tines" in wrong.stderr


def test_synthesize_repeats_for_a_seed_and_names_its_claim(real, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        answer = unmask(
            "synthesize", real, "--generator", "random", "--rows", 50, "--seed", seed, "-o", tmp_path / f"{name}.csv"
        )
        assert answer.returncode == 0, answer.stderr
    assert "Claim: none" in answer.stderr
    a, b, c = ((tmp_path / f"{name}.csv").read_text() for name in "abc")
    assert a == b != c
    assert len(a.splitlines()) == 51


def test_generators_are_listed():
    answer = unmask("generators")
    assert answer.returncode == 0
    assert "random" in answer.stdout


def test_demo_needs_nothing_and_repeats(tmp_path):
    first = unmask("demo", "--workers", 1, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "cart against privbayes" in first.stdout
    assert "open unmask-demo/report.html in a browser" in first.stdout
    assert "leak found (high)" in (tmp_path / "unmask-demo" / "report.html").read_text()
    unmask("demo", "--out", tmp_path / "b", "--workers", 2, "--quiet")
    assert (tmp_path / "unmask-demo" / "result.json").read_bytes() == (tmp_path / "b" / "result.json").read_bytes()
