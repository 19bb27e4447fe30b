"""Figure 3, right, with more power: does a public domain keep the limit? More attacks, people and releases in one pool."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, table
from tests.papers.games import linkability
from tests.papers.groundhog.shared import FEATURES
from tests.papers.groundhog.texas import AUTHORS_TARGETS, recoded, texas, widened

BINS = "queries:order=1,numbers=bin"  # numbers are drawn anew within bins
COMPARISONS = 40  # intervals hold for all of them together


def run(terms: Terms) -> pd.DataFrame:
    """Ranges widened to round limits; the authors' five and five more, four attacks."""
    people = texas(terms.data)
    return linkability(
        "privbayes:epsilon=0.1", recoded(people, widened(people.schema)), (*FEATURES, BINS),
        targets=f"{AUTHORS_TARGETS}+rare:5", shadows=terms.times(200), tests=terms.times(600), workers=1, seed=terms.seed,
        confidence=1 - 0.05 / COMPARISONS,
    )  # fmt: skip


def show(found: pd.DataFrame) -> Shown:
    """By attack: what ten people lost at most, and whether that can be told from the limit."""
    lines = [
        {
            "attack": name,
            "mean advantage": here["advantage"].mean(),
            "largest": here["advantage"].max(),
            "largest lower bound": here["low"].max(),
            "largest AUC": here["AUC"].max(),
            "largest bound on epsilon": here["epsilon >="].max(),
        }
        for name, here in found.groupby("attack", sort=False)
    ]
    return Shown((table("Ten people, PrivBayes at epsilon .1, public ranges.", pd.DataFrame(lines), digits=3),))


EXPERIMENT = Experiment("groundhog-figure-3-pooled", "a public domain keeps the limit", run, show, seconds=60)
