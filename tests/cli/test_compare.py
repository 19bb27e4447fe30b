"""`unmask compare` on the command line: many words after one option, plans, trust, folders, wrong input."""

import json

import numpy as np
import pandas as pd
import pytest

from unmask.cli import main
from unmask.cli.compare import spread

FEW = ["--targets", "random:2", "--shadows", "20", "--tests", "16", "--repeats", "3", "--runs", "0", "--train-rows", "40",
       "--attacks", "record-linkage", "--workers", "1", "--quiet"]  # fmt: skip


@pytest.fixture
def population(tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"a": rng.integers(0, 50, 200), "b": rng.choice(list("xyz"), 200), "c": rng.normal(size=200).round(3)}
    )
    frame.to_csv(tmp_path / "population.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return "population.csv"


def test_words_after_generators_are_generators():
    assert spread(["p.csv", "--generators", "raw", "cart:min_leaf=5", "--seed", "1"]) == [
        "p.csv", "--generators", "raw", "--generators", "cart:min_leaf=5", "--seed", "1",
    ]  # fmt: skip
    assert spread(["--generator", "raw", "p.csv"]) == ["--generator", "raw", "p.csv"]
    assert spread(["p.csv", "--generators"]) == ["p.csv", "--generators"]
    assert spread(["p.csv", "--generators", "--quiet"]) == ["p.csv", "--generators", "--quiet"]


def test_one_command_gives_the_whole_picture_and_its_plan_gives_it_again(population, tmp_path):
    out = ["--out", str(tmp_path / "run")]
    assert main.answer(["compare", population, "--generators", "raw", "independent", *FEW, *out]) == 0
    assert {"report.html", "summary.md", "result.json", "records.csv", "run.json"} <= {
        each.name for each in (tmp_path / "run").iterdir()
    }
    assert (
        main.answer(
            [
                "compare",
                population,
                "--generator",
                "raw",
                "--generator",
                "independent",
                *FEW,
                "--write-plan",
                "plan.toml",
            ]
        )
        == 0
    )
    again = [
        "compare",
        population,
        "--plan",
        "plan.toml",
        "--quiet",
        "--workers",
        "1",
        "--out",
        str(tmp_path / "again"),
    ]
    assert main.answer(again) == 0
    first, second = ((tmp_path / name / "result.json").read_bytes() for name in ("run", "again"))
    assert first == second
    assert json.loads(first)["audit"] == "compare"
    assert main.answer(["report", str(tmp_path / "run"), "--quiet"]) in (0, 2)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--generators", "raw"], "one mechanism to compare"),
        ([], "no mechanism to compare"),
        (["--generators", "raw", "nope"], "nope"),
        (["--generators", "raw", "random", "--label", "z"], "--label z: there is no such column"),
        (["--generators", "raw", "random", "--train-rows", "5000"], "fewer --train-rows"),
        (["--releases", "."], "a comparison needs two or more"),
        (["--releases", "nowhere"], "no folder"),
        (["--releases", ".", "--secret", "a"], "--secret is a choice for mechanisms"),
        (["--releases", ".", "--targets", "3"], "--targets is a choice for mechanisms"),
        (["--releases", ".", "--generators", "raw", "random"], "two comparisons"),
    ],
)
def test_wrong_input_says_what_to_do(population, capsys, words, says):
    assert main.answer(["compare", population, *words, "--quiet"]) == 2
    assert says in capsys.readouterr().err


def test_code_in_a_plan_file_needs_trust(population, tmp_path, capsys):
    (tmp_path / "plan.toml").write_text('generators = ["raw", "command: ./anything {train} {out}"]\n')
    assert main.answer(["compare", population, "--plan", "plan.toml", "--quiet"]) == 2
    assert "names code that would run here" in capsys.readouterr().err


def test_another_plan_is_refused(population, tmp_path, capsys):
    out = ["--out", str(tmp_path / "run")]
    assert main.answer(["compare", population, "--generators", "raw", "random", *FEW, *out]) == 0
    assert main.answer(["compare", population, "--generators", "raw", "random", *FEW, *out, "--train-rows", "41"]) == 2
    assert "train_rows was 40, now it is 41" in capsys.readouterr().err
