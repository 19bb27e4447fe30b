"""Figure 8: what a forest learns from releases, for the risk of mortality (Texas), and for income (Adult, ours)."""

import numpy as np
import pandas as pd

from tests.papers.drawing import Limit, Panel, marks_chart
from tests.papers.experiment import Experiment, Shown, Terms, span, table, words
from tests.papers.groundhog.releases import MECHANISMS, OURS, RISK, Halves, releases, short
from tests.papers.groundhog.texas import texas
from unmask import datasets
from unmask.reports.charts.svg import Axis, Words
from unmask.tables.table import Table
from unmask.utility.comparison import student
from unmask.utility.learners import CLASSIFIERS, Learner
from unmask.utility.prediction import answers, labelled, predicted

SIZES = (1000, 2000, 5000)
REPEATS = 10
PRINTED = {  # per cent, where the text has them
    (1000, "raw"): 72.2, (1000, MECHANISMS[1]): 70.5, (1000, "bayesnet"): 68.0, (1000, "privbayes:epsilon=10"): 62.0,
    (5000, "raw"): 74.2, (5000, "bayesnet"): 68.9, (5000, "privbayes:epsilon=10"): 68.4,
}  # fmt: skip


def accuracies(
    population: Table, label: str, sizes, repeats: int, seed: int, mechanisms, *, learner: Learner = CLASSIFIERS[0]
) -> pd.DataFrame:
    """The share of right predictions in every repeat; `dummy` says what is most frequent in the real table."""
    halves = Halves.of(population, seed)
    test = labelled(halves.test, label)
    truth, lines = answers(test, label), []
    for rows in sizes:
        for repeat, name, release in releases(halves, rows, repeats, seed, mechanisms):
            told = predicted(learner, labelled(release, label), test, label, seed=repeat)
            lines.append((rows, repeat, name, float((told == truth).mean())))
            if name == "raw":
                most = np.bincount(answers(labelled(release, label), label)).argmax()
                lines.append((rows, repeat, "dummy", float((truth == most).mean())))
    return pd.DataFrame(lines, columns=["n", "repeat", "mechanism", "accuracy"])


def run(terms: Terms) -> pd.DataFrame:
    """Texas at three sizes, Adult at one."""
    chosen, repeats = (*MECHANISMS, *OURS), terms.times(REPEATS)
    hospital = accuracies(texas(terms.data), RISK, SIZES, repeats, terms.seed, chosen)
    census = accuracies(datasets.adult(), "income", SIZES[:1], repeats, terms.seed, chosen)
    return pd.concat([hospital.assign(data="Texas"), census.assign(data="Adult")])


def show(found: pd.DataFrame) -> Shown:
    """Means with Student's interval over the real tables, and the paper's beside them."""
    parts = []
    for data, n in (*(("Texas", n) for n in SIZES), ("Adult", SIZES[0])):
        here = found[(found["data"] == data) & (found["n"] == n)]
        lines = []
        for name, cells in here.groupby("mechanism", sort=False)["accuracy"]:
            mean = student(100 * cells.to_numpy(), confidence=0.95, method="t")
            print_ = PRINTED.get((n, name)) if data == "Texas" else None
            lines.append((short(name), mean.value, span(mean.low, mean.high, 1), words(print_, 1)))
        frame = pd.DataFrame(lines, columns=["trained on", "accuracy, %", "95 %", "print"])
        label = RISK if data == "Texas" else "income"
        parts.append(table(f"{data}, {label}, n = {n:,}.", frame.sort_values("accuracy, %", ascending=False), 1))
    return Shown(tuple(parts), (_chart(found),))


def _chart(found: pd.DataFrame) -> object:
    means = found[found["data"] == "Texas"].pivot_table(index="n", columns="mechanism", values="accuracy", sort=False)
    columns = [*MECHANISMS, *OURS]
    panel = Panel("", tuple(map(short, columns)), tuple(tuple(map(float, row)) for row in means[columns].to_numpy()))
    dummy = Limit(float(means["dummy"].mean()), "always the most frequent class")
    about = Words(
        "groundhog-figure-8", "Accuracy of a forest trained on releases", "A mark per size of the real table."
    )
    marks = [f"n = {n:,}" for n in means.index]
    return marks_chart(about, [panel], marks, y_label=f"accuracy for {RISK}", limit=dummy, y=Axis(0.3, 0.8))


EXPERIMENT = Experiment("groundhog-figure-8", "what a forest learns from releases", run, show, seconds=200)
