"""A fresh sample of real people is as far from the real table as its sampling noise, and cannot be told from it."""

from functools import partial

import numpy as np
import pytest

import unmask
from unmask.errors import InputError
from unmask.utility.comparison import gaps
from unmask.utility.marginals import marginals, subsets_of, variations
from unmask.utility.propensity import detection, propensity


def two_samples(seed, rows=1000):
    adult = unmask.datasets.adult()
    order = np.random.default_rng(seed).permutation(len(adult))
    return adult.take(order[:rows]), adult.take(order[rows : 2 * rows])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_marginals_of_a_fresh_sample_are_at_the_distance_of_noise(size, rng):
    """Noise is drawn from the real table, which lacks what nobody in it has: a little less than that of fresh people."""
    real, fresh = two_samples(1, 3000)
    subsets = subsets_of(range(15), size, rng=rng)
    found = gaps(partial(marginals, subsets=subsets), variations, real, [fresh], rng=rng)
    assert 0.95 < found.mean.value / found.mean_noise < 1.25


def test_a_copy_is_closer_than_a_fresh_sample_and_noise_farther(rng):
    real, fresh = two_samples(1)
    shuffled = unmask.generators.get("random").fit(real, rng).sample(1000, rng)
    ratios = [propensity(real, each, rng=rng).ratio for each in (real, fresh, shuffled)]
    assert ratios[0].value == pytest.approx(0, abs=1e-9)
    assert ratios[1].low < 1 < ratios[1].high
    assert ratios[2].low > 5
    aucs = [detection(real, each, rng=rng) for each in (real, fresh, shuffled)]
    assert aucs[0].value < 0.55
    assert aucs[1].low < 0.5 < aucs[1].high
    assert aucs[2].low > 0.9


def test_one_column_that_is_all_the_same_tells_nothing(people, rng):
    constant = people.take(np.zeros(40, dtype=int))
    assert np.isnan(propensity(constant, constant, rng=rng).ratio.value)


def test_too_few_rows_are_refused(people, rng):
    with pytest.raises(InputError, match="at least 20"):
        propensity(people, people.take(range(19)), rng=rng)


@pytest.mark.calibration
def test_resemblance_is_honest_about_fresh_people():
    """Mean ratio 1, mean AUC one half; at 95 % at most 1 in 20 intervals may miss (99.9 % limit of 40: 7)."""
    ratios, aucs, missed = [], [], np.zeros(2, dtype=int)
    for seed in range(40):
        real, fresh = two_samples(seed)
        rng = np.random.default_rng(seed)
        ratio, auc = propensity(real, fresh, rng=rng).ratio, detection(real, fresh, rng=rng)
        ratios.append(ratio.value)
        aucs.append(auc.value)
        missed += [not ratio.low <= 1 <= ratio.high, not auc.low <= 0.5 <= auc.high]
    assert np.mean(ratios) == pytest.approx(1, abs=0.12)
    assert np.mean(aucs) == pytest.approx(0.5, abs=0.015)
    assert max(missed) <= 7
