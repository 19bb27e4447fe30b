"""What is dear happens once: files are read, tables digested, sets joined and attacks scored a single time."""

from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from unmask.audits.release import scoring, tables
from unmask.cli.main import app
from unmask.tables import read
from unmask.tables.table import Table


@pytest.mark.parametrize("schema", [True, False], ids=["schema", "inferred"])
def test_an_audit_does_everything_once(schema, tmp_path, monkeypatch):
    people = unmask.datasets.adult().take(np.arange(240))
    parts = {"real": range(80), "one": range(80, 120), "two": range(120, 160), "holdout": range(160, 240)}
    for name, rows in parts.items():
        unmask.write_csv(people.take(rows), tmp_path / f"{name}.csv")
    unmask.write_schema(people.schema, tmp_path / "schema.json")
    done = Counter()

    def counted(place, name, of):
        inner = getattr(place, name)

        def outer(*given, **named):
            done[f"{name} {of(*given)}"] += 1
            return inner(*given, **named)

        monkeypatch.setattr(place, name, outer)

    counted(read, "_read_file", lambda path: path.name)
    counted(Table, "digest", lambda table: len(table))
    counted(tables, "concatenate", lambda sets: len(sets))
    counted(scoring, "_scores", lambda attack, *_: repr(attack))
    files = [str(tmp_path / f"{name}.csv") for name in ("real", "one", "two")]
    options = [
        "--holdout",
        str(tmp_path / "holdout.csv"),
        "--attempts",
        "20",
        "--workers",
        "1",
        "--quiet",
        "--fail-on",
        "none",
    ]
    options += ["--schema", str(tmp_path / "schema.json")] if schema else []
    answer = CliRunner().invoke(
        app, ["audit", *files, *options, "--out", str(tmp_path / "run")], catch_exceptions=False
    )
    assert answer.exit_code == 0, answer.output
    read_once = {f"_read_file {name}.csv": 1 for name in parts}
    digested = {"digest 80": 2, "digest 40": 2}  # real and holdout have 80 rows, each set has 40
    scored = {f"_scores {entry.attack!r}": 1 for entry in scoring.ATTACKS.values()}
    assert done == Counter({**read_once, **digested, "concatenate 2": 1, **scored})
