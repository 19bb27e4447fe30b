"""Rows within a radius against the package's own counts, worked votes, a planted leak, honesty."""

from dataclasses import replace

import numpy as np
import pytest

from tests.attacks.test_closest_record import (
    assert_blind,
    assert_survives,
    crowd,
    masked,
    mixed,
    outsider,
    play,
    scores_of,
    view_of,
)
from unmask import generators
from unmask.attacks.local_neighbourhood import LocalNeighbourhood, distances
from unmask.errors import ParameterError
from unmask.stats.auc import auc
from unmask.tables.distance import Gower, Hamming, count_within, nearest


@pytest.mark.parametrize(("name", "metric"), [("gower", Gower()), ("hamming", Hamming())])
def test_distances_equal_those_of_tables(name, metric):
    """All pairs of rows with missing and unlisted values, to the last digit."""
    targets, rows = mixed(6, seed=1, odd=True), mixed(50, seed=2, odd=True)
    columns = ["few", "many", "age", "fixed", "score"]
    ours = distances(targets, rows, name, columns)
    theirs = nearest(targets, rows, k=50, metric=metric, columns=columns)
    np.testing.assert_array_equal(np.sort(ours, axis=1), theirs.distances)


@pytest.mark.parametrize(("name", "metric", "radius"), [("gower", Gower(), 0.3), ("hamming", Hamming(), 3)])
def test_score_is_the_share_within_the_radius(name, metric, radius, rng):
    targets, synthetic = crowd(5, seed=1), crowd(80, seed=2)
    scores = scores_of(LocalNeighbourhood(radius=radius, metric=name), view_of(synthetic), targets, None, rng)
    np.testing.assert_array_equal(scores, count_within(targets, synthetic, radius=radius, metric=metric) / 80)
    assert 0 < scores.mean() < 1


def test_radius_reaches_as_far_as_the_kth_reference_person(rng):
    """So k of the reference people themselves lie within it; further rows, too far away, change nothing but the share."""
    targets, reference = crowd(5, seed=1), crowd(200, seed=2)
    for k in (1, 5, 64):
        attack = LocalNeighbourhood(k=k).prepare(view_of(reference, reference), targets, None, rng)
        np.testing.assert_allclose(attack.score(view_of(reference), targets, None, rng), k / 200)


def test_without_reference_the_synthetic_rows_give_the_radius(rng):
    targets, synthetic = crowd(5, seed=1), crowd(90, seed=2)
    found = nearest(synthetic, synthetic, k=5, metric=Gower(), exclude_same_row=True).distances[:, -1]
    expected = count_within(targets, synthetic, radius=float(np.median(found)), metric=Gower()) / 90
    np.testing.assert_array_equal(scores_of(LocalNeighbourhood(), view_of(synthetic), targets, None, rng), expected)


def test_votes_of_the_rows_within_and_one_of_everybody(rng):
    """Rows 0-2 are within the radius, row 3 is not. Secret c0: codes 2, 5, 2 | 1; age: 30, 40, 80 | 10."""
    row = crowd(1)
    four = row.take([0, 0, 0, 0])
    codes, numbers = four.codes.copy(order="F"), four.numbers.copy(order="F")
    codes[:, 0], codes[3, 1:4] = [2, 5, 2, 1], 6
    targets, secret = masked(row, "c0")
    attack = LocalNeighbourhood(radius=0.1)
    scores = scores_of(attack, view_of(replace(four, codes=codes)), targets, secret, rng)
    np.testing.assert_allclose(scores, [[0, 0.25 / 4, 2.5 / 4, 0, 0, 1.25 / 4, 0, 0]])
    codes[:, 0], numbers[:, 0] = row.codes[0, 0], [30, 40, 80, 10]
    targets, secret = masked(row, "age")
    guess = scores_of(attack, view_of(replace(four, codes=codes, numbers=numbers)), targets, secret, rng)
    weighted, weights = np.array([30, 40, 80, 10]), np.array([1.25, 1.25, 1.25, 0.25])
    assert guess.mean == pytest.approx(np.average(weighted, weights=weights))
    assert guess.scale == pytest.approx(np.sqrt(np.cov(weighted, aweights=weights, ddof=0)))


def test_copier_is_seen():
    """A copy lies within any radius. Targets like the others are drowned by their neighbours, the outsider is not."""
    scores, members = play("local-neighbourhood:radius=0.05", generators.get("copycat", p=0.9), outsider(), 200)
    assert auc(scores[members], scores[~members], confidence=0.999).interval[1] >= 0.95
    assert scores[~members].max() == 0


@pytest.mark.parametrize("attack", ["local-neighbourhood", "local-neighbourhood:metric=hamming,k=3"])
def test_nothing_to_see_when_nothing_leaks(attack):
    assert_blind(attack)


@pytest.mark.parametrize("radius", [None, 0, 0.2])
def test_survives_awkward_releases(radius):
    assert_survives(LocalNeighbourhood(radius))


@pytest.mark.parametrize("wrong", [{"metric": "cosine"}, {"k": 0}, {"k": 65}, {"radius": -1.0}, {"radius": np.nan}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        LocalNeighbourhood(**wrong)
