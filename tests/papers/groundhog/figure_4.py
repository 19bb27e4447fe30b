"""Figure 4: sanitising is all or nothing."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.games import linkability
from tests.papers.groundhog.shared import EVERYBODY, GAIN, SANITISER
from tests.papers.groundhog.texas import texas

STRICT = "sanitiser:k=10"  # the text: cap at 95 %, categories of fewer than 10 people dropped


def run(terms: Terms) -> pd.DataFrame:
    """Both sets of parameters, all targets in one pool."""
    sizes = {"shadows": terms.times(100), "tests": terms.times(150), "workers": 1, "seed": terms.seed}
    people = texas(terms.data)
    return joined(
        linkability(words, people, ("record-linkage",), targets=EVERYBODY, **sizes).assign(generator=words)
        for words in (SANITISER, STRICT)
    )


def show(found: pd.DataFrame) -> Shown:
    """Everybody's gain under both."""
    wide = found.pivot(index=["group", "row"], columns="generator", values=GAIN).reset_index()
    return Shown((table("Privacy gain.", wide),))


EXPERIMENT = Experiment("groundhog-figure-4", "sanitising is all or nothing", run, show, seconds=40)
