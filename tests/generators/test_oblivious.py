from dataclasses import replace

import numpy as np
from scipy import stats

from unmask.generators import Claim
from unmask.generators.oblivious import Oblivious
from unmask.tables.schema import Origin


def test_the_data_change_nothing(people):
    other = people.take(np.zeros(7, dtype=int))
    one, two = (
        Oblivious().fit(t, np.random.default_rng(1)).sample(300, np.random.default_rng(2)) for t in (people, other)
    )
    assert one.digest() == two.digest()


def test_values_follow_the_stated_skew(people, rng):
    model = Oblivious().fit(people, rng)
    sample = model.sample(50_000, rng)
    for j, size in enumerate(people.schema.sizes):
        weights = 1 / np.arange(1, size + 1)
        expected = 50_000 * weights / weights.sum()
        assert stats.chisquare(np.bincount(sample.codes[:, j], minlength=size), expected).pvalue > 1e-4


def test_it_claims_epsilon_zero_under_a_public_schema(people, rng):
    public = replace(people, schema=replace(people.schema, origin=Origin.PUBLIC))
    assert Oblivious().claim == Oblivious().fit(public, rng).claim == Claim(0.0)
    assert "inferred" in Oblivious().fit(people, rng).claim.void
