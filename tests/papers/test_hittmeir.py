"""Tables II to V of hittmeir2020 with our generators: the real rows are equal to print (tests/utility), these are beside it."""

import numpy as np
import pandas as pd
import pytest

from tests.papers.hittmeir import NAMES, hittmeir, scores, splits
from unmask.generators import parse
from unmask.utility.learners import OF_NUMBERS, REGRESSORS

# DS 0, DS 0.1, DV and SP in the paper
GENERATORS = ("bayesnet", "privbayes:epsilon=0.1", "copula", "cart")


@pytest.mark.papers
@pytest.mark.parametrize("name", NAMES)
def test_regression_on_synthetic_rows(data, keep, name):
    """A generator is fitted to the training rows of each split; seed = number of the split."""
    table, label = hittmeir(data, name)
    found = {}
    for split, (train, test) in enumerate(splits(table)):
        releases = {"real": train}
        for words in GENERATORS:
            rng = np.random.default_rng(split)
            releases[words] = parse(words).fit(train, rng).sample(len(train), rng)
        for words, rows in releases.items():
            for learner in REGRESSORS:
                found[split, words, learner.name] = scores(learner, rows, test, label, split)
    frame = pd.DataFrame(found, index=OF_NUMBERS.names).T.rename_axis(["split", "rows", "learner"])
    told = frame.groupby(["rows", "learner"]).agg(["mean", lambda column: column.std(ddof=0)])
    keep(told.rename(columns={"<lambda_0>": "sd"}))
    mae = frame["MAE"].groupby(["rows", "learner"]).mean()
    for learner in ("linear", "svr"):
        assert mae["real", learner] <= 1.02 * min(mae[words, learner] for words in GENERATORS)
        assert mae["cart", learner] < mae["privbayes:epsilon=0.1", learner]
