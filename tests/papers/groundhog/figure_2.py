"""Figure 2: outliers lose more than random records."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.games import linkability
from tests.papers.groundhog.shared import EVERYBODY, FEATURES, GAIN, gain_chart
from tests.papers.groundhog.texas import texas
from unmask.reports.charts.svg import Words

GENERATORS = ("independent", "bayesnet")


def run(terms: Terms) -> pd.DataFrame:
    """One target at a time: the authors' five, five rare and five random people."""
    sizes = {"shadows": terms.times(200), "tests": terms.times(150), "workers": 1, "seed": terms.seed}
    people = texas(terms.data)
    return joined(
        linkability(generator, people, FEATURES, targets=EVERYBODY, isolate_targets=True, **sizes).assign(
            generator=generator
        )
        for generator in GENERATORS
    )


def show(found: pd.DataFrame) -> Shown:
    """Gains of the authors' five, and means of the other groups."""
    wide = found.pivot(index=["group", "row"], columns=["generator", "attack"], values=GAIN)
    wide = wide[[(generator, name) for generator in GENERATORS for name in FEATURES]]
    wide.columns = [f"{generator} {name}" for generator, name in wide.columns]
    named = wide.loc["rows"].rename_axis("row").reset_index()
    named["row"] = named["row"].astype(str)
    means = wide.groupby("group").mean().loc[["rows", "rare", "random"]].reset_index(names="row")
    means["row"] = "*mean: " + means["row"].replace({"rows": "the authors' five"}) + "*"
    words = Words(
        "groundhog-figure-2", "Privacy gain of outliers, Texas", "A mark per outlier, by generator and features."
    )
    chart = gain_chart(words, {"the authors' five": wide.loc["rows"], "random records": wide.loc["random"]})
    return Shown((table("Privacy gain.", pd.concat([named, means])),), (chart,))


EXPERIMENT = Experiment("groundhog-figure-2", "outliers lose more than random records", run, show, seconds=110)
