"""`unmask report`, and the files that every audit leaves."""

import json

import pytest
from click.testing import CliRunner

from tests.reports import examples
from unmask.cli.main import app
from unmask.errors import ParameterError, RunError
from unmask.reports import browser
from unmask.results.directory import write


def run(*arguments):
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if answer.exception and not isinstance(answer.exception, SystemExit):
        raise answer.exception
    return answer


@pytest.fixture
def runs(tmp_path):
    for name, result in (("first", examples.release()), ("second", examples.quiet())):
        write(result, tmp_path / name, run={"command": ["unmask", "audit", "real.csv"], "finished": "2026-11-15"})
    return tmp_path


def test_one_directory_gets_its_report_and_summary(runs):
    answer = run("report", runs / "first")
    assert "19 in 100 members" in answer.stdout
    assert "unmask audit real.csv" in (runs / "first" / "report.html").read_text()
    assert (runs / "first" / "summary.md").read_text().startswith("## Audit of a synthetic table")


def test_the_page_can_go_elsewhere_and_a_file_can_be_named(runs):
    run("report", runs / "first" / "result.json", "-o", runs / "page.html")
    assert "unmask audit real.csv" in (runs / "page.html").read_text()
    assert not (runs / "first" / "report.html").exists()


def test_several_directories_stand_side_by_side_with_links(runs):
    run("report", runs / "first")
    run("report", runs / "first", runs / "second", "-o", runs / "pages" / "both.html")
    page = (runs / "pages" / "both.html").read_text()
    assert "2 runs side by side" in page
    assert 'href="../first/report.html"' in page
    assert page.count("Its report") == 1


def test_directories_of_one_name_are_told_apart(runs):
    write(examples.quiet(), runs / "other" / "first")
    run("report", runs / "first", runs / "other" / "first", "-o", runs / "both.html")
    assert "other/first" in (runs / "both.html").read_text()


def test_json_is_for_one_result(runs):
    assert json.loads(run("report", runs / "first", "--json").stdout)["audit"] == "release"
    with pytest.raises(ParameterError, match="name one directory"):
        run("report", runs / "first", runs / "second", "--json")


def test_without_a_browser_there_is_advice_and_no_half_work(runs, monkeypatch):
    monkeypatch.setenv("PATH", str(runs))
    monkeypatch.delenv("UNMASK_BROWSER", raising=False)
    with pytest.raises(RunError, match="none was found"):
        run("report", runs / "first", "--pdf")
    assert not (runs / "first" / "report.html").exists()


def test_a_browser_that_fails_is_named(runs, monkeypatch):
    broken = runs / "broken-browser"
    broken.write_text("#!/bin/sh\necho no display >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("UNMASK_BROWSER", str(broken))
    with pytest.raises(RunError, match=r"broken-browser did not print .*: no display"):
        run("report", runs / "first", "--pdf")


def test_a_pdf_is_printed(runs):
    try:
        browser.find_browser()
    except RunError:
        pytest.skip("needs Chromium: run scripts/ensure-browser, or set UNMASK_BROWSER")
    run("report", runs / "second", "--pdf")
    assert (runs / "second" / "report.pdf").read_bytes().startswith(b"%PDF")


def test_an_audit_leaves_its_report_beside_its_result(tmp_path):
    (tmp_path / "people.csv").write_text("age,sex\n" + "".join(f"{20 + k},{'fm'[k % 2]}\n" for k in range(40)))
    run("describe", tmp_path / "people.csv", "--out", tmp_path / "run", "--quiet")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "progress.json", "records.csv", "report.html", "result.json", "run.json", "summary.md",
    ]  # fmt: skip


def test_a_picture_is_taken(runs):
    try:
        browser.find_browser()
    except RunError:
        pytest.skip("needs Chromium: run scripts/ensure-browser, or set UNMASK_BROWSER")
    run("report", runs / "second")
    picture = browser.write_picture(runs / "second" / "report.html", runs / "report.png", width=800, height=600)
    assert picture.read_bytes().startswith(b"\x89PNG")
