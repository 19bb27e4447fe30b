"""Experiment 2: membership of one record in a census of 500, exact knowledge, and the effective epsilon."""

import pandas as pd

from tests.papers.drawing import Limit, Panel, marks_chart
from tests.papers.experiment import Experiment, Shown, Terms, joined, span, table, words
from tests.papers.tapas.attacked import effective_epsilon
from tests.papers.tapas.census import GROUNDHOG, MEMBERSHIP_ATTACKS, QUERIES, census
from unmask.reports.charts.svg import Axis, Words

DRAWS = 3  # of the table d and the record t'
PRINT = {QUERIES: 0.70, GROUNDHOG: 0.63}
TEXT = "the paper's text"
PROGRAM = "the authors' program"
GAMES = {
    TEXT: ("mst:epsilon=10,delta=1e-5", {}),
    PROGRAM: ("mst:epsilon=10,delta=1e-6,rounded=true", {"placement": "append", "domain": "learnt"}),
}


def run(terms: Terms) -> pd.DataFrame:
    """Several tables d and records t'; the paper has one. As the text has it, and as the authors' program does it."""
    sizes = {"shadows": terms.times(1000), "tests": terms.times(2500), "workers": 1}
    draws = range(terms.seed - 1, terms.seed - 1 + DRAWS)
    return joined(
        effective_epsilon(generator, census(terms.data), draw, **choices, **sizes).assign(game=game)
        for game, (generator, choices) in GAMES.items()
        for draw in draws
    )


def show(found: pd.DataFrame) -> Shown:
    """AUC and bounds of each draw, and the interval of the attack that was chosen."""
    lines, panels = [], []
    for game in GAMES:
        played = found[found["game"] == game]
        columns = []
        for name in MEMBERSHIP_ATTACKS:
            here = played[played["attack"] == name]
            row = {"game": game, "attack": name, "print": PRINT.get(name)}
            row |= {f"AUC, draw {int(each['draw'])}": each["AUC"] for _, each in here.iterrows()}
            for how in ("Bonferroni", "Split"):
                row[f"epsilon >= ({how})"] = ", ".join(words(each) for each in here[f"epsilon >= ({how})"])
            lines.append(row)
            columns.append(tuple(here["AUC"]))
        panels.append(Panel(game, tuple(MEMBERSHIP_ATTACKS), tuple(zip(*columns, strict=True))))
    marks = [f"draw {int(draw)}" for draw in found["draw"].unique()]
    title = Words(
        "tapas-experiment-2", "Experiment 2: AUC of each attack", "A mark per draw of the table, by attack and game."
    )
    limit = Limit(PRINT[QUERIES], "queries in print")
    chart = marks_chart(title, panels, marks, y_label="AUC", limit=limit, y=Axis(0.45, 0.8))
    return Shown(
        (
            table("AUC, and lower bounds on epsilon of each draw.", pd.DataFrame(lines), 3),
            table(INTERVALS, intervals(found)),
        ),
        (chart,),
    )


INTERVALS = "Two-sided 95 % interval of the attack that a tenth of the releases chose, by the authors' rule."


def intervals(found: pd.DataFrame) -> pd.DataFrame:
    """A line per game: the attack that was chosen and its interval, draw by draw."""
    lines = [{"game": "print", "chosen": QUERIES, "draw": "", "epsilon": span(0.86, 1.39)}]
    for (game, draw), here in found.groupby(["game", "draw"], sort=False):
        first = here.iloc[0]
        lines.append(
            {
                "game": game,
                "chosen": first["chosen"],
                "draw": str(draw),
                "epsilon": span(first["epsilon low"], first["epsilon high"]),
            }
        )
    return pd.DataFrame(lines)


EXPERIMENT = Experiment("tapas-experiment-2", "membership and the effective epsilon", run, show, seconds=150)
