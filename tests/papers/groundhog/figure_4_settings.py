"""Figure 4, the sanitiser alone: the authors' parameters and those of the paper's text, for more people."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.games import linkability
from tests.papers.groundhog.shared import GAIN, SANITISER
from tests.papers.groundhog.texas import AUTHORS_TARGETS, texas

STRICT = "sanitiser:k=10"  # the text: cap at 95 %, categories of fewer than 10 people dropped
EVERYBODY = f"{AUTHORS_TARGETS}+rare:5+random:5"  # named ones first: two of them are among the rarest five


def run(terms: Terms) -> pd.DataFrame:
    """Both sets of parameters, all targets in one pool: one row hides no other."""
    sizes = {"shadows": terms.times(100), "tests": terms.times(150), "workers": 1, "seed": terms.seed}
    people = texas(terms.data)
    return joined(
        linkability(words, people, ("record-linkage",), targets=EVERYBODY, **sizes).assign(generator=words)
        for words in (SANITISER, STRICT)
    )


def show(found: pd.DataFrame) -> Shown:
    """Everybody's gain under both, by linkage alone."""
    wide = found.pivot(index=["group", "row"], columns="generator", values=GAIN).loc[["rows", "rare", "random"]]
    wide = wide[[SANITISER, STRICT]].reset_index().astype({"row": str})
    wide.columns = [
        "group",
        "row",
        "the authors' run file (cap 99 %, rare = unique)",
        "the text (cap 95 %), rare = fewer than 10",
    ]
    return Shown(
        (table("**Texas**, privacy gain by linkage alone.", wide.replace({"group": {"rows": "the authors' five"}})),)
    )


EXPERIMENT = Experiment("groundhog-figure-4-settings", "two sanitisers, fifteen people", run, show, seconds=20)
