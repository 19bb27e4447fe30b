"""All segments at once against one after the other."""

import numpy as np
import pytest
import torch
from scipy.stats import chi2

from unmask.generators.deep._layers import Adam, Batches, RunningMean, chunks, linear
from unmask.generators.deep._segments import Segments

SIZES = (3, 1, 5)


@pytest.fixture
def stream():
    return torch.Generator().manual_seed(3)


def test_softmax_of_each_block(stream):
    logits = 50 * torch.randn(20, 9, generator=stream)
    naive = torch.cat([part.log_softmax(1) for part in logits.split(SIZES, 1)], 1)
    torch.testing.assert_close(Segments(SIZES).log_probabilities(logits), naive)


def test_gradient_of_the_softmax(stream):
    logits = torch.randn(4, 9, generator=stream, requires_grad=True)
    aim = torch.randn(4, 9, generator=stream)
    naive = torch.cat([part.softmax(1) for part in logits.split(SIZES, 1)], 1)
    ours = Segments(SIZES).log_probabilities(logits).exp()
    for found in (naive, ours):
        (gradient,) = torch.autograd.grad((found * aim).sum(), logits, retain_graph=True)
        found.gradient = gradient
    torch.testing.assert_close(ours.gradient, naive.gradient)


def test_one_hot_and_back(stream):
    segments = Segments(SIZES)
    levels = torch.tensor([[0, 0, 4], [2, -1, 0], [-1, 0, -1]])
    hot = segments.one_hot(levels)
    assert hot.tolist() == [[1, 0, 0, 1, 0, 0, 0, 0, 1], [0, 0, 1, 0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0, 0]]
    columns = torch.arange(9.0).expand(3, 9)
    assert segments.chosen(columns, levels, -7.0).tolist() == [[0, 3, 8], [2, -7, 4], [-7, 3, -7]]


@pytest.mark.parametrize("how", ["draw", "soft"])
def test_levels_come_by_their_probabilities(how, stream):
    """Pearson's statistic of 20,000 draws against its 99.9 % quantile; a level without probability never comes."""
    segments = Segments(SIZES)
    row = torch.tensor([0.0, 1.0, -200.0, 5.0, 0.0, -1.0, 2.0, 0.5, 0.0])
    logits = row.expand(20_000, 9)
    if how == "draw":
        levels = segments.draw(logits, stream)
    else:
        soft = segments.soft(logits, 0.2, stream)
        torch.testing.assert_close(soft @ segments.member, torch.ones(20_000, 3))
        levels = torch.stack([part.argmax(1) for part in soft.split(SIZES, 1)], 1)
    assert (levels[:, 1] == 0).all()
    for block, part in ((0, row[:3]), (2, row[4:])):
        expected = 20_000 * part.softmax(0).numpy()
        counts = np.bincount(levels[:, block].numpy(), minlength=len(part))
        there = expected > 1e-6
        assert counts[~there].sum() == 0
        statistic = ((counts - expected)[there] ** 2 / expected[there]).sum()
        assert statistic < chi2.ppf(0.999, there.sum() - 1)


def test_no_segments(stream):
    segments, nothing = Segments(()), torch.zeros(4, 0)
    assert segments.draw(nothing, stream).shape == (4, 0)
    assert segments.soft(nothing, 0.2, stream).shape == (4, 0)
    assert segments.one_hot(torch.zeros(4, 0, dtype=torch.int64)).shape == (4, 0)


def test_adam_follows_its_formula(stream):
    start = torch.randn(6, generator=stream)
    weights, aim = start.clone().requires_grad_(), torch.randn(6, generator=stream)
    adam = Adam([weights], rate=0.01, betas=(0.5, 0.9), decay=0.1)
    expected, first, second = start.double().numpy(), np.zeros(6), np.zeros(6)
    for step in range(1, 5):
        adam.step(((weights - aim) ** 2).sum())
        gradient = 2 * (expected - aim.numpy()) + 0.1 * expected
        first, second = 0.5 * first + 0.5 * gradient, 0.9 * second + 0.1 * gradient**2
        expected = expected - 0.01 * (first / (1 - 0.5**step)) / (np.sqrt(second / (1 - 0.9**step)) + 1e-8)
    np.testing.assert_allclose(weights.detach().numpy(), expected, rtol=1e-5)


def test_a_running_mean_forgets(stream):
    """Weights that were 0 for 100 steps and 1 for 30: 1 - the product of what is kept in each of the 30 steps."""
    layer = linear(1, 1, None)
    layer.weight.data[:], layer.bias.data[:] = 0.0, 0.0
    mean = RunningMean(layer)
    for step in range(130):
        layer.weight.data[:] = float(step >= 100)
        mean.add()
    assert layer.weight.item() == 1
    mean.settle()
    kept = np.prod([1 - 10 / (step + 10) for step in range(101, 131)])
    assert layer.weight.item() == pytest.approx(1 - kept, abs=1e-5)
    assert layer.bias.item() == 0


def test_layers_draw_from_their_stream():
    before = torch.get_rng_state()
    one, two, other = (linear(4, 3, torch.Generator().manual_seed(seed)).weight for seed in (1, 1, 2))
    assert torch.equal(one, two)
    assert not torch.equal(one, other)
    assert one.abs().max() <= 0.5
    assert torch.equal(before, torch.get_rng_state())


def test_batches_are_disjoint_until_all_rows_were_used(stream):
    batches = Batches(10, 4, stream)
    first, second = batches.next(), batches.next()
    assert len({*first.tolist(), *second.tolist()}) == 8
    assert len(batches.next()) == 4
    assert sorted(Batches(3, 500, stream).next().tolist()) == [0, 1, 2]


def test_chunks_cover_all_rows():
    assert [part.stop - part.start for part in chunks(25_000)] == [10_000, 10_000, 5_000]
    assert chunks(0) == []
