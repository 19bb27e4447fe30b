"""A directory that cannot be used is found before the work begins."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from unmask.audits.attack.audit import AttackAudit
from unmask.audits.compare.audit import CompareAudit
from unmask.audits.demo import Demonstration
from unmask.audits.describe import Description
from unmask.audits.epsilon.audit import EpsilonAudit
from unmask.audits.everyone.audit import EveryoneAudit
from unmask.audits.plan import Plan
from unmask.audits.release.audit import ReleaseAudit
from unmask.audits.release.plan import ReleasePlan
from unmask.cli.main import app
from unmask.errors import RunError
from unmask.results.migration import upgraded


@pytest.fixture
def tables(tmp_path):
    frame = pd.DataFrame({"a": [k % 7 for k in range(60)], "b": [k % 5 for k in range(60)]})
    for name, part in (("real", frame[:20]), ("synthetic", frame[20:40]), ("holdout", frame[40:])):
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def command(verb, folder, *more):
    files = {
        "audit": [folder / "real.csv", folder / "synthetic.csv", "--holdout", folder / "holdout.csv"],
        "describe": [folder / "real.csv"],
        "demo": [],
        "attack": [folder / "real.csv", "--generator", "random"],
        "everyone": [folder / "real.csv", "--generator", "random"],
        "epsilon": ["--generator", "random", "--claim", "epsilon=1"],
        "compare": [folder / "real.csv", "--generators", "random", "raw"],
    }
    answer = CliRunner().invoke(app, [verb, *map(str, files[verb]), "--quiet", *map(str, more)])
    if answer.exception and not isinstance(answer.exception, SystemExit):
        raise answer.exception
    return answer


@pytest.fixture
def idle(monkeypatch):
    """Any work is a failure."""

    def work(*_, **__):
        raise AssertionError("the work began")

    for audit in (ReleaseAudit, Description, Demonstration, AttackAudit, EveryoneAudit, EpsilonAudit, CompareAudit):
        monkeypatch.setattr(audit, "run", work)


VERBS = ("audit", "describe", "demo", "attack", "everyone", "epsilon", "compare")


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_is_no_directory(tables, idle, verb):
    with pytest.raises(RunError, match=r"real\.csv: this is a file"):
        command(verb, tables, "--out", tables / "real.csv")
    with pytest.raises(RunError, match="nothing can be written here"):
        command(verb, tables, "--out", tables / "real.csv" / "run")


@pytest.mark.parametrize("verb", VERBS)
def test_a_directory_that_cannot_be_written_to(tables, idle, verb, monkeypatch):
    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("unmask.results.directory.tempfile.TemporaryFile", refuse)
    with pytest.raises(RunError, match=r"nothing can be written here \(Permission denied\)"):
        command(verb, tables, "--out", tables / "run")


@pytest.mark.parametrize("verb", VERBS)
def test_the_result_of_another_plan(tables, idle, verb, tmp_path):
    from tests.results.test_result import full_result
    from unmask.results.directory import write

    write(full_result(audit="another"), tmp_path / "run")
    with pytest.raises(RunError, match=f"audit was 'another', now it is '{'release' if verb == 'audit' else verb}'"):
        command(verb, tables, "--out", tmp_path / "run")


@pytest.mark.parametrize("verb", ["audit", "describe"])
def test_other_tables_or_choices_are_named_before_the_work(tables, verb, monkeypatch, request):
    command(verb, tables, "--out", tables / "run")
    before = (tables / "run" / "result.json").read_bytes()
    command(verb, tables, "--out", tables / "run")
    assert (tables / "run" / "result.json").read_bytes() == before, "the same plan may run again"
    request.getfixturevalue("idle")
    with pytest.raises(RunError, match="seed was 0, now it is 4"):
        command(verb, tables, "--out", tables / "run", "--seed", 4)
    pd.DataFrame({"a": [1, 2, 3, 4, 5, 6], "b": [1, 2, 3, 4, 1, 2]}).to_csv(tables / "real.csv", index=False)
    with pytest.raises(RunError, match="inputs was"):
        command(verb, tables, "--out", tables / "run")


def test_what_the_demo_expects_is_what_it_gives():
    from tests.reports.examples import GOLDEN

    plain = upgraded(json.loads((GOLDEN / "demo.json").read_text()))
    expected = Demonstration(Plan()).expected()
    later = {name: value for name, value in expected.plan.items() if name not in plain["plan"]}
    assert expected.plan == {**later, **plain["plan"]}
    assert later.items() <= ReleasePlan.defaults().items(), "choices that 0.1 did not have"
    assert expected.audit == plain["audit"]
