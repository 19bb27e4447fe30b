"""progress.json: every long verb writes it, others read it, and nothing of a result depends on it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

import unmask as package
from tests.cli.test_cli import UNMASK
from unmask.audits.runner import Runner
from unmask.cli import main, watching
from unmask.cli.watching import ProgressFile, _Pace
from unmask.errors import RunError
from unmask.files import HERE, is_running
from unmask.results.progress import PROGRESS, RunProgress, RunState, read_progress, write_progress

FEW = ("--workers", "1", "--quiet")
FIELDS = {
    "version", "verb", "stage", "done", "total", "started", "updated", "eta_seconds", "pid", "host", "state", "message",
    "exit_code",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """People, a release of theirs, a holdout, and a pool that came back."""
    place = tmp_path_factory.mktemp("files")
    frame = package.datasets.adult().to_pandas()[["age", "sex", "income"]].sample(360, random_state=2)
    for number, name in enumerate(("real", "synthetic", "holdout")):
        frame[number * 120 : (number + 1) * 120].to_csv(place / f"{name}.csv", index=False)
    assert main.answer(["pool", "export", f"{place}/real.csv", "--runs", "8", "--out", f"{place}/pool", "--quiet"]) == 0
    for train in sorted((place / "pool" / "train").glob("*.csv")):
        shown = pd.read_csv(train, dtype=str)
        shown.sample(60, replace=True, random_state=1).to_csv(place / "pool" / "synthetic" / train.name, index=False)
    return place


VERBS = {
    "audit": ("real.csv", "synthetic.csv", "--holdout", "holdout.csv", "--attempts", "20", "--time-budget", "1s"),
    "check": ("real.csv", "synthetic.csv", "--holdout", "holdout.csv"),
    "describe": ("real.csv",),
    "utility": ("real.csv", "synthetic.csv", "--repeats", "2"),
    "attack": (
        "real.csv", "--generator", "independent", "--targets", "1", "--shadows", "4", "--tests", "4", "--train-rows", "30",
        "--attacks", "closest-record",
    ),
    "everyone": ("real.csv", "--generator", "independent", "--runs", "8"),
    "epsilon": ("--generator", "histogram:epsilon=1", "--runs", "20"),
    "compare": (
        "real.csv", "--generators", "raw", "random", "--targets", "random:1", "--shadows", "20", "--tests", "16", "--repeats",
        "3", "--runs", "0", "--train-rows", "40", "--attacks", "record-linkage",
    ),
    "reconstruct": ("real.csv", "--generator", "raw", "--rounds", "4", "--no-mitigations"),
    "pool attack": ("pool",),
}  # fmt: skip


def command(folder, verb, out):
    words = [str(folder / word) if word.endswith(".csv") or word == "pool" else word for word in VERBS[verb]]
    failing = () if verb in ("describe", "utility", "compare") else ("--fail-on", "none")
    return [*verb.split(), *words, *failing, *FEW, "--out", str(out)]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_how_far_it_is(folder, tmp_path, verb):
    out = tmp_path / "run"
    code = main.answer(command(folder, verb, out))
    assert code == 0
    plain = json.loads((out / PROGRESS).read_text())
    assert set(plain) == FIELDS
    found = read_progress(out)
    assert (found.verb, found.state, found.exit_code, found.message) == (verb, RunState.FINISHED, 0, "")
    assert (found.pid, found.stage) == (os.getpid(), "Done")
    if verb not in ("check", "describe"):
        assert found.done == found.total > 0
    assert datetime.fromisoformat(found.started) <= datetime.fromisoformat(found.updated)
    assert (out / PROGRESS).stat().st_mode & 0o777 == 0o600
    assert not list(out.glob(".unmask*"))


def test_parts_of_a_release_audit_are_named(folder):
    told, counted = [], []
    package.audit(folder / "real.csv", folder / "synthetic.csv", attempts=20)  # without anybody who listens
    from unmask.audits.release.audit import CHECKS, ReleaseAudit
    from unmask.audits.release.plan import ReleasePlan

    ready = ReleaseAudit.of(
        ReleasePlan(attempts=20), real=folder / "real.csv", synthetic=[folder / "synthetic.csv"], holdout=None
    )
    ready.run(Runner().watched(lambda done, total: counted.append((done, total)), told.append))
    assert told == [f"Part {place} of {len(CHECKS)}: {check.name}" for place, check in enumerate(CHECKS, 1)]
    assert [done for done, _ in counted] == sorted({done for done, _ in counted})
    assert len(counted) == len(CHECKS) + 1
    assert counted[-1][0] == counted[-1][1] == sum(check.cost for check in CHECKS)


def test_equal_runs_give_equal_bytes_and_the_result_knows_nothing_of_it(folder, tmp_path):
    for name in ("one", "two"):
        assert main.answer(command(folder, "describe", tmp_path / name)) == 0
    for name in ("result.json", "records.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert "eta_seconds" not in (tmp_path / "one" / "result.json").read_text()
    (tmp_path / "two" / PROGRESS).unlink()
    assert package.load(tmp_path / "one") == package.load(tmp_path / "two")


def test_what_went_wrong_stands_there_as_a_sentence(folder, tmp_path, capsys):
    words = command(folder, "attack", tmp_path / "run")
    words[words.index("30")] = "5000"
    assert main.answer(words) == 2
    found = read_progress(tmp_path / "run")
    assert (found.state, found.exit_code) == (RunState.FAILED, 2)
    assert found.message.strip() == capsys.readouterr().err.strip()
    assert "Traceback" not in found.message


def test_a_defect_is_told_without_a_traceback(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("unmask.audits.describe.Description.run", lambda *_: 1 / 0)
    assert main.answer(command(folder, "describe", tmp_path / "run")) == 70
    found = read_progress(tmp_path / "run")
    assert (found.state, found.exit_code) == (RunState.FAILED, 70)
    assert found.message.startswith("This is a defect of unmask: ZeroDivisionError")
    assert "File " not in found.message


def test_findings_are_an_exit_code_of_a_run_that_finished(folder, tmp_path):
    words = command(folder, "check", tmp_path / "run")
    words = [word for word in words if word not in ("--fail-on", "none")]
    leaky = pd.read_csv(folder / "real.csv")
    leaky["patient"] = [
        f"P{number:08d}" for number in np.random.default_rng(5).choice(10**8, len(leaky), replace=False)
    ]
    for name in ("real.csv", "synthetic.csv"):
        leaky.to_csv(tmp_path / name, index=False)
    words[1:5] = [str(tmp_path / "real.csv"), str(tmp_path / "synthetic.csv"), "--fail-on", "inconclusive"]
    code = main.answer(words)
    assert code in (1, 5)
    assert read_progress(tmp_path / "run").exit_code == code
    assert read_progress(tmp_path / "run").state is RunState.FINISHED


def test_another_run_of_the_same_directory_leaves_it_alone(folder, tmp_path):
    out = tmp_path / "run"
    assert main.answer(command(folder, "describe", out)) == 0
    before = (out / PROGRESS).read_bytes()
    assert main.answer([*command(folder, "describe", out), "--seed", "3"]) == 2
    assert (out / PROGRESS).read_bytes() == before


def test_somebody_elses_file_of_that_name_is_not_replaced(folder, tmp_path, capsys):
    out = tmp_path / "mine"
    out.mkdir()
    (out / PROGRESS).write_text('{"weeks": 3}')
    assert main.answer(command(folder, "describe", out)) == 2
    assert "holds progress.json" in capsys.readouterr().err
    assert (out / PROGRESS).read_text() == '{"weeks": 3}'
    assert main.answer([*command(folder, "describe", out), "--force"]) == 0


def test_a_link_is_not_followed_and_what_a_killed_run_left_is_swept(folder, tmp_path):
    out = tmp_path / "run"
    assert main.answer(command(folder, "describe", out)) == 0
    (out / PROGRESS).unlink()
    (tmp_path / "mine.txt").write_text("mine")
    (out / PROGRESS).symlink_to(tmp_path / "mine.txt")
    (out / f".unmask-{HERE}-{dead_process()}-abc.part").write_text("half")
    assert main.answer(command(folder, "describe", out)) == 0
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert not list(out.glob("*.part"))


def test_a_run_goes_on_where_it_cannot_be_written(folder, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(watching, "write_progress", full)
    assert main.answer(command(folder, "describe", tmp_path / "run")) == 0
    assert (tmp_path / "run" / "result.json").exists()
    assert not (tmp_path / "run" / PROGRESS).exists()


def started(folder, out, *more):
    """A long run in its own process, once it has told that it makes draws."""
    words = (
        "everyone", folder / "real.csv", "--generator", "cart", "--runs", 4000, "--workers", 1, "--quiet", "--out", out, *more
    )  # fmt: skip
    process = subprocess.Popen([str(UNMASK), *map(str, words)], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        found = read_progress(out)
        if found is not None and found.done > 2:
            return process, found
        time.sleep(0.05)
    process.kill()
    raise AssertionError(process.communicate())


def test_a_killed_run_is_seen_to_be_dead(folder, tmp_path):
    process, found = started(folder, tmp_path / "run")
    assert (found.state, found.seen, found.pid) == (RunState.RUNNING, RunState.RUNNING, process.pid)
    assert found.total == 4000
    process.kill()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and read_progress(tmp_path / "run").seen is RunState.RUNNING:
        time.sleep(0.05)  # its parent has not asked for it yet: that is dead enough
    left = read_progress(tmp_path / "run")
    assert (left.state, left.seen, left.exit_code) == (RunState.RUNNING, RunState.INTERRUPTED, None)
    process.communicate()
    assert read_progress(tmp_path / "run").is_abandoned


@pytest.mark.parametrize(
    ("number", "state"), [(signal.SIGTERM, RunState.CANCELLED), (signal.SIGINT, RunState.INTERRUPTED)]
)
def test_a_run_that_was_ended_says_by_whom_and_can_go_on(folder, tmp_path, number, state):
    process, _ = started(folder, tmp_path / "run", "--share-with-group")
    process.send_signal(number)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 3, told
    found = read_progress(tmp_path / "run")
    assert (found.state, found.exit_code) == (state, 3)
    assert "continues where it stopped" in found.message
    assert (tmp_path / "run" / PROGRESS).stat().st_mode & 0o777 == 0o660


def test_readers_never_see_half_a_file(tmp_path):
    """A writer at full speed, a reader at full speed."""
    found = RunProgress("audit", "x" * 5000, 1, 2, *2 * ["2026-01-01T00:00:00+00:00"], None, 1, HERE)
    over = threading.Event()

    def writing():
        for done in range(300):
            write_progress(tmp_path, RunProgress(**{**vars(found), "done": done}))
        over.set()

    thread = threading.Thread(target=writing)
    thread.start()
    seen = set()
    while not over.is_set():
        if (each := read_progress(tmp_path)) is not None:
            seen.add(each.done)
            assert each.stage == found.stage
    thread.join()
    assert read_progress(tmp_path).done == 299
    assert seen


def test_it_is_written_at_most_twice_a_second(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(watching, "write_progress", lambda *given, **_: written.append(time.monotonic()))
    with ProgressFile(tmp_path, "audit") as kept:
        kept.begin()
        until = time.monotonic() + 1.6
        done = 0
        while time.monotonic() < until:
            kept.watch.progress(done := done + 1, 10**9)
    assert done > 100
    assert 2 <= len(written) <= 6  # the first, about three, the last


def test_a_helper_keeps_quiet_while_the_leader_lives(tmp_path):
    now = datetime.now(UTC).isoformat()
    leader = RunProgress("attack", "Making the draws", 1, 2, now, now, None, os.getppid(), HERE)
    write_progress(tmp_path, leader)
    with ProgressFile(tmp_path, "work", helps=True) as kept:
        kept.begin()
    assert read_progress(tmp_path) == leader
    write_progress(tmp_path, RunProgress(**{**vars(leader), "pid": dead_process()}))
    with ProgressFile(tmp_path, "work", helps=True) as kept:
        kept.begin()
    assert (read_progress(tmp_path).verb, read_progress(tmp_path).pid) == ("work", os.getpid())


def dead_process():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_whether_a_run_lives():
    now, old = datetime.now(UTC), datetime.now(UTC) - timedelta(hours=1)
    mine = RunProgress("audit", "", 0, None, old.isoformat(), now.isoformat(), None, os.getpid(), HERE)
    assert not mine.is_abandoned
    assert RunProgress(**{**vars(mine), "pid": dead_process()}).is_abandoned
    before_this_process = (old - timedelta(days=4000)).isoformat()
    assert RunProgress(**{**vars(mine), "updated": before_this_process}).is_abandoned  # its number was used again
    assert not RunProgress(**{**vars(mine), "host": "another"}).is_abandoned
    assert RunProgress(**{**vars(mine), "host": "another", "updated": old.isoformat()}).is_abandoned
    assert not RunProgress(
        **{**vars(mine), "host": "another", "updated": old.isoformat(), "state": "failed"}
    ).is_abandoned
    assert is_running(os.getpid(), at=time.time())


def test_the_time_that_is_left_counts_from_what_was_found_done(monkeypatch):
    now = 0.0
    monkeypatch.setattr(watching.time, "monotonic", lambda: now)
    pace, seen = _Pace(), []
    for now, done, total in [(0, 300, 400), (10, 310, 400), (20, 320, 400), (21, 0, 50), (25, 1, 50)]:  # noqa: B007
        pace.hear(done, total)
        seen.append(pace.left)
    assert seen == [None, 90.0, 80.0, None, 4.0 * 49]  # a run that continues, and then something else that is counted
    now = 35.0
    assert pace.left == 4.0 * 49 - 10  # nothing was heard since
    now = 1000.0
    assert pace.left is None  # it takes longer than the pace told


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "{}", '{"version": 2}', "[" * 100_000, "\x00", '{"version": 1, "verb": 3}', "9" * 5000, "x" * 200_000,
        json.dumps({"version": 1, "verb": "a", "stage": "", "done": 0, "total": 1, "started": "yesterday", "updated": "now",
                    "eta_seconds": None, "pid": 1, "host": "", "state": "running", "message": "", "exit_code": None}),
        json.dumps({"version": 1, "verb": "a", "stage": "", "done": 0, "total": 1, "started": "2026-01-01",
                    "updated": "2026-01-01", "eta_seconds": None, "pid": -1, "host": "", "state": "running", "message": "",
                    "exit_code": None}),
    ],
)  # fmt: skip
def test_files_of_strangers_are_refused(tmp_path, content):
    (tmp_path / PROGRESS).write_text(content)
    with pytest.raises(RunError, match=r"progress\.json"):
        read_progress(tmp_path)


def test_what_is_no_file_is_refused(tmp_path):
    assert read_progress(tmp_path) is None
    os.mkfifo(tmp_path / PROGRESS)  # opening it would wait for ever
    with pytest.raises(RunError, match="not the progress"):
        read_progress(tmp_path)
