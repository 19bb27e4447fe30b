"""A stored draw is what was written, of the task and the run that it is read for, or it is drawn again."""

import json
import os
import shutil
import zipfile

import numpy as np
import pytest

from unmask.simulation.draws import open_draws
from unmask.simulation.executors.local import Local
from unmask.simulation.sealed import DamagedError, Identity, seal, unseal
from unmask.simulation.store import FileStore
from unmask.simulation.task import Failed, Task, Whose

MINE = Identity("test-000001", "run")
ARRAYS = {"a": np.arange(40.0).reshape(5, 8), "text": np.array("yes"), "none": np.zeros((0, 3), dtype=np.int16)}
TASKS = [Task(Whose.TEST, index) for index in range(6)]


class Numbers:
    """A setting whose draws are told by their task alone."""

    def play(self, task):
        return {"x": np.random.default_rng(task.index).random(50), "n": np.array(task.index)}


def equal(one, other):
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name]) and one[name].dtype == other[name].dtype for name in one
    )


def test_what_was_written_is_read(tmp_path):
    path = tmp_path / "draw.npz"
    path.write_bytes(seal(ARRAYS, MINE))
    assert equal(unseal(path, MINE), ARRAYS)
    assert equal(unseal(path, MINE, ["a"]), {"a": ARRAYS["a"]})
    assert unseal(tmp_path / "absent.npz", MINE) is None
    with np.load(path) as file:  # as numpy reads it
        assert np.array_equal(file["a"], ARRAYS["a"])


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3).T,  # by columns
        np.arange(24).reshape(2, 3, 4)[:, ::2],  # in steps
        np.array(3.5),
        np.array("two words"),
        np.array(["a", "bcd"]),
        np.array([True, False]),
        np.arange(3).astype(">i4"),
        np.array(["2026-01-01"], dtype="datetime64[D]"),
        np.zeros((4, 0)),
        np.array([(1, 2.5)], dtype=[("count", "i4"), ("share", "f8")]),
    ],
    ids=lambda array: f"{array.dtype.kind}{array.shape}",
)
def test_arrays_are_those_of_numpy_both_ways(tmp_path, array):
    path, theirs = tmp_path / "draw.npz", tmp_path / "theirs.npz"
    path.write_bytes(seal({"x": array}, MINE))
    np.savez(theirs, x=array)
    unsealed = unseal(theirs, Identity("any", "run", unsealed=True))["x"]
    with np.load(path) as file:
        for found in (unseal(path, MINE)["x"], unsealed, file["x"]):
            assert (found.dtype, found.shape) == (array.dtype, array.shape)
            assert found.tobytes() == array.tobytes()
            assert found.flags.f_contiguous == array.copy("K").flags.f_contiguous
            assert found.flags.writeable


def test_objects_are_neither_written_nor_read(tmp_path):
    with pytest.raises(ValueError, match="allow_pickle"):
        seal({"x": np.array([{}])}, MINE)
    np.savez(tmp_path / "draw.npz", x=np.array([{}]))
    with pytest.raises(DamagedError):
        unseal(tmp_path / "draw.npz", Identity("any", "run", unsealed=True))


def test_equal_draws_have_equal_bytes():
    assert seal(ARRAYS, MINE) == seal(ARRAYS, MINE)


@pytest.mark.parametrize("other", [Identity("test-000002", "run"), Identity("test-000001", "another")])
def test_draws_of_another_task_or_run_are_refused(tmp_path, other):
    path = tmp_path / "draw.npz"
    path.write_bytes(seal(ARRAYS, other))
    with pytest.raises(DamagedError):
        unseal(path, MINE)


def test_any_bit_that_flips_and_any_cut_is_noticed_or_changes_nothing(tmp_path):
    content, path = seal(ARRAYS, MINE), tmp_path / "draw.npz"
    rng, noticed = np.random.default_rng(1), 0
    damaged = [
        content[: bit // 8] + bytes([content[bit // 8] ^ (1 << bit % 8)]) + content[bit // 8 + 1 :]
        for bit in rng.integers(8 * len(content), size=1500).tolist()
    ]
    damaged += [content[:cut] for cut in range(0, len(content), 97)]
    for each in damaged:
        path.write_bytes(each)
        try:
            assert equal(unseal(path, MINE), ARRAYS)
        except DamagedError:
            noticed += 1
    assert noticed > len(damaged) / 2


def test_arrays_that_were_exchanged_with_good_checksums_are_noticed(tmp_path):
    """As a tool would do that unpacks, edits and packs again: every checksum of the archive is right."""
    path = tmp_path / "draw.npz"
    path.write_bytes(seal(ARRAYS, MINE))
    with np.load(path) as file:
        seal_text = file["seal.json"]
    np.savez(path, **{**ARRAYS, "a": ARRAYS["a"] + 1})
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("seal.json", seal_text)
    with pytest.raises(DamagedError):
        unseal(path, MINE)


@pytest.mark.parametrize("workers", [1, 2])
def test_damaged_swapped_and_foreign_draws_are_drawn_again_and_counted(tmp_path, workers):
    damaged = set()
    store = open_draws(tmp_path / "a", {"seed": 1}, damaged=damaged)
    other = open_draws(tmp_path / "b", {"seed": 2})
    for each in (store, other):
        Local(1).run(Numbers(), TASKS, each)
    whole = {task.id: store.get(task) for task in TASKS}
    first, second, third, fourth = (tmp_path / "a" / f"{task.id}.npz" for task in TASKS[:4])
    aside = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(aside)
    third.write_bytes(third.read_bytes()[:-30])
    shutil.copy(tmp_path / "b" / fourth.name, fourth)
    assert not any(store.has(task) or store.get(task) for task in TASKS[:4])
    Local(workers).run(Numbers(), TASKS, store)
    assert all(equal(store.get(task), whole[task.id]) for task in TASKS)
    assert damaged == {task.id for task in TASKS[:4]}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names elsewhere")
@pytest.mark.parametrize("name", ["test-000000.npz", "test-000000.failed.json"])
@pytest.mark.parametrize("outcome", [{"x": np.arange(3)}, Failed("no luck")])
def test_links_and_pipes_in_the_place_of_a_draw_are_replaced_themselves(tmp_path, name, outcome):
    """In a directory that others can write, a link could lead to any file of ours, and a pipe has no end."""
    (tmp_path / "draws").mkdir()
    (tmp_path / "mine").write_text("precious")
    store, task = FileStore(tmp_path / "draws"), Task(Whose.TEST, 0)
    for make in (
        lambda path: path.symlink_to(tmp_path / "mine"),
        lambda path: path.symlink_to(tmp_path / "new"),
        os.mkfifo,
    ):
        for left in (tmp_path / "draws").iterdir():
            left.unlink()
        make(tmp_path / "draws" / name)
        assert not store.has(task)
        store.put(task, outcome)
        assert store.has(task) is isinstance(outcome, dict)
        assert (tmp_path / "mine").read_text() == "precious"
        assert not (tmp_path / "new").exists()


def test_draws_of_a_version_without_seals_are_taken_only_where_all_were_without(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "plan.json").write_text(json.dumps({"seed": 1}))
    np.savez(tmp_path / "old" / f"{TASKS[0].id}.npz", x=np.ones(3))
    old, new = (open_draws(tmp_path / name, {"seed": 1}) for name in ("old", "new"))
    shutil.copy(tmp_path / "old" / f"{TASKS[0].id}.npz", tmp_path / "new")
    assert old.has(TASKS[0])
    assert not new.has(TASKS[0])
    old.put(TASKS[1], {"x": np.zeros(2)})
    assert equal(open_draws(tmp_path / "old", {"seed": 1}).get(TASKS[1]), {"x": np.zeros(2)})


def test_a_failure_is_replaced_by_what_came_later_and_never_the_other_way_round(tmp_path):
    store = FileStore(tmp_path)
    store.put(TASKS[0], Failed("no luck"))
    assert store.get(TASKS[0]) == Failed("no luck")
    assert not store.has(TASKS[0])
    store.put(TASKS[0], {"x": np.zeros(2)})
    assert store.has(TASKS[0])
    store.put(TASKS[0], Failed("one who played it too had too little memory"))
    assert store.has(TASKS[0])
