"""Tables II to V of hittmeir2020 with our generators: the real rows are equal to print (tests/utility), these are beside it."""

import pytest

from tests.papers.hittmeir import tables_2_to_5
from tests.papers.hittmeir.tables import NAMES

pytestmark = pytest.mark.papers


@pytest.mark.parametrize("name", NAMES)
def test_regression_on_synthetic_rows(found, name):
    seen = found(tables_2_to_5.EXPERIMENT)
    mae = seen[seen["table"] == name].groupby(["rows", "learner"])["MAE"].mean()
    for learner in ("linear", "svr"):
        assert mae["real", learner] <= 1.02 * min(mae[words, learner] for words in tables_2_to_5.GENERATORS)
        assert mae["cart", learner] < mae["privbayes:epsilon=0.1", learner]
