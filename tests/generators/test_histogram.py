import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from unmask.errors import ParameterError
from unmask.generators import Claim, Neighbours
from unmask.generators._counts import joint
from unmask.generators.histogram import Histogram
from unmask.tables.schema import Column, Kind, Origin, Schema
from unmask.tables.table import Table


@pytest.fixture
def small(people):
    table = people.select(["sex", "region", "smoker"])
    return replace(table, schema=replace(table.schema, origin=Origin.PUBLIC))


def every_row(schema):
    codes = np.array(list(itertools.product(*map(range, schema.sizes))))
    return Table(schema, np.asfortranarray(codes, dtype=schema.code_type), np.empty((len(codes), 0)))


def test_noise_has_scale_one_over_epsilon_on_every_cell(small, rng):
    ratio = math.exp(-0.5)
    mean, second = 2 * ratio / (1 - ratio**2), 2 * ratio / (1 - ratio) ** 2
    truth = joint(small.codes, (0, 1, 2), small.schema.sizes)
    fits = [Histogram(0.5).fit(small, rng).measurements for _ in range(1000)]
    noise = np.array([m.counts - truth for (m,) in fits])
    assert {(m.scale, m.noise, m.columns) for (m,) in fits} == {(2.0, "laplace", (0, 1, 2))}
    per_cell = np.abs(noise).mean(axis=0)
    assert np.all(np.abs(per_cell - mean) <= 5 * math.sqrt((second - mean**2) / 1000))
    assert np.abs(noise).mean() == pytest.approx(mean, abs=4 * math.sqrt((second - mean**2) / noise.size))


def test_samples_follow_the_log_likelihood(small, rng):
    model = Histogram(0.3).fit(small, rng)
    probability = np.exp(model.log_likelihood(every_row(small.schema)))
    weights = np.maximum(model.measurements[0].counts.ravel(), 0)
    np.testing.assert_allclose(probability, weights / weights.sum(), atol=1e-14)
    sample = model.sample(50_000, rng)
    observed = joint(sample.codes, (0, 1, 2), small.schema.sizes).ravel()
    assert observed[probability == 0].sum() == 0
    seen = probability > 0
    assert stats.chisquare(observed[seen], 50_000 * probability[seen]).pvalue > 1e-4


def test_uniform_if_the_noise_left_nothing(small, rng):
    model = Histogram(1.0).fit(small, rng)
    nothing = replace(model.measurements[0], counts=-np.abs(model.measurements[0].counts))
    model = replace(model, measurements=(nothing,))
    cells = np.prod(small.schema.sizes)
    np.testing.assert_allclose(model.log_likelihood(small), -np.log(cells))
    assert len(np.unique(model.sample(2_000, rng).codes, axis=0)) == cells


def test_unlisted_values_are_impossible_and_the_row_count_is_noisy(small, rng):
    model = Histogram(1.0).fit(small, rng)
    codes = small.codes.copy(order="F")
    codes[0, 1] = small.schema.sizes[1]
    assert model.log_likelihood(replace(small, codes=codes))[0] == -np.inf
    totals = {int(Histogram(1.0).fit(small, rng).measurements[0].counts.sum()) for _ in range(20)}
    assert len(totals) > 5


def test_claims_and_refusals(people, small, rng):
    claim = Claim(1.0, neighbours=Neighbours.ADD_REMOVE)
    assert Histogram(1.0).claim == Histogram(1.0).fit(small, rng).claim == claim
    assert Histogram(1.0, release=True).fit(small, None).claim == claim
    assert "inferred" in Histogram().fit(people.select(["sex", "age"]), rng).claim.void
    bits = Schema(tuple(Column(f"b{j}", Kind.CATEGORICAL, ("no", "yes")) for j in range(21)))
    wide = Table(bits, np.zeros((3, 21), dtype=np.uint8, order="F"), np.empty((3, 0)))
    with pytest.raises(ParameterError, match="fewer columns"):
        Histogram().fit(wide, rng)
    with pytest.raises(ParameterError, match="above 0"):
        Histogram(0)


def test_numbers_are_drawn_within_their_bins(people, rng):
    table = people.select(["age", "income"])
    sample = Histogram(math.inf).fit(table, rng).sample(500, rng)
    seen = joint(table.codes, (0, 1), table.schema.sizes)
    assert np.all(seen[tuple(sample.codes.T.astype(int))] > 0)
    ages = sample.numbers[:, 0]
    assert np.all(ages == np.floor(ages))
    np.testing.assert_array_equal(table.schema.columns[0].bin_of(ages), sample.codes[:, 0])
