import io

from rich.console import Console

from tests.reports import examples
from tests.results.test_result import full_result
from unmask.reports.terminal import show
from unmask.results.result import Facts


def shown(result, **options) -> str:
    console = Console(file=io.StringIO(), width=120, color_system=None)
    show(result, console, **options)
    return console.file.getvalue()


def test_everything_in_a_result_is_shown():
    text = shown(full_result(), where="run/")
    for part in (
        "▲ leak found (high): It can be told who was in the data: 19 more in 100 than on people who are not in the data",
        "19 in 100 members", "Someone who holds the release", "0.190 (0.120 to 0.270, 95 %, n = 200)", "Do not publish",
        "A grid", "gen-lra", "no holdout", "give one", "</script> <b>", "Seed 3", "Files are in run/",
    ):  # fmt: skip
        assert part in text


def test_findings_say_how_many_records_are_above_tolerance():
    assert "Records above tolerance: 90 (80 to 100) of 1,000; worst record: 0.500 (0.400 to 0.600)" in shown(
        examples.release()
    )


def test_markup_in_names_is_shown_not_interpreted():
    assert "[red]x[/red]" in shown(full_result(notes=("[red]x[/red]",)))


def test_a_result_without_findings_shows_no_verdict():
    assert "leak" not in shown(full_result(audit="describe", findings=(), facts=Facts()))


def test_escape_sequences_do_not_reach_the_terminal():
    text = shown(full_result(notes=("\x1b]0;owned\x07 \u202e",)))
    assert "\x1b" not in text
    assert "␛]0;owned␇ ⟨U+202E⟩" in text


def test_silence_comes_with_what_would_have_been_seen():
    text = shown(examples.quiet())
    assert "○ no leak found: No attack did better on people in the data than on people who are not" in text
    assert "would have been seen" in text.split("Someone who")[0]
