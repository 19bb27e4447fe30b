"""Experiment 2: membership of one record in a census of 500, exact knowledge, and the effective epsilon."""

import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.tapas.attacked import effective_epsilon
from tests.papers.tapas.census import MEMBERSHIP_ATTACKS, census

DRAWS = 3  # of the table d and the record t'


def run(terms: Terms) -> pd.DataFrame:
    """Several tables d and records t'; the paper has one."""
    sizes = {"shadows": terms.times(1000), "tests": terms.times(2500), "workers": 1}
    draws = range(terms.seed - 1, terms.seed - 1 + DRAWS)
    return joined(effective_epsilon("mst:epsilon=10,delta=1e-5", census(terms.data), draw, **sizes) for draw in draws)


def show(found: pd.DataFrame) -> Shown:
    """AUC and bounds of each draw."""
    lines = []
    for name in MEMBERSHIP_ATTACKS:
        here = found[found["attack"] == name]
        row = {"attack": name} | {f"AUC, draw {int(each['draw'])}": each["AUC"] for _, each in here.iterrows()}
        for how in ("Bonferroni", "Split"):
            row |= {
                f"epsilon >= ({how}), draw {int(each['draw'])}": each[f"epsilon >= ({how})"]
                for _, each in here.iterrows()
            }
        lines.append(row)
    return Shown((table("", pd.DataFrame(lines)),))


EXPERIMENT = Experiment("tapas-experiment-2", "membership and the effective epsilon", run, show, seconds=75)
