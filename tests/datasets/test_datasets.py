import numpy as np
import pandas as pd
import pytest

from unmask.datasets import adult, gaussian, planted
from unmask.errors import ParameterError
from unmask.tables.matching import count_matches
from unmask.tables.schema import Origin


def test_adult_is_bundled_with_a_public_schema(data):
    table = adult()
    assert len(table) == 48_842
    assert table.schema.origin is Origin.PUBLIC
    assert table.notes == ()
    original = pd.read_csv(data / "adult" / "adult_full.csv.gz", na_values="?")
    pd.testing.assert_frame_equal(table.to_pandas(), original)


def test_gaussian_is_what_it_says():
    table = gaussian(3, 5000, seed=1)
    assert table.numbers.shape == (5000, 3)
    assert np.allclose(np.cov(table.numbers.T), np.eye(3), atol=0.08)
    assert np.array_equal(table.codes[:, 0], table.schema.columns[0].bin_of(table.numbers[:, 0]))
    assert gaussian(3, 5000, seed=1).digest() == table.digest()
    with pytest.raises(ParameterError, match="at least one"):
        gaussian(0)


def test_planted_leaks_exactly_the_named_rows():
    release = planted(1000, leaked=20, columns=14, seed=2)
    assert len(release.synthetic) == len(release.real) == len(release.holdout) == 1000
    found = count_matches(release.real.take(release.leaked), release.synthetic)
    assert (found >= 1).all()
    others = np.setdiff1d(np.arange(1000), release.leaked)
    by_chance = (count_matches(release.real.take(others), release.synthetic) > 0).mean()
    control = (count_matches(release.holdout, release.synthetic) > 0).mean()
    assert by_chance < 0.05
    assert control < 0.05
    with pytest.raises(ParameterError, match="between 0 and 10"):
        planted(10, leaked=11)
