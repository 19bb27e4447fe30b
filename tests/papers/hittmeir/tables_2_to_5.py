"""Tables II to V: regression on synthetic rows, our generators in the place of the paper's."""

import numpy as np
import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, table, words
from tests.papers.hittmeir.printed import CELLS, METHODS, REGRESSION
from tests.papers.hittmeir.tables import NAMES, hittmeir, scores, splits
from unmask.generators import parse
from unmask.results.grid import Grid
from unmask.utility.learners import OF_NUMBERS, REGRESSORS

GENERATORS = tuple(METHODS.values())[1:]
NUMBERS = dict(zip(NAMES, ("II", "III", "IV", "V"), strict=True))


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
    """The paper's tables in its order: mean and standard deviation over the splits, print in brackets."""
    return Shown(tuple(_one(found[found["table"] == name], name) for name in NAMES))


def _one(found: pd.DataFrame, name: str) -> Grid:
    lines = []
    for method, ours in METHODS.items():
        line = {"print": method, "ours": ours.replace(":epsilon=", " ")}
        for learner, measure in CELLS:
            cells = found[(found["rows"] == ours) & (found["learner"] == learner)][measure]
            digits = {"MAE": 1 if name == "Boston" else 0, "MAPE": 0, "R2": 2}[measure]
            told = f"{words(float(cells.mean()), digits)}±{words(float(cells.std(ddof=0)), digits)}"
            print_ = REGRESSION.get((name, ours, learner, measure))
            line[f"{learner} {measure}"] = f"{told} ({print_})" if print_ else told
        lines.append(line)
    return table(
        f"Table {NUMBERS[name]}: {name}. Ours, print in brackets where our copy can be read.", pd.DataFrame(lines)
    )


EXPERIMENT = Experiment("hittmeir-tables-2-to-5", "regression on synthetic rows", run, show, seconds=60)
