"""Figure 6: privacy against utility on Adult Small, with differential privacy on the model and with useless models."""

from dataclasses import replace

import numpy as np
import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.reconsyn.attacked import SEEDS, Attack, attacked, over_seeds
from unmask import generators
from unmask.datasets import challenge
from unmask.reports.charts import charts_of
from unmask.results.grid import Series, SeriesKind
from unmask.utility.dependence import dissimilarity, similarity_statistic

TRIED = {
    "privbayes, no noise": "bayesnet:degree=2", "privbayes, epsilon 1": "privbayes:epsilon=1,degree=2",
    "privbayes, epsilon .1": "privbayes:epsilon=0.1,degree=2", "mst, no noise": "mst:epsilon=1000",
    "mst, epsilon 1": "mst:epsilon=1,delta=0.0003", "mst, epsilon .1": "mst:epsilon=0.1,delta=0.0003",
    "independent": "independent", "random": "random",
}  # fmt: skip


def run(terms: Terms) -> pd.DataFrame:
    """1,000 rounds; the paper's search up to one column, and ours with a sweep of the rest of the domain."""
    found = []
    for seed in range(terms.seed, terms.seed + SEEDS):
        made = challenge("adult-small", seed=seed)
        positions = tuple(range(len(made.train.schema.columns)))
        truth = similarity_statistic(made.train, positions)
        for name, generator in TRIED.items():
            useless = name in ("independent", "random")
            wanted = "any record" if useless else "shared mixture"
            how = Attack(wanted, max(20, round(terms.share * 1000)), 1, ("paper", "swept"))
            rng = np.random.default_rng([seed, 5])
            drawn = generators.parse(generator).fit(made.train, rng).sample(len(made.train), rng)
            utility = 1 - float(dissimilarity(truth, similarity_statistic(drawn, positions)).mean())
            found.append(attacked(made, name, generator, how, seed).assign(utility=utility))
    return joined(found)


def show(found: pd.DataFrame) -> Shown:
    """Shares beside the similarity score; the chart has the paper's search."""
    lines, marks = [], []
    for name, here in found[found["stage"] != "curve"].groupby("generator", sort=False):
        by = dict(list(here.groupby("stage", sort=False)))
        lines.append(
            {
                "generator": name, "wanted": here["wanted"].iloc[0], "similarity score": over_seeds(by["sample"]["utility"]),
                "sample": over_seeds(by["sample"]["of outliers"]),
                "paper's search": over_seeds(by["paper"]["of outliers"]), "ours": over_seeds(by["swept"]["of outliers"]),
                "sample, of all": over_seeds(by["sample"]["of all"]),
                "rows read: sample": over_seeds(by["sample"]["read"], 0),
                "paper's": over_seeds(by["paper"]["read"], 0), "our": over_seeds(by["swept"]["read"], 0),
            }
        )  # fmt: skip
        marks.append(
            Series(f"reconsyn-figure-6/{name}", "Outliers rebuilt against utility", "share of outliers rebuilt (paper's search)",
                   "similarity score", (float(by["paper"]["of outliers"].mean()),), (float(by["sample"]["utility"].mean()),),
                   SeriesKind.TRADEOFF)
        )  # fmt: skip
    drawn = [
        replace(chart, name=EXPERIMENT.name, title="Utility against outliers rebuilt, Adult Small")
        for _, chart in charts_of(marks)
    ]
    return Shown((table("Share of the train outliers rebuilt on Adult Small.", pd.DataFrame(lines)),), tuple(drawn))


EXPERIMENT = Experiment("reconsyn-figure-6", "figure 6: differential privacy on the model", run, show, seconds=180)
