"""What an officer sees first: what was audited, one sentence, what the release adds, and what to do next."""

import re
from dataclasses import replace

import pytest

from tests.reports import examples
from tests.reports.test_html import Page
from tests.results.test_state import BLIND, CONFOUNDED, QUIET
from unmask.reports.html import render
from unmask.reports.junit import junit_xml
from unmask.reports.notes import merged
from unmask.reports.summary import summary
from unmask.reports.terminal import show
from unmask.results.figures import Figure, in_words, more_in_100
from unmask.results.policy import Severity
from unmask.results.result import InputFile
from unmask.results.state import FailOn
from unmask.results.verdict import finding_badge, verdict

FILES = (InputFile("real", "people of 2024.csv", "12" * 32), InputFile("schema", "schema.json", "34" * 32))
RUN = {
    "command": ["unmask", "audit", "real data.csv", "s.csv", "--out", "first/"],
    "finished": "2026-11-16T08:05:09+00:00",
}


def text_of(result, run=RUN) -> str:
    return Page(render(result, run)).text


def on_terminal(result) -> str:
    import io

    from rich.console import Console

    console = Console(file=io.StringIO(), width=200, color_system=None)
    show(result, console, run=RUN)
    return console.file.getvalue()


def test_date_and_files_with_both_digests():
    text = text_of(replace(QUIET, files=FILES))
    assert "16 November 2026, 08:05 UTC" in text
    assert re.search(
        rf"people of 2024\.csv 1,500 rows.*SHA-256 of the file {'12' * 32}.*of the table {'ab' * 32}", text
    )
    assert f"schema.json SHA-256 of the file {'34' * 32}" in text
    assert f"real: {'12' * 32} people of 2024.csv" in text, "as sha256sum prints it, in the record"


def test_a_table_that_came_from_no_file_has_the_digest_of_the_table_alone():
    text = text_of(QUIET, {"finished": "never"})
    assert "SHA-256 of the file" not in text
    assert f"of the table {'ab' * 32}" in text


def test_large_figures_are_gains_and_rates_are_small_print():
    page = render(examples.release())
    big = re.findall(r'<p class="big"><span>(.*?)</span>', page)
    assert big == ["6 more in 100", "9 more in 100", "6 more in 100", "31 more in 100", "1 more in 100", "ε ≥ 2.30"]
    assert "than on people who are not in the data" in page
    assert "attack 53 in 100" in Page(page).text
    assert "control 22 in 100" in Page(page).text


@pytest.mark.parametrize(
    ("gain", "words"),
    [(0.054, "5 more in 100"), (0.004, "under 1 more in 100"), (0.0, "none more in 100"), (-0.2, "none more in 100")],
)
def test_gains(gain, words):
    assert more_in_100(gain) == words


def test_no_power_of_ten_stands_on_a_card():
    tiny = Figure(0.00001, -0.00002, 0.0003, 0.95, "x", 10)
    assert in_words(tiny) == "0.000 (0.000 to 0.000, 95 %, n = 10)"
    page = render(replace(QUIET, findings=(replace(QUIET.findings[0], estimate=tiny, control=tiny, baseline=tiny),)))
    cards = "".join(re.findall(r'<article class="card.*?</article>', page, re.S))
    assert not re.search(r"\de[-+]\d", cards)


def test_one_line_says_why_an_interval_above_0_may_carry_no_finding():
    above = replace(QUIET.findings[0], estimate=Figure(0.05, 0.01, 0.09, 0.95, "x", 10))
    said = "An interval above 0 may carry no finding: each holds on its own, and of 3 comparisons some lie above 0 by chance."
    assert said in text_of(replace(QUIET, findings=(above, *QUIET.findings[1:])))
    assert "An interval above 0" not in text_of(QUIET)


BADGES = {
    "▲ leak found (high)": examples.release(),
    "○ no leak found": QUIET,
    "? inconclusive": BLIND,
    "≠ confounded": CONFOUNDED,
}


@pytest.mark.parametrize("badge", BADGES)
def test_every_reader_has_the_same_badge_and_sentence(badge):
    result = BADGES[badge]
    said = verdict(result)
    assert f"{said.badge.shape} {said.badge.label}" == badge
    page = text_of(result)
    assert badge in page
    assert said.sentence in page
    assert f"{badge}: {said.sentence[:60]}" in on_terminal(result)
    assert f"**{badge}: " in summary(result, RUN)
    assert badge in Page(result._repr_html_()).text
    assert f"{said.badge.label}: {said.sentence}" in junit_xml(result)


def test_silence_of_a_finding_means_what_it_means_for_the_audit():
    one = QUIET.findings[0]
    assert [finding_badge(one, result).label for result in (QUIET, BLIND, CONFOUNDED)] == [
        "no leak found", "inconclusive", "confounded",
    ]  # fmt: skip
    assert finding_badge(replace(one, control=None), QUIET).label == "inconclusive"
    for result in (BLIND, CONFOUNDED):
        assert "no leak found" not in text_of(result)


def test_a_doubt_beside_a_leak_is_said():
    both = replace(CONFOUNDED, findings=(*examples.release().findings, CONFOUNDED.findings[-1]))
    assert any(line.startswith("Confounded: the tables differ.") for line in verdict(both).support)
    assert "≠ confounded" in text_of(both)


def test_columns_that_no_attack_looked_at_stand_in_the_verdict_of_every_reader():
    line = "note (free text): 300 of its texts stand in the release."
    result = replace(QUIET, facts=replace(QUIET.facts, left_out=(line,)))
    page = text_of(result)
    assert page.index(line) < page.index("At a glance The")
    for text in (on_terminal(result), summary(result).replace("\\", ""), junit_xml(result), page):
        assert line in text
    assert "Everything that this kind of audit tests was tested" not in page


def test_everything_was_tested_is_not_said_beside_what_was_not():
    page = text_of(QUIET)
    assert "Not tested by this audit" in page
    assert "Everything that this kind of audit tests was tested" not in page


def test_what_is_said_of_several_things_is_said_once():
    same = "The attack does no better than guessing."
    notes = [
        f"linking: {same}",
        *(f"inferring {column}: {same}" for column in "abc"),
        "Alone.",
        "inferring a: Other.",
        "Alone.",
    ]
    assert merged(notes) == (f"linking, inferring (3 columns): {same}", "Alone.", "inferring a: Other.")
    page = text_of(replace(QUIET, notes=tuple(notes)))
    assert page.count(same) == 1 + 4, "once, and in the JSON as it is"


def test_what_to_do_next_stands_in_the_verdict_with_the_command():
    page = text_of(examples.release())
    start = page.index("What to do next")
    assert start < page.index("What this cannot show")
    assert "unmask audit 'real data.csv' s.csv --out first-2" in page[start:]
    assert "unmask report first/ first-2" in page[start:]
    assert "unmask audit 'real data.csv' s.csv --out first-2" in on_terminal(examples.release())
    assert "`unmask report first/ first-2`" in summary(examples.release(), RUN)


def test_junit_fails_without_an_answer_only_where_one_is_asked_for():
    for result, code in ((BLIND, "inconclusive"), (CONFOUNDED, "confounded")):
        assert 'failures="0"' in junit_xml(result, FailOn.LOW)
        strict = junit_xml(result, FailOn.INCONCLUSIVE)
        assert 'failures="1"' in strict
        assert f'type="{code}"' in strict
    assert 'failures="0"' in junit_xml(QUIET, FailOn.INCONCLUSIVE)
    low = replace(QUIET, findings=(replace(QUIET.findings[0], severity=Severity.LOW),))
    assert 'failures="1"' in junit_xml(low, FailOn.INCONCLUSIVE)
