"""`make papers`: finished experiments are kept, a failed one stops no other, and pages are written between markers."""

import re

import pandas as pd
import pytest

from tests.papers import __main__ as papers
from tests.papers.drawing import Panel, alone, marks_chart, pictures_chart
from tests.papers.experiment import Experiment, Shown, Terms, table, words
from tests.papers.experiments import EXPERIMENTS
from tests.papers.page import END, Places, begin
from unmask.reports.charts.svg import Words

PAGE = f"Text | before.\n\n{begin('made-one')}\nold\n{END}\n\nBetween.\n\n{begin('made-two')}\n{END}\n"


def chart(name):
    panel = Panel("people", ("a column", "another"), ((0.1, 0.5), (0.9, None)))
    return marks_chart(Words(name, "A title", "What it shows."), [panel], ["one", "two"], y_label="gain")


@pytest.fixture
def places(tmp_path):
    made = Places(tmp_path)
    made.pages.mkdir(parents=True)
    (made.pages / "made.md").write_text(PAGE)
    return made


@pytest.fixture
def experiment():
    """Makes experiments that count how often they ran."""
    runs = []

    def made(name, problem=None):
        def run(terms):
            runs.append(name)
            if problem:
                raise problem
            return pd.DataFrame({"name": ["a|b"], "gain": [0.123 * terms.seed], "lost": [None]})

        return Experiment(name, "made up", run, lambda f: Shown((table("A table.", f),), (chart(name),)), seconds=1)

    made.runs = runs
    return made


def play(chosen, places, tmp_path, **how):
    return papers.run_all(chosen, Terms(tmp_path, folder=tmp_path / "kept", **how), places)


def page_of(places):
    return re.sub(r"\d+ CPU s", "0 CPU s", (places.pages / "made.md").read_text())


def test_tables_charts_and_command_stand_between_the_markers(places, experiment, tmp_path):
    assert play([experiment("made-one")], places, tmp_path) == 0
    block = page_of(places).split(begin("made-one"))[1].split(END)[0]
    assert "| name | gain | lost |\n| --- | --- | --- |\n| a\\|b | .12 | – |" in block
    assert "`python -m tests.papers made-one --seed 1`: 0 CPU s." in block
    assert "](../../images/papers/made-one.svg)" in block
    assert (places.drawings / "made-one.svg").exists()
    assert page_of(places).startswith("Text | before.\n\n<!--")
    assert "old" not in block
    assert page_of(places).endswith(f"Between.\n\n{begin('made-two')}\n{END}\n")


def test_a_second_run_gives_equal_bytes_and_works_on_what_is_missing_only(places, experiment, tmp_path):
    one, two = experiment("made-one"), experiment("made-two")
    play([one], places, tmp_path)
    before = page_of(places)
    play([one], places, tmp_path)
    assert page_of(places) == before
    play([one, two], places, tmp_path)
    assert experiment.runs == ["made-one", "made-two"]
    play([one], places, tmp_path, seed=2)
    assert experiment.runs == ["made-one", "made-two", "made-one"]
    assert "| .25 |" in page_of(places)


def test_one_that_fails_is_said_and_the_others_go_on(places, experiment, tmp_path, capsys):
    chosen = [experiment("made-one", ZeroDivisionError("a reason")), experiment("made-two")]
    assert play(chosen, places, tmp_path) == 1
    told = capsys.readouterr().out
    assert "made-one FAILED" in told
    assert "a reason" in told
    assert "1 of 2 failed: made-one" in told
    assert "old" in page_of(places)
    assert page_of(places).count("CPU s") == 1


def test_a_page_without_a_place_is_said(places, experiment, tmp_path, capsys):
    assert play([experiment("made-three")], places, tmp_path) == 1
    assert "no place for made-three" in capsys.readouterr().out


def test_a_share_of_an_experiment_is_not_written(places, experiment, tmp_path, capsys):
    assert play([experiment("made-one")], places, tmp_path, share=0.5) == 0
    assert "not written to its page" in capsys.readouterr().out
    assert page_of(places) == PAGE


def test_a_share_that_is_written_says_so(places, experiment, tmp_path):
    play([experiment("made-one")], places, tmp_path, share=0.25, write=True)
    assert "made-one --seed 1 --share 0.25 --write`: 0 CPU s. 25% of the repetitions." in page_of(places)
    play([experiment("made-one")], places, tmp_path, seeds=1, write=True)
    assert "made-one --seed 1 --seeds 1 --write`: 0 CPU s. 1 of 3 seeds." in page_of(places)


def test_what_is_left_is_told_before_each(places, experiment, tmp_path, capsys):
    play([experiment("made-one"), experiment("made-two")], places, tmp_path)
    assert "[1 of 2] made-one ... all that is left takes about 2 s" in capsys.readouterr().out


def test_a_game_that_two_experiments_share_is_played_once_and_counted_for_both(tmp_path, monkeypatch):
    played, clock = [], [0.0]
    monkeypatch.setattr("tests.papers.experiment.time.process_time", lambda: clock[0])

    def play():
        played.append(1)
        clock[0] += 7.0  # seconds of work
        return pd.DataFrame({"gain": [0.5]})

    def sharing(name):
        return Experiment(name, "", lambda terms: terms.once("made-game-x", play), lambda f: Shown(()), seconds=1)

    terms = Terms(tmp_path, folder=tmp_path)
    first, second = (sharing(name).measure(terms) for name in ("made-one", "made-two"))
    assert played == [1]
    assert second.found.equals(first.found)
    assert (first.cpu, second.cpu) == (7.0, 7.0)
    papers.forget([sharing("made-one")], terms)
    assert [path.name for path in tmp_path.iterdir()] == ["made-two-seed-1.json"]


def test_what_an_older_program_found_is_run_anew_unless_asked_for(experiment, tmp_path, monkeypatch):
    terms, one = Terms(tmp_path, folder=tmp_path), experiment("made-one")
    one.measure(terms)
    assert one.recall(terms) is not None
    monkeypatch.setattr("tests.papers.kept.program", lambda: "another")
    assert one.recall(terms) is None
    assert one.recall(Terms(tmp_path, folder=tmp_path, older=True)) is not None


def test_an_unknown_name_is_refused(capsys):
    assert papers.main(["nothing"]) == 2
    assert "groundhog-figure-2" in capsys.readouterr().out


def test_a_chart_alone_brings_its_style_and_says_what_it_is():
    drawn = alone(chart("made-one"))
    assert drawn.startswith("<svg")
    for part in (
        "prefers-color-scheme: dark",
        ".line-1 {",
        "A title",
        "What it shows.",
        ">one</text>",
        ">another</text>",
    ):
        assert part in drawn
    assert drawn.count("<circle") == 3  # two marks and the sample
    assert drawn.count("<rect") == 3  # the paper, a mark and the sample


def test_pictures_have_a_box_per_pixel_and_gaps_none():
    made = pictures_chart(Words("made", "Pictures", "Two."), [("real", [[0, 15, 7, 3], None])], side=2, levels=16)
    drawn = alone(made)
    assert drawn.count("h4.5v4.5") == 4
    assert {shade for shade in range(1, 6) if f'heat-{shade}"' in drawn} == {1, 3, 5}


@pytest.mark.parametrize(
    ("cell", "text"), [(0.126, ".13"), (-0.126, "-.13"), (-0.001, ".00"), (10.0, "10.00"), (3, "3")]
)
def test_numbers_are_written_as_the_papers_do(cell, text):
    assert words(cell) == text


def test_every_experiment_has_its_place_and_every_drawing_is_shown():
    places = Places()
    for each in EXPERIMENTS:
        assert places.page(each).read_text(encoding="utf-8").count(begin(each.name)) == 1
    assert len({each.name for each in EXPERIMENTS}) == len(EXPERIMENTS)
    pages = "".join(path.read_text(encoding="utf-8") for path in places.pages.glob("*.md"))
    for drawing in places.drawings.glob("*.svg"):
        assert f"papers/{drawing.name})" in pages
