"""Figures 2 and 3 with deep generators, in what a few minutes of CPU pay for: fewer steps of training and fewer releases.

All targets share their tables here (the paper plays one at a time), and only Adult is played.
"""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, span, table
from tests.papers.games import linkability
from tests.papers.groundhog.people import ADULT
from tests.papers.groundhog.shared import FEATURES, GAIN, named

CTGAN = "ctgan:steps=60,batch=200"  # 12 epochs; the paper trains for 300
PATEGAN = "pategan:epsilon=0.1"
DOMAINS = ("learnt", "public")
MORE = ("stacked-shadow", "discriminator")  # of ours, beside the paper's
KEPT = ["row", "group", "attack", "advantage", "low", "high", GAIN, "AUC", "epsilon >="]


def figure_2(terms: Terms) -> pd.DataFrame:
    """Five outliers and five random people under attack at once."""
    found = linkability(
        CTGAN, ADULT.table(terms.data), FEATURES + MORE, targets=f"{ADULT.outliers}+random:5", access="white-box",
        train_rows=1000, reference_rows=10_000, shadows=terms.times(16), tests=terms.times(24), workers=1, seed=terms.seed,
    )  # fmt: skip
    return found[KEPT]


def show_figure_2(found: pd.DataFrame) -> Shown:
    """Gains by person and attack, and the means of both groups."""
    made = found.pivot(index="row", columns="attack", values=GAIN)[list(FEATURES + MORE)]
    random = made.loc[~made.index.isin(ADULT.rows)]
    five = made.reindex(ADULT.rows)
    lines = named(five)
    lines.loc[len(lines)] = ["*mean of the five*", *five.mean()]
    lines.loc[len(lines)] = ["*mean of five random people*", *random.mean()]
    return Shown((table("**Adult**, ctgan, privacy gain.", lines),))


def figure_3(terms: Terms) -> pd.DataFrame:
    """The same outliers, with categories and ranges learnt from each table and with public ones."""
    return joined(
        linkability(
            PATEGAN, ADULT.table(terms.data), ("histogram", "stacked-shadow"), targets=ADULT.outliers, domain=domain,
            train_rows=1000, reference_rows=10_000, shadows=terms.times(60), tests=terms.times(100), workers=1,
            seed=terms.seed,
        )[KEPT].assign(domain=domain)
        for domain in DOMAINS
    )  # fmt: skip


def show_figure_3(found: pd.DataFrame) -> Shown:
    """As figure 3 of the page: gain, advantage and bound, by person and domain."""
    seen, lines = found[found["attack"] == "histogram"], []
    for row in ADULT.rows:
        line = {"row": str(row)}
        for domain in DOMAINS:
            for _, cells in seen[(seen["row"] == row) & (seen["domain"] == domain)].iterrows():
                line |= {
                    f"{domain}: PG": cells[GAIN],
                    f"{domain}: advantage, 95 %": span(cells["low"], cells["high"]),
                    f"{domain}: epsilon >=": cells["epsilon >="],
                }
        lines.append(line)
    return Shown((table("**Adult**, pategan, epsilon .1.", pd.DataFrame(lines)),))


FIGURE_2 = Experiment("groundhog-deep-figure-2", "outliers and random records, ctgan", figure_2, show_figure_2, 100)
FIGURE_3 = Experiment("groundhog-deep-figure-3", "a learnt domain, pategan", figure_3, show_figure_3, 30)
