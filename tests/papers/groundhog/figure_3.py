"""Figure 3: PrivBayes at epsilon .1 with a domain that is learnt, and with a public one."""

import pandas as pd

from tests.papers.drawing import Limit
from tests.papers.experiment import Experiment, Shown, Terms, span, table
from tests.papers.groundhog.linkability import all_outliers
from tests.papers.groundhog.people import BOTH, People
from tests.papers.groundhog.shared import GAIN, gain_chart, panel_of
from unmask.reports.charts import Chart
from unmask.reports.charts.svg import Words
from unmask.results.grid import Grid
from unmask.stats import largest_advantage_yeom

GENERATOR = "privbayes:epsilon=0.1"
FEATURES = "histogram"  # "the overall most effective attack"
DOMAINS = ("learnt", "public")


def run(terms: Terms) -> pd.DataFrame:
    """Both domains on both populations."""
    return all_outliers(terms, BOTH, (GENERATOR,), DOMAINS)


def show(found: pd.DataFrame) -> Shown:
    """A table and a chart per population."""
    seen = found[found["attack"] == FEATURES]
    return Shown(tuple(_table(seen, people) for people in BOTH), tuple(_chart(seen, people) for people in BOTH))


def _table(seen: pd.DataFrame, people: People) -> Grid:
    lines = []
    for row in people.rows:
        line = {"row": str(row)}
        for domain in DOMAINS:
            here = seen[(seen["people"] == people.name) & (seen["row"] == row) & (seen["domain"] == domain)]
            for _, cells in here.iterrows():
                line |= {
                    f"{domain}: PG": cells[GAIN],
                    f"{domain}: advantage, 95 %": span(cells["low"], cells["high"]),
                    f"{domain}: epsilon >=": cells["epsilon >="],
                }
        lines.append(line)
    return table(f"**{people.name}**", pd.DataFrame(lines))


def _chart(seen: pd.DataFrame, people: People) -> Chart:
    told = Words(
        f"groundhog-figure-3-{people.name.lower()}",
        f"PrivBayes, epsilon .1, F_hist, {people.name}: domain learnt or public",
        "A mark per outlier. Below the dashed line more is lost than the claim allows.",
    )
    here = seen[seen["people"] == people.name].pivot(index="row", columns="domain", values=GAIN)
    limit = Limit(1 - largest_advantage_yeom(0.1), "limit of the claim")
    return gain_chart(told, [panel_of("", here.reindex(index=people.rows, columns=DOMAINS))], people.rows, limit=limit)


EXPERIMENT = Experiment("groundhog-figure-3", "a learnt domain breaks differential privacy", run, show, seconds=100)
