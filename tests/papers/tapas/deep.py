"""Experiment 1 (figure 1a) with ctgan, in what a few minutes of CPU pay for: fewer steps of training and fewer releases."""

from functools import partial

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table, words
from tests.papers.tapas.attacked import uniform_secret
from tests.papers.tapas.census import ATTRIBUTE_ATTACKS, census
from tests.papers.tapas.experiment_1 import PREDICTOR

CTGAN = "ctgan:steps=60,batch=200"  # about 2 epochs of 5,000 people; the package's default is 300


def run(terms: Terms) -> pd.DataFrame:
    """Each attack; the predictor needs no shadow releases, and looks at the same ones under attack."""
    others = tuple(name for name in ATTRIBUTE_ATTACKS if name != PREDICTOR)
    play = partial(uniform_secret, CTGAN, census(terms.data), train_rows=5000, workers=1, seed=terms.seed)
    return joined(
        [
            play(attacks=others, shadows=terms.times(16), tests=terms.times(24)),
            play(attacks=(PREDICTOR,), shadows=0, tests=terms.times(16)),
        ]
    )


def show(found: pd.DataFrame) -> Shown:
    """Right guesses with their intervals (AUC), with the target and without."""
    lines = []
    for _, here in found.iterrows():
        line = {"attack": here["attack"]}
        for side in ("with", "without"):
            rate, low, high = (words(here[f"{end} {side}"]) for end in ("right", "low", "high"))
            line |= {f"{side} the target": f"{rate} [{low}, {high}]", f"AUC {side}": here[f"AUC {side}"]}
        lines.append(line)
    return Shown((table("ctgan: right guesses, 95 % interval; chance is .5.", pd.DataFrame(lines)),))


EXPERIMENT = Experiment("tapas-deep", "attribute inference on the census, ctgan", run, show, seconds=150)
