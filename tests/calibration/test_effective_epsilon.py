"""Effective epsilon of `unmask attack` against generators whose epsilon is known: attack, target and threshold chosen on a tenth.

Every release has several targets, each with a coin of its own, and several attacks look at each of them; some know nothing.
How often the bound is above the truth stands in docs/explanation/attack-intervals.md.
"""

import numpy as np
import pytest
from scipy.stats import binom

from tests.stats.mechanisms import RandomisedResponse
from unmask.generators.histogram import Histogram
from unmask.generators.mst import MST
from unmask.stats import Contender, Given, choosing, effective_epsilon, epsilon_clopper_pearson, gaussian_epsilon
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

pytestmark = pytest.mark.calibration

AUDITS = 300
LIMIT = binom.ppf(0.999, AUDITS, 0.05)
TARGETS = 3
SCHEMA = Schema((Column("x", Kind.CATEGORICAL, values=("others", *"abc")),))


def randomised_response(members, rng, epsilon=1.0):
    """What is published about a target is whether it is in, or the opposite."""
    inside, outside = RandomisedResponse(epsilon).draw(members.size, rng)
    return np.where(members, inside.reshape(members.shape), outside.reshape(members.shape))


def noisy_counts(generator, members, rng):
    """Every target has a cell of its own among twelve other people; the attack reads the noisy count of it."""
    scores = np.empty(members.shape)
    for release, inside in enumerate(members):
        codes = np.concatenate([np.zeros(12, int), 1 + np.flatnonzero(inside)])[:, None]
        table = Table(SCHEMA, np.asfortranarray(codes.astype(SCHEMA.code_type)), np.empty((len(codes), 0)))
        scores[release] = generator.fit(table, rng).measurements[0].counts.ravel()[1:]
    return scores


def published(members, rng, told=0.07, alarms=0.02):
    """Seven in a hundred releases give all of their targets away, two look as if: all targets share the luck of a release."""
    tells, cries = rng.random((2, len(members), 1)) < np.array([told, alarms])[:, None, None]
    return rng.random(members.shape) + ((members & tells) | cries)


def audits(scores_of, releases, seed, targets=TARGETS, delta=0.0):
    """Audits with three attacks: the one that knows something, the same with noise, and one that knows nothing."""
    rng = np.random.default_rng(seed)
    for _ in range(AUDITS):
        members = rng.random((releases, targets)) < 0.5
        scores = scores_of(members, rng)
        every = (rng.random(members.shape), scores, scores + rng.normal(0, scores.std(), members.shape))
        chooses = choosing(np.ones_like(members), rng=rng)
        contenders = [
            Contender.of(each[:, place], members[:, place], chooses[:, place])
            for each in every
            for place in range(targets)
        ]
        yield effective_epsilon(contenders, delta=delta), scores, members


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_randomised_response(epsilon):
    found = [
        won.bound.value
        for won, *_ in audits(lambda members, rng: randomised_response(members, rng, epsilon), 120, seed=1)
    ]
    assert sum(value > epsilon for value in found) <= LIMIT == 28
    assert epsilon < 2 or np.median(found) > 0.8


def test_the_noisy_histogram():
    """Epsilon 2, add/remove: a release per fit, three targets in each."""
    found = [
        won.bound.value
        for won, *_ in audits(lambda members, rng: noisy_counts(Histogram(2.0), members, rng), 160, seed=2)
    ]
    assert sum(value > 2 for value in found) <= LIMIT
    assert np.median(found) > 0.5


def test_mst_at_the_delta_of_its_claim():
    """White box: one column, so that the noisy counts are all that MST learns; their epsilon at a delta has a closed form."""
    generator = MST(20.0, delta=0.05)
    truth = gaussian_epsilon(generator.delta, 1 / generator.sigma)
    assert 1 < truth < 20
    found = [
        won.bound
        for won, *_ in audits(
            lambda members, rng: noisy_counts(generator, members, rng), 60, seed=3, delta=generator.delta
        )
    ]
    assert {bound.delta for bound in found} == {0.05}
    assert sum(bound.value > truth for bound in found) <= LIMIT


def test_targets_that_share_the_luck_of_a_release():
    """Counting every target as a release of its own is wrong far more often."""
    truth, above, counted = np.log((0.07 + 0.93 * 0.02) / 0.02), 0, 0
    for won, scores, members in audits(published, 80, seed=4, targets=20):
        above += won.bound.value > truth
        counted += epsilon_clopper_pearson(scores[members], scores[~members], threshold=Given(1.0)).value > truth
    assert above <= LIMIT
    assert counted > LIMIT


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_interval_of_the_paper_covers_the_epsilon_of_the_attack(epsilon):
    """Randomised response: an attack that reads the answer has the rates of the mechanism; one that adds noise has others."""
    rng, wrong = np.random.default_rng(6), 0
    for _ in range(AUDITS):
        members = rng.random(200) < 0.5
        scores = randomised_response(members, rng, epsilon)
        found = effective_epsilon([Contender.of(scores, members, np.arange(200) < 20)])
        shown = epsilon if found.threshold == 1 else 0.0  # it may have been led to guess "in" always
        wrong += not found.interval.low <= shown <= found.interval.high
    assert wrong <= LIMIT
