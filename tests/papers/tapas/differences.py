"""Experiment 2 again, with one thing changed at a time: which difference between text, program and ours explains what."""

import pandas as pd

from tests.papers.drawing import Limit, Panel, marks_chart
from tests.papers.experiment import Experiment, Shown, Terms, joined, span, table, words
from tests.papers.tapas.attacked import effective_epsilon
from tests.papers.tapas.census import GROUNDHOG, QUERIES, census, outlier
from unmask.reports.charts.svg import Axis, Words

OURS = "mst:epsilon=10,delta=1e-5"
ROUNDED = f"{OURS},rounded=true"
PROGRAM = ("mst:epsilon=10,delta=1e-6,rounded=true", {"placement": "append", "domain": "learnt"})
DRAWS = 1  # of the table d: experiment 2 has three for the first and the last of these
ONE_BY_ONE = {
    "the text's game, our MST": (OURS, {}),
    "target appended": (OURS, {"placement": "append"}),
    "domain learnt": (OURS, {"domain": "learnt"}),
    "delta 1e-6": ("mst:epsilon=10,delta=1e-6", {}),
    "rows rounded": (ROUNDED, {}),
    "all four: the program": PROGRAM,
}
TARGETS = (1, 2, 3)  # places among the least likely
MORE = {
    "3000 shadows": {"shadows": 3000},
    "100 queries of each order": {"attacks": ("queries:order=1-3,count=100", GROUNDHOG)},
}


def run(terms: Terms) -> pd.DataFrame:
    """One by one on the same draws; then, from the authors' program, other targets, sizes and queries on one draw."""
    people, first = census(terms.data), terms.seed - 1
    sizes = {"shadows": terms.times(1000), "tests": terms.times(2500), "workers": 1, "attacks": (QUERIES, GROUNDHOG)}
    parts = [
        effective_epsilon(generator, people, first + draw, **choices, **sizes).assign(what=what)
        for what, (generator, choices) in ONE_BY_ONE.items()
        for draw in range(DRAWS)
    ]
    generator, choices = PROGRAM
    for place in TARGETS:
        other = outlier(people, place)
        parts.append(
            effective_epsilon(generator, people, first, target=other, **choices, **sizes).assign(
                what=f"target {place + 1}"
            )
        )
    for what, changed in MORE.items():
        changed = {name: terms.times(value) if name == "shadows" else value for name, value in changed.items()}
        parts.append(effective_epsilon(generator, people, first, **choices, **{**sizes, **changed}).assign(what=what))
    return joined(parts)


def show(found: pd.DataFrame) -> Shown:
    """Both attacks, change by change."""
    lines = []
    for what, here in found.groupby("what", sort=False):
        queries, groundhog = (here[here["attack"].str.startswith(kind)] for kind in ("queries", "groundhog"))
        lines.append(
            {
                "what": what,
                "queries: AUC": ", ".join(words(each, 3) for each in queries["AUC"]),
                "groundhog: AUC": ", ".join(words(each, 3) for each in groundhog["AUC"]),
                "epsilon >= (Bonferroni)": ", ".join(words(each) for each in queries["epsilon >= (Bonferroni)"]),
                "authors' interval": ", ".join(
                    span(*each) for each in zip(queries["epsilon low"], queries["epsilon high"], strict=True)
                ),
            }
        )
    panels = []
    for kind, title in (("queries", "random queries"), ("groundhog", "Groundhog, forest")):
        here = found[found["attack"].str.startswith(kind) & found["what"].isin(ONE_BY_ONE)]
        wide = here.pivot(index="draw", columns="what", values="AUC")[list(ONE_BY_ONE)]
        panels.append(Panel(title, tuple(ONE_BY_ONE), tuple(tuple(row) for row in wide.to_numpy())))
    title = Words(
        "tapas-differences", "Experiment 2, one change at a time", "AUC by what was changed; a mark per draw."
    )
    marks = [f"draw {int(draw)}" for draw in sorted(found["draw"].unique())]
    chart = marks_chart(title, panels, marks, y_label="AUC", limit=Limit(0.70, "queries in print"), y=Axis(0.45, 0.8))
    return Shown((table("", pd.DataFrame(lines)),), (chart,))


EXPERIMENT = Experiment("tapas-differences", "what explains the gap in experiment 2", run, show, seconds=250)
