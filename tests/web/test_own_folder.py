"""The server's own folder: one that comes from elsewhere, or has links in it, is not used, and nothing is deleted through it."""

import os
import shutil
import time

import pytest

from unmask.errors import ParameterError
from unmask.web.sessions import forget_tokens, new_token
from unmask.web.settings import Settings
from unmask.web.site import _sweep


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Settings(tmp_path / "runs")


def test_it_is_known_again(settings, tmp_path):
    settings.prepare()
    settings.prepare()
    key = tmp_path / "state" / "unmask" / "page.key"
    assert len(key.read_bytes()) == 32
    assert key.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in settings.runs.iterdir()] == [".unmask-page"]


def test_a_folder_of_an_archive_is_refused(settings):
    (settings.own / "jobs").mkdir(parents=True)
    with pytest.raises(ParameterError, match="comes from elsewhere"):
        settings.prepare()
    (settings.own / "owner").write_text("0" * 64)
    with pytest.raises(ParameterError, match="comes from elsewhere"):
        settings.prepare()


def test_a_copy_and_another_key_are_refused(settings, tmp_path):
    settings.prepare()
    shutil.copytree(settings.runs, tmp_path / "copy")
    with pytest.raises(ParameterError, match="was moved"):
        Settings(tmp_path / "copy").prepare()
    (tmp_path / "state" / "unmask" / "page.key").write_bytes(b"x" * 32)
    with pytest.raises(ParameterError, match="was moved"):
        settings.prepare()


def test_without_a_home_it_works(settings, tmp_path):
    (tmp_path / "state").write_text("a file: nothing can be made below it")
    settings.prepare()
    settings.prepare()


@pytest.mark.parametrize("name", ["uploads", "drafts", "jobs", "comparisons", "tokens"])
def test_a_link_among_its_folders_is_refused(settings, tmp_path, name):
    settings.prepare()
    (tmp_path / "elsewhere").mkdir()
    (settings.own / name).rmdir()
    os.symlink(tmp_path / "elsewhere", settings.own / name)
    with pytest.raises(ParameterError, match="not a folder of yours"):
        settings.prepare()


def test_only_what_we_named_is_removed(settings):
    settings.prepare()
    new_token(settings)
    (settings.own / "tokens" / "id_ed25519").write_text("a key")
    forget_tokens(settings)
    assert [each.name for each in (settings.own / "tokens").iterdir()] == ["id_ed25519"]
    folder = settings.own / "comparisons"
    for name in ("0" * 16, "photos"):
        (folder / name).mkdir()
        os.utime(folder / name, (0, time.time() - 30 * 86_400))
    _sweep(folder)
    assert [each.name for each in folder.iterdir()] == ["photos"]
