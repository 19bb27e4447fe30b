"""Experiment 1: attribute inference on a census of 5,000, the secret drawn anew each time."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table, words
from tests.papers.tapas.attacked import uniform_secret
from tests.papers.tapas.census import ATTRIBUTE_ATTACKS, census

PREDICTOR = "synthetic-predictor"
GENERATORS = ("privbayes:epsilon=10", "mst:epsilon=10,delta=1e-5")


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
    """Right guesses (AUC) with the target and without."""
    lines = []
    for name in ATTRIBUTE_ATTACKS:
        row = {"attack": name}
        for side in ("with", "without"):
            for generator in GENERATORS:
                here = found[(found["attack"] == name) & (found["generator"] == generator)].iloc[0]
                title = f"{side} the target: {generator.partition(':')[0]}"
                row[title] = f"{words(here[f'right {side}'])} ({words(here[f'AUC {side}'])})"
        lines.append(row)
    return Shown((table("Right guesses (AUC); chance is .5.", pd.DataFrame(lines)),))


EXPERIMENT = Experiment("tapas-experiment-1", "attribute inference on the census", run, show, seconds=170)
