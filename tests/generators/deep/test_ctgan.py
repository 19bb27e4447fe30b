"""Conditions, the critic, and what is learnt."""

import numpy as np
import pytest
import torch
from scipy.stats import chi2

from tests.generators.deep.learning import away, people, scattered
from unmask import generators
from unmask.errors import ParameterError
from unmask.generators.deep._ctgan import Conditions, Critic
from unmask.generators.deep._segments import Segments
from unmask.generators.deep.ctgan import Ctgan

SMALL = Ctgan(steps=1000, batch=100, generator_layers=(64,), discriminator_layers=(64,), embedding=16, rate=1e-3)
LEVELS = torch.tensor([[0, 0]] * 50 + [[1, 0]] * 9 + [[1, 2]] * 4 + [[1, 1]] * 37)
COUNTS = torch.tensor([50, 50, 59, 37, 4])


@pytest.fixture
def stream():
    return torch.Generator().manual_seed(3)


@pytest.fixture(scope="module")
def model():
    return SMALL.fit(people(600), np.random.default_rng(0))


def statistic(counts, shares):
    expected = counts.sum() * np.asarray(shares) / np.sum(shares)
    return ((counts - expected) ** 2 / expected).sum()


@pytest.mark.parametrize("by_log", [True, False])
def test_conditions_come_as_often_as_they_should(by_log, stream):
    """Columns alike; categories by the logarithm of their counts in training, by their counts in a release."""
    conditions = Conditions(Segments((2, 3)), COUNTS, 0, LEVELS)
    column, place = conditions.draw(20_000, stream, by_log=by_log)
    weights = np.log(COUNTS.numpy() + 1.0) if by_log else COUNTS.numpy()
    shares = np.concatenate([weights[:2] / weights[:2].sum(), weights[2:] / weights[2:].sum()])
    assert statistic(np.bincount(place.numpy(), minlength=5), shares) < chi2.ppf(0.999, 4)
    assert ((place >= 2) == (column == 1)).all()


def test_training_rows_meet_their_conditions_and_are_all_used(stream):
    conditions = Conditions(Segments((2, 3)), COUNTS, 0, LEVELS)
    column, place = conditions.draw(20_000, stream, by_log=True)
    rows = conditions.rows(column, place, stream)
    starts = torch.tensor([0, 2])
    assert (LEVELS[rows, column] == place - starts[column]).all()
    rare = rows[place == 4]  # the four rows from 59 on
    assert statistic(np.bincount(rare.numpy() - 59, minlength=4), np.ones(4)) < chi2.ppf(0.999, 3)


def test_the_missed_condition_is_a_cross_entropy(stream):
    conditions = Conditions(Segments((2, 3)), COUNTS, 1, LEVELS)
    logits = torch.randn(4, 6, generator=stream)
    column, place = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 2, 4])
    naive = [
        -logits[0, 1:3].log_softmax(0)[0],
        -logits[1, 1:3].log_softmax(0)[1],
        -logits[2, 3:].log_softmax(0)[0],
        -logits[3, 3:].log_softmax(0)[2],
    ]
    torch.testing.assert_close(conditions.missed(logits, column, place), torch.stack(naive).mean())


@pytest.mark.parametrize("resting", [False, True])
def test_the_gradient_by_the_input_is_that_of_autograd(resting, stream):
    critic = Critic(12, (7, 5), stream)
    packs = torch.randn(9, 12, generator=stream, requires_grad=True)
    scores, slopes = critic(critic.enter(packs), stream if resting else None)
    (expected,) = torch.autograd.grad(scores.sum(), packs)
    torch.testing.assert_close(critic.input_gradient(slopes), expected)
    shares = [(slope == 0).float().mean().item() for slope in slopes]
    assert all(0 < share < 1 for share in shares) if resting else shares == [0, 0]


def test_a_dependence_is_learnt(model):
    """Nearer than half of what independent columns reach."""
    table = people(600)
    independent = (
        generators.get("independent").fit(table, np.random.default_rng(1)).sample(4000, np.random.default_rng(2))
    )
    sample = model.sample(4000, np.random.default_rng(3))
    assert away(table, sample) < away(table, independent) / 2
    gone = np.isnan(sample.numbers[:, 0])
    assert gone[sample.codes[:, 0] == 0].mean() > 0.15
    assert gone[sample.codes[:, 0] != 0].mean() < 0.05


def test_the_critic_tells_real_rows_from_scattered_ones(model):
    real, noise = (model.discriminator_score(each) for each in (people(200, 5), scattered(200, 6)))
    assert real.shape == (200,)
    assert (real[:, None] > noise).mean() > 0.75
    np.testing.assert_array_equal(real, model.discriminator_score(people(200, 5)))


def test_the_score_of_a_row_is_the_critics_of_as_many_copies(model):
    """The weights added up, against the rows side by side."""
    from unmask.generators.deep import _ctgan
    from unmask.generators.deep._layers import matrix_of

    table = people(5, 7)
    gan = _ctgan.trained(model)
    rows = matrix_of(model.coding.encode(table), gan.segments)
    condition = torch.nn.functional.one_hot(torch.from_numpy(table.codes[:, 0].astype(int)), 4)
    packs = torch.cat([rows, condition], 1).repeat(1, SMALL.pac)
    with torch.no_grad():
        expected = gan.critic(gan.critic.enter(packs))[0].numpy()
    np.testing.assert_allclose(model.discriminator_score(table), expected, rtol=1e-4, atol=1e-5)


def test_a_value_that_no_training_row_has_is_scored_too(rng):
    table = people(300)
    model = Ctgan(steps=2, batch=20).fit(table.take(table.codes[:, 0] < 3), rng)
    assert np.isfinite(model.discriminator_score(table)).all()
    assert (model.sample(100, rng).codes[:, 0] < 3).all()


def test_packs_divide_the_batch():
    with pytest.raises(ParameterError, match="batch must be a multiple of pac"):
        Ctgan(batch=105)
