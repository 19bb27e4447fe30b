"""Run directories of format 2 can be reported on, and their commands continue them without drawing anything again."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import unmask
from tests.cli.test_cli import unmask as command

OLD = Path(__file__).parent / "format2"
COMMANDS = json.loads((OLD / "commands.json").read_text())
# On the same draws, other numbers: intervals over releases, one more attack on a claim, the learnt auditor of a release.
JUDGED_ANEW = ("attack", "epsilon", "audit")
MORE = {"attack": ["--tests", "8"], "everyone": ["--runs", "20"], "epsilon": ["--runs", "30"]}


@pytest.fixture
def place(tmp_path):
    return Path(shutil.copytree(OLD, tmp_path / "old"))


def draws(directory):
    return {path.name: path.read_bytes() for path in sorted((directory / "draws").glob("*"))}


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_report_is_made_of_an_old_run(verb, place):
    done = command("report", verb, cwd=place)
    assert done.returncode == 0, done.stderr
    assert "Seed 0" in done.stdout
    assert "</html>" in (place / verb / "report.html").read_text()


@pytest.mark.pinned
@pytest.mark.parametrize("verb", [verb for verb in COMMANDS if verb != "everyone"])
def test_the_same_command_continues_an_old_run(verb, place):
    """Every draw is taken from the old directory, and the result is the old one, unless draws are judged in another way now."""
    old, kept = unmask.load(place / verb), draws(place / verb)
    done = command(*COMMANDS[verb], "--out", verb, "--quiet", "--workers", "1", cwd=place)
    assert done.returncode in (0, 1), done.stderr
    assert draws(place / verb) == kept
    new = unmask.load(place / verb)
    if verb in JUDGED_ANEW:
        assert {finding.name for finding in old.findings} <= {finding.name for finding in new.findings}
        assert new.severity is old.severity
    else:
        assert replace(new, versions=old.versions, plan=old.plan) == old
    assert old.plan.items() <= new.plan.items()


def test_an_old_run_of_everyone_is_continued_as_it_was_drawn(place):
    """No run of the coin game is drawn again, exact values are left out for all of them, and that is said.

    The scorer is another one, so the most exposed person may be another too, about whom the exact game is drawn.
    """
    old, kept = unmask.load(place / "everyone"), draws(place / "everyone")
    for _ in range(2):  # the second time the directory holds the result of the first
        done = command(*COMMANDS["everyone"], "--out", "everyone", "--quiet", "--workers", "1", cwd=place)
        assert done.returncode in (0, 1), done.stderr
        now = draws(place / "everyone")
        assert kept.items() <= now.items()
        assert all(name.startswith("confirm-") for name in now.keys() - kept.keys())
        new = unmask.load(place / "everyone")
        assert old.plan.items() <= new.plan.items()
        assert new.plan["exact_values"] is False
        assert any("Exact amounts were not asked for" in note for note in new.notes)
        assert {finding.name for finding in new.findings} == {finding.name for finding in old.findings}


@pytest.mark.parametrize("verb", MORE)
def test_an_old_run_grows(verb, place):
    kept = draws(place / verb)
    done = command(*COMMANDS[verb], *MORE[verb], "--out", verb, "--quiet", cwd=place)
    assert done.returncode in (0, 1), done.stderr
    now = draws(place / verb)
    assert kept.items() <= now.items()
    assert len(now) > len(kept)


def test_another_plan_is_refused_by_name(place):
    done = command(*COMMANDS["attack"], "--train-rows", "21", "--out", "attack", cwd=place)
    assert done.returncode == 2
    assert "train_rows was 20, now it is 21" in done.stderr
