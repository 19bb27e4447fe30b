"""Several processes on one run directory: the same bytes as one alone, whoever is killed."""

import io
import json
import os
import random
import stat
import subprocess
import sys
from collections import Counter
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unmask.cli.main import answer
from unmask.results import read_progress

UNMASK = str(Path(sys.executable).with_name("unmask"))
ATTACK = (
    "attack", "people.csv", "--generator", "cart", "--train-rows", 60, "--shadows", 40, "--tests", 40, "--targets", "2",
    "--attacks", "histogram", "--fail-on", "none", "--quiet",
)  # fmt: skip
EVERYONE = ("everyone", "people.csv", "--generator", "cart", "--runs", 16, "--fail-on", "none", "--quiet")
EPSILON = ("epsilon", "--generator", "histogram:epsilon=1", "--runs", 100, "--fail-on", "none", "--quiet")
COMPARE = (
    "compare", "people.csv", "--generators", "independent", "cart", "--targets", "2", "--tests", 40, "--shadows", 20,
    "--train-rows", 60, "--repeats", 3, "--runs", 16, "--quiet",
)  # fmt: skip
RECONSTRUCT = (
    "reconstruct",
    "people.csv",
    "--generator",
    "bayesnet",
    "--rounds",
    8,
    "--no-mitigations",
    "--fail-on",
    "none",
    "--quiet",
)
FILES = ("result.json", "records.csv")
PATIENCE = 180  # seconds; nobody waits for ever


def start(*arguments, folder, **more):
    return subprocess.Popen([UNMASK, *map(str, arguments)], cwd=folder, stderr=subprocess.PIPE, text=True, **more)


def ended(process, code=0):
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, said
    return said


def tried(*arguments, folder):
    """The same in this process, which is quicker. Returns the exit code and what was printed."""
    said = io.StringIO()
    with chdir(folder), redirect_stdout(said), redirect_stderr(said):
        code = answer(list(map(str, arguments)))
    return code, said.getvalue()


def here(*arguments, folder, code=0):
    found, said = tried(*arguments, folder=folder)
    assert found == code, said
    return said


def contents(directory):
    return {name: (directory / name).read_bytes() for name in FILES if (directory / name).exists()}


def drawn(directory):
    return len(list(directory.glob("draws/*.npz")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and what one process alone makes of it."""
    folder = tmp_path_factory.mktemp("work")
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: rng.choice(list("pqr"), 200) for name in "abcde"})
    frame["n"] = rng.integers(0, 50, 200)
    frame.to_csv(folder / "people.csv", index=False)
    here(*ATTACK, "--workers", 1, "--out", "alone", folder=folder)
    return folder


def clean(directory):
    """Nothing is left of those who worked here, or were killed."""
    return not list(directory.rglob("*.part")) and not (directory / "draws" / "claims").exists()


def test_a_prepared_run_is_drawn_by_others_and_judged_by_its_own_command(folder):
    said = here(*ATTACK[:-1], "--out", "prepared", "--prepare", folder=folder)
    assert "unmask work prepared" in said
    assert drawn(folder / "prepared") == 0
    helpers = [start("work", "prepared", "--shard", f"{k}/2", "--workers", 1, folder=folder) for k in range(2)]
    assert all("All draws are there." in ended(helper) for helper in helpers)
    assert drawn(folder / "prepared") == drawn(folder / "alone")
    told = read_progress(folder / "prepared")
    assert (told.verb, told.state, told.done) == ("work", "finished", told.total)
    here(*ATTACK, "--workers", 1, "--out", "prepared", folder=folder)
    assert read_progress(folder / "prepared").verb == "attack"
    assert contents(folder / "prepared") == contents(folder / "alone")
    assert clean(folder / "prepared")


@pytest.mark.parametrize("plan", [EVERYONE, EPSILON, COMPARE, RECONSTRUCT], ids=lambda plan: plan[0])
def test_other_audits_are_shared_too(folder, plan):
    name = plan[0]
    here(*plan, "--workers", 1, "--out", f"{name}-alone", folder=folder)
    here(*plan, "--out", f"{name}-shared", "--prepare", folder=folder)
    helper = start("work", f"{name}-shared", "--workers", 1, folder=folder)
    here(*plan, "--workers", 1, "--cluster", "shared", "--out", f"{name}-shared", folder=folder)
    ended(helper)
    assert contents(folder / f"{name}-shared") == contents(folder / f"{name}-alone")
    assert clean(folder / f"{name}-shared")


def damage(directory, rng):
    """One flipped bit, a cut, or two files exchanged, somewhere in a run directory."""
    files = sorted(path for path in directory.rglob("*") if path.is_file() and path.stat().st_size)
    path, kind = rng.choice(files), rng.choice(["flip", "cut", "swap"])
    content = bytearray(path.read_bytes())
    if kind == "flip":
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
    elif kind == "cut":
        path.write_bytes(content[: rng.randrange(len(content))])
    else:
        other = rng.choice([each for each in files if each != path])
        path.write_bytes(other.read_bytes())
        other.write_bytes(content)
    return kind, path.relative_to(directory)


def survives(whole, directory, folder, rng):
    """Damage a copy and give the command again: the same bytes, or an error that names the place. Never another result.

    Half of the copies are of a run whose result is still to come, and a helper comes before the command.
    """
    subprocess.run(["cp", "-a", str(whole), str(directory)], check=True)
    if helped := rng.random() < 0.5:
        for name in (*FILES, "run.json", "report.html", "summary.md"):
            (directory / name).unlink(missing_ok=True)
    what = damage(directory, rng)
    if helped:
        code, told = tried("work", directory, "--workers", 1, "--quiet", folder=folder)
    else:
        code, told = tried("report", directory, "--json", folder=folder)
        assert code == 2 or json.loads(told) == json.loads((whole / "result.json").read_text()), what
    assert code == 0 or (code == 2 and directory.name in told), (what, told)
    code, told = tried(*ATTACK, "--workers", 1, "--out", directory, folder=folder)
    assert code == 0 or (code == 2 and directory.name in told), (what, told)
    assert code == 2 or contents(directory) == contents(whole), what
    return f"{what[0]} {'mended' if code == 0 else 'named'}"


@pytest.fixture(scope="module")
def prepared(folder):
    """A finished run that others could have worked on."""
    here(*ATTACK, "--workers", 1, "--cluster", "shared", "--out", "whole", folder=folder)
    return folder / "whole"


def test_damage_is_mended_or_named(folder, prepared, tmp_path):
    rng = random.Random(7)
    told = [survives(prepared, tmp_path / f"copy-{k}", folder, rng) for k in range(4)]
    assert sum(each.endswith("mended") for each in told) >= 2


@pytest.mark.soak
def test_two_hundred_damages(folder, prepared, tmp_path, capsys):
    rng = random.Random(8)
    told = Counter(survives(prepared, tmp_path / f"copy-{k}", folder, rng) for k in range(200))
    with capsys.disabled():
        print(f"\n200 damages: {dict(sorted(told.items()))}")  # noqa: T201
    assert sum(count for what, count in told.items() if what.endswith("mended")) >= 150


def test_damaged_draws_are_counted_in_run_json(folder, tmp_path):
    subprocess.run(["cp", "-a", str(folder / "alone"), str(tmp_path / "copy")], check=True)
    draw = sorted((tmp_path / "copy" / "draws").glob("test-*.npz"))[3]
    draw.write_bytes(draw.read_bytes()[:-9])
    here(*ATTACK, "--workers", 1, "--out", tmp_path / "copy", folder=folder)
    assert json.loads((tmp_path / "copy" / "run.json").read_text())["damaged_draws"] == [draw.stem]
    assert contents(tmp_path / "copy") == contents(folder / "alone")


def test_a_job_of_a_stranger_runs_no_code(folder, tmp_path):
    here(*ATTACK, "--out", tmp_path / "strange", "--prepare", folder=folder)
    job = tmp_path / "strange" / "work.json"
    plain = json.loads(job.read_text())
    job.write_text(json.dumps(plain | {"plan": plain["plan"] | {"generator": "command:touch executed"}}))
    assert "--trust" in here("work", tmp_path / "strange", folder=folder, code=2)
    job.write_text(json.dumps(plain | {"verb": "os"}))
    assert "no run of 'os'" in here("work", tmp_path / "strange", folder=folder, code=2)
    assert not (folder / "executed").exists()


def test_other_code_is_refused(folder, tmp_path):
    """Its path is seen from where the helper is, so that it may be another file; and it may have been changed."""
    lines = "def fit(self, frame): self.frame = frame", "def sample(self, n): return self.frame.sample(n, replace=True)"
    text = "class Copy:\n    " + "\n    ".join(lines) + "\n"
    (folder / "mine.py").write_text(text)
    named = ("everyone", "people.csv", "--generator", "./mine.py:Copy", *EVERYONE[4:], "--out", tmp_path / "run")
    here(*named, "--prepare", folder=folder)
    work = ("work", tmp_path / "run", "--workers", 1, "--quiet")
    assert "--trust" in here(*work, folder=folder, code=2)
    assert "no such file here" in here(*work, "--trust", folder=tmp_path, code=2)
    (tmp_path / "mine.py").write_text(text + "# other\n")
    assert "other code" in here(*work, "--trust", folder=tmp_path, code=2)
    here(*work, "--trust", folder=folder)
    assert drawn(tmp_path / "run") == 16
    (folder / "mine.py").write_text(text + "# other\n")
    assert "mine.py has changed since" in here(*named, folder=folder, code=2), "draws of two versions are never mixed"
    (folder / "mine.py").write_text(text)
    here(*named, folder=folder)


def test_other_files_and_damaged_jobs_are_refused(folder, tmp_path):
    here(*ATTACK, "--out", tmp_path / "run", "--prepare", folder=folder)
    (tmp_path / "other.csv").write_text((folder / "people.csv").read_text() + "p,p,p,p,p,3\n")
    other = f"population={tmp_path / 'other.csv'}"
    assert "another digest" in here("work", tmp_path / "run", "--input", other, folder=folder, code=2)
    assert "this run reads population" in here("work", tmp_path / "run", "--input", "x=y", folder=folder, code=2)
    (tmp_path / "run" / "work.json").write_text('{"format": 1, "verb": 3}')
    assert "damaged" in here("work", tmp_path / "run", folder=folder, code=2)
    assert "--prepare" in here("work", tmp_path, folder=folder, code=2)
    assert "--out" in here(*ATTACK, "--cluster", "shared", folder=folder, code=2)
    late = (*ATTACK, "--cluster", "shared", "--out", "late", "--time-budget", "9s")
    assert "--time-budget" in here(*late, folder=folder, code=2)


@pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")
def test_draws_are_private_unless_they_are_shared_with_the_group(folder):
    here(*EPSILON, "--workers", 2, "--out", "group", "--share-with-group", "--prepare", folder=folder)
    here("work", "group", "--workers", 1, folder=folder)
    rights = {path: stat.S_IMODE(path.stat().st_mode) for path in (folder / "group" / "draws").rglob("*")}
    assert set(rights.values()) == {0o660}
    assert stat.S_IMODE((folder / "group").stat().st_mode) & 0o2050 == 0o2050
    assert stat.S_IMODE((folder / "group" / "draws").stat().st_mode) == 0o2770
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder / "alone" / "draws").iterdir()} == {0o600}
