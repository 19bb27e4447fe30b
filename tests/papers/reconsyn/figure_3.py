"""Figure 3 and table 1 for Census at the paper's size: 5,000 rounds; samples find records one by one, search finds the rest."""

from dataclasses import replace

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.reconsyn.attacked import GENERATORS, Attack, attacked, over_seeds
from tests.papers.reconsyn.table_1 import PRINTED
from unmask.datasets import challenge
from unmask.reports.charts import charts_of
from unmask.results.grid import Series

NAMES = ("privbayes", "mst")
REACH = 10  # columns, of the search


def run(terms: Terms) -> pd.DataFrame:
    """Seeds of the split, the generator and the attacker; each game is kept by itself."""
    how = Attack("shared mixture", max(20, round(terms.share * 5000)), REACH)
    return joined(
        terms.once(
            f"reconsyn-game-census-{name}-{seed}",
            lambda name=name, seed=seed: attacked(
                challenge("census", seed=seed, path=terms.data / "census_kdd"), name, GENERATORS[name], how, seed
            ),
        )
        for seed in range(terms.seed, terms.seed + terms.seeds)
        for name in NAMES
    )


def show(found: pd.DataFrame) -> Shown:
    """Shares of the outliers, and the curve over rounds."""
    lines, curves = [], []
    for name, here in found.groupby("generator", sort=False):
        by = dict(list(here.groupby("stage", sort=False)))
        sample, search = by["sample"], by["guided"]
        lines.append(
            {
                "generator": name, "wanted": "shared mixture", "outliers": over_seeds(sample["outliers"], 0),
                "rounds": int(here["rounds"].iloc[0]), "sample": over_seeds(sample["of outliers"]),
                "print ": PRINTED["census", name, "sample"],
                f"our search, up to {REACH} columns": over_seeds(search["of outliers"]),
                "print": PRINTED["census", name, "search"], "rows read: sample": over_seeds(sample["read"], 0),
                "search": over_seeds(search["read"], 0), "CPU s: sample": over_seeds(sample["CPU s"], 0),
                "search ": over_seeds(search["CPU s"], 0),
            }
        )  # fmt: skip
        mean = by["curve"].groupby("at")["of outliers"].mean()
        curves.append(
            Series(f"{EXPERIMENT.name}/{name}", "Figure 3: share of outliers rebuilt by samples", "rounds", "share",
                   tuple(float(at) for at in mean.index), tuple(mean))
        )  # fmt: skip
    drawn = [
        replace(chart, name=EXPERIMENT.name, title="Outliers of Census rebuilt by samples, over rounds")
        for _, chart in charts_of(curves)
    ]
    return Shown((table("Census, 5,000 + 5,000 people.", pd.DataFrame(lines)),), tuple(drawn))


EXPERIMENT = Experiment("reconsyn-figure-3", "figure 3: Census at the paper's size", run, show, seconds=450)
