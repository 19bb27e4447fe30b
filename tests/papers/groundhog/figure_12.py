"""Figure 12: what a domain that fits the data costs in privacy."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.groundhog.linkability import all_outliers
from tests.papers.groundhog.people import TEXAS
from tests.papers.groundhog.shared import PRIVATE, gain_chart, gains, named, panel_of
from unmask.reports.charts.svg import Words

GENERATORS = ("bayesnet", *PRIVATE)
DOMAINS = ("learnt", "public")


def run(terms: Terms) -> pd.DataFrame:
    """Bayesnet and PrivBayes with both domains, Texas."""
    return all_outliers(terms, (TEXAS,), GENERATORS, DOMAINS)


def by_domain(found: pd.DataFrame, domain: str) -> pd.DataFrame:
    """Gains under F_naive."""
    here = found[(found["domain"] == domain) & (found["attack"] == "naive")]
    return gains(here, TEXAS.rows, GENERATORS, "generator")


def show(found: pd.DataFrame) -> Shown:
    """Both domains side by side."""
    frames = {domain: by_domain(found, domain) for domain in DOMAINS}
    lines = joined(named(frame, domain=domain) for domain, frame in frames.items())
    told = Words(
        "groundhog-figure-12", "Privacy gain under F_naive, Texas: domain learnt or public",
        "A mark per outlier, by mechanism; domains learnt from each training table above, public ones below.",
    )  # fmt: skip
    panels = [panel_of(f"domain {domain}", frame) for domain, frame in frames.items()]
    return Shown((table("Privacy gain, F_naive.", lines),), (gain_chart(told, panels, TEXAS.rows),))


EXPERIMENT = Experiment("groundhog-figure-12", "the price of a domain that fits, in privacy", run, show, seconds=200)
