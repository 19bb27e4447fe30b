"""What the autoencoder learns."""

import numpy as np
import pytest

from tests.generators.deep.learning import away, people, scattered
from unmask import generators
from unmask.errors import ParameterError
from unmask.generators.deep.tvae import Tvae


@pytest.fixture(scope="module")
def model():
    small = Tvae(steps=500, batch=100, encoder_layers=(32,), decoder_layers=(32,), embedding=8, rate=3e-3)
    return small.fit(people(600), np.random.default_rng(0))


def test_a_dependence_is_learnt(model):
    table = people(600)
    independent = (
        generators.get("independent").fit(table, np.random.default_rng(1)).sample(4000, np.random.default_rng(2))
    )
    sample = model.sample(4000, np.random.default_rng(3))
    assert away(table, sample) < away(table, independent) / 2
    gone = np.isnan(sample.numbers[:, 0])
    assert gone[sample.codes[:, 0] == 0].mean() > 0.15
    assert gone[sample.codes[:, 0] != 0].mean() < 0.05


def test_losses_are_lower_for_rows_like_those_in_training(model, rng):
    real, noise = (model.losses(each, [0, 1], rng) for each in (people(200, 5), scattered(200, 6)))
    assert real.shape == (200, 2)
    np.testing.assert_array_equal(real[:, 0], real[:, 1])
    assert (real[:, :1] < noise[:, 0]).mean() > 0.75


def test_the_reconstruction_must_count():
    with pytest.raises(ParameterError, match="tvae: loss_factor is 0"):
        Tvae(loss_factor=0)
