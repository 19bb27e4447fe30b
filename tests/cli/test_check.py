"""`unmask check`, and what `unmask audit` says before it begins."""

import json

import numpy as np
import pandas as pd
import pytest

import unmask as package
from tests.cli.test_cli import unmask
from unmask.audits.release.preflight.files import Preflight
from unmask.audits.release.preflight.found import found_in
from unmask.cli import verb
from unmask.errors import InputError
from unmask.tables.noticed import Level, Noticed


@pytest.fixture
def files(tmp_path):
    """Three files of 120 people each, with an id that the release carries over for ten of them."""
    rng = np.random.default_rng(5)
    frame = (
        package.datasets.adult()
        .to_pandas()
        .sample(360, random_state=2)
        .reset_index(drop=True)[["age", "sex", "income"]]
    )
    frame["patient"] = [f"P{number:08d}" for number in rng.choice(10**8, 360, replace=False)]
    parts = [frame[start : start + 120].reset_index(drop=True) for start in (0, 120, 240)]
    parts[2].loc[:19, "patient"] = parts[0].patient[:20].to_numpy()
    for name, part in zip(("real", "holdout", "synthetic"), parts, strict=True):
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def test_check_says_what_it_sees_and_fails_on_ids(files):
    answer = unmask("check", files / "real.csv", files / "synthetic.csv", "--holdout", files / "holdout.csv")
    assert answer.returncode == 1
    assert "patient" in answer.stdout
    assert "20 of 120 real people" in " ".join(answer.stdout.split())
    assert "Columns that are examined" in answer.stdout


def test_check_gives_a_result_and_a_report(files):
    out = files / "run"
    tables = ("check", files / "real.csv", files / "synthetic.csv")
    answer = unmask(*tables, "--holdout", files / "holdout.csv", "--out", out, "--json", "--fail-on", "none")
    assert answer.returncode == 0
    assert json.loads(answer.stdout)["audit"] == "check"
    assert "Check of the files" in (out / "report.html").read_text(encoding="utf-8")


def test_check_of_wrong_files_is_exit_2(files):
    answer = unmask("check", files / "real.csv", files / "synthetic.csv", "--holdout", files / "real.csv")
    assert answer.returncode == 2
    assert "this is no holdout" in answer.stderr


def test_the_audit_says_it_first(files):
    answer = unmask(
        "audit", files / "real.csv", files / "synthetic.csv", "--holdout", files / "holdout.csv", "--attempts", 20,
        "--column", "age", "--column", "income", "--fail-on", "none",
    )  # fmt: skip
    assert "2 columns are examined." in answer.stderr
    assert "Left out: patient (it tells people apart by itself)." in answer.stderr
    assert "Left out: sex (--columns does not name it)." in answer.stderr


class Terminal:
    def isatty(self):
        return True


@pytest.mark.parametrize("goes_on", [True, False])
def test_what_may_be_a_mistake_is_asked_at_a_terminal(monkeypatch, goes_on):
    asked = []
    monkeypatch.setattr(verb.click, "confirm", lambda text, **_: asked.append(text) or goes_on)
    monkeypatch.setattr(verb, "say", asked.append)
    release = package.audits.release.tables.Release(package.datasets.adult(), (), None)
    doubtful = Preflight(release, (Noticed("swapped", "Were the two swapped?", level=Level.QUESTION),))
    verb.ask_first(doubtful)
    assert asked == ["All 15 columns are examined.", "Were the two swapped?"], "nobody is there to be asked"
    monkeypatch.setattr(verb.sys, "stdin", Terminal())
    monkeypatch.setattr(verb.sys, "stderr", Terminal())
    if goes_on:
        verb.ask_first(doubtful)
    else:
        with pytest.raises(InputError, match="Nothing was done"):
            verb.ask_first(doubtful)
    assert asked[-1] == "Go on all the same?"


@pytest.fixture
def odd(tmp_path):
    """Files with a bit of everything that can be noticed."""
    rng = np.random.default_rng(1)

    def table(rows):
        return pd.DataFrame(
            {
                "patient": [f"P{number:08d}" for number in rng.choice(10**8, rows, replace=False)],
                "age": rng.integers(18, 90, rows),
                "sex": rng.choice(["f", "m"], rows),
                "pay": rng.lognormal(10, 1, rows).round(2),
                "seen": [f"{day:02d}/{month:02d}/2020" for day, month in rng.integers(1, 12, (rows, 2))],
                "note": "",
                "country": "CH",
            }
        )

    real, holdout = table(200), table(200)
    holdout.iloc[:40] = real.iloc[:40]
    for name, frame in (("real", real), ("holdout", holdout), ("synthetic", table(150).drop(columns="patient"))):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def test_what_was_found_is_plain_data(odd):
    answer = unmask("check", odd / "real.csv", odd / "synthetic.csv", "--holdout", odd / "holdout.csv", "--found")
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert found["version"] == 1
    assert [(each["role"], each["name"], each["rows"], each["columns"]) for each in found["files"]] == [
        ("real", "real.csv", 200, 7), ("synthetic", "synthetic.csv", 150, 6), ("holdout", "holdout.csv", 200, 7),
    ]  # fmt: skip
    columns = {each["name"]: each for each in found["columns"]}
    assert list(columns) == ["patient", "age", "sex", "pay", "seen", "note", "country"]
    assert (columns["age"]["kind"], columns["age"]["role"], columns["age"]["examined"]) == ("integer", "key", True)
    assert (columns["pay"]["kind"], columns["seen"]["kind"]) == ("continuous", "datetime")
    assert (columns["patient"]["role"], columns["patient"]["examined"]) == ("identifier", False)
    assert columns["note"]["why"] == "it has no values"
    noticed = {each["code"]: each for each in found["noticed"]}
    assert {"identifier", "shared-rows", "all-missing", "constant", "ambiguous-dates"} <= set(noticed)
    assert noticed["identifier"]["columns"] == ["patient"]
    assert noticed["all-missing"]["columns"] == ["note"]
    assert noticed["ambiguous-dates"]["level"] == "question"
    assert "day first or month first" in noticed["ambiguous-dates"]["sentence"]
    assert "40 of the 200 rows" in noticed["shared-rows"]["sentence"]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        (("real.csv", "synthetic.csv", "real.csv"), "no-holdout"),
        (("real.csv", "nowhere.csv", "holdout.csv"), "unreadable"),
        (("real.csv", "other.csv", "holdout.csv"), "cannot-be-read-together"),
    ],
)
def test_what_stops_an_audit_is_found_too(odd, files, code):
    (odd / "other.csv").write_text("a,b\n" + "".join(f"x{row},y\n" for row in range(9)))
    real, synthetic, holdout = (odd / name for name in files)
    answer = unmask("check", real, synthetic, "--holdout", holdout, "--found")
    assert answer.returncode == 2
    found = json.loads(answer.stdout)
    assert [(each["code"], each["level"]) for each in found["noticed"]] == [(code, "stops")]
    assert found["files"][0]["rows"] == 200


def test_swapped_and_shifted_files_have_codes(odd):
    rng = np.random.default_rng(3)
    low, high = ({"a": rng.normal(at, 1, 500).round(3), "b": rng.normal(at, 1, 500).round(3)} for at in (0, 2))
    again = {"a": rng.normal(0, 1, 500).round(3), "b": rng.normal(0, 1, 500).round(3)}
    seen = [each.code for each in found_in(pd.DataFrame(high), pd.DataFrame(low), holdout=pd.DataFrame(again)).noticed]
    assert "swapped" in seen
    seen = [each.code for each in found_in(pd.DataFrame(high), pd.DataFrame(high), holdout=pd.DataFrame(again)).noticed]
    assert {"shifted", "rows-in-line"} <= set(seen)
