"""One strange directory or cookie, and everything else goes on."""

import json
import math
import os
import shutil

import pytest

from tests.web.conftest import TABLES
from tests.web.served import until
from unmask.errors import RunError
from unmask.results.progress import read_progress
from unmask.web import shelf as shelves
from unmask.web.glance import glance
from unmask.web.jobs import Jobs
from unmask.web.places import run_names
from unmask.web.rendering import day
from unmask.web.settings import Settings
from unmask.web.shelf import Shelf

PROGRESS = {
    "verb": "audit", "stage": "drawing", "done": 1, "total": 2, "started": "2026-01-01T00:00:00+00:00",
    "updated": "2026-01-01T00:00:00+00:00", "eta_seconds": 1.0, "pid": 7, "host": "abc", "version": 1,
    "state": "running", "message": "", "exit_code": None,
}  # fmt: skip


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    settings = Settings(tmp_path / "runs")
    settings.prepare()
    return Shelf(settings, Jobs(settings))


@pytest.mark.parametrize(
    "change",
    [{"eta_seconds": each} for each in ("Infinity", "NaN", math.inf, math.nan, 1e300)]
    + [{"done": 10**400}, {"total": 10**400}, {"pid": 2**60}],
)
def test_progress_has_numbers_that_can_be_shown(tmp_path, change):
    (tmp_path / "progress.json").write_text(json.dumps(PROGRESS))
    assert read_progress(tmp_path) is not None
    (tmp_path / "progress.json").write_text(json.dumps(PROGRESS | change))
    with pytest.raises(RunError):
        read_progress(tmp_path)


def test_a_moment_that_no_calendar_has():
    assert day(1e13) == day(math.inf) == day(math.nan) == "—"


def test_strange_folders_do_not_break_the_list(served):
    """Numbers without end, a name that is not UTF-8, and a file of the year 20000."""
    top = os.fsencode(served.runs / "odd")
    for name in (b"endless", b"\xff\xfe", b"late"):
        os.makedirs(os.path.join(top, name))
        with open(os.path.join(top, name, b"progress.json"), "w") as file:
            json.dump(PROGRESS | {"eta_seconds": math.inf, "updated": "9000-01-01T00:00:00+00:00"}, file)
    (served.runs / "odd" / "late" / "result.json").write_text("{}")
    os.utime(served.runs / "odd" / "late" / "result.json", (0, 600_000_000_000))
    try:
        assert served.get("/runs").status == 200
        assert served.get("/run/odd/endless").status == 200
        assert served.get("/run/odd/late").status == 200
        assert {each for each in run_names(Settings(served.runs)) if "odd" in each} == {"odd/endless", "odd/late"}
    finally:
        shutil.rmtree(top)


@pytest.mark.parametrize("name", ["run.json", "records.csv", "decision.json", "report.html", "summary.md"])
def test_only_plain_files_are_read(tmp_path, name):
    run = tmp_path / "run"
    shutil.copytree(TABLES / "audit", run)
    assert "error" not in glance(run)
    (run / name).unlink(missing_ok=True)
    os.mkfifo(run / name)
    assert name in glance(run)["error"]
    (run / name).unlink()
    os.symlink("/etc/passwd", run / name)
    assert name in glance(run)["error"]
    (run / name).unlink()
    with open(run / name, "wb") as file:
        file.truncate(10**9)
    assert name in glance(run)["error"]


def test_one_that_stops_the_reading_does_not_hide_the_others(shelf, monkeypatch):
    def answer(words, *, folder, variables, seconds, given):
        if any("bad" in place for place in json.loads(given)):
            raise RunError("There was no answer.")
        return 0, "".join(json.dumps({"title": place[-1]}) + "\n" for place in json.loads(given)), ""

    monkeypatch.setattr(shelves, "answer", answer)
    told = shelf._told(["a", "bad", "b"])
    assert [each.get("title") for each in told] == ["a", None, "b"]
    assert "error" in told[1]


def test_a_defect_while_reading_leaves_nobody_waiting(shelf, monkeypatch):
    def broken(*args, **more):
        raise ZeroDivisionError

    monkeypatch.setattr(shelves, "answer", broken)
    for name in range(25):
        (shelf.settings.runs / f"run-{name}").mkdir()
    shelf._read_later([f"run-{name}" for name in range(25)])
    until(lambda: not shelf._waiting)


def test_a_run_that_somebody_removed_is_forgotten(shelf, monkeypatch):
    monkeypatch.setattr(shelf.jobs, "look", lambda: None)
    shelf.jobs.add("gone", "demo", [])
    shelf.jobs.add("kept", "demo", [])
    shutil.rmtree(shelf.settings.runs / "gone")
    assert [each.name for each in shelf.all()] == ["kept"]
    assert shelf.jobs.of("gone") is not None  # it waits, and will begin
    shelf.jobs.cancel("gone")
    assert [each.name for each in shelf.all()] == ["kept"]
    assert shelf.jobs.of("gone") is None


def test_cookies_of_other_servers_do_not_matter(served):
    for other in ('a={"x": 1}', "b[]=1", "c", "d=a b;e=\x7f", '"=;f="'):
        assert served.get("/runs", Cookie=f"{other}; {served.cookie}").status == 200
        assert served.get("/runs", Cookie=f"{served.cookie}; {other}").status == 200
        assert served.get("/runs", Cookie=other).status == 403


def test_only_runs_are_deleted(served):
    folder = served.runs / "papers"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    answer = served.post("/delete/papers", [("sure", "yes")])
    assert answer.status == 400
    assert "no run" in answer.text
    assert (folder / "thesis.txt").exists()
    shutil.rmtree(folder)


def test_only_runs_with_a_result_are_compared(served):
    for name in ("half-a", "half-b"):
        (served.runs / name).mkdir()
        (served.runs / name / "work.json").write_text("{}")
    answer = served.post("/compare", [("run", "half-a"), ("run", "half-b")])
    assert answer.status == 400
    assert "no result that can be read" in answer.text
    for name in ("half-a", "half-b"):
        shutil.rmtree(served.runs / name)
