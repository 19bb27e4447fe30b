"""TAPAS' two games, at any size: the full ones and the reduced ones differ in repetitions only."""

import numpy as np
import pandas as pd

from tests.papers.tapas.census import ATTRIBUTE_ATTACKS, MEMBERSHIP_ATTACKS, SECRET, Scores, neighbours, outlier, scores
from unmask.stats import Bonferroni, Split, auc, clopper_pearson, epsilon_clopper_pearson
from unmask.tables.table import Table


def uniform_secret(generator: str, population: Table, *, attacks=ATTRIBUTE_ATTACKS, **sizes) -> pd.DataFrame:
    """TAPAS' experiment 1: the target's sex is drawn anew for each table; right guesses with and without the target."""
    found = scores(
        generator, population, goal="attribute", secret=SECRET, secret_values="uniform", attacks=attacks,
        targets=f"rows:{outlier(population)}", **sizes,
    )  # fmt: skip
    return pd.DataFrame([_guesses(generator, name, found) for name in attacks])


def _guesses(generator: str, name: str, found: Scores) -> dict:
    lead = found.by_attack[name][:, 1] - found.by_attack[name][:, 0]
    ties = np.random.default_rng(0).random(len(lead)) < 0.5
    right = np.where(lead == 0, ties, lead > 0) == (found.secrets == 1)
    row = {"generator": generator, "attack": name}
    for side, here in (("with", found.members), ("without", ~found.members)):
        rate = clopper_pearson(int(right[here].sum()), int(here.sum()))
        truth = found.secrets[here] == 1
        row |= {
            f"right {side}": rate.value,
            f"low {side}": rate.low,
            f"high {side}": rate.high,
            f"AUC {side}": auc(lead[here][truth], lead[here][~truth]).value,
        }
    return row


def effective_epsilon(
    generator: str, population: Table, draw: int, *, rows: int = 500, attacks=MEMBERSHIP_ATTACKS, **sizes
) -> pd.DataFrame:
    """TAPAS' experiment 2: d with the target against d with another record, both fixed; AUC and bounds on epsilon.

    `Split(0.1)` chooses the threshold on a tenth of the releases, as TAPAS does, and judges on the rest;
    `Bonferroni` judges 16 thresholds on all.
    """
    found = scores(
        generator, neighbours(population, outlier(population), rows, draw), targets="rows:0", knowledge="exact", train_rows=rows,
        attacks=attacks, seed=draw, **sizes,
    )  # fmt: skip
    table = []
    for name in attacks:
        inside, outside = found.by_attack[name][found.members], found.by_attack[name][~found.members]
        area = auc(inside, outside)
        bounds = {
            f"epsilon >= ({type(how).__name__})": epsilon_clopper_pearson(
                inside, outside, threshold=how, delta=1e-5, rng=np.random.default_rng(draw)
            ).value
            for how in (Split(0.1), Bonferroni())
        }
        table.append(
            {"draw": draw, "attack": name, "AUC": area.value, "AUC low": area.low, "AUC high": area.high, **bounds}
        )
    return pd.DataFrame(table)
