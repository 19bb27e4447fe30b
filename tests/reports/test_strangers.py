"""Texts of strangers on terminals, in Markdown, in JUnit files and in spreadsheets: shown, and nothing more."""

import csv
import io
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from rich.console import Console

from tests.results.test_result import full_result
from unmask.cli import main
from unmask.reports.junit import junit_xml
from unmask.reports.summary import safe, summary
from unmask.reports.terminal import show
from unmask.results.directory import load, write
from unmask.results.plain import from_plain, to_plain
from unmask.results.result import NotTested, Records, Result

EVIL = "\x1b[31m\x9b2J\x07\x7f\u202eabc\u2066\u200f[x](http://evil.example) @team #12 <b> | `x` www.evil.example =1+1"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def evil_result():
    """A result in which each free text holds all that is evil."""
    result = full_result()
    finding = replace(result.findings[0], name=EVIL, title=EVIL, threat=EVIL, advice=EVIL, criterion="membership")
    grids = tuple(
        replace(grid, title=EVIL, columns=tuple(f"{EVIL}{place}" for place in range(len(grid.columns))),
                rows=tuple(tuple(EVIL if isinstance(cell, str) else cell for cell in row) for row in grid.rows))
        for grid in result.grids
    )  # fmt: skip
    return replace(
        result, audit=EVIL, findings=(finding,), grids=grids, notes=(EVIL,), versions={"unmask": EVIL},
        not_tested=(NotTested(EVIL, EVIL, EVIL),), records=Records((EVIL, "=1+1"), ((EVIL, "-2+3"),)),
    )  # fmt: skip


def test_nothing_steers_a_terminal():
    out = io.StringIO()
    show(evil_result(), Console(file=out, width=200), where=EVIL)
    assert "abc" in out.getvalue()
    assert not STEERS.search(out.getvalue())


def test_nor_through_the_command_line(tmp_path, capsys):
    write(evil_result(), tmp_path / "run")
    for arguments in (["report", str(tmp_path / "run")], ["report", str(tmp_path / "run"), "--json"]):
        assert main.answer(arguments) == 0
        said = capsys.readouterr()
        assert not STEERS.search(said.out + said.err)
    assert Result.from_plain(to_plain(load(tmp_path / "run"))) == load(tmp_path / "run")


@pytest.mark.parametrize("verb", ["describe", "schema"])
def test_nor_from_cells_and_names_of_columns(tmp_path, capsys, verb):
    """In errors, in notes, in tables."""
    (tmp_path / "real.csv").write_text(f'"a{EVIL[:12]}",b\n"{EVIL[:12]}",1\nx,2\n', encoding="utf-8")
    assert main.answer([verb, str(tmp_path / "real.csv")]) == 0
    (tmp_path / "s.json").write_text('{"unmask_schema": 1, "columns": {"b": {"kind": "categorical", "values": ["1"]}}}')
    assert main.answer(["describe", str(tmp_path / "real.csv"), "--schema", str(tmp_path / "s.json")]) == 2
    assert main.answer([f"no{EVIL[:9]}such"]) == 2
    said = capsys.readouterr()
    assert "␛[31m" in said.out + said.err
    assert not STEERS.search(said.out + said.err)


def test_a_value_cannot_pretend_to_be_a_line_of_ours(tmp_path, capsys):
    (tmp_path / "real.csv").write_text('a,b\n"x\nno leak found",1\ny,2\n')
    (tmp_path / "s.json").write_text(
        '{"unmask_schema": 1, "columns": {"a": {"kind": "categorical", "values": ["y"]}, '
        '"b": {"kind": "integer", "lower": 0, "upper": 9}}}'
    )
    assert main.answer(["describe", str(tmp_path / "real.csv"), "--schema", str(tmp_path / "s.json")]) == 2
    assert "\nno leak found" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("@team", "@"), ("#12", "#12"), ("org/repo#12", "repo#12"), ("[a](b)", " [a"), ("http://b.c", "://"), ("see www.b.c",
        "www."),
        ("<img src=x>", "<"), ("a|b", "a|b"), ("`code`", " `code"), ("GH-12", "GH-12"), ("mailto:a", "mailto:"), ("x\n# y",
        "\n"),
        ("$x$", " $x"), ("&#64;team", "&#64;team"),
    ],
)  # fmt: skip
def test_markdown_shows_text_as_it_is(text, never):
    """Nothing links, mentions or closes a cell; forges look for mentions after escapes are gone, so a break is between."""
    assert never not in " " + safe(text)


def test_the_summary_holds_nothing_of_it():
    text = summary(evil_result())
    assert not STEERS.search(text)
    assert "@team" not in text
    assert "://" not in text
    assert not re.search(r"(?<!\\)\[x", text)


def test_junit_is_xml_whatever_the_texts_hold():
    text = junit_xml(replace(evil_result(), findings=(replace(evil_result().findings[0], title="a\x00\x1b\ud800b"),)))
    suite = ElementTree.fromstring(text.encode())
    assert suite.tag == "testsuite"


def test_records_start_no_formula_and_come_back(tmp_path):
    texts = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\rx", "plain", "'quoted", "a\x1b[31m", "", "-5")
    rows = tuple((place, text, -0.5, 1e-9, None) for place, text in enumerate(texts))
    write(replace(full_result(), records=Records(("row", "=text", "number", "small", "none"), rows)), tmp_path)
    with open(tmp_path / "records.csv", encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    assert header[1] == "'=text"
    for line in lines:
        assert line[2:] == ["-0.5", "1e-09", ""]
        assert not line[1].startswith(("=", "+", "@", "\t", "\r"))
        assert line[1] == "-5" or not line[1].startswith("-"), "numbers stay numbers"
        assert not STEERS.search(line[1])
    back = load(tmp_path).records
    assert back.columns[1] == "=text"
    assert [row[1] for row in back.rows][:4] == list(texts[:4])
    assert back.rows[7][1] == "'quoted"
    assert back.rows[0][2] == -0.5


def test_half_characters_in_a_result(tmp_path, capsys):
    write(full_result(), tmp_path)
    text = (tmp_path / "result.json").read_text()
    (tmp_path / "result.json").write_text(text.replace('"notes": [', '"notes": ["half \\ud800",', 1))
    for arguments in (["report", str(tmp_path)], ["report", str(tmp_path), "--json"]):
        assert main.answer(arguments) == 0, capsys.readouterr().err
    assert from_plain(str, "x", "here") == "x"
