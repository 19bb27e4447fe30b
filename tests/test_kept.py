"""What is kept from run to run lies in a folder of its user alone, one for each version of everything."""

import os
import stat

import pytest

from unmask import kept
from unmask.kept import kept_folder


def test_it_is_made_for_its_user_alone(caches):
    folder, why = kept_folder()
    assert folder is not None
    assert folder.parent == caches / "unmask" / "loops"
    assert not why
    for each in (folder, folder.parent):
        assert stat.S_IMODE(each.stat().st_mode) == 0o700


@pytest.mark.parametrize("which", ["the version's", "that of all versions"])
def test_one_that_others_can_write_is_not_used(caches, which):
    folder, _ = kept_folder()
    (folder if which == "the version's" else folder.parent).chmod(0o770)
    kept_folder.cache_clear()
    found, why = kept_folder()
    assert found is None
    assert "not a folder of yours alone" in why


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners here")
def test_a_folder_of_somebody_else_is_not_used(tmp_path, monkeypatch):
    def found(mode: int, owner: int) -> os.stat_result:
        return os.stat_result((mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))

    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert kept._is_safe(found(stat.S_IFDIR | 0o700, 1000))
    assert kept._is_safe(found(stat.S_IFDIR | 0o755, 0))  # the system's, who installs programs too
    assert not kept._is_safe(found(stat.S_IFDIR | 0o700, 1001))
    assert not kept._is_safe(found(stat.S_IFDIR | 0o702, 1000))
    assert not kept._is_safe(found(stat.S_IFLNK | 0o700, 1000))


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners here")
def test_nothing_is_made_in_the_home_of_another(caches, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(caches).st_uid + 1)
    folder, why = kept_folder()
    assert folder is None
    assert "somebody else" in why
    assert not list(caches.iterdir())


def test_a_link_in_its_place_is_not_used(caches, tmp_path):
    (tmp_path / "theirs").mkdir()
    (caches / "unmask").mkdir()
    (caches / "unmask" / "loops").symlink_to(tmp_path / "theirs")
    assert kept_folder()[0] is None
    assert not list((tmp_path / "theirs").iterdir())


def test_other_sources_have_a_folder_of_their_own_and_old_ones_go(caches, monkeypatch):
    for number in range(kept.KEPT_VERSIONS + 2):
        name = f"0.1-numba0.60-py311-{number:016x}"
        monkeypatch.setattr(kept, "_version", lambda name=name: name)
        kept_folder.cache_clear()
        folder, _ = kept_folder()
        assert folder == caches / "unmask" / "loops" / name
        os.utime(folder, (number, number))
    (caches / "unmask" / "loops" / "notes").mkdir()
    kept_folder.cache_clear()
    kept_folder()
    names = sorted(each.name[-2:] for each in (caches / "unmask" / "loops").iterdir())
    assert names == ["02", "03", "04", "05", "06", "07", "es"]
