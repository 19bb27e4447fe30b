"""The experiments of both papers, at any size: the full ones and the reduced ones differ in repetitions only."""

import numpy as np
import pandas as pd

from tests.papers.census import ATTRIBUTE_ATTACKS, MEMBERSHIP_ATTACKS, SECRET, Scores, neighbours, outlier, scores
from tests.papers.texas import AUTHORS_TARGETS, per_target
from unmask.audits.attack.audit import attack
from unmask.stats import Bonferroni, Split, auc, clopper_pearson, epsilon_clopper_pearson
from unmask.tables.table import Table

SANITISER = "sanitiser:k=10,rare=2,cap=0.99"  # the authors' run configuration; the paper's text caps at 95 %


def linkability(generator, population: Table, attacks, **sizes) -> pd.DataFrame:
    """Groundhog's membership game: every attack on every target."""
    return per_target(attack(generator, population, attacks=attacks, **sizes))


def inference(generator: str, population: Table, secret: str, attack_name: str, **sizes) -> pd.DataFrame:
    """Groundhog's attribute game with the targets' own secrets."""
    return per_target(
        attack(
            generator, population, goal="attribute", secret=secret, attacks=(attack_name,), shadows=0, targets=AUTHORS_TARGETS,
            **sizes,
        )
    )  # fmt: skip


def by_size(generator: str, population: Table, row_counts, **sizes) -> pd.DataFrame:
    """Mean privacy gain of the authors' targets for tables of n rows, and releases of as many."""
    rows = []
    for n in row_counts:
        found = linkability(
            generator, population, ("naive", "histogram"), train_rows=n, targets=AUTHORS_TARGETS, **sizes
        )
        gains = found.pivot(index="row", columns="attack", values="privacy gain").mean()
        rows.append({"generator": generator, "n": n, **gains})
    return pd.DataFrame(rows)


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
