"""The settings of ganev2023: sizes, outliers, and files that are not there."""

import numpy as np
import pytest

import unmask
from unmask.datasets import adult_small, census, challenge, digits, gaussian
from unmask.tables.regions import outside, smallest_clusters


@pytest.mark.parametrize(
    ("name", "rows", "columns"),
    [("gauss", 1000, 2), ("adult-small", 3000, 6), ("adult", 3000, 14), ("digits", 399, 65)],
)
def test_sizes_are_those_of_the_paper(name, rows, columns):
    made = challenge(name, seed=1)
    assert len(made.train) == len(made.holdout) == rows
    assert len(made.train.schema.columns) == columns
    assert 0.01 < made.targets.mean() < 0.2
    again = challenge(name, seed=1)
    assert again.train.digest() == made.train.digest()
    assert np.array_equal(again.targets, made.targets)


def test_census_and_mnist_are_read_from_files(data):
    people = challenge("census", seed=1, path=data / "census_kdd")
    assert (len(people.train), len(people.train.schema.columns)) == (5000, 41)
    pictures = digits(data / "mnist")
    assert (len(pictures), pictures.codes.shape[1], int(pictures.codes[:, 1:].max())) == (60_000, 65, 15)


def test_files_that_are_not_there_are_told(tmp_path):
    for wanted in (lambda: census(tmp_path), lambda: digits(tmp_path)):
        with pytest.raises(unmask.UnmaskError, match="not bundled"):
            wanted()
    with pytest.raises(unmask.UnmaskError, match="not bundled: give the path"):
        challenge("census", seed=1)
    with pytest.raises(unmask.UnmaskError, match="There is no challenge 'faces'"):
        challenge("faces", seed=1)


def test_a_region_is_what_its_mixture_predicts():
    """Sums of weights per code place every row where scikit-learn's mixture does, for each kind of numbers."""
    from sklearn.mixture import GaussianMixture

    table = adult_small().take(range(800))
    for scale in ("range", "standard", "one-hot"):
        found = smallest_clusters(table, clusters=4, smallest=1, scale=scale, seed=3)
        sizes = table.schema.sizes
        columns = []
        for at, size in enumerate(sizes):
            codes = table.codes[:, at].astype(float)
            if scale == "one-hot":
                columns.append(np.eye(size)[table.codes[:, at]])
            else:
                columns.append(
                    (codes / (size - 1) if scale == "range" else (codes - codes.mean()) / codes.std())[:, None]
                )
        numbers = np.concatenate(columns, axis=1)
        mixture = GaussianMixture(4, covariance_type="diag", reg_covar=1e-4, random_state=3).fit(numbers)
        assert np.array_equal(found.places(table.codes), mixture.predict(numbers))
        assert found.holds(table.codes).sum() == np.bincount(mixture.predict(numbers), minlength=4).min()


def test_outside_a_radius():
    table = gaussian(2, 3000, seed=1, limit=4.0, bins=316)
    far = np.linalg.norm(table.numbers, axis=1)
    held = outside(table.schema, 2.15).holds(table.codes)
    clear = np.abs(far - 2.15) > 0.02  # bins are .025 wide
    assert np.array_equal(held[clear], (far > 2.15)[clear])
