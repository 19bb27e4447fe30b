"""Tables II to V: regression on synthetic rows, our generators in the place of the paper's."""

import numpy as np
import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, table, words
from tests.papers.hittmeir.tables import NAMES, hittmeir, scores, splits
from unmask.generators import parse
from unmask.utility.learners import OF_NUMBERS, REGRESSORS

# DS 0, DS 0.1, DV and SP in the paper
GENERATORS = ("bayesnet", "privbayes:epsilon=0.1", "copula", "cart")


def run(terms: Terms) -> pd.DataFrame:
    """A generator is fitted to the training rows of each split; the seed of a split is its number."""
    lines = []
    for name in NAMES:
        whole, label = hittmeir(terms.data, name)
        for split, (train, test) in enumerate(splits(whole)):
            if split >= terms.times(10):
                break
            releases = {"real": train}
            for words_ in GENERATORS:
                rng = np.random.default_rng(split + 10 * (terms.seed - 1))
                releases[words_] = parse(words_).fit(train, rng).sample(len(train), rng)
            for words_, rows in releases.items():
                for learner in REGRESSORS:
                    told = dict(zip(OF_NUMBERS.names, scores(learner, rows, test, label, split), strict=True))
                    lines.append({"table": name, "split": split, "rows": words_, "learner": learner.name, **told})
    return pd.DataFrame(lines)


def show(found: pd.DataFrame) -> Shown:
    """Mean and standard deviation over the splits, one table per measure."""
    return Shown(tuple(_measure(found, name) for name in OF_NUMBERS.names))


def _measure(found: pd.DataFrame, measure: str) -> object:
    lines = []
    for (name, rows), here in found.groupby(["table", "rows"], sort=False):
        line = {"": name, "rows": rows}
        for learner, cells in here.groupby("learner", sort=False)[measure]:
            digits = 0 if abs(cells.mean()) >= 100 else 2
            line[learner] = f"{words(float(cells.mean()), digits)} ± {words(float(cells.std(ddof=0)), digits)}"
        lines.append(line)
    return table(f"**{measure}**, mean ± standard deviation over the splits.", pd.DataFrame(lines))


EXPERIMENT = Experiment("hittmeir-tables-2-to-5", "regression on synthetic rows", run, show, seconds=60)
