"""Figure 15: privacy gain against the size of the tables."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.games import linkability
from tests.papers.groundhog.shared import GAIN
from tests.papers.groundhog.texas import AUTHORS_TARGETS, texas

SIZES = (500, 1000, 2000, 5000, 10000)


def run(terms: Terms) -> pd.DataFrame:
    """n = m, all five targets in one pool."""
    sizes = {"shadows": terms.times(200), "tests": terms.times(300), "workers": 1, "seed": terms.seed}
    people = texas(terms.data)
    return joined(
        linkability(generator, people, ("naive", "histogram"), train_rows=n, targets=AUTHORS_TARGETS, **sizes).assign(
            generator=generator, n=n
        )
        for generator in ("independent", "bayesnet")
        for n in SIZES
    )


def show(found: pd.DataFrame) -> Shown:
    """Means of the five."""
    wide = found.pivot_table(index=["generator", "attack"], columns="n", values=GAIN).reset_index()
    return Shown((table("Mean privacy gain of the five, by n.", wide),))


EXPERIMENT = Experiment("groundhog-figure-15", "privacy gain against the size of tables", run, show, seconds=75)
