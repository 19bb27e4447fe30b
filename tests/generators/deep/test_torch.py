"""Torch only when it is needed, one thread, no traces in the caller's state, and the clock."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch

from unmask import generators
from unmask.errors import MissingExtraError, ParameterError
from unmask.generators.deep import _torch
from unmask.generators.deep._settings import layers_from
from unmask.generators.deep._torch import StepWatch, need_torch, quiet_torch
from unmask.testing import plain

SMALL = {
    "ctgan": {"batch": 20, "generator_layers": 8, "discriminator_layers": 8},
    "tvae": {"encoder_layers": 8, "decoder_layers": 8},
    "tabddpm": {"diffusion_steps": 5, "layers": 8},
}


def test_lists_and_parameters_do_not_load_torch():
    code = (
        "import sys; from unmask import generators; generators.listed(); "
        "[generators.get(name) for name in ('ctgan', 'tvae', 'tabddpm')]; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_command_line_trains_and_says_where_it_stopped(tmp_path):
    (tmp_path / "real.csv").write_text("sex,age\n" + "f,30\nm,41\nm,29\n" * 20)
    answer = subprocess.run(
        [sys.executable, "-m", "unmask", "synthesize", "real.csv", "--generator", "tabddpm", "--set", "layers=8+8",
         "--set", "time_budget=1e-6", "--rows", "7", "-o", "synthetic.csv"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert "note: trained for 1 of 1,000 steps, as long as the time budget lasted." in answer.stderr
    assert len((tmp_path / "synthetic.csv").read_text().splitlines()) == 8


def test_the_list_says_who_needs_torch():
    extras = {entry.name: entry.extra for entry in generators.listed()}
    assert {extras[name] for name in SMALL} == {"deep"}
    assert extras["cart"] == ""


@pytest.mark.parametrize("name", SMALL)
def test_without_torch_it_says_what_to_install(name, monkeypatch, rng):
    model = generators.get(name, steps=1, **SMALL[name]).fit(plain("numbers only"), rng)
    monkeypatch.setitem(sys.modules, "torch", None)
    message = r'needs torch\. Install it: pip install "unmask\[deep\]"'
    with pytest.raises(MissingExtraError, match=f"{name} {message}"):
        generators.get(name).fit(plain("numbers only"), rng)
    with pytest.raises(MissingExtraError, match=message):
        model.sample(3, rng)


def test_a_broken_torch_is_not_a_missing_one(monkeypatch):
    class Broken:
        def find_spec(self, name, path=None, target=None):
            if name == "torch":
                raise ModuleNotFoundError("No module named 'inside'", name="inside")

    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(ModuleNotFoundError, match="inside"):
        need_torch("ctgan")


@pytest.mark.parametrize("name", SMALL)
def test_nothing_of_the_callers_state_changes(name):
    """Neither threads nor global random state; a model gives the same bytes after pickling, whatever the threads."""
    table = plain("all kinds of columns")
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    generator = generators.get(name, steps=3, **SMALL[name])
    model = generator.fit(table, np.random.default_rng(1))
    first = model.sample(50, np.random.default_rng(2))
    assert torch.equal(state, torch.get_rng_state())
    assert torch.get_num_threads() == threads
    torch.set_num_threads(2)
    try:
        torch.manual_seed(5)
        again = generator.fit(table, np.random.default_rng(1))
        copy = pickle.loads(pickle.dumps(again))
        assert copy.sample(50, np.random.default_rng(2)).digest() == first.digest()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
        torch.set_rng_state(state)
    assert copy.steps == 3


def test_threads_come_back_after_an_error(rng):
    threads = torch.get_num_threads()

    def fail():
        with quiet_torch(rng):
            return 1 / 0

    with quiet_torch(rng):
        assert torch.get_num_threads() == 1
    with pytest.raises(ZeroDivisionError):
        fail()
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("name", SMALL)
def test_progress_and_time_budget(name, rng, monkeypatch):
    heard = []
    table = plain("all kinds of columns")
    model = generators.get(name, steps=4, **SMALL[name]).fit(table, rng, progress=lambda *done: heard.append(done))
    assert heard == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert model.steps == 4
    assert model.sample(3, rng).notes == ()
    clock = iter(range(10_000))  # a second passes whenever somebody looks
    monkeypatch.setattr(_torch.time, "monotonic", lambda: float(next(clock)))
    stopped = generators.get(name, epochs=100, time_budget=3, **SMALL[name]).fit(table, rng)
    assert stopped.steps == 3
    (note,) = stopped.sample(3, rng).notes
    assert note.startswith("trained for 3 of ")


def test_one_step_is_always_done():
    watch = StepWatch(10, seconds=1e-9)
    assert list(watch) == [0]
    assert watch.done == 1


def test_widths_of_layers():
    assert layers_from("layers", "64+32", "x") == (64, 32)
    assert layers_from("layers", 7, "x") == (7,)
    assert layers_from("layers", [3, 4], "x") == (3, 4)
    for wrong in ("64,32", "", "a", (0,), (True,), (1.5,)):
        with pytest.raises(ParameterError, match="such as 256"):
            layers_from("layers", wrong, "x")


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0},
        {"steps": 0},
        {"steps": 2.5},
        {"batch": 0},
        {"rate": 0},
        {"l2": -1},
        {"l2": "x"},
        {"time_budget": 0},
    ],
)
def test_parameters_without_meaning_are_refused(name, wrong):
    with pytest.raises(ParameterError, match=f"{name}: {next(iter(wrong))} is"):
        generators.get(name, **wrong)
