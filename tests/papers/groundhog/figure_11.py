"""Figures 11 and 12: ranges that are read off the real table help the means, and give people away."""

import numpy as np
import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.games import linkability
from tests.papers.groundhog.figure_9 import statistics
from tests.papers.groundhog.releases import BUDGETS, CHARGES, Halves, short
from tests.papers.groundhog.shared import GAIN, gain_chart
from tests.papers.groundhog.texas import AUTHORS_TARGETS, texas
from unmask.generators import parse
from unmask.generators.adapters.learnt_domain import LearntDomain
from unmask.reports.charts.svg import Words
from unmask.tables.table import Table

DOMAINS = ("learnt", "public")
GENERATORS = ("bayesnet", *(f"privbayes:epsilon={each:g}" for each in BUDGETS))


def errors(population: Table, repeats: int, seed: int, generators=GENERATORS, rows: int = 1000) -> pd.DataFrame:
    """Distance of each mean from that of the real table, under both domains."""
    train, lines = Halves.of(population, seed).train, []
    for repeat in range(repeats):
        real = train.take(np.random.default_rng([seed, 11, repeat]).choice(len(train), rows, replace=False))
        truth = statistics(real)
        for words in generators:
            for domain in DOMAINS:
                rng, made = np.random.default_rng([seed, 11, repeat, 1]), parse(words)
                found = statistics(
                    (LearntDomain(made) if domain == "learnt" else made).fit(real, rng).sample(rows, rng)
                )
                for name in CHARGES:
                    off = abs(found[f"mean {name}"] - truth[f"mean {name}"])
                    lines.append({"generator": words, "domain": domain, "what": name, "value": off})
    return pd.DataFrame(lines)


def run(terms: Terms) -> pd.DataFrame:
    """Errors of means over 20 real tables, and the privacy gain of the authors' targets under F_naive."""
    people = texas(terms.data)
    sizes = {"shadows": terms.times(100), "tests": terms.times(100), "workers": 1, "seed": terms.seed}
    gains = joined(
        linkability(words, people, ("naive",), targets=AUTHORS_TARGETS, domain=domain, **sizes).assign(
            generator=words, domain=domain
        )
        for words in GENERATORS
        for domain in DOMAINS
    )
    told = gains.assign(what=gains["row"].astype(str), value=gains[GAIN])[["generator", "domain", "what", "value"]]
    return pd.concat([errors(people, terms.times(20), terms.seed), told])


def show(found: pd.DataFrame) -> Shown:
    """Errors in thousands, gains of the five."""
    is_error = found["what"].isin(CHARGES)
    wide = found[is_error].pivot_table(index=["generator", "domain"], columns="what", values="value", sort=False) / 1000
    gains = found[~is_error].pivot(index=["generator", "domain"], columns="what", values="value")
    shown = [
        frame.reset_index().assign(generator=lambda f: f["generator"].map(short))
        for frame in (wide[list(CHARGES)], gains)
    ]
    marks = {
        f"{domain} ranges": gains.xs(domain, level="domain").loc[list(GENERATORS)].rename(index=short).T
        for domain in DOMAINS
    }
    about = Words("groundhog-figure-11", "Privacy gain under learnt and public ranges, F_naive", "A mark per target.")
    return Shown(
        (
            table("Figure 11: mean distance of means from the real table's, thousands of dollars.", shown[0], 1),
            table("Figure 12: privacy gain of the authors' targets, F_naive.", shown[1]),
        ),
        (gain_chart(about, marks, low=-0.2),),
    )


EXPERIMENT = Experiment("groundhog-figure-11", "learnt ranges: better means, less privacy", run, show, seconds=150)
