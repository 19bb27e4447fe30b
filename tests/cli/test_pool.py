"""`unmask pool` as a user meets it: export, a loop over the files, attack."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

UNMASK = Path(sys.executable).with_name("unmask")
LEAK = """
import random, sys
train, rows, out = sys.argv[1:]
header, *people = open(train).read().splitlines()
drawn = random.Random(train).choices(people, k=int(rows))
open(out, "w").write("\\n".join([header, *drawn]) + "\\n")
"""


def unmask(*arguments, cwd):
    return subprocess.run(
        [str(UNMASK), *map(str, arguments)],
        capture_output=True, text=True, cwd=cwd, env={**os.environ, "COLUMNS": "120"}, timeout=300,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An exported pool of 80 people, whose owner publishes real rows."""
    folder = tmp_path_factory.mktemp("pool")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 80),
            "sex": rng.choice(["f", "m"], 80),
            "pay": rng.lognormal(10, 1, 80).round(2),
        }
    )
    frame.to_csv(folder / "real.csv", index=False)
    (folder / "leak.py").write_text(LEAK)
    return folder


def test_export_the_readmes_loop_and_attack(folder):
    written = unmask("pool", "export", "real.csv", "--runs", 16, "--synthetic-rows", 40, "--out", "pool", cwd=folder)
    assert written.returncode == 0, written.stderr
    assert "Wrote 16 new training files" in written.stderr
    assert (
        "16 runs are too few to list a single person" in written.stderr
    )  # what they buy is said before anybody fits anything
    assert "Keep to yourself: pool/private" in written.stdout

    waiting = unmask("pool", "attack", "pool", cwd=folder)
    assert waiting.returncode == 2
    assert "synthetic/run-0000.csv to run-0015.csv: missing" in waiting.stderr

    readme = (folder / "pool" / "README.txt").read_text()
    start, end = readme.index("    mkdir -p synthetic"), readme.index("Good to know")
    loop = readme[start:end].replace("./my-generator", f"{sys.executable} ../leak.py")
    subprocess.run(["sh", "-euc", loop], cwd=folder / "pool", check=True)

    attacked = unmask("pool", "attack", "pool", "--name", "Acme 3", "--out", "run", "--workers", 2, cwd=folder)
    assert attacked.returncode == 1, attacked.stderr  # a copier is a high risk
    result = json.loads((folder / "run" / "result.json").read_text())
    assert result["plan"]["generator"] == "foreign: Acme 3"
    assert result["plan"]["files"] == 16
    assert (folder / "run" / "report.html").exists()
    assert (folder / "run" / "records.csv").exists()

    extended = unmask("pool", "export", "real.csv", "--runs", 20, "--synthetic-rows", 40, "--out", "pool", cwd=folder)
    assert "Wrote 4 new training files" in extended.stderr
    again = unmask("pool", "attack", "pool", "--name", "Acme 3", "--out", "run", "--json", "--workers", 1, cwd=folder)
    assert again.returncode == 1, again.stderr
    assert any("4 of 20 synthetic files are missing" in note for note in json.loads(again.stdout)["notes"])
    strict = unmask("pool", "attack", "pool", "--strict", cwd=folder)
    assert strict.returncode == 2
    assert "synthetic/run-0016.csv to run-0019.csv: missing." in strict.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("export", "real.csv", "--out", "other", "--runs", "3"), "--runs is 3; use a whole number from 8"),
        (("export", "real.csv", "--out", "other", "--claim", "epsilon=one"), "is no number"),
        (("export", "real.csv", "--out", "other", "--coins", "loaded"), "--coins"),
        (("export", "none.csv", "--out", "other"), "there is no such file"),
        (("export", "real.csv", "--out", "leak.py"), "leak.py"),
        (("attack", "nowhere"), "there is no such pool"),
    ],
)
def test_wrong_usage_is_exit_2_without_a_traceback(folder, arguments, message):
    answer = unmask("pool", *arguments, cwd=folder)
    assert answer.returncode == 2, answer.stderr
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not (folder / "other").exists()


@pytest.mark.parametrize("verb", ["export", "attack"])
def test_the_verbs_explain_themselves(folder, verb):
    answer = unmask("pool", verb, "--help", cwd=folder)
    assert answer.returncode == 0
    assert f"pool {verb}" in answer.stdout


def test_what_both_verbs_ask_has_the_same_words_and_the_defaults_of_the_plan():
    from unmask.audits.everyone.plan import EveryonePlan
    from unmask.audits.foreign.plan import PoolPlan
    from unmask.cli import everyone, pool

    theirs, ours = (
        {each.name: each for each in verb.params} for verb in (everyone.command, pool.command.commands["attack"])
    )
    for name in ("groups", "secrets", "rate", "confidence"):
        assert ours[name].help == theirs[name].help
        assert ours[name].opts == theirs[name].opts
    for name in ("rate", "confidence", "scorer"):
        assert getattr(PoolPlan, name) == getattr(EveryonePlan, name)
        assert f"[default: {getattr(EveryonePlan, name)}]" in ours[name].help


def test_help_needs_no_heavy_imports():
    code = "import sys, unmask.cli.pool; sys.exit(bool({'numpy', 'pandas', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
