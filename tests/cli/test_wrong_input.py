"""Wrong input is exit code 2 with a message; 70 is for defects of ours. Each line here was a traceback once, or could be."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.results.test_result import full_result
from unmask.cli import main
from unmask.errors import InputError, ParameterError, SchemaError
from unmask.files import limit
from unmask.results.directory import write
from unmask.tables.read import read_schema, read_table

UNMASK = str(Path(sys.executable).with_name("unmask"))
COLUMNS = {
    "age": {"kind": "integer", "lower": 0, "upper": 120},
    "sex": {"kind": "categorical", "values": ["f", "m"]},
    "day": {"kind": "datetime", "lower": "2020-01-01", "upper": "2020-12-31"},
}
SCHEMA = {"unmask_schema": 1, "origin": "public", "columns": COLUMNS}


@pytest.fixture
def real(tmp_path, monkeypatch):
    (tmp_path / "real.csv").write_text(
        "age,sex,day\n" + "".join(f"{k % 90},{'fm'[k % 2]},2020-02-{k + 1:02}\n" for k in range(12))
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path / "real.csv"


def told(capsys, *arguments):
    """The message of a command whose input is wrong."""
    code = main.answer([str(each) for each in arguments])
    said = capsys.readouterr()
    assert code == 2, said.err
    assert said.err.strip()
    assert len(said.err) < 3000
    assert "Traceback" not in said.err
    return said.err


def changed(column, **fields):
    return SCHEMA | {"columns": COLUMNS | {column: COLUMNS[column] | fields}}


TEXTS = {
    "nested lists": "[" * 100_000,
    "nested objects": '{"a":' * 100_000,
    "digits": '{"unmask_schema": ' + "9" * 5000 + "}",
    "half a character": json.dumps(changed("sex", values=["f", "m", "\ud800"])),
}
SCHEMAS = {
    "10^400": changed("age", upper=10**400),
    "1e308": changed("age", kind="continuous", lower=-1.7e308, upper=1.7e308),
    "NaN": changed("age", lower=float("nan")),
    "cuts": changed("age", cuts=7),
    "ordered": changed("sex", ordered="yes"),
    "dtype": changed("age", dtype="nonsense"),
    "dtype 2": changed("age", dtype=["int64"]),
    "dtype too narrow": changed("age", upper=300, dtype="int8"),
    "dtype bool": changed("sex", dtype="bool"),
    "format": changed("day", format="%Q"),
    "format 2": changed("day", format=7),
    "format 3": changed("day", format="%d"),
    "resolution": changed("day", resolution="parsec"),
    "resolution 2": changed("day", resolution=["D"]),
    "date": changed("day", lower="NaT"),
    "far date": changed("day", upper="99999-01-01"),
    "long date": changed("day", upper=10**400),
    "kind": changed("age", kind=["integer"]),
    "columns": SCHEMA | {"columns": {"age": 7}},
    "tapas": [{"name": "age", "type": "finite", "representation": 10**12}],
    "tapas 2": [{"name": "age", "type": "finite", "representation": [[1], [2]]}],
    "tapas 3": [{"name": "age", "type": "integer", "min": "low", "max": 9}],
    "tapas 4": [{"name": "age", "type": "integer", "min": 0, "max": 10**400}],
    "tapas 5": [7, None],
    "sdv": {"METADATA_SPEC_VERSION": "x", "columns": [1]},
    "sdv 2": {"METADATA_SPEC_VERSION": "x", "columns": {"age": "id"}},
    "sdv 3": {"METADATA_SPEC_VERSION": "x", "columns": {"age": {"sdtype": ["id"]}}},
    "sdv 4": {"tables": [1]},
    "sdv 5": {"tables": {"people": 7}},
    "sdv 6": {"METADATA_SPEC_VERSION": "x", "columns": {"day": {"sdtype": "datetime", "datetime_format": 7}}},
}


@pytest.mark.parametrize("name", [*TEXTS, *SCHEMAS])
def test_odd_schemas(real, capsys, name):
    Path("s.json").write_text(TEXTS.get(name) or json.dumps(SCHEMAS[name]))
    assert "s.json" in told(capsys, "describe", real, "--schema", "s.json")
    told(capsys, "synthesize", real, "--schema", "s.json", "--generator", "random", "-o", "o.csv")


PLANS = {
    "nested": "seed = " + "[" * 50_000,
    "digits": "seed = " + "9" * 5000,
    "10^400": "train_rows = 1" + "0" * 400,
    "float of 10^400": "prior = 1" + "0" * 400,
    "endless": "shadows = 1000000000000000000",
    "infinite": "prior = inf",
    "policy": 'policy = "a\\u0000b"',
    "bytes": "\xff",
}


@pytest.mark.parametrize("name", PLANS)
def test_odd_plans(real, capsys, name):
    Path("plan.toml").write_bytes(PLANS[name].encode("latin-1"))
    told(capsys, "attack", real, "--generator", "random", "--plan", "plan.toml", "--write-plan", "again.toml")


RESULTS = {
    "nested": "[" * 100_000,
    "digits": '{"format": ' + "9" * 5000 + "}",
    "not UTF-8": "\xff\xfe",
    "10^400": None,
    "records": None,
}


@pytest.mark.parametrize("name", RESULTS)
def test_odd_results(tmp_path, capsys, name):
    write(full_result(), tmp_path / "run")
    path = tmp_path / "run" / "result.json"
    plain = json.loads(path.read_text())
    if name == "10^400":
        plain["findings"][0]["estimate"]["value"] = 10**400
    if name == "records":
        (tmp_path / "run" / "records.csv").write_bytes(b"\xff")
    path.write_bytes((RESULTS[name] or json.dumps(plain)).encode("latin-1"))
    told(capsys, "report", tmp_path / "run")


def test_odd_run_directories(real, capsys):
    """Draws that are damaged are drawn again; a plan of theirs that is damaged stops."""
    common = ("attack", real, "--generator", "random", "--train-rows", 5, "--targets", "1", "--attacks", "closest-record",
    "--shadows", 3,
              "--tests", 3, "--fail-on", "none", "--out", "run", "--quiet")  # fmt: skip
    assert main.answer([str(each) for each in common]) == 0, capsys.readouterr().err
    draws = sorted(Path("run/draws").glob("*.npz"))
    for content, path in zip((b"", b"PK\x03\x04", b"\x00" * 500, draws[3].read_bytes()[:-30]), draws, strict=False):
        path.write_bytes(content)
    draws[5].with_name(draws[5].stem + ".failed.json").write_text("[" * 100_000)
    assert main.answer([str(each) for each in common]) == 0, capsys.readouterr().err
    for text in ("[" * 100_000, "[]", "7", '{"seed": 1' + "0" * 5000 + "}"):
        Path("run/draws/plan.json").write_text(text)
        told(capsys, *common)


def test_numbers_at_the_end_of_what_a_number_can_be(real, capsys):
    Path("huge.csv").write_text("a,b\n" + "".join(f"{'-' if k % 2 else ''}1.7e308,{k}\n" for k in range(12)))
    assert "huge.csv: columns.a" in told(capsys, "describe", "huge.csv")
    told(capsys, "synthesize", "huge.csv", "--generator", "cart", "-o", "o.csv")
    Path("long.csv").write_text("a,b\n" + "".join(f"{10**400 + k},{k}\n" for k in range(12)))
    assert main.answer(["describe", "long.csv", "--quiet"]) == 0, "categories"


@pytest.mark.parametrize("long", ["x" * 5000, "a/" * 2500])
def test_endless_paths(real, capsys, long):
    for arguments in (
        ("describe", long), ("describe", real, "--schema", long), ("describe", real, "--out", long), ("report", long),
        ("schema", real, "-o", long), ("synthesize", real, "--generator", "random", "-o", long), ("describe", real, "--plan",
        long),
        ("describe", real, "--write-plan", long), ("audit", real, real, "--policy", long), ("pool", "attack", long),
        ("pool", "export", real, "--runs", "8", "--out", long), ("everyone", real, "--generator", "random", "--runs", "8",
        "--pool", long),
    ):  # fmt: skip
        told(capsys, *arguments)


def shell(command, **more):
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120, **more)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    "verb", ["describe real.csv", "describe real.csv --json", "schema real.csv", "generators", "--help"]
)
def test_a_full_output(real, verb):
    answer = shell(f"{UNMASK} {verb} > /dev/full")
    assert answer.returncode == 2, answer.stderr
    assert "No space left" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert "Exception ignored" not in answer.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk(real, capsys):
    assert "No space left" in told(capsys, "schema", real, "-o", "/dev/full")


def test_an_output_that_nobody_reads(real):
    answer = shell(f"{UNMASK} schema real.csv | true")
    assert "Traceback" not in answer.stderr
    assert "Exception ignored" not in answer.stderr
    closed = shell(f"{UNMASK} schema real.csv >&-")
    assert closed.returncode in (0, 2)
    assert "Traceback" not in closed.stderr


def test_a_working_directory_that_is_gone(tmp_path):
    for program in (UNMASK, f"{sys.executable} -m unmask"):
        (tmp_path / "gone").mkdir()
        answer = shell(f"cd gone && rmdir ../gone && {program} schema real.csv", cwd=tmp_path)
        assert answer.returncode == 2, answer.stderr
        assert "is gone" in answer.stderr
        assert "Traceback" not in answer.stderr


def test_what_expands_without_end_is_not_read(tmp_path, monkeypatch, capsys):
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 100_000))
    assert len(read_table(tmp_path / "bomb.csv.gz")) == 100_000
    monkeypatch.setenv("UNMASK_MAX_EXPANDED", "100000")
    assert "UNMASK_MAX_EXPANDED" in told(capsys, "describe", tmp_path / "bomb.csv.gz")
    pd.DataFrame({"a": [1] * 100_000}).to_parquet(tmp_path / "bomb.parquet")
    assert "UNMASK_MAX_EXPANDED" in told(capsys, "describe", tmp_path / "bomb.parquet")


def test_columns_without_end(tmp_path, monkeypatch, capsys):
    names = ",".join(f"c{k}" for k in range(20_000))
    (tmp_path / "wide.csv").write_text(f"{names}\n{names}\n")
    assert "UNMASK_MAX_COLUMNS" in told(capsys, "describe", tmp_path / "wide.csv")
    (tmp_path / "twice.csv").write_text(",".join(["x"] * 9000) + "\n")
    assert "more than once" in told(capsys, "describe", tmp_path / "twice.csv")
    monkeypatch.setenv("UNMASK_MAX_COLUMNS", "1")
    (tmp_path / "narrow.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="2 columns; at most 1"):
        read_table(tmp_path / "narrow.csv")


@pytest.mark.parametrize("asked", ["many", "-1", "0", "1e9", "²", "9" * 30])
def test_limits_are_whole_numbers(monkeypatch, asked):
    monkeypatch.setenv("UNMASK_MAX_COLUMNS", asked)
    with pytest.raises(ParameterError, match="UNMASK_MAX_COLUMNS"):
        limit("UNMASK_MAX_COLUMNS", 7)


def test_a_domain_of_a_foreign_schema_is_limited_before_it_is_made(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps([{"name": "a", "type": "finite", "representation": 10**15}]))
    with pytest.raises(SchemaError, match="at most 65,000"):
        read_schema(tmp_path / "s.json")


def test_names_that_are_no_text(real, capsys):
    """A file name that is not UTF-8 is read and named."""
    if sys.platform != "linux":
        pytest.skip("such names exist on Linux only")
    name = os.fsdecode(b"real-\xff.csv")
    shutil.copy(real, name)
    answer = subprocess.run([UNMASK, "describe", name, "--out", "run"], capture_output=True, timeout=120)
    assert answer.returncode == 0, answer.stderr
    assert b"Traceback" not in answer.stderr
