"""What a notebook shows of a result: the verdict and the findings, and nothing that could run or point at a person."""

import re
from dataclasses import replace

import pytest

from tests.reports import examples
from tests.reports.test_html import HOSTILE, Page, hostile
from unmask.results.policy import Severity

MARKS = {"div", "p", "strong", "bdi", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}


def shown(result) -> Page:
    return Page(result._repr_html_())


def test_verdict_findings_and_what_to_do():
    text = shown(examples.release()).text
    for words in (
        "Audit of a synthetic table, seed 1", "▲ leak found (high)", "It can be told who was in the data: 31 more in 100",
        "than on people who are not in the data.", "▲ high", "Closest-record: 19 in 100 members are recognised",
        "Gain over the control: 0.310 (0.260 to 0.360, 95 %, n = 1,000)", "◆ medium", "● low", "○ no leak found",
        "What to do next", "It cannot show that a release is anonymous",
    ):  # fmt: skip
        assert words in text, words
    assert text.index("▲ high") < text.index("◆ medium") < text.index("● low") < text.index("○ no leak found")


def test_silence_comes_with_what_would_have_been_seen():
    text = shown(examples.quiet()).text
    assert (
        "○ no leak found · No attack did better on people in the data than on people who are not (3 comparisons, 95 % confid"
        in text
    )
    assert examples.SEEN in text
    assert "keep it with the release" in text


def test_a_result_without_findings_has_no_verdict_and_no_table():
    page = shown(replace(examples.release(), audit="describe", findings=()))
    assert "no verdict" in page.text
    assert page.all("table") == []


def test_many_findings_are_not_all_shown():
    text = shown(examples.crowded()).text
    assert "24 more findings: see .findings or .to_frame()" in text
    assert text.count("▲ high") == 8


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_shown_and_never_run(text):
    made = hostile(text)._repr_html_()
    page = Page(made)
    assert {tag for tag, _ in page.elements} <= MARKS
    assert {key for _, attributes in page.elements for key in attributes} <= {"style"}
    assert not any((ord(sign) < 32 and sign != "\n") or 0x7F <= ord(sign) < 0xA0 for sign in made)
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", made)
    assert len(made) < 60_000


def test_nothing_is_loaded_and_colours_are_those_of_the_page():
    made = examples.release()._repr_html_()
    assert not re.search(r"https?:|url\(|@import|src=|href=", made)
    colours = re.findall(r"(?:^|;|\")(?:color|background|background-color):([^;\"]*)", made)
    assert set(colours) == {"inherit"}
    assert "#" not in made


def test_no_record_and_no_small_group_is_shown():
    made = examples.release()._repr_html_()
    for secret in ("p-secret", "4711", "tiny"):
        assert secret not in made


def test_severity_is_never_told_by_colour_alone():
    base = examples.release()
    for severity, words in zip(Severity, ("○ no leak found", "● l", "◆ m", "▲ h"), strict=True):
        one = replace(base, findings=(replace(base.findings[0], severity=severity),))
        text = shown(one).text
        assert words in text
        assert (f"leak found ({severity})" in text) is (severity is not Severity.NONE)


def test_columns_that_no_attack_looked_at_are_named():
    facts = replace(examples.quiet().facts, left_out=("patient (identifier): 300 of its values stand in the release.",))
    assert "300 of its values" in shown(replace(examples.quiet(), facts=facts)).text
