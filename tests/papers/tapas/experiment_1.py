"""Experiment 1: attribute inference on a census of 5,000, the secret drawn anew each time."""

import pandas as pd

from tests.papers.drawing import Limit, Panel, marks_chart
from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.tapas.attacked import uniform_secret
from tests.papers.tapas.census import ATTRIBUTE_ATTACKS, PAPERS_WORDS, census
from unmask.reports.charts.svg import Axis, Words

PREDICTOR = "synthetic-predictor"
GENERATORS = ("privbayes:epsilon=10", "mst:epsilon=10,delta=1e-5")
MEASURES = (("accuracy", "right"), ("privacy gain", "PG"), ("AUC", "AUC"))
SIDES = (("with", ""), ("without", ", without the target"))


def run(terms: Terms) -> pd.DataFrame:
    """Each attack on both generators; the predictor needs no shadow releases."""
    sizes = {"train_rows": 5000, "tests": terms.times(400), "workers": 1, "seed": terms.seed}
    others = tuple(name for name in ATTRIBUTE_ATTACKS if name != PREDICTOR)
    people, parts = census(terms.data), []
    for generator in GENERATORS:
        parts.append(uniform_secret(generator, people, attacks=others, shadows=terms.times(400), **sizes))
        parts.append(uniform_secret(generator, people, attacks=(PREDICTOR,), shadows=0, **sizes))
    return joined(parts)


def show(found: pd.DataFrame) -> Shown:
    """The three measures of figure 1(a) with the target; without it, where nothing is to be seen, beside them."""
    lines, panels = [], []
    for generator in GENERATORS:
        name = generator.partition(":")[0]
        here = found[found["generator"] == generator].set_index("attack").loc[list(ATTRIBUTE_ATTACKS)]
        for attack, row in here.iterrows():
            line = {"generator": name, "attack": PAPERS_WORDS[attack]}
            line |= {f"{what}{side}": row[f"{key} {way}"] for way, side in SIDES for what, key in MEASURES}
            lines.append(line)
        values = tuple(tuple(here[f"{key} with"]) for _, key in MEASURES)
        panels.append(Panel(name, tuple(PAPERS_WORDS[each] for each in here.index), values))
    about = Words(
        EXPERIMENT.name, "Experiment 1: accuracy, privacy gain and AUC", "A mark per measure, by attack and generator."
    )
    marks = [what for what, _ in MEASURES]
    chart = marks_chart(about, panels, marks, y_label="with the target", limit=Limit(0.5, "chance"), y=Axis(0.2, 1.4))
    return Shown((table("Chance is .5 for accuracy and AUC, 1 for privacy gain.", pd.DataFrame(lines)),), (chart,))


EXPERIMENT = Experiment("tapas-experiment-1", "attribute inference on the census", run, show, seconds=170)
