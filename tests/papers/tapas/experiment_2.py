"""Experiment 2: membership of one record in a census of 500, exact knowledge, and the effective epsilon."""

from dataclasses import replace

import numpy as np
import pandas as pd

from tests.papers.drawing import Limit, Panel, marks_chart
from tests.papers.experiment import Experiment, Shown, Terms, joined, span, table, words
from tests.papers.tapas.attacked import FPR, effective_epsilon
from tests.papers.tapas.census import GROUNDHOG, MEMBERSHIP_ATTACKS, PAPERS_WORDS, QUERIES, census
from unmask.reports.charts import Chart, charts_of
from unmask.reports.charts.svg import Axis, Words
from unmask.results.grid import Series, SeriesKind

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
            row = {"game": game, "attack": PAPERS_WORDS[name], "print": PRINT.get(name)}
            row |= {f"AUC, draw {int(each['draw'])}": each["AUC"] for _, each in here.iterrows()}
            for how in ("Bonferroni", "Split"):
                row[f"epsilon >= ({how})"] = ", ".join(words(each) for each in here[f"epsilon >= ({how})"])
            lines.append(row)
            columns.append(tuple(here["AUC"]))
        panels.append(
            Panel(game, tuple(PAPERS_WORDS[name] for name in MEMBERSHIP_ATTACKS), tuple(zip(*columns, strict=True)))
        )
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
        (chart, *curves(found)),
    )


def curves(found: pd.DataFrame) -> list[Chart]:
    """Figure 1(b): the curve of each attack, mean over the draws, as the authors' program plays."""
    played = found[found["game"] == PROGRAM]
    lines = [
        Series(f"{EXPERIMENT.name}/{PAPERS_WORDS[name]}", "ROC", "false positive rate", "true positive rate", FPR,
               tuple(float(each) for each in np.mean(list(here["TPR"]), axis=0)), SeriesKind.ROC)
        for name, here in played.groupby("attack", sort=False)
    ]  # fmt: skip
    title = "Experiment 2: ROC curves, the authors' program, mean of the draws"
    return [replace(chart, name=f"{EXPERIMENT.name}-roc", title=title) for _, chart in charts_of(lines)]


INTERVALS = "Two-sided 95 % interval of the attack that a tenth of the releases chose, by the authors' rule."


def intervals(found: pd.DataFrame) -> pd.DataFrame:
    """A line per game: the attack that was chosen and its interval, draw by draw."""
    lines = [{"game": "print", "chosen": PAPERS_WORDS[QUERIES], "draw": "", "epsilon": span(0.86, 1.39)}]
    for (game, draw), here in found.groupby(["game", "draw"], sort=False):
        first = here.iloc[0]
        lines.append(
            {
                "game": game,
                "chosen": PAPERS_WORDS[first["chosen"]],
                "draw": str(draw),
                "epsilon": span(first["epsilon low"], first["epsilon high"]),
            }
        )
    return pd.DataFrame(lines)


EXPERIMENT = Experiment("tapas-experiment-2", "membership and the effective epsilon", run, show, seconds=150)
