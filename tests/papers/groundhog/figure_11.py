"""Figure 11: what a domain that fits the data is worth in utility: means of three columns."""

import numpy as np
import pandas as pd

from tests.papers.drawing import marks_chart
from tests.papers.experiment import Experiment, Shown, Terms, table
from tests.papers.groundhog.shared import MECHANISMS, SANITISER, name_of, panel_of
from tests.papers.groundhog.texas import texas
from unmask.generators import parse
from unmask.generators.adapters.learnt_domain import LearntDomain
from unmask.reports.charts.svg import Axis, Words
from unmask.tables.table import Table

COLUMNS = ("TOTAL_CHARGES", "TOTAL_CHARGES_ACCOMM", "TOTAL_CHARGES_ANCIL")
DOMAINS = ("learnt", "public")
TABLES = 50  # real tables of 1,000 rows, a release of each


def run(terms: Terms) -> pd.DataFrame:
    """Every mechanism under both domains."""
    return errors(texas(terms.data), terms.times(TABLES), terms.seed)


def errors(people: Table, tables: int, seed: int, mechanisms=MECHANISMS) -> pd.DataFrame:
    """The distance between the mean of a column in a release and in its real table."""
    lines = []
    for number in range(tables):
        rng = np.random.default_rng([seed, number])
        real = people.take(rng.choice(len(people), 1000, replace=False))
        for words in mechanisms:
            for domain in DOMAINS:
                generator = parse(words)
                if domain == "learnt" and not generator.row_level:
                    generator = LearntDomain(generator)
                release = generator.fit(real, rng).sample(len(real), rng)
                for column in COLUMNS:
                    off = abs(mean(release, column) - mean(real, column))
                    lines.append({"generator": words, "domain": domain, "column": column, "distance": off})
    return pd.DataFrame(lines)


def mean(rows: Table, column: str) -> float:
    """The mean of a number column."""
    schema = rows.schema
    return float(np.nanmean(rows.numbers[:, schema.numeric.index(schema.position(column))]))


def show(found: pd.DataFrame) -> Shown:
    """Mean distances in thousands of dollars, on a logarithmic scale in the chart."""
    means = found.groupby(["domain", "column", "generator"])["distance"].mean() / 1000
    lines = []
    for column in COLUMNS:
        for words in MECHANISMS:
            learnt, public = (means[domain, column, words] for domain in DOMAINS)
            fits = None if words == SANITISER else learnt
            lines.append(
                {"column": column, "mechanism": name_of(words), "domain learnt": fits, "domain public": public}
            )
    order = list(COLUMNS), list(MECHANISMS)
    panels = [
        panel_of(f"domain {domain}", means[domain].unstack("generator").loc[order].rename(columns=name_of))
        for domain in DOMAINS
    ]
    told = Words(
        "groundhog-figure-11", "How far the mean of a column is off, Texas",
        "A mark per column, by mechanism, in thousands of dollars on a logarithmic scale.",
    )  # fmt: skip
    low, high = means.min(), means.max()
    scale = Axis(10 ** np.floor(np.log10(low)), 10 ** np.ceil(np.log10(high)), log=True)
    chart = marks_chart(told, panels, COLUMNS, y_label="distance of the means, thousands of dollars", y=scale)
    return Shown((table("Mean distance, thousands of dollars.", pd.DataFrame(lines), digits=1),), (chart,))


EXPERIMENT = Experiment("groundhog-figure-11", "the worth of a domain that fits, in utility", run, show, seconds=30)
