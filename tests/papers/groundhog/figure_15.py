"""Figure 15: privacy gain against the size of the tables."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.groundhog.linkability import outliers
from tests.papers.groundhog.people import TEXAS
from tests.papers.groundhog.shared import GAIN, SANITISER, gain_chart, gains, name_of, panel_of
from unmask.reports.charts.svg import Words

SIZES = (1000, 2000, 5000)  # those of figure 8
SIZED = (SANITISER, "bayesnet", "privbayes:epsilon=1")
SHOWN = ("naive", "histogram")  # the paper has F_naive


def run(terms: Terms) -> pd.DataFrame:
    """n = m, one target at a time; the games of 1,000 rows are those of figure 4."""
    return joined(outliers(terms, TEXAS, words, rows=n) for words in SIZED for n in SIZES)


def show(found: pd.DataFrame) -> Shown:
    """Means of the five, and a chart with a mark for each."""
    lines = []
    for words in SIZED:
        for features in SHOWN:
            here = found[(found["generator"] == words) & (found["attack"] == features)]
            means = here.groupby("n")[GAIN].mean()
            lines.append({"mechanism": name_of(words), "features": features} | {f"n = {n}": means[n] for n in SIZES})
    told = Words(
        "groundhog-figure-15", "Privacy gain against the size of tables, F_naive, Texas",
        "A mark per outlier, by number of rows; one panel per mechanism.",
    )  # fmt: skip
    naive = found[found["attack"] == "naive"]
    panels = []
    for words in SIZED:
        frame = gains(naive[naive["generator"] == words], TEXAS.rows, SIZES, "n")
        panels.append(panel_of(name_of(words), frame.rename(columns=lambda n: f"n = {n}")))
    return Shown(
        (table("Mean privacy gain of the five.", pd.DataFrame(lines)),), (gain_chart(told, panels, TEXAS.rows),)
    )


EXPERIMENT = Experiment("groundhog-figure-15", "privacy gain against the size of tables", run, show, seconds=200)
