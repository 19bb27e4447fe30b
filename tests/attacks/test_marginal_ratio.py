"""Ratios of shares against naive counts; the marginals that generators measure; a planted leak."""

from itertools import combinations

import numpy as np
import pytest

from tests.attacks.test_closest_record import (
    assert_blind,
    assert_survives,
    crowd,
    mixed,
    outsider,
    play,
    scores_of,
    view_of,
)
from unmask import generators
from unmask.attacks.marginal_ratio import MarginalRatio, associated_pairs, measured_sets
from unmask.errors import ParameterError
from unmask.generators._counts import mutual_information
from unmask.stats.auc import auc
from unmask.threats.knowledge import Goal


@pytest.mark.parametrize("table", [crowd, mixed])
def test_score_is_the_weighted_mean_of_naive_ratios(table, rng):
    """Without a generator: all pairs by mutual information, one imaginary reference person in each cell."""
    targets, synthetic, reference = table(4, seed=1), table(60, seed=2), table(100, seed=3)
    information = mutual_information(reference.codes, reference.schema.sizes)
    naive = np.zeros(4)
    weights = 0.0
    for a, b in combinations(range(len(reference.schema.columns)), 2):
        weights += information[a, b]
        for t in range(4):
            share = np.mean((synthetic.codes[:, [a, b]] == targets.codes[t, [a, b]]).all(axis=1))
            known = ((reference.codes[:, [a, b]] == targets.codes[t, [a, b]]).all(axis=1).sum() + 1) / 101
            naive[t] += information[a, b] * share / known
    found = scores_of(MarginalRatio(), view_of(synthetic, reference), targets, None, rng)
    np.testing.assert_allclose(found, naive / weights, rtol=1e-9)


def test_independent_measures_columns_and_the_score_follows(rng):
    targets, synthetic, reference = crowd(4, seed=1), crowd(60, seed=2), crowd(100, seed=3)
    attack = MarginalRatio(runs=3, rows=50)
    view = view_of(synthetic, reference, generator=generators.get("independent"))
    shares = (synthetic.codes[None] == targets.codes[:, None]).mean(axis=1)
    known = ((reference.codes[None] == targets.codes[:, None]).sum(axis=1) + 1) / 101
    prepared = attack.prepare(view, targets, None, rng)
    np.testing.assert_allclose(prepared.score(view_of(synthetic), targets, None, rng), (shares / known).mean(axis=1))


@pytest.mark.parametrize(
    ("generator", "sizes"), [("bayesnet", {2}), ("bayesnet:degree=2", {3}), ("mst:epsilon=1000", {1, 2})]
)
def test_marginals_count_by_how_often_they_are_measured(generator, sizes, rng):
    weights = measured_sets(generators.parse(generator), crowd(2000), 6, 500, rng)
    assert {len(columns) for columns in weights} == sizes
    assert sum(weights.values()) == pytest.approx(1)
    assert all(columns == tuple(sorted(columns)) for columns in weights)
    if generator == "mst:epsilon=1000":  # every fit measures all columns, and as many pairs as a tree has
        singles = [weight for columns, weight in weights.items() if len(columns) == 1]
        np.testing.assert_allclose(singles, 1 / 11)


def test_generators_that_list_nothing_leave_it_to_association(rng):
    reference = crowd(300)
    assert measured_sets(generators.get("oblivious"), reference, 5, 100, rng) == {}
    assert measured_sets(generators.get("raw"), reference, 5, 100, rng) == {}
    pairs = associated_pairs(reference)
    assert len(pairs) == 15
    assert sum(pairs.values()) == pytest.approx(1)
    assert associated_pairs(reference.select(["c0"])) == {(0,): 1.0}
    assert associated_pairs(reference.take([0, 0, 0])) == {(j,): 1 / 6 for j in range(6)}


@pytest.mark.parametrize("generator", ["independent", "bayesnet"])
def test_rare_values_give_a_member_away(generator):
    """The outsider's values, 1 in 100, occur in 300 synthetic rows only if it is a member: 95 % then, or more."""
    scores, members = play("marginal-ratio", generators.parse(generator), outsider(), 150, synthetic_rows=300)
    assert (scores[~members] == 0).all()
    assert auc(scores[members], scores[~members], confidence=0.999).interval[0] >= 0.85


def test_nothing_to_see_when_nothing_leaks():
    assert_blind("marginal-ratio")


def test_survives_awkward_releases():
    assert_survives(MarginalRatio(), goals=(Goal.MEMBERSHIP,))


@pytest.mark.parametrize("wrong", [{"runs": 0}, {"rows": 0}, {"reference_rows": -1}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        MarginalRatio(**wrong)
