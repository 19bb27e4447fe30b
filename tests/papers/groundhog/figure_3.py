"""Figure 3: PrivBayes at epsilon .1 with a domain that is learnt, and with a public one."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, span, table
from tests.papers.games import linkability
from tests.papers.groundhog.shared import FEATURES
from tests.papers.groundhog.texas import AUTHORS_TARGETS, LearnsItsDomain, recoded, texas, widened

BINS = "queries:order=1,numbers=bin"  # numbers are drawn anew within bins


def run(terms: Terms) -> pd.DataFrame:
    """Learnt: one target at a time. Public: all in one pool, intervals that hold for all 40 together."""
    people = texas(terms.data)
    learnt = linkability(
        LearnsItsDomain(), people, ("histogram", "naive"), targets=AUTHORS_TARGETS, isolate_targets=True,
        shadows=terms.times(100), tests=terms.times(100), workers=1, seed=terms.seed,
    )  # fmt: skip
    public = linkability(
        "privbayes:epsilon=0.1", recoded(people, widened(people.schema)), (*FEATURES, BINS),
        targets=f"{AUTHORS_TARGETS}+rare:5", shadows=terms.times(200), tests=terms.times(600), workers=1, seed=terms.seed,
        confidence=1 - 0.05 / 40,
    )  # fmt: skip
    return joined([learnt.assign(domain="learnt"), public.assign(domain="public")])


def show(found: pd.DataFrame) -> Shown:
    """Every attack on every target."""
    made = found.assign(
        interval=[span(low, high) for low, high in zip(found["low"], found["high"], strict=True)],
        row=found["row"].astype(str),
    )
    columns = ["group", "row", "attack", "privacy gain", "advantage", "interval", "epsilon >="]
    return Shown(
        tuple(table(f"Domain {domain}.", made[made["domain"] == domain][columns]) for domain in ("learnt", "public"))
    )


EXPERIMENT = Experiment("groundhog-figure-3", "a learnt domain breaks differential privacy", run, show, seconds=60)
