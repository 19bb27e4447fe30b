"""Figure 4: sanitising is all or nothing; synthetic tables are in between."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.groundhog.linkability import ALONE, all_outliers
from tests.papers.groundhog.people import BOTH, People
from tests.papers.groundhog.shared import FEATURES, MECHANISMS, SANITISER, gain_chart, gains, name_of, named, panel_of
from unmask.reports.charts import Chart
from unmask.reports.charts.svg import Words
from unmask.results.grid import Grid


def run(terms: Terms) -> pd.DataFrame:
    """Sanitiser, bayesnet and PrivBayes at three epsilons on both populations."""
    return all_outliers(terms, BOTH, MECHANISMS)


def by_mechanism(found: pd.DataFrame, people: People, features: str) -> pd.DataFrame:
    """Gains under one feature set."""
    here = found[(found["people"] == people.name) & (found["attack"] == features)]
    return gains(here, people.rows, MECHANISMS, "generator")


def show(found: pd.DataFrame) -> Shown:
    """A table and a chart per population."""
    return Shown(tuple(_table(found, people) for people in BOTH), tuple(_chart(found, people) for people in BOTH))


def _table(found: pd.DataFrame, people: People) -> Grid:
    parts = [named(by_mechanism(found, people, features), features=features) for features in FEATURES]
    alone = by_mechanism(found, people, ALONE)[[name_of(SANITISER)]]
    lines = joined(parts)
    lines.insert(3, f"sanitiser, {ALONE}", list(alone.iloc[:, 0]) * len(FEATURES))
    return table(f"**{people.name}**, privacy gain.", lines)


def _chart(found: pd.DataFrame, people: People) -> Chart:
    told = Words(
        f"groundhog-figure-4-{people.name.lower()}",
        f"Privacy gain of outliers by mechanism, {people.name}",
        "A mark per outlier; one panel for each feature set of the attacker.",
    )
    panels = [panel_of(f"F_{features}", by_mechanism(found, people, features)) for features in FEATURES]
    return gain_chart(told, panels, people.rows)


EXPERIMENT = Experiment(
    "groundhog-figure-4", "sanitiser, bayesnet, PrivBayes at three epsilons", run, show, seconds=220
)
