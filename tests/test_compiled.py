"""Compiled loops are kept for their user alone, and nothing that was kept can stop a run."""

import importlib
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from unmask import compiled
from unmask.kept import kept_folder

SHAPES = "from typing import NamedTuple\nimport numpy as np\n\nclass {name}(NamedTuple):\n    values: np.ndarray\n    size: int\n"
LOOPS = """
from unmask.compiled import inner, njit

@inner()
def _twice(value):
    return 2 * value

@njit(nogil=True, cache=True)
def total(pairs):
    found = 0.0
    for value in pairs.values:
        found += _twice(value)
    return found
"""


@pytest.fixture
def caches(caches, monkeypatch):
    """Nobody has heard yet that something is compiled."""
    monkeypatch.setattr(compiled, "_said", [])
    yield caches
    compiled.tell(None)


@pytest.fixture
def total(tmp_path, monkeypatch):
    """The sum that the loop finds as in another process, and how often it was compiled; `name`: of the class of its argument."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def begun(name: str = "Pairs") -> tuple[float, int]:
        kept_folder.cache_clear()
        (tmp_path / "unmask_test_shapes.py").write_text(SHAPES.format(name=name))
        (tmp_path / "unmask_test_loops.py").write_text(LOOPS)
        importlib.invalidate_caches()
        for module in ("unmask_test_shapes", "unmask_test_loops"):
            sys.modules.pop(module, None)
        shapes, loops = (importlib.import_module(f"unmask_test_{each}") for each in ("shapes", "loops"))
        found = loops.total(getattr(shapes, name)(np.arange(4.0), 4))
        return found, sum(loops.total.stats.cache_misses.values())

    yield begun
    for module in ("unmask_test_shapes", "unmask_test_loops"):
        sys.modules.pop(module, None)


def _files(place: Path, ending: str) -> list[Path]:
    return sorted(place.rglob(f"*{ending}"))


def test_what_was_compiled_is_found_again_in_a_folder_of_the_user_alone(caches, total):
    heard = []
    compiled.tell(heard.append)
    assert total() == (12.0, 1)
    assert total() == (12.0, 0)
    assert len(heard) == 1
    assert str(caches / "unmask" / "loops") in heard[0]
    folder, why = kept_folder()
    assert folder is not None
    assert not why
    for each in (folder, folder.parent):
        assert stat.S_IMODE(each.stat().st_mode) == 0o700
    assert len(_files(caches, ".nbc")) == 1  # that of the inner loop is within
    assert not any(path.suffix in (".nbi", ".nbc") for path in Path(__file__).parent.glob("__pycache__/*"))


KINDS = """
import numpy as np
from unmask.compiled import inner, njit

@inner()
def _part(values, first, last):
    return values[first:last]

@inner()
def _checked(value):
    if value < 0:
        raise ValueError("below zero")
    return value ** 0.5 + np.exp(-value) + np.log(value + 1) + np.log10(value + 1) + np.sin(value)

@njit(nogil=True, cache=True)
def kinds(values, wanted, text):
    found, again = np.zeros(values.size), {}
    for i in range(values.size):
        found[i] = _checked(_part(values, i, i + 1)[0])
        again[i % 3] = found[i]
    order = np.argsort(found)
    return found[order].copy(), order[wanted], found.reshape(2, -1) @ found.reshape(-1, 2), len(again), str(len(text))

if __name__ == "__main__":
    found = kinds(np.arange(8.0), 2, "abc")
    try:
        kinds(np.array([-1.0, 1.0]), 0, "")
    except ValueError as problem:
        assert str(problem) == "below zero", problem
    else:
        raise AssertionError("no error")
    print([np.asarray(each).tolist() for each in found])
    print(sum(kinds.stats.cache_misses.values()), sum(kinds.stats.cache_hits.values()))
"""


def test_what_was_kept_needs_nothing_of_the_compiler(tmp_path, caches):
    """Sorting, new arrays, mathematics, matrices, dictionaries, texts, errors: a second process loads all, compiles nothing."""
    (tmp_path / "kinds.py").write_text(KINDS)
    ran = [
        subprocess.run([sys.executable, str(tmp_path / "kinds.py")], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    (first, counted), (second, again) = (each.stdout.splitlines() for each in ran)
    assert (counted, again) == ("1 0", "0 1")
    assert second == first


def test_inner_loops_are_compiled_by_numbas_own_way_where_it_has_other_steps(caches, monkeypatch):
    from numba.core import codegen

    whole = compiled._compiler_of_inner_loops.__wrapped__
    assert whole() is not None
    monkeypatch.delattr(codegen.JITCodeLibrary, "get_pointer_to_function")
    assert whole() is None


def test_a_class_that_was_renamed_since_stops_nothing(caches, total):
    """Numba's index names classes of signatures: it raises AttributeError where one is gone."""
    assert total("Pairs") == (12.0, 1)
    assert total("Couples") == (12.0, 1)
    assert total("Couples") == (12.0, 0)


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("kept", [0, 40, -1])
def test_a_damaged_file_is_compiled_anew(caches, total, ending, kept):
    total()
    (path,) = _files(caches, ending)
    content = path.read_bytes()
    path.write_bytes(content[:kept] if kept >= 0 else b"\x80\x04junk" + content)
    assert total() == (12.0, 1)
    assert total() == (12.0, 0)


def test_code_for_other_types_under_a_name_is_not_run(caches, total):
    """Two processes that compile at a time may give one number to two files."""
    total()
    (path,) = _files(caches, ".nbc")
    own = compiled._KeptLoop.load_overload

    class Other:
        cache_path = str(path)

        def load_overload(self, sig, target):
            return SimpleNamespace(signature=SimpleNamespace(args=("another",)))

    kept = compiled._KeptLoop(total)
    kept.__dict__["_cache"] = Other()
    assert own(kept, ("this",), None) is None


def test_a_folder_that_others_can_write_is_not_used(caches, total):
    total()
    folder, _ = kept_folder()
    heard = []
    for each in (folder, folder.parent):
        each.chmod(0o770)
        compiled.tell(heard.append)
        compiled._said.clear()
        assert total() == (12.0, 1)
        assert "not a folder of yours alone" in heard[-1]
        each.chmod(0o700)
    assert total() == (12.0, 0)


def test_without_a_place_a_line_says_so_and_the_work_is_done(caches, total):
    caches.rmdir()
    caches.write_text("no folder")
    heard = []
    compiled.tell(heard.append)
    assert total() == (12.0, 1)
    assert total() == (12.0, 1)
    (line,) = heard
    assert "each time" in line
    assert "NUMBA_CACHE_DIR" in line


def test_the_place_that_the_user_names_is_used(caches, total, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
    assert total() == (12.0, 1)
    assert total() == (12.0, 0)
    assert _files(tmp_path / "named", ".nbc")
    assert not list(caches.iterdir())


def test_every_loop_of_ours_goes_through_this_module():
    sources = Path(compiled.__file__).parent
    others = [path for path in sources.rglob("*.py") if "from numba" in path.read_text(encoding="utf-8")]
    assert others == [Path(compiled.__file__)]


def test_importing_unmask_imports_no_numba():
    code = "import sys, unmask, unmask.cli.main; sys.exit('numba' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0
