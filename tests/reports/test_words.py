import pytest

from tests.reports import examples
from unmask.reports.summary import safe, summary
from unmask.reports.words import SHAPES, frequency, in_words, number, sentence, short, verdict
from unmask.results.policy import Severity
from unmask.results.readable import readable


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.19, "19 in 100"),
        (0.001, "under 1 in 100"),
        (0.0, "0 in 100"),
        (0.999, "over 99 in 100"),
        (1.0, "100 in 100"),
        (float("nan"), "unknown"),
    ],
)
def test_shares_as_natural_frequencies(share, words):
    assert frequency(share) == words


def test_numbers():
    assert [number(x) for x in (0.4, 0, 1, 2.345, 1234, 0.0001, float("inf"))] == [
        "0.400",
        "0",
        "1",
        "2.35",
        "1,234",
        "1.0e-04",
        "unbounded",
    ]
    assert [short(x) for x in (0.4, 2.5, 100, 1000)] == ["0.4", "2.5", "100", "1,000"]
    assert in_words(examples.release().findings[-1].estimate) == "2.60 (at least 2.30, 95 %, n = 400)"
    assert sentence("ab") == "Ab."


def test_control_and_direction_signs_are_visible_and_nothing_is_endless():
    assert readable("a\x1b[31mb\x00") == "a␛[31mb␀"
    assert readable("x\u202ey\u2066z\x85") == "x⟨U+202E⟩y⟨U+2066⟩z⟨U+0085⟩"
    assert readable("שלום 日本 é\nok") == "שלום 日本 é\nok"
    assert readable("x" * 10_000).endswith("… (10,000 characters)")
    assert len(readable("x" * 10_000)) < 300


def test_the_first_of_the_worst_findings_is_the_verdict():
    said = verdict(examples.release())
    assert said.badge.label == "leak found (high)"
    assert said.sentence == "It can be told who was in the data: 31 more in 100 than on people who are not in the data."
    assert said.support[0] == "Closest-record: 19 in 100 members are recognised at 1 in 100 false alarms."


def test_a_claim_that_stands_is_not_confirmed():
    from dataclasses import replace

    base = examples.epsilon()
    said = verdict(replace(base, findings=(replace(base.findings[0], severity=Severity.NONE),)))
    assert said.sentence.startswith("The claim was not refuted")
    assert any("can never confirm it" in line for line in said.cannot)


def test_the_summary_tells_the_same_and_is_plain_markdown():
    text = summary(examples.release())
    assert f"**{SHAPES[Severity.HIGH]} leak found (high): It can be told who was in the data" in text
    assert "| Linking (WP29) | linking |" in text
    assert "Not tested:" in text
    assert safe("<b> @team [x](y) |*_`\n#") == r"&lt;b&gt; &#64;&#8203;team \[x\](y) \|\*\_\` &#35;&#8203;"
