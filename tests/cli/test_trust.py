"""No code runs that the user did not name: not from the folder of the data, and not from a file of somebody else."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from unmask.cli import trust
from unmask.cli.main import app
from unmask.errors import ParameterError
from unmask.generators import is_code as is_generator_code
from unmask.registry import load_class

UNMASK = (str(Path(sys.executable).with_name("unmask")),)
MODULE = (sys.executable, "-m", "unmask")
TINY = (
    "--train-rows",
    "5",
    "--targets",
    "1",
    "--attacks",
    "closest-record",
    "--shadows",
    "4",
    "--tests",
    "4",
    "--fail-on",
    "none",
)
SAME = (
    "class Same:\n"
    "    def fit(self, frame):\n"
    "        self.frame = frame\n"
    "    def sample(self, rows):\n"
    "        return helper(self.frame, rows)\n"
    "def helper(frame, rows):\n"
    "    return frame.sample(rows, replace=True).reset_index(drop=True)\n"
)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder with a table, a class, and files that say so when they are executed."""
    pd.DataFrame({"a": [k % 7 for k in range(30)], "b": [k % 5 for k in range(30)]}).to_csv(
        tmp_path / "real.csv", index=False
    )
    (tmp_path / "mine.py").write_text(SAME)
    for name in ("bottleneck", "cloudpickle", "click", "pandas", "sitecustomize_", "multiprocessing"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'a').write('{name} ')\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, program=UNMASK, **environment):
    return subprocess.run(
        [*program, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", timeout=300,
        stdin=subprocess.DEVNULL, env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.parametrize("program", [UNMASK, MODULE], ids=["unmask", "python -m unmask"])
def test_nothing_beside_the_data_is_executed(data, program):
    answer = run("describe", "real.csv", "--quiet", program=program)
    assert answer.returncode == 0, answer.stderr
    assert not (data / "executed").exists(), (data / "executed").read_text()


def test_settings_of_compiled_loops_are_not_taken_from_beside_the_data(monkeypatch):
    """numba would read .numba_config.yaml there, which may name a folder of pickles; what the environment says goes first."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(sys, "path", ["/somewhere", *sys.path])
    trust.forget_the_working_directory()
    assert os.environ["NUMBA_CACHE_DIR"] == ""
    assert sys.path[0] == "/somewhere"
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    trust.forget_the_working_directory()
    assert sys.path[0] == "/somewhere"
    monkeypatch.delenv("NUMBA_CACHE_DIR")


def test_a_class_of_ones_own_is_named_by_its_path_or_by_python_path(data):
    """In worker processes too, which import nothing else from beside the data."""
    common = ("attack", "real.csv", *TINY, "--workers", 2, "--quiet", "--generator")
    absent = run(*common, "mine:Same")
    assert absent.returncode == 2
    assert "--python-path" in absent.stderr
    (data / "code").mkdir()
    (data / "mine.py").rename(data / "code" / "mine.py")
    for named in (("./code/mine.py:Same",), ("mine:Same", "--python-path", "code")):
        answer = run(*common, *named)
        assert answer.returncode == 0, (named, answer.stderr)
        assert "failed" not in answer.stdout
    assert not (data / "executed").exists(), (data / "executed").read_text()


def test_a_program_that_a_worker_starts_has_its_own_ways_with_the_path(data):
    """What keeps our workers clean is not handed on to what a command starts."""
    code = "import os, shutil, sys; os.environ.get('PYTHONSAFEPATH') and sys.exit(5); shutil.copy(sys.argv[1], sys.argv[2])"
    (data / "copy.py").write_text(code)
    command = f"command: {sys.executable} copy.py {{train}} {{out}}"
    answer = run("attack", "real.csv", "--generator", command, *TINY, "--synthetic-rows", 5, "--workers", 2, "--json")
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize(
    "line",
    [
        'generator = "command: touch executed {train} {out}"', 'generator = "mine:Same"', 'generator = "./mine.py:Same"',
        'generator = "random"\nattacks = ["mine:Same"]', 'generator = "random"\nattacks = ["histogram:classifier=mine:Same"]',
        'generator = "random"\naccess = "uncertain-box"\npossible = ["mine:Same"]',
    ],
)  # fmt: skip
def test_code_that_a_plan_names_is_shown_and_not_run(data, line, monkeypatch):
    (data / "plan.toml").write_text(line + "\n")
    (data / "mine.py").write_text("open('executed', 'w')\n" + SAME)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for more in ((), ("--write-plan", "again.toml")):
        answer = CliRunner().invoke(app, ["attack", "real.csv", "--plan", "plan.toml", "--python-path", ".", *more])
        assert isinstance(answer.exception, ParameterError)
        assert "--trust" in str(answer.exception)
        assert line.rpartition('"')[0].rpartition('"')[2] in str(answer.exception)
        assert not (data / "executed").exists()


def test_trust_runs_it_and_what_was_typed_needs_none(data):
    (data / "plan.toml").write_text('generator = "./mine.py:Same"\nattacks = ["closest-record"]\n')
    common = ["attack", "real.csv", "--plan", "plan.toml", *TINY[:4], *TINY[6:], "--quiet"]
    for more in (["--trust"], ["--generator", "./mine.py:Same"], ["--generator", "random"]):
        answer = CliRunner().invoke(app, [*common, *more])
        assert answer.exit_code == 0, (more, answer.exception)


@pytest.mark.parametrize(("answered", "runs"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_at_a_terminal_the_user_is_asked(data, monkeypatch, answered, runs):
    (data / "plan.toml").write_text('generator = "./mine.py:Same\\u001b[31m"\n')
    monkeypatch.setattr(trust, "_at_a_terminal", lambda: True)
    answer = CliRunner().invoke(
        app, ["attack", "real.csv", "--plan", "plan.toml", "--write-plan", "again.toml"], input=answered
    )
    assert "␛[31m" in answer.output
    assert "\x1b" not in answer.output
    assert (data / "again.toml").exists() is runs
    if not runs:
        assert isinstance(answer.exception, ParameterError)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("random", False),
        ("privbayes:epsilon=1", False),
        ("command: x", True),
        ("a.b:C", True),
        ("./f.py:C", True),
        ("nonsense", False),
    ],
)
def test_what_is_code(text, code):
    assert is_generator_code(text) is code


def test_the_folder_of_a_named_file_is_not_searched(data):
    (data / "beside.py").write_text("import mine\nclass Other: pass\n")
    with pytest.raises(Exception, match="mine"):
        load_class("./beside.py:Other")
    for wrong in ("./none.py:X", ":", "a:", ":b", "..:x"):
        with pytest.raises(ParameterError):
            load_class(wrong)
