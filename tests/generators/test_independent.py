import math
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from unmask.errors import ParameterError
from unmask.generators import Claim, Neighbours, get
from unmask.generators._counts import one_way
from unmask.generators.independent import Independent
from unmask.tables.schema import Origin


@pytest.fixture
def public(people):
    return replace(people, schema=replace(people.schema, origin=Origin.PUBLIC))


def test_without_epsilon_the_marginals_are_exact_and_nothing_is_claimed(public, rng):
    model = Independent().fit(public, rng)
    assert model.claim is None
    for measured, counts in zip(model.measurements, one_way(public.codes, public.schema.sizes), strict=True):
        np.testing.assert_array_equal(measured.counts, counts)
        assert (measured.noise, measured.scale) == ("none", 0)
    naive = sum(
        np.log(counts[public.codes[:, j]] / len(public))
        for j, counts in enumerate(one_way(public.codes, public.schema.sizes))
    )
    np.testing.assert_allclose(model.log_likelihood(public), naive, atol=1e-12)


def test_samples_have_the_marginals_and_no_relations(public, rng):
    sample = Independent().fit(public, rng).sample(40_000, rng)
    for drawn, real in zip(*(one_way(t.codes, t.schema.sizes) for t in (sample, public)), strict=True):
        share = real / len(public)
        limit = 5 * np.sqrt(share * (1 - share) / 40_000)
        assert np.all(np.abs(drawn / 40_000 - share) <= limit)
    correlation = np.corrcoef(sample.codes.T.astype(float))
    assert np.abs(correlation - np.eye(6)).max() < 5 / math.sqrt(40_000)


def test_noise_has_scale_columns_over_epsilon_on_every_cell(public, rng):
    """Mean |noise| of discrete Laplace is 2r/(1-r^2); two-sided at 5 standard errors, unseen cells on their own too."""
    few = public.take(np.arange(15))
    epsilon, truth = 2.0, np.concatenate(one_way(few.codes, few.schema.sizes))
    assert 10 < np.sum(truth == 0) < len(truth)
    ratio = math.exp(-epsilon / 6)
    mean, second = 2 * ratio / (1 - ratio**2), 2 * ratio / (1 - ratio) ** 2
    fits = [Independent(epsilon).fit(few, rng).measurements for _ in range(400)]
    assert {m.scale for m in fits[0]} == {3.0}
    noise = np.array([np.concatenate([m.counts for m in fit]) for fit in fits]) - truth
    for cells in (noise, noise[:, truth == 0]):
        assert np.abs(cells).mean() == pytest.approx(mean, abs=5 * math.sqrt((second - mean**2) / cells.size))
    assert noise.mean() == pytest.approx(0, abs=5 * math.sqrt(second / noise.size))


def test_adding_a_row_costs_at_most_epsilon_and_exactly_that(public):
    fewer = public.take(np.arange(1, len(public)))
    pairs = zip(*(one_way(t.codes, t.schema.sizes) for t in (public, fewer)), strict=True)
    change = sum(np.abs(a - b).sum() for a, b in pairs)
    assert change / (len(public.schema.columns) / 0.7) == pytest.approx(0.7)


def test_the_number_of_rows_is_released_with_noise_only(public, rng):
    """Totals of a column spread like the sum of its cells' noise, and the model keeps no other count."""
    fits = [Independent(1.0).fit(public, rng) for _ in range(500)]
    ratio = math.exp(-1 / 6)
    for j, size in enumerate(public.schema.sizes):
        totals = np.array([fit.measurements[j].counts.sum() for fit in fits])
        assert totals.var(ddof=1) == pytest.approx(size * 2 * ratio / (1 - ratio) ** 2, rel=0.5)
    assert {f.name for f in fields(fits[0])} == {"schema", "nodes", "claim", "measurements"}


def test_claims(people, public, rng):
    assert Independent(1.5).claim == Claim(1.5, neighbours=Neighbours.ADD_REMOVE)
    assert Independent(1.5).fit(public, rng).claim == Claim(1.5, neighbours=Neighbours.ADD_REMOVE)
    assert "inferred" in Independent(1.5).fit(people, rng).claim.void


def test_release_is_hardened(public, rng):
    model = Independent(1.0, release=True).fit(public, None)
    assert len(model.sample(50, rng)) == 50
    with pytest.raises(ParameterError, match="rng=None"):
        Independent(1.0, release=True).fit(public, rng)
    with pytest.raises(ParameterError, match="Set epsilon"):
        Independent(release=True)


@pytest.mark.parametrize("epsilon", [0, -1, "much", math.nan, True])
def test_bad_epsilon_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        Independent(epsilon)


def test_repeatable_and_pickles(public):
    model = get("independent", epsilon=1).fit(public, np.random.default_rng(3))
    again = pickle.loads(pickle.dumps(get("independent", epsilon=1))).fit(public, np.random.default_rng(3))
    one, two = (m.sample(100, np.random.default_rng(4)) for m in (model, pickle.loads(pickle.dumps(again))))
    assert one.digest() == two.digest()
