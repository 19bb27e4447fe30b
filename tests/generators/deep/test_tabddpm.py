"""The diffusion by its formulas, what the denoiser learns, and what its losses give away."""

import numpy as np
import pytest
import torch
from scipy.stats import chi2

from tests.generators.deep.learning import away, people, scattered
from unmask import generators
from unmask.errors import ParameterError
from unmask.generators.deep._segments import Segments
from unmask.generators.deep._tabddpm import Diffusion
from unmask.generators.deep.tabddpm import TabDdpm
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

SMALL = TabDdpm(steps=1500, batch=100, layers=(64, 64), diffusion_steps=20)


@pytest.fixture
def stream():
    return torch.Generator().manual_seed(3)


@pytest.fixture(scope="module")
def model():
    return SMALL.fit(people(600), np.random.default_rng(0))


def test_the_schedule_goes_from_the_row_to_noise():
    diffusion = Diffusion(50)
    assert (diffusion.kept.diff() < 0).all()
    assert diffusion.kept[0] > 0.99
    assert diffusion.kept[-1] < 0.001
    torch.testing.assert_close(diffusion.step_kept * diffusion.before, diffusion.kept)


def test_levels_one_step_earlier_follow_bayes(stream):
    """Every pair of level now and clean level, by enumeration; Pearson's statistic against its 99.9 % quantile."""
    diffusion, size, step, draws = Diffusion(10), 4, 5, 20_000
    share, before = float(diffusion.step_kept[step]), float(diffusion.before[step])
    segments = Segments((size,))
    for now, clean in ((1, 1), (1, 3)):
        levels = np.arange(size)
        chances = (share * (levels == now) + (1 - share) / size) * (before * (levels == clean) + (1 - before) / size)
        drawn = diffusion.levels_before(
            torch.full((draws, 1), now), torch.full((draws, 1), clean), step, segments, stream
        )
        counts, expected = np.bincount(drawn[:, 0], minlength=size), draws * chances / chances.sum()
        assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(0.999, size - 1)


def test_the_last_step_back_gives_the_clean_levels(stream):
    drawn = Diffusion(10).levels_before(
        torch.randint(4, (500, 1), generator=stream), torch.full((500, 1), 2), 0, Segments((4,)), stream
    )
    assert (drawn == 2).all()


def test_numbers_one_step_earlier_follow_bayes(stream):
    """With the true noise known, mean and variance are those of x(t-1) given x(t) and x(0)."""
    diffusion, step, clean, now = Diffusion(10), 5, 0.7, -0.4
    kept, share, before = (float(each[step]) for each in (diffusion.kept, diffusion.step_kept, diffusion.before))
    noise = (now - np.sqrt(kept) * clean) / np.sqrt(1 - kept)
    drawn = diffusion.numbers_before(torch.full((50_000, 1), now), torch.full((50_000, 1), noise), step, stream)
    # x(t-1) ~ N(sqrt(before) clean, 1 - before), and x(t) = sqrt(share) x(t-1) + N(0, 1 - share)
    precision = 1 / (1 - before) + share / (1 - share)
    mean = (np.sqrt(before) * clean / (1 - before) + np.sqrt(share) * now / (1 - share)) / precision
    assert abs(drawn.mean() - mean) < 3.3 / np.sqrt(precision * 50_000)
    assert drawn.var() * precision == pytest.approx(1, abs=0.03)


def test_noise_on_levels_keeps_as_many_as_the_schedule_says(stream):
    diffusion = Diffusion(10)
    levels = torch.zeros(20_000, 1, dtype=torch.int64)
    noisy = diffusion.noisy_levels(levels, torch.full((20_000,), 5), Segments((4,)), stream)
    share = float(diffusion.kept[5]) + (1 - float(diffusion.kept[5])) / 4
    assert abs((noisy == 0).double().mean() - share) < 3.3 * np.sqrt(share * (1 - share) / 20_000)


def test_a_dependence_is_learnt(model):
    table = people(600)
    independent = (
        generators.get("independent").fit(table, np.random.default_rng(1)).sample(4000, np.random.default_rng(2))
    )
    sample = model.sample(4000, np.random.default_rng(3))
    assert away(table, sample) < away(table, independent) / 4
    gone = np.isnan(sample.numbers[:, 0])
    assert gone[sample.codes[:, 0] == 0].mean() == pytest.approx(1 / 3, abs=0.1)
    assert gone[sample.codes[:, 0] != 0].mean() < 0.03


def test_losses_by_row_and_step(model, rng):
    table = people(50, 5)
    losses = model.losses(table, [0, 10, 19], np.random.default_rng(1))
    assert losses.shape == (50, 3)
    np.testing.assert_array_equal(losses, model.losses(table, [0, 10, 19], np.random.default_rng(1)))
    noise = model.losses(scattered(50, 6), [0, 10, 19], rng)
    assert losses[:, 1].mean() < noise[:, 1].mean()
    assert model.diffusion_steps == 20
    with pytest.raises(ParameterError, match="no diffusion step 20; steps are 0 to 19"):
        model.losses(table, [0, 20], rng)


def test_an_over_trained_model_gives_its_rows_away(rng):
    """Ten columns that nothing explains, learnt by heart: members have lower losses."""
    numbers = rng.normal(size=(120, 10)).clip(-4, 4)
    columns = tuple(Column(f"x{i}", Kind.CONTINUOUS, lower=-4.0, upper=4.0) for i in range(10))
    codes = np.stack([column.bin_of(each) for column, each in zip(columns, numbers.T, strict=True)], 1)
    schema = Schema(columns)
    table = Table(schema, np.asfortranarray(codes, dtype=schema.code_type), np.asfortranarray(numbers))
    members, others = table.take(range(60)), table.take(range(60, 120))
    fitted = TabDdpm(steps=1500, batch=60, layers=(128, 128), diffusion_steps=20).fit(members, rng)
    inside, outside = (fitted.losses(each, [3, 6, 9], rng).mean(axis=1) for each in (members, others))
    assert (inside[:, None] < outside).mean() > 0.9
