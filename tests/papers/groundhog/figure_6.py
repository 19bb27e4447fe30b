"""Figures 6 and 7: secrets in sanitised and in synthetic tables."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.games import inference
from tests.papers.groundhog.shared import GAIN, SANITISER
from tests.papers.groundhog.texas import AUTHORS_TARGETS, texas

GENERATORS = (SANITISER, "bayesnet", "privbayes:epsilon=1", "privbayes:epsilon=0.1")
# secret, attack on sanitised tables, attack on synthetic ones
SECRETS = (
    ("LENGTH_OF_STAY", "record-linkage:model=linear", "linear"),
    ("RACE", "record-linkage:model=forest", "synthetic-predictor"),
)


def run(terms: Terms) -> pd.DataFrame:
    """The targets' own secrets, all five in one pool."""
    sizes = {"tests": terms.times(60), "workers": 1, "seed": terms.seed, "targets": AUTHORS_TARGETS}
    people = texas(terms.data)
    return joined(
        inference(generator, people, secret, linked if generator == SANITISER else guessed, **sizes).assign(
            secret=secret, generator=generator
        )
        for secret, linked, guessed in SECRETS
        for generator in GENERATORS
    )


def show(found: pd.DataFrame) -> Shown:
    """Gain, and what there was to lose."""
    wide = found.pivot(index=["secret", "row"], columns="generator", values=GAIN)[list(GENERATORS)]
    wide["to lose"] = found.groupby(["secret", "row"])["advantage on raw data"].first()
    return Shown((table("Privacy gain, and the advantage on the real table.", wide.reset_index()),))


EXPERIMENT = Experiment("groundhog-figure-6", "secrets in sanitised and synthetic tables", run, show, seconds=45)
