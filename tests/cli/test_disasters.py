"""A full disk, two drivers in one directory, machines that differ: the same bytes, or an error that says what to do."""

import errno
import os
import time

import pytest

from tests.cli.test_work import ATTACK, contents, drawn, ended, folder, here, start  # noqa: F401 - a fixture
from unmask import files, versions
from unmask.errors import RunError
from unmask.files import HERE, sweep, write_atomically
from unmask.simulation import draws
from unmask.simulation.draws import open_draws


def leftovers(directory):
    return [
        path for path in directory.rglob("*") if path.suffix in (".part", ".claim") or path.name.startswith("alive-")
    ]


def test_nothing_is_left_where_a_file_cannot_get_its_name(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(RunError, match="cannot be written"):
        write_atomically(tmp_path / "taken", "text")
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("options", [(), ("--cluster", "shared")], ids=["local", "shared"])
def test_a_disk_that_is_full_keeps_what_is_drawn(folder, monkeypatch, options):  # noqa: F811
    out = folder / "-".join(["full", *options])
    real, count = os.fsync, [0]

    def full(handle):
        count[0] += 1
        if count[0] > 60:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(files.os, "fsync", full)
    said = here(*ATTACK, *options, "--workers", 1, "--out", out, folder=folder, code=2)
    monkeypatch.undo()
    assert "No space left on device" in said
    assert "Make room" in said
    assert 10 < drawn(out) < 60
    assert not leftovers(out)
    before = {path: path.stat().st_mtime_ns for path in out.glob("draws/*.npz")}
    here(*ATTACK, *options, "--workers", 1, "--out", out, folder=folder)
    assert contents(out) == contents(folder / "alone")
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_two_drivers_in_one_directory_do_each_other_no_harm(folder):  # noqa: F811
    other = start(*ATTACK, "--workers", 1, "--out", "both", folder=folder)
    here(*ATTACK, "--workers", 1, "--out", "both", folder=folder)
    ended(other)
    assert contents(folder / "both") == contents(folder / "alone")
    assert not leftovers(folder / "both")


def test_of_two_drivers_with_other_plans_the_second_is_refused_also_if_both_begin_at_once(tmp_path, monkeypatch):
    real = draws.make_folder

    def slow(path, **more):
        real(path, **more)
        monkeypatch.undo()
        open_draws(tmp_path / "draws", {"seed": 1})  # the other one is a moment quicker

    monkeypatch.setattr(draws, "make_folder", slow)
    with pytest.raises(RunError, match="seed was 1, now it is 2"):
        open_draws(tmp_path / "draws", {"seed": 2})
    open_draws(tmp_path / "draws", {"seed": 1})


def test_a_file_is_written_by_the_first_where_links_can_be_made_and_where_not(tmp_path, monkeypatch):
    for name, links in (("a", True), ("b", False)):
        if not links:
            monkeypatch.delattr(os, "link")
            monkeypatch.setattr(os, "link", _refused, raising=False)
        write_atomically(tmp_path / name, "one", first=True)
        write_atomically(tmp_path / name, "two", first=True)
        assert (tmp_path / name).read_text() == "one"
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}


def _refused(*_):
    raise OSError(errno.EPERM, "Operation not permitted")


def test_a_helper_with_other_versions_is_refused(folder, tmp_path, monkeypatch):  # noqa: F811
    here(*ATTACK, "--out", tmp_path / "run", "--prepare", folder=folder)
    monkeypatch.setattr(versions, "version_of", lambda name: "0.0.1")
    said = here("work", tmp_path / "run", "--workers", 1, folder=folder, code=2)
    assert "unmask 0.0.1 instead of" in said
    assert "numpy 0.0.1 instead of" in said
    assert drawn(tmp_path / "run") == 0


def test_what_killed_processes_were_about_to_write_is_swept_at_once_here_and_after_a_day_elsewhere(tmp_path):
    mine, gone = tmp_path / f".unmask-{HERE}-{os.getpid()}-1.part", tmp_path / f".unmask-{HERE}-999999999-1.part"
    fresh, old = tmp_path / ".unmask-elsewhere-1-1.part", tmp_path / ".unmask-elsewhere-1-2.part"
    for path in (mine, gone, fresh, old):
        path.touch()
    yesterday = time.time() - 90_000
    os.utime(old, (yesterday, yesterday))
    sweep(tmp_path)
    assert set(tmp_path.iterdir()) == {mine, fresh}
