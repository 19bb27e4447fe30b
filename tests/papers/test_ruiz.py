"""Section 5 of Ruiz et al. 2018: more sets help the attacker."""

import pytest

from tests.papers.ruiz import risk_by_sets

pytestmark = pytest.mark.papers


def test_more_sets_bring_the_attacker_closer(found):
    """The error of the mean rank falls with every set; ranges tell most after five to ten."""
    means = found(risk_by_sets.EXPERIMENT).groupby(["name", "sets"])[["gain", "error", "excess"]].mean()
    for name in risk_by_sets.NAMES:
        assert means.loc[name, "error"].is_monotonic_decreasing
        assert means.loc[(name, 5), "gain"] > means.loc[(name, 1), "gain"]
    assert means.loc[("cart", 5), "excess"] > 0.05 > abs(means.loc[("bayesnet", 5), "excess"])
