"""`unmask epsilon` and settings of generators that are not our own."""

import json
import sys

import pytest

from tests.cli.test_cli import unmask

OWN = """
class Coin:
    def __init__(self, epsilon):
        self.epsilon = epsilon

    def fit(self, frame):
        self.frame = frame
        return self

    def sample(self, rows):
        return self.frame.sample(rows, replace=True, random_state=0)
"""
PROGRAM = """
import sys
train, rows, out = sys.argv[1:4]
assert len(sys.argv) == 4, sys.argv
lines = open(train).read().splitlines()
open(out, "w").write("\\n".join([lines[0], *(lines[1:] * int(rows))[: int(rows)]]) + "\\n")
"""
RUN = (
    "--claim",
    "epsilon=5",
    "--pairs",
    "tiny",
    "--runs",
    "3",
    "--synthetic-rows",
    "12",
    "--workers",
    "1",
    "--out",
    "run",
)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def test_settings_of_a_class(place):
    done = unmask("epsilon", "--generator", "./mine.py:Coin", "--set", "epsilon=1", *RUN, cwd=place)
    assert done.returncode in (0, 1), done.stderr
    plan = json.loads((place / "run" / "result.json").read_text())["plan"]
    assert (plan["generator"], plan["settings"]) == ("./mine.py:Coin", ["epsilon=1"])


def test_settings_of_a_command_are_not_glued_to_its_words(place):
    command = f"command: {sys.executable} program.py {{train}} {{rows}} {{out}}"
    done = unmask("epsilon", "--generator", command, "--set", "timeout=60", *RUN, cwd=place)
    assert done.returncode in (0, 1), done.stderr
    plan = json.loads((place / "run" / "result.json").read_text())["plan"]
    assert (plan["generator"], plan["settings"]) == (command, ["timeout=60"])


def test_a_command_has_no_such_setting(place):
    command = f"command: {sys.executable} program.py {{train}} {{rows}} {{out}}"
    done = unmask("epsilon", "--generator", command, "--set", "epsilon=1", *RUN, cwd=place)
    assert done.returncode == 2
    assert "no parameter epsilon" in done.stderr


def test_settings_of_a_built_in_are_one_text_as_ever(place):
    done = unmask("epsilon", "--generator", "histogram", "--set", "epsilon=5", *RUN, cwd=place)
    assert done.returncode in (0, 1), done.stderr
    plan = json.loads((place / "run" / "result.json").read_text())["plan"]
    assert (plan["generator"], plan["settings"]) == ("histogram:epsilon=5", [])
