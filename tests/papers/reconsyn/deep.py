"""Table 1 with deep generators: outliers of Adult Small and Adult rebuilt, by samples and by search, one seed."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.reconsyn.attacked import Attack, attacked
from unmask.datasets import challenge

GENERATORS = {  # without a budget that binds, as privbayes and mst on this page
    "ctgan": "ctgan:steps=300,batch=500",
    "dpgan": "dpgan:epsilon=1000",
    "pategan": "pategan:epsilon=1000",
}
DATA = ("adult-small", "adult")
ROUNDS = 1000  # as in the paper
PRINTED = {
    ("adult-small", "ctgan", "sample"): 0.99, ("adult", "ctgan", "sample"): 0.00, ("adult", "ctgan", "search"): 0.80,
    ("adult-small", "dpgan", "sample"): 0.96, ("adult", "dpgan", "sample"): 0.02, ("adult", "dpgan", "search"): 0.78,
    ("adult-small", "pategan", "sample"): 1.00, ("adult", "pategan", "sample"): 0.02, ("adult", "pategan", "search"): 0.81,
}  # fmt: skip


def run(terms: Terms) -> pd.DataFrame:
    """Each generator is a game of its own, so that what is finished is kept."""
    rounds = max(20, round(terms.share * ROUNDS))
    return joined(
        terms.once(
            f"reconsyn-game-deep-{data}-{name}",
            lambda data=data, name=name: attacked(
                challenge(data, seed=terms.seed),
                name,
                GENERATORS[name],
                Attack("shared mixture", rounds, 4),
                terms.seed,
            ),
        )
        for name in GENERATORS
        for data in DATA
    )


def show(found: pd.DataFrame) -> Shown:
    """Shares of the train outliers, printed and ours."""
    lines = []
    stages = found[found["stage"] != "curve"]
    for (data, generator), here in stages.groupby(["data", "generator"], sort=False):
        by = {stage: mine.iloc[0] for stage, mine in here.groupby("stage", sort=False)}
        lines.append(
            {
                "data": data, "generator": generator, "outliers": int(by["sample"]["outliers"]),
                "rounds": int(by["sample"]["rounds"]), "sample": by["sample"]["of outliers"],
                "print ": PRINTED.get((data, generator, "sample")),
                "search": by["guided"]["of outliers"], "print": PRINTED.get((data, generator, "search")),
                "rows read: sample": int(by["sample"]["read"]), "search ": int(by["guided"]["read"]),
                "false": int(by["guided"]["false"]),
            }
        )  # fmt: skip
    return Shown((table("Share of the train outliers rebuilt, shared mixture, one seed.", pd.DataFrame(lines)),))


EXPERIMENT = Experiment("reconsyn-deep", "outliers rebuilt from releases of deep generators", run, show, seconds=200)
