"""Exit codes of verdicts, and the files that a report names."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.test_cli import unmask

NAMES = ("real", "synthetic", "holdout")


@pytest.fixture
def place(tmp_path):
    """A real table, a release that has nothing to do with it, and a holdout."""
    for seed, name in enumerate(NAMES):
        rng = np.random.default_rng(seed)
        columns = {f"c{place}": rng.integers(0, 50, 200) for place in range(6)}
        pd.DataFrame(columns).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def audit(place, *more):
    return unmask("audit", "real.csv", "synthetic.csv", "--attempts", 20, "--workers", 1, *more, cwd=place)


def test_no_answer_is_5_only_where_one_is_asked_for(place):
    usual = audit(place, "--fail-on", "low")
    assert usual.returncode == 0, usual.stderr
    assert "? inconclusive: No leak was shown, but a leak of 10 in 100 people could not have been seen." in usual.stdout
    assert audit(place, "--fail-on", "inconclusive", "--quiet").returncode == 5
    assert audit(place, "--holdout", "holdout.csv", "--fail-on", "inconclusive", "--quiet").returncode == 0


def test_a_leak_is_1_on_the_strictest_rung(place):
    done = unmask("audit", "real.csv", "real.csv", "--workers", 1, "--fail-on", "inconclusive", "--quiet", cwd=place)
    assert done.returncode == 1, done.stderr


def test_the_report_names_the_files_and_the_result_does_not(place):
    done = audit(place, "--holdout", "holdout.csv", "--out", "run", "--quiet")
    assert done.returncode == 0, done.stderr
    digests = {
        name: hashlib.sha256((place / f"{name}.csv").read_bytes()).hexdigest()
        for name in ("real", "synthetic", "holdout")
    }
    run = json.loads((place / "run" / "run.json").read_text())
    assert run["files"] == [{"role": name, "name": f"{name}.csv", "sha256": digest} for name, digest in digests.items()]
    page, result = ((place / "run" / name).read_text() for name in ("report.html", "result.json"))
    for name, digest in digests.items():
        assert digest in page
        assert f"{name}.csv" in page
        assert digest not in result
        assert f"{name}.csv" not in result
    again = unmask("report", "run", "--out", "again.html", cwd=place)
    assert digests["real"] in (place / "again.html").read_text(), again.stderr
    assert (
        "unmask audit real.csv synthetic.csv --attempts 20 --workers 1 --holdout holdout.csv --quiet --out run-2"
        in again.stdout
    )


def test_the_same_table_in_another_file_gives_the_same_result(place):
    audit(place, "--out", "first", "--quiet")
    for name in ("real", "synthetic"):
        text = (place / f"{name}.csv").read_text()
        (place / f"{name}.csv").write_text(text.replace("\n", "\r\n"), newline="")
    audit(place, "--out", "second", "--quiet")
    results, runs = (
        [(place / run / name).read_bytes() for run in ("first", "second")] for name in ("result.json", "run.json")
    )
    assert results[0] == results[1]
    assert json.loads(runs[0])["files"] != json.loads(runs[1])["files"]


def test_the_demo_writes_over_nothing_that_is_not_its_own(tmp_path):
    (tmp_path / "unmask-demo").mkdir()
    (tmp_path / "unmask-demo" / "report.html").write_text("mine")
    done = unmask("demo", "--workers", 1, cwd=tmp_path)
    assert done.returncode == 2
    assert "unmask-demo: holds report.html, but no result of unmask" in done.stderr
    assert (tmp_path / "unmask-demo" / "report.html").read_text() == "mine"
