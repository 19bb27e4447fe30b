"""Runs that the page begins: the same bytes as on the command line, found again after a restart, one after the other."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.web.conftest import TABLES
from tests.web.served import Served, is_there, until
from unmask.reports.html import render
from unmask.results.decision import decided
from unmask.results.directory import load, read_run

LONG = [
    ("choice-generator", "privbayes"),
    ("choice-settings", "epsilon=1"),
    ("choice-runs", "100000"),
    ("choice-stop_early", "no"),
]


def begin(served, verb, fields, parts=(("path-real", None, ""),)):
    draft = served.upload(f"/new/{verb}", parts).location
    until(lambda: "being read" not in served.get(draft).text)
    answer = served.post(draft.replace("/draft/", "/start/"), fields)
    assert answer.status == 303, answer.text
    return answer.location.removeprefix("/run/")


def job_of(served, run):
    jobs = [json.loads(path.read_text()) for path in (served.runs / ".unmask-page" / "jobs").glob("*.json")]
    return next(job for job in jobs if job["run"] == run)


def the_report_is_that_of_the_command_line(served, tmp_path):
    """Three uploads and a corrected role, against the same words at a terminal: equal bytes, but for when and where."""
    parts = [(name, f"{name}.csv", (TABLES / f"{name}.csv").read_bytes()) for name in ("real", "synthetic", "holdout")]
    draft = served.upload("/new/audit", parts).location
    until(lambda: "being read" not in served.get(draft).text)
    shown = served.get(draft).text
    assert "120 rows, 15 columns" in shown
    secret = [("role-14", "secret"), ("choice-seed", "3"), ("name", "My first audit!")]
    run = served.post(draft.replace("/draft/", "/start/"), secret).location.removeprefix("/run/")
    assert run == "my-first-audit"
    assert served.wait(run, "finished", "failed") == "finished"

    mine = tmp_path / "mine"
    corrected = tmp_path / "schema.json"
    for words in (
        ["schema", "real.csv", "--holdout=holdout.csv", "--secret=income", f"--out={corrected}"],
        [
            "audit",
            "real.csv",
            "synthetic.csv",
            "--holdout=holdout.csv",
            f"--schema={corrected}",
            "--seed=3",
            f"--out={mine}",
        ],
    ):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "unmask", *words], cwd=TABLES, capture_output=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr
    theirs = served.runs / run
    for name in ("result.json", "records.csv"):
        assert (theirs / name).read_bytes() == (mine / name).read_bytes()
    assert load(theirs).plan["secrets"] == load(mine).plan["secrets"]
    run_json = read_run(theirs)
    files = load(theirs).files  # the same names and digests
    assert [(each.role, each.name, each.sha256) for each in files if each.role != "schema"] == [
        (each.role, each.name, each.sha256) for each in load(mine).files if each.role != "schema"
    ]
    rendered = render(replace(load(mine), files=files), run_json, decided(mine))
    assert served.get(f"/runs/{run}/report.html").body == (theirs / "report.html").read_bytes() == rendered.encode()


def what_is_decided_stands_in_the_report(served):
    run = "my-first-audit"
    fields = [
        ("reviewer", "A. <b>Reviewer</b>"),
        ("decision", "do not publish"),
        ("reasons", "Too many\r\nare named."),
        ("date", "2026-11-18"),
    ]
    assert served.post(f"/decide/{run}", fields[:1]).status == 400
    assert served.post(f"/decide/{run}", [*fields[:3], ("date", "soon")]).status == 400
    assert served.post(f"/decide/{run}", fields).location == f"/run/{run}"
    kept = json.loads((served.runs / run / "decision.json").read_text())
    assert kept["decision"] == "do not publish"
    assert kept["reviewer"] == "A. <b>Reviewer</b>"
    page = served.get(f"/runs/{run}/report.html").text
    assert "are named." in page
    assert "A. &lt;b&gt;Reviewer&lt;/b&gt;" in page
    assert "Do not publish" in served.get(f"/run/{run}").text


def files_are_taken_along_as_attachments_and_local_ones_say_so(served):
    for name in ("report.html", "result.json", "summary.md", "records.csv", "run.json", "decision.json"):
        answer = served.get(f"/download/{name}/my-first-audit")
        assert answer.status == 200
        assert answer.headers["content-disposition"].startswith("attachment; ")
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.body == (served.runs / "my-first-audit" / name).read_bytes()
        assert ("LOCAL" in answer.headers["content-disposition"]) == (name in ("records.csv", "run.json"))
    assert served.get("/download/progress.json/my-first-audit").status == 404
    assert "LOCAL: do not pass on" in served.get("/run/my-first-audit").text


def runs_of_the_command_line_are_listed_found_and_compared(served):
    """Whatever verb wrote them; reports that another version wrote are not shown but made anew."""
    for name in ("audit", "everyone", "epsilon"):
        shutil.copytree(TABLES / name, served.runs / "older" / name)
    until(lambda: all(f"/run/older/{name}" in served.get("/runs").text for name in ("audit", "everyone", "epsilon")))
    until(lambda: "being read" not in served.get("/runs").text)
    assert "older/everyone" in served.get("/runs?q=older+EVERYONE").text
    assert "/run/my-first-audit" not in served.get("/runs?q=older").text
    assert "No run matches" in served.get("/runs?q=nothing-like-this").text
    answer = served.post("/compare", [("run", "older/audit"), ("run", "my-first-audit")])
    assert answer.status == 303, answer.text
    page = served.get(answer.location)
    assert "2 runs side by side" in page.text
    link = page.text.partition('<a href="../')[2].partition('"')[0]
    assert link.endswith("my-first-audit/report.html")
    assert served.post("/compare", [("run", "older/audit")]).status == 400
    (served.runs / "older" / "audit" / "report.html").write_text(
        "<script>alert(1)</script><meta http-equiv=refresh content='0;http://x.example'>"
    )
    altered = served.get("/runs/older/audit/report.html")
    assert "not shown as it is" in altered.text
    assert "x.example" not in altered.text
    assert served.post("/renew/older/audit").status == 303
    assert "Verdict" in served.get("/runs/older/audit/report.html").text


def deleting_asks_first_and_takes_the_uploads_along(served):
    assert "this cannot be undone" in served.get("/delete/older/epsilon").text
    assert served.post("/delete/older/epsilon").status == 400
    assert (served.runs / "older" / "epsilon" / "result.json").exists()
    assert served.post("/delete/older/epsilon", [("sure", "yes")]).location == "/runs"
    assert not (served.runs / "older" / "epsilon").exists()
    assert (served.runs / "older" / "audit").exists()
    assert list((served.runs / ".unmask-page" / "uploads").rglob("*.csv"))
    assert served.post("/delete/my-first-audit", [("sure", "yes")]).location == "/runs"
    assert not list((served.runs / ".unmask-page" / "uploads").rglob("*.csv"))


def test_a_run_from_its_files_to_its_end(served, tmp_path):
    """One after the other, since each goes on with what the last one left."""
    the_report_is_that_of_the_command_line(served, tmp_path)
    what_is_decided_stands_in_the_report(served)
    files_are_taken_along_as_attachments_and_local_ones_say_so(served)
    runs_of_the_command_line_are_listed_found_and_compared(served)
    deleting_asks_first_and_takes_the_uploads_along(served)


def test_wrong_choices_are_told_before_anything_runs(served):
    draft = served.upload("/new/epsilon", [("path-real", None, "")]).location
    start = draft.replace("/draft/", "/start/")
    for fields, told in (
        ([], "Generator: This is missing"),
        ([("choice-generator", "privbayes"), ("choice-runs", "many")], "whole number"),
        ([("choice-generator", "privbayes"), ("choice-confidence", "7")], "between 0 and 1"),
        ([("choice-generator", "privbayes"), ("time-budget", "soon")], "no duration"),
        ([("choice-generator", "nobody")], "nobody"),
    ):
        answer = served.post(start, fields)
        if answer.status == 303:  # only the work itself can tell
            assert served.wait(answer.location.removeprefix("/run/"), "failed", "finished") == "failed"
            assert told in served.get(answer.location).text
            break
        assert answer.status == 400
        assert told in answer.text
        assert "Traceback" not in answer.text
    assert list(served.runs.glob("epsilon*")) in ([], [served.runs / answer.location.removeprefix("/run/")])


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """A server of its own, to be stopped and killed."""
    server = Served(tmp_path_factory.mktemp("jobs") / "runs").start()
    server.enter()
    yield server
    server.end()


def a_job_outlives_the_server_and_the_queue_goes_on(other):
    first = begin(other, "epsilon", [*LONG, ("name", "first")])
    second = begin(other, "epsilon", [*LONG, ("name", "second")])
    assert other.wait(first, "running") == "running"
    assert other.state(second) == "waiting"
    assert "Waiting for 1 other run" in other.get(f"/progress/{second}").text
    until(
        lambda: (
            "Playing runs" in other.get(f"/progress/{first}").text
            or '"share": 0.' in other.get(f"/progress/{first}").text
        )
    )
    process = job_of(other, first)["pid"]
    assert served_apart(process, other)
    other.stop(signal.SIGKILL)
    assert is_there(process)
    other.start()  # on the same port, and the session goes on
    assert other.get("/runs").status == 200
    assert other.state(first) == "running"
    assert other.state(second) == "waiting"
    assert job_of(other, first)["pid"] == process
    assert other.post(f"/delete/{first}", [("sure", "yes")]).status == 400
    assert other.post(f"/cancel/{first}").status == 303
    assert other.wait(first, "cancelled", "failed") == "cancelled"
    until(lambda: not is_there(process))
    assert other.wait(second, "running") == "running"


def served_apart(process: int, server) -> bool:
    return os.getsid(process) == process != server.process.pid


def a_cancelled_run_continues(other):
    assert other.post("/cancel/second").status == 303
    assert other.wait("second", "cancelled", "failed") == "cancelled"
    assert "Continue" in other.get("/run/second").text
    drawn = len(list((other.runs / "second").rglob("*.npz")))
    assert other.post("/again/second").status == 303
    assert other.wait("second", "running") == "running"
    assert other.post("/again/second").status == 400
    assert len(list((other.runs / "second").rglob("*.npz"))) >= drawn
    other.post("/cancel/second")
    other.wait("second", "cancelled")


def a_killed_run_is_told(other):
    assert other.post("/again/first").status == 303
    other.wait("first", "running")
    os.kill(job_of(other, "first")["pid"], signal.SIGKILL)
    assert other.wait("first", "failed", "finished") == "failed"
    assert "may have been killed" in other.get("/run/first").text


def only_the_same_process_is_ended(other):
    """A number that another process has by now: this one."""
    path = next(
        path
        for path in (other.runs / ".unmask-page" / "jobs").glob("*.json")
        if json.loads(path.read_text())["run"] == "first"
    )
    other.stop()
    job = json.loads(path.read_text()) | {"state": "running", "pid": os.getpid(), "began": "0:0", "cancelled": 1.0}
    path.write_text(json.dumps(job))
    other.start()
    assert other.wait("first", "failed", "cancelled", "finished") in ("failed", "cancelled")
    assert is_there(os.getpid())


def test_jobs_live_apart_from_the_server(other):
    """One after the other, since each goes on with what the last one left."""
    a_job_outlives_the_server_and_the_queue_goes_on(other)
    a_cancelled_run_continues(other)
    a_killed_run_is_told(other)
    only_the_same_process_is_ended(other)


def test_nothing_heavy_is_in_the_server(other):
    from tests.web.served import rss

    assert other.process is not None
    assert rss(other.process.pid) < 80
    mapped = Path(f"/proc/{other.process.pid}/maps").read_text()
    assert not [name for name in ("numpy", "pandas", "numba", "scipy", "sklearn") if f"/{name}/" in mapped]
