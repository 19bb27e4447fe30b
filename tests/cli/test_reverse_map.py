"""`unmask reverse-map`: what is written, what is said, what is refused; the same in Python."""

import json

import numpy as np
import pandas as pd
import pytest

import unmask
from unmask.cli.main import answer


@pytest.fixture
def files(tmp_path, people):
    rng = np.random.default_rng(3)
    independent = unmask.generators.get("independent").fit(people, rng)
    unmask.write_csv(people, tmp_path / "real.csv")
    unmask.write_csv(independent.sample(200, rng), tmp_path / "same.csv")
    unmask.write_csv(independent.sample(260, rng), tmp_path / "more.csv")
    return tmp_path


def margins(path):
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return {name: sorted(frame[name]) for name in frame}


def test_the_sets_keep_margins_exactly(files, capsys):
    inputs = [str(files / name) for name in ("real.csv", "same.csv", "more.csv")]
    assert answer(["reverse-map", *inputs, "-o", str(files / "mapped.csv")]) == 0
    assert not (files / "mapped.csv").exists()
    for place in (1, 2):
        assert margins(files / f"mapped-{place}.csv") == margins(files / "real.csv")
    said = capsys.readouterr()
    assert "How far ranks moved" in said.out
    assert "noise that protects nobody" in said.out
    assert "Set 2 has 260 rows and was subsampled" in " ".join(said.out.split())
    assert "Wrote 200 rows to" in said.err


def test_one_set_goes_where_it_should_and_json_has_the_tables(files, capsys):
    out = files / "mapped.csv.gz"
    assert answer(["reverse-map", str(files / "real.csv"), str(files / "same.csv"), "-o", str(out), "--json"]) == 0
    assert margins(out) == margins(files / "real.csv")
    plain = json.loads(capsys.readouterr().out)
    assert plain["audit"] == "reverse-map"
    assert [grid["name"] for grid in plain["grids"]] == ["displacement", "noise"]
    assert len(plain["grids"][0]["rows"]) == 6


def test_equal_runs_are_equal_and_python_gives_the_same(files):
    out = files / "mapped.csv"
    command = [
        "reverse-map",
        str(files / "real.csv"),
        str(files / "more.csv"),
        "-o",
        str(out),
        "--seed",
        "4",
        "--quiet",
    ]
    assert answer(command) == 0
    first = out.read_text()
    assert answer(command) == 0
    assert out.read_text() == first
    found = unmask.reverse_map(files / "real.csv", files / "more.csv", seed=4, workers=1)
    unmask.write_csv(found.sets[0], out)
    assert out.read_text() == first
    assert len(found.mappings) == 1
    assert found.result.seed == 4


def test_an_aligned_release_is_paired_by_rows(files, people):
    found = unmask.reverse_map(people, [people, people], aligned=True, workers=1).result
    assert all(row[2] == 0 for row in found.grids[0].rows)
    assert any("stem from, in order" in note for note in found.notes)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["more.csv", "--aligned", "-o", "mapped.csv"], "another number of rows"),
        (["none.csv", "-o", "mapped.csv"], "none.csv"),
        (["same.csv", "-o", "real.csv"], "this is what is read"),
        (["same.csv", "more.csv", "-o", "same.csv"], "this is what is read"),
    ],
)
def test_refusals(files, capsys, monkeypatch, arguments, said):
    monkeypatch.chdir(files)
    assert answer(["reverse-map", "real.csv", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_numbered_files_replace_no_input(files, capsys):
    (files / "same-1.csv").write_text((files / "more.csv").read_text())
    inputs = [str(files / name) for name in ("real.csv", "same-1.csv", "more.csv")]
    assert answer(["reverse-map", *inputs, "-o", str(files / "same.csv")]) == 2
    assert "this is what is read" in capsys.readouterr().err


def test_an_empty_table_is_refused(people):
    with pytest.raises(unmask.UnmaskError, match="synthetic table 2 has no rows"):
        unmask.reverse_map(people, [people, people.take([])])
    with pytest.raises(unmask.UnmaskError, match="no synthetic table"):
        unmask.reverse_map(people, [])
