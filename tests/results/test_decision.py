"""decision.json: who decided what about which result, and how reports show it."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

import unmask
from tests.reports import examples
from unmask.cli import main
from unmask.errors import ParameterError, RunError
from unmask.files import digest_of_file
from unmask.reports.html import write_report
from unmask.results import Decision, Publishing, read_decision, write_decision
from unmask.results.decision import DECISION
from unmask.results.result import Result

MADE = Decision("A. Meier", Publishing.DO_NOT, "19 in 100 people are recognised.", "2026-11-18")


@pytest.fixture
def run(tmp_path):
    """A finished run with its report."""
    path = sorted(examples.GOLDEN.glob("*.json"))[0]
    result = Result.from_plain(json.loads(path.read_text(encoding="utf-8")))
    unmask.write(result, tmp_path / "run")
    write_report(result, tmp_path / "run")
    return tmp_path / "run"


def pages(run):
    return [(run / name).read_text(encoding="utf-8") for name in ("report.html", "summary.md")]


def test_what_was_written_is_read_with_the_digest_of_its_result(run):
    assert read_decision(run) is None
    kept = write_decision(run, MADE)
    assert kept == replace(MADE, result=digest_of_file(run / "result.json"))
    assert read_decision(run) == kept
    assert json.loads((run / DECISION).read_text()) == {
        "version": 1, "reviewer": "A. Meier", "decision": "do not publish", "reasons": MADE.reasons, "date": "2026-11-18",
        "result": kept.result,
    }  # fmt: skip


def test_without_a_decision_reports_have_no_word_of_it(run):
    page, text = pages(run)
    assert 'id="decision"' not in page
    assert "Decision" not in text


def test_reports_print_it(run):
    write_decision(run, MADE)
    write_report(unmask.load(run), run)
    page, text = pages(run)
    assert 'href="#decision"' in page
    for each in ("Do not publish", "A. Meier", "19 in 100 people are recognised.", "2026-11-18"):
        assert each in page
    assert "Decision: **do not publish**, A. Meier, 2026-11-18." in text
    assert "another result" not in page + text


def test_a_decision_about_another_result_is_shown_as_such(run):
    write_decision(run, MADE)
    result = unmask.load(run)
    (run / "run.json").unlink(missing_ok=True)
    other = replace(result, notes=(*result.notes, "Something else came out."))
    unmask.write(other, run)
    write_report(other, run)
    page, text = pages(run)
    assert "about another result than the one shown here" in page
    assert "another result" in text


def test_a_decision_about_what_was_read_before_is_not_kept(run):
    with pytest.raises(RunError, match="no longer the one"):
        write_decision(run, replace(MADE, result="0" * 64))
    assert not (run / DECISION).exists()


def test_without_a_result_there_is_nothing_to_decide(tmp_path):
    with pytest.raises(RunError, match="no result"):
        write_decision(tmp_path, MADE)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"decision": "maybe"}, "use one of publish, publish with conditions, do not publish"),
        ({"reviewer": " "}, "reviewer is missing"),
        ({"reasons": ""}, "reasons is missing"),
        ({"reviewer": "x" * 201}, "201 characters"),
        ({"reasons": "x" * 2001}, "2,001 characters"),
        ({"date": "yesterday"}, "write it as 2026-01-31"),
        ({"result": "abc"}, "SHA-256"),
    ],
)
def test_a_decision_is_whole(change, told):
    with pytest.raises(ParameterError, match=told):
        replace(MADE, **change)


WHOLE = {
    "version": 1, "reviewer": "A", "decision": "publish", "reasons": "r", "date": "2026-01-01", "result": "0" * 64
}  # fmt: skip
HOSTILE = "</bdi><script>alert(1)</script>\x1b[2J\u202e `x` [a](javascript:b) | @all"


def test_texts_of_strangers_are_shown_and_never_run(run):
    write_decision(run, Decision(HOSTILE, Publishing.CONDITIONS, HOSTILE * 20))
    write_report(unmask.load(run), run)
    page, text = pages(run)
    assert "<script>alert(1)" not in page + text
    assert "&lt;script&gt;alert(1)" in page
    assert not {"\x1b", "\u202e"} & set(page + text)
    assert "\\[a\\](javascript" in text  # brackets that make no link


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "{}", "null", "[" * 100_000, '{"version": 7}', "x" * 200_000, "9" * 5000,
        json.dumps({name: value for name, value in WHOLE.items() if name != "result"}),
        *(json.dumps(WHOLE | change) for change in (
            {"decision": "yes"}, {"reviewer": []}, {"date": ""}, {"result": "x"}, {"more": 1}, {"reasons": "r" * 3000},
        )),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_and_does_not_stop_a_report(run, content):
    (run / DECISION).write_text(content)
    with pytest.raises(RunError, match=r"decision\.json"):
        read_decision(run)
    assert main.answer(["report", str(run)]) == 0
    assert "it cannot be shown" in pages(run)[0]


def test_a_file_of_that_name_that_is_no_decision_is_not_replaced(run, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    for make in (lambda path: path.write_text("{}"), lambda path: path.symlink_to(tmp_path / "mine.txt")):
        make(run / DECISION)
        with pytest.raises(RunError, match="not replaced"):
            write_decision(run, MADE)
        (run / DECISION).unlink()
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_what_is_no_file_is_refused(run):
    os.mkfifo(run / DECISION)  # opening it would wait for ever
    with pytest.raises(RunError, match="not a decision"):
        read_decision(run)


def test_the_command_keeps_it_and_renders_the_report_anew(run, capsys):
    words = ["decide", str(run), "--reviewer", "B", "--decision", "publish", "--reasons", "nothing was found"]
    assert main.answer(words) == 0
    assert "decision.json" in capsys.readouterr().err
    found = read_decision(run)
    assert (found.reviewer, found.decision, found.reasons) == ("B", Publishing.PUBLISH, "nothing was found")
    assert "nothing was found" in pages(run)[0]
    again = pages(run)
    assert main.answer(["report", str(run)]) == 0
    assert pages(run) == again
    assert main.answer([*words[:-1], " ", "--quiet"]) == 2
    assert "reasons is missing" in capsys.readouterr().err
    assert read_decision(run) == found
    assert main.answer(["decide", str(run / "nowhere"), *words[2:]]) == 2


def test_reading_it_loads_no_arrays():
    code = "import sys, unmask.results; sys.exit(bool({'numpy', 'pandas', 'numba', 'jinja2'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
