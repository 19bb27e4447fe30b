"""Figures 6 and 7: secrets in sanitised and in synthetic tables."""

import pandas as pd

from tests.papers.drawing import Panel, marks_chart
from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.games import inference
from tests.papers.groundhog.people import TEXAS
from tests.papers.groundhog.shared import MECHANISMS, SANITISER, gain_chart, gains, name_of, named, panel_of
from tests.papers.groundhog.texas import texas
from unmask.reports.charts import Chart
from unmask.reports.charts.svg import Axis, Words

STAY, RACE = "LENGTH_OF_STAY", "RACE"
RAW = "raw"
LIKELIHOOD, GUESSES = "likelihood advantage", "advantage"
# by secret: attack on real and sanitised tables (link, else a model), attack on synthetic ones
ATTACKS = {
    STAY: ("record-linkage:model=linear,unique=true", "linear"),
    RACE: ("record-linkage:model=forest,unique=true", "synthetic-predictor"),
}
FIGURE_7 = (26241, 29265)  # a target with little to lose, as the paper's, and one with much
RIGHT = ("right with", "right without", "advantage")


def run(terms: Terms) -> pd.DataFrame:
    """The targets' own secrets, all five in one pool: attacks are trained on the release, where five rows are few."""
    sizes = {"tests": terms.times(80), "workers": 1, "seed": terms.seed, "targets": TEXAS.outliers}
    people = texas(terms.data)
    return joined(
        inference(generator, people, secret, linked if generator in (RAW, SANITISER) else guessed, **sizes).assign(
            secret=secret, generator=generator
        )
        for secret, (linked, guessed) in ATTACKS.items()
        for generator in (RAW, *MECHANISMS)
    )


def to_lose(found: pd.DataFrame, secret: str, advantage: str) -> pd.Series:
    """The advantage on the real table, by the paper's attack: link, else a model."""
    here = found[(found["secret"] == secret) & (found["generator"] == RAW)]
    return here.set_index("row")[advantage].reindex(TEXAS.rows)


def by_mechanism(found: pd.DataFrame, secret: str, advantage: str) -> pd.DataFrame:
    """Privacy gain for one secret: the advantage on the real table less that on what is published."""
    left = gains(found[found["secret"] == secret], TEXAS.rows, MECHANISMS, "generator", advantage)
    return -left.sub(to_lose(found, secret, advantage), axis="index")


def show(found: pd.DataFrame) -> Shown:
    """Gain and what there was to lose; for the race how often the attacker is right."""
    parts = []
    for secret, advantage, how in (
        (STAY, LIKELIHOOD, "likelihood"),
        (STAY, GUESSES, "within .75 days"),
        (RACE, GUESSES, "right guesses"),
    ):
        frame = by_mechanism(found, secret, advantage).assign(**{"to lose": to_lose(found, secret, advantage)})
        parts.append(named(frame, secret=secret, judged_by=how))
    sixth = table(
        "Figure 6: privacy gain, and what there was to lose (the advantage on the real table).", joined(parts)
    )
    lines = [_seventh(found, row) for row in TEXAS.rows if row in set(found["row"])]
    seventh = table("Figure 7: RACE guessed right with the person in the data / without.", pd.DataFrame(lines))
    return Shown((sixth, seventh), (_chart_6(found), _chart_7(found)))


def _seventh(found: pd.DataFrame, row: int) -> dict[str, object]:
    here = found[(found["secret"] == RACE) & (found["row"] == row)].set_index("generator")
    return {"row": str(row)} | {
        name_of(each): f"{100 * here.loc[each, RIGHT[0]]:.0f} / {100 * here.loc[each, RIGHT[1]]:.0f} %"
        for each in (RAW, *MECHANISMS)
    }


def _chart_6(found: pd.DataFrame) -> Chart:
    told = Words("groundhog-figure-6", "Privacy gain of two secrets, Texas", "A mark per outlier, by mechanism.")
    panels = [
        panel_of(f"{STAY}, by likelihood", by_mechanism(found, STAY, LIKELIHOOD)),
        panel_of(f"{RACE}, by right guesses", by_mechanism(found, RACE, GUESSES)),
    ]
    return gain_chart(told, panels, TEXAS.rows, low=-0.3)


def _chart_7(found: pd.DataFrame) -> Chart:
    told = Words(
        "groundhog-figure-7", "RACE: how often the attacker is right, Texas",
        "By what is published; with the person in the data, without, and the difference.",
    )  # fmt: skip
    shown = (RAW, SANITISER, "bayesnet", "privbayes:epsilon=1")
    panels = []
    for row in FIGURE_7:
        here = found[(found["secret"] == RACE) & (found["row"] == row)].set_index("generator").loc[list(shown)]
        values = tuple(tuple(float(v) for v in here[name]) for name in RIGHT)
        panels.append(Panel(f"row {row}", tuple(map(name_of, shown)), values))
    marks = ("right with the person", "right without", "advantage")
    return marks_chart(told, panels, marks, y_label="share of releases", y=Axis(-0.2, 1.1))


EXPERIMENT = Experiment("groundhog-figure-6", "secrets in sanitised and synthetic tables", run, show, seconds=80)
