"""Figures 9 and 10: means and medians of charges, and how often each risk of mortality occurs."""

import numpy as np
import pandas as pd

from tests.papers.drawing import Panel, marks_chart
from tests.papers.experiment import Experiment, Shown, Terms, table
from tests.papers.groundhog.releases import CHARGES, MECHANISMS, OURS, RISK, Halves, releases, short
from tests.papers.groundhog.texas import texas
from unmask.reports.charts.svg import Chart, Words
from unmask.tables.table import Table
from unmask.utility.moments import moments

ROWS, REPEATS = 1000, 20


def statistics(table_: Table) -> dict[str, float]:
    """Means and medians of charges, and shares of the risks."""
    schema, found = table_.schema, moments(table_)
    place = {name: schema.numeric.index(schema.position(name)) for name in CHARGES}
    told = {
        f"{what} {name}": found[place[name], which] for name in CHARGES for which, what in enumerate(("mean", "median"))
    }
    counts = np.bincount(table_.codes[:, schema.position(RISK)], minlength=schema.column(RISK).listed)
    shares = zip(schema.column(RISK).values, counts / len(table_), strict=False)
    return {**told, **{f"risk {value}": share for value, share in shares}}


def measured(population: Table, repeats: int, seed: int, mechanisms) -> pd.DataFrame:
    """A line for each release."""
    halves = Halves.of(population, seed)
    return pd.DataFrame(
        {"mechanism": name, "repeat": repeat, **statistics(release)}
        for repeat, name, release in releases(halves, ROWS, repeats, seed, mechanisms)
    )


def run(terms: Terms) -> pd.DataFrame:
    """All mechanisms at n = 1000."""
    return measured(texas(terms.data), terms.times(REPEATS), terms.seed, (*MECHANISMS, *OURS))


def show(found: pd.DataFrame) -> Shown:
    """Smallest and largest of the releases; shares less those of the real tables, in percentage points."""
    names = list(dict.fromkeys(found["mechanism"]))
    lines = []
    for name in names:
        here = found[found["mechanism"] == name]
        line = {"": short(name)}
        for what in ("mean", "median"):
            for column in CHARGES:
                values = here[f"{what} {column}"] / 1000
                line[f"{what} {column}"] = f"{values.min():,.1f} to {values.max():,.1f}"
        lines.append(line)
    risks = sorted(column for column in found.columns if column.startswith("risk "))
    gaps = _gaps(found, risks)
    frame = gaps.groupby("mechanism", sort=False)[risks].mean().rename(index=short).reset_index(names="points")
    charges = pd.DataFrame(lines).rename(columns=lambda name: name.replace("TOTAL_", ""))
    spread = gaps.groupby("mechanism", sort=False)["risk 0"].std()
    frame["sd of risk 0"] = spread.to_numpy()
    return Shown(
        (
            table("Figure 9, thousands of dollars: smallest to largest of 20 releases.", charges),
            table(f"Figure 10, {RISK}: share in the release less that in its real table, percentage points.", frame, 1),
        ),
        (_chart(found, names), _frequencies(found, names, risks)),
    )


def _gaps(found: pd.DataFrame, risks: list[str]) -> pd.DataFrame:
    real = found[found["mechanism"] == "raw"].set_index("repeat")[risks]
    less = 100 * (found[risks].to_numpy() - real.loc[found["repeat"]].to_numpy())
    return pd.DataFrame(less, columns=risks).assign(mechanism=found["mechanism"].to_numpy())


def _chart(found: pd.DataFrame, names: list[str]) -> Chart:
    """Figure 9: means and medians, as in print beside one another."""
    panels = []
    for what in ("mean", "median"):
        middle = found.groupby("mechanism")[[f"{what} {column}" for column in CHARGES]].mean().loc[names] / 1000
        panels.append(
            Panel(what, tuple(map(short, names)), tuple(tuple(map(float, middle[c])) for c in middle.columns))
        )
    about = Words("groundhog-figure-9", "Means and medians of charges by mechanism, thousands", "A mark per column.")
    return marks_chart(about, panels, CHARGES, y_label="thousands of dollars")


def _frequencies(found: pd.DataFrame, names: list[str], risks: list[str]) -> Chart:
    """Figure 10."""
    mean = 100 * found.groupby("mechanism")[risks].mean().loc[names]
    panel = Panel("", tuple(map(short, names)), tuple(tuple(map(float, mean[risk])) for risk in risks))
    about = Words(
        "groundhog-figure-9-frequencies",
        f"Figure 10: how often each {RISK} occurs",
        "A mark per category, by mechanism.",
    )
    return marks_chart(about, [panel], risks, y_label="% of the rows, mean of the releases")


EXPERIMENT = Experiment("groundhog-figure-9", "means, medians and shares of releases", run, show, seconds=10)
