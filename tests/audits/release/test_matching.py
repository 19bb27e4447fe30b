"""Secrets guessed from keys, as the audit tells it: all keys of a length, radii, the dummy, the control, a finding."""

import json

import numpy as np
import pandas as pd
import pytest

from unmask.audits.release import matching
from unmask.audits.release.audit import audit
from unmask.cli.main import answer
from unmask.reports.charts import charts_of
from unmask.results.policy import Severity

KEYS = ["a", "b", "c"]


def people(rows, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"a": rng.integers(0, 30, rows), "b": rng.normal(size=rows).round(3), "c": rng.choice(["x", "y"], rows)}
    )
    frame["pay"] = (frame["a"] + 4 * frame["b"] + 6 * rng.normal(size=rows)).round(2)
    frame["job"] = np.where(rng.random(rows) < 0.7, frame["c"], "z")
    return frame


@pytest.fixture(scope="module")
def parts():
    frame = people(900, 3)
    return frame[:300], frame[300:600], frame[600:]


def grid(result, name):
    return next(grid for grid in result.grids if grid.name == name)


@pytest.fixture(scope="module")
def result(parts):
    real, fresh, holdout = parts
    return audit(
        real,
        fresh,
        holdout=holdout,
        secrets=["pay", "job"],
        keys=KEYS,
        key_lengths=[2, 3],
        radii=[0.5, 0, 1.0],
        attempts=50,
    )


def test_all_keys_of_every_length_and_radius_with_original_dummy_and_holdout(result):
    rows = [row for row in grid(result, "continuous cap").rows if row[0] == "pay"]
    assert {(row[1], row[2]) for row in rows} == {(2, 3), (3, 1)}
    assert {row[3] for row in rows} == {"all rows", 0.5, "equal keys", 1.0}
    assert len(rows) == 2 * 4 * 5
    errors = {row[4]: row[5] for row in rows if row[1] == 2 and row[3] == "all rows"}
    assert errors["the real table itself (original)"] < errors["the release"]
    assert errors["the release"] < errors["nothing: the mean of the release (dummy)"]
    caps = grid(result, "cap").rows
    assert {(row[0], row[1], row[2]) for row in caps} == {
        (s, n, k) for s in ("pay", "job") for n, k in ((2, 3), (3, 1))
    }
    assert {row[3] for row in caps if row[0] == "job"} == {"CAP", "0-CAP", "GCAP", "DCAP", "DiSCO", "TCAP"}


def test_the_gain_has_intervals_for_real_people_others_and_the_difference(result):
    rows = [row for row in grid(result, "numeric gains").rows if row[1] == 3 and row[2] == "all rows"]
    gains = {row[3]: row[4:7] for row in rows}
    assert gains["real people"][1] > 0.1
    assert gains["the difference"][1] < 0 < gains["the difference"][2]
    assert gains["the difference"][0] == pytest.approx(gains["real people"][0] - gains["holdout people"][0], abs=2e-4)


def test_a_sweep_over_radii_is_a_chart(result):
    lines = [one for one in result.series if one.name.startswith("radius/pay, keys of length 2/")]
    assert {one.name.rpartition("/")[2] for one in lines} == {
        "the release", "the real table itself", "holdout people", "the mean", "the release, all rows",
    }  # fmt: skip
    assert lines[0].x == (0.0, 0.5, 1.0)


def test_nothing_is_found_where_nothing_leaks_and_copies_are_high(parts, result):
    real, fresh, holdout = parts
    found = next(one for one in result.findings if one.name == "numeric secret pay")
    assert found.severity is Severity.NONE
    assert found.control is not None
    assert "closeness" in found.title
    assert "numeric secrets 2%" in " ".join(result.notes)
    leaky = audit(real, pd.concat([fresh, real]), holdout=holdout, secrets=["pay"], keys=KEYS, attempts=50)
    copied = next(one for one in leaky.findings if one.name == "numeric secret pay")
    assert copied.severity is Severity.HIGH
    gain = dict(zip(leaky.records.columns, zip(*leaky.records.rows, strict=True), strict=True))
    assert np.mean(gain["pay from keys: closer than the mean by"]) > 1


def test_many_distinct_keys_are_sampled_and_it_is_said(parts, monkeypatch):
    monkeypatch.setattr(matching, "MOST_PAIRS", 10_000)
    monkeypatch.setattr(matching, "FEWEST", 50)
    monkeypatch.setattr(matching, "MANY", 200)
    monkeypatch.setattr(matching, "MOST_GENERALISED", 100)
    real, fresh, holdout = parts
    result = audit(real, fresh, holdout=holdout, secrets=["pay"], keys=KEYS, attempts=50)
    assert "pay from keys: 50 of 300 real records were attacked, drawn at random." in result.notes
    assert any("GCAP is of 100 of 300 real records" in note for note in result.notes)
    assert any(row[3] == "GCAP" for row in grid(result, "cap").rows)


def test_what_cannot_be_tried_is_listed(parts):
    real, fresh, holdout = parts
    result = audit(real, fresh, holdout=holdout, attempts=50)
    assert "secrets guessed from keys" in {item.name for item in result.not_tested}
    short = audit(real, fresh, holdout=holdout, secrets=["pay"], keys=["a"], key_lengths=[4], attempts=50)
    assert "keys of length 4" in {item.name for item in short.not_tested}
    assert {row[1] for row in grid(short, "continuous cap").rows} == {1}


def test_the_command_line_takes_them(parts, tmp_path, capsys):
    files = [tmp_path / f"{name}.csv" for name in ("real", "fresh", "holdout")]
    for frame, file in zip(parts, files, strict=True):
        frame.to_csv(file, index=False)
    command = [
        "audit", str(files[0]), str(files[1]), "--holdout", str(files[2]), "--secret", "pay", "--key", "a", "--key", "b",
        "--key-length", "1", "--key-length", "2", "--radius", "0", "--radius", "0.5", "--weights", "equal", "--scaling",
        "release", "--attempts", "50", "--json",
    ]  # fmt: skip
    assert answer(command) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert (plan["key_lengths"], plan["radii"]) == ([1, 2], [0.0, 0.5])
    assert (plan["weights"], plan["scaling"]) == ("equal", "release")
    assert answer([*command[:2], str(files[1]), "--radius", "-1"]) == 2
    assert "--radius is -1" in capsys.readouterr().err


def test_minimal_distance_has_a_line_a_histogram_and_who_is_nearest(result, parts):
    real = parts[0]
    line = next(row for row in grid(result, "similarity").rows if row[0] == "mean minimal distance")
    assert line[2] > 0
    assert abs(line[2] - line[3]) < 0.3  # fresh rows are as far as holdout rows
    sides = {one.name: one for one in result.series if one.name.startswith("distances/")}
    assert set(sides) == {"distances/nearest real row/synthetic rows", "distances/nearest real row/holdout rows"}
    frame = pd.DataFrame(result.records.rows, columns=result.records.columns)
    assert frame["published rows nearest to it"].sum() == len(parts[1])
    assert (frame["distance of the nearest of them"].notna() == (frame["published rows nearest to it"] > 0)).all()
    assert len(frame) == len(real)
    (chart,) = [chart for first, chart in charts_of(result.series) if first.kind == "distances"]
    assert "Distances to the nearest real row" in chart.title
