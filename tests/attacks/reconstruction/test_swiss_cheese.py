"""Swiss cheese: the holes of a similarity filter show where real people are."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from unmask.attacks.reconstruction.swiss_cheese import holes
from unmask.errors import ParameterError

RADIUS = 0.08


def cloud(rng, rows, people):
    drawn = rng.standard_normal((rows, 2))
    drawn = drawn[np.linalg.norm(drawn, axis=1) > 1.95]
    return drawn[cKDTree(people).query(drawn)[0] > RADIUS]


def test_outliers_sit_in_the_middle_of_holes(rng):
    """Outliers within 2.9 of the centre: nearly all are found to a quarter of the radius, and hardly anything else is."""
    people = rng.standard_normal((1000, 2))
    far = np.linalg.norm(people, axis=1)
    found = holes(cloud(rng, 1_000_000, people), RADIUS).centres
    found = found[np.linalg.norm(found, axis=1) > 2.15]
    wanted = people[(far > 2.15) & (far < 2.9)]
    assert (cKDTree(found).query(wanted)[0] < RADIUS / 4).mean() >= 0.9
    assert (cKDTree(people).query(found)[0] < RADIUS / 2).mean() >= 0.9


def test_there_are_no_holes_without_a_filter(rng):
    drawn = rng.standard_normal((1_000_000, 2))
    drawn = drawn[np.linalg.norm(drawn, axis=1) > 1.95]
    found = holes(drawn, RADIUS)
    assert (np.linalg.norm(found.centres, axis=1) > 2.15).sum() <= 2


def test_wide_data_are_refused(rng):
    with pytest.raises(ParameterError, match="two or three columns, not 5"):
        holes(rng.standard_normal((100, 5)), 0.1)
