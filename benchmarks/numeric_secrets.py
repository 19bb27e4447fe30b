"""Tables VI to X of hittmeir2020 with our generators in the place of the paper's, and the error by radius.

    python -m benchmarks.numeric_secrets            # half a minute on one core

Needs the Insurance and Social Network Ads data (docs/how-to/data.md; UNMASK_DATA). Means over ten draws of each generator, seeds
0 to 9. bayesnet and privbayes stand for DataSynthesizer, copula for the Synthetic Data Vault, cart for synthpop.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from unmask import generators
from unmask.metrics import Neighbourhood, cap_continuous, minimal_distance
from unmask.metrics.cap_continuous import Weights
from unmask.tables.read import read_table
from unmask.tables.table import Table

DATA = Path(os.environ.get("UNMASK_DATA", Path(__file__).parents[2] / "shared" / "data"))
GENERATORS = (("bayesnet", {}), ("privbayes", {"epsilon": 0.1}), ("copula", {}), ("cart", {}))
SEEDS = range(10)
RADII = (0, 0.1, 0.25, 0.5, 1, 2, math.inf)
QUASI = ["age", "sex", "children", "smoker", "region"]


def draw(table: Table, name: str, settings: dict[str, float], seed: int) -> Table:
    """One synthetic table of the same size."""
    rng = np.random.default_rng(seed)
    return generators.get(name, **settings).fit(table, rng).sample(len(table), rng)


def scenario(title: str, train: Table, attacked: Table, keys: list[str], secret: str, length: int) -> None:
    """Attack and dummy on every generator, and in how many draws the attack beats the dummy in all three measures."""
    print(f"\n{title}: MAE, sd, MAPE, sd, R2, sd; dummy MAE, MAPE, R2; draws in which all three beat the dummy")
    for name, settings in GENERATORS:
        rows, better = [], 0
        for seed in SEEDS:
            found = cap_continuous(attacked, draw(train, name, settings, seed), keys=keys, secret=secret, length=length)
            mean, off, flat = found.synthetic.mean, found.synthetic.deviation, found.mean_predictor
            rows.append((mean.mae, off.mae, mean.mape, off.mape, mean.r2, off.r2, flat.mae, flat.mape, flat.r2))
            better += mean.mae < flat.mae and mean.mape < flat.mape and mean.r2 > flat.r2
        print(f"{name:10}", " ".join(f"{value:8.3f}" for value in np.mean(rows, axis=0)), f"{better} of {len(SEEDS)}")


def main() -> None:
    """All tables."""
    insurance = read_table(DATA / "insurance" / "insurance.csv")
    frame = pd.read_csv(DATA / "social_network_ads" / "Social_Network_Ads.csv").drop(columns="User ID")
    ads = Table.from_pandas(frame.fillna({"Age": 26}))
    train, test = train_test_split(np.arange(len(ads)), test_size=0.2, random_state=9)
    scenario("Insurance, bmi (tables VII, VIII)", insurance, insurance, QUASI, "bmi", 3)
    keys = ["Gender", "EstimatedSalary", "Purchased"]
    scenario("Social Network Ads, Age (tables IX, X)", ads.take(train), ads.take(test), keys, "Age", 2)
    release = draw(insurance, "cart", {}, 1)
    print("\nInsurance, cart, seed 1: MAE of release (original) by radius")
    for weights in Weights:
        cells = []
        for radius in RADII:
            how = Neighbourhood(radius, weights)
            found = cap_continuous(insurance, release, keys=QUASI, secret="bmi", length=3, how=how)
            cells.append(f"{radius:g}: {found.synthetic.mean.mae:.3f} ({found.original.mean.mae:.3f})")
        print(f"{weights:10}", ", ".join(cells))
    print("\nMean minimal distance (table VI), three draws")
    for title, table in (("Insurance", insurance), ("Network", ads)):
        for name, settings in GENERATORS:
            means = [minimal_distance(table, draw(table, name, settings, seed)).mean.value for seed in range(3)]
            print(f"{title:10} {name:10} {np.mean(means):.2f} +- {np.std(means):.2f}")


if __name__ == "__main__":
    main()
