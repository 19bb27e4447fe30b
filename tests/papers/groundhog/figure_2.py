"""Figure 2: outliers lose more than random records."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table, words
from tests.papers.groundhog.linkability import all_outliers, random_people
from tests.papers.groundhog.people import BOTH, People
from tests.papers.groundhog.shared import FEATURES, GAIN, gain_chart, named, panel_of
from unmask.reports.charts import Chart
from unmask.reports.charts.svg import Words
from unmask.results.grid import Grid

GENERATORS = ("independent", "bayesnet")  # ctgan joins them when there is one


def run(terms: Terms) -> pd.DataFrame:
    """Five outliers and five random people of each population, one at a time."""
    ordinary = [random_people(terms, people, generator) for people in BOTH for generator in GENERATORS]
    return joined([all_outliers(terms, BOTH, GENERATORS), *ordinary])


def wide(found: pd.DataFrame, people: People, group: str) -> pd.DataFrame:
    """Gains by person, generator and feature set."""
    here = found[(found["people"] == people.name) & (found["group"] == group)]
    made = here.pivot(index="row", columns=["generator", "attack"], values=GAIN)
    made = made[[(generator, name) for generator in GENERATORS for name in FEATURES]]
    made.columns = [f"{generator} {name}" for generator, name in made.columns]
    return made.reindex(people.rows) if group == "rows" else made


def show(found: pd.DataFrame) -> Shown:
    """A table and a chart per population."""
    return Shown(tuple(_table(found, people) for people in BOTH), tuple(_chart(found, people) for people in BOTH))


def _table(found: pd.DataFrame, people: People) -> Grid:
    five, random = wide(found, people, "rows"), wide(found, people, "random")
    lines = named(five)
    lines.loc[len(lines)] = ["*mean of the five*", *five.mean()]
    lines.loc[len(lines)] = [
        "*random: mean (least)*", *(f"{words(random[name].mean())} ({words(random[name].min())})" for name in random)
    ]  # fmt: skip
    return table(f"**{people.name}**, privacy gain.", lines)


def _chart(found: pd.DataFrame, people: People) -> Chart:
    told = Words(
        f"groundhog-figure-2-{people.name.lower()}",
        f"Privacy gain of outliers and of random people, {people.name}",
        "A mark per person, by generator and feature set of the attacker; 1 is best.",
    )
    panels = [
        panel_of("five outliers", wide(found, people, "rows")),
        panel_of("five random people", wide(found, people, "random"), alike=True),
    ]
    return gain_chart(told, panels, people.rows)


EXPERIMENT = Experiment("groundhog-figure-2", "outliers lose more than random records", run, show, seconds=160)
