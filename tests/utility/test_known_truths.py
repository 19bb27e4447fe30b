"""Both ends of the scale at once: the real table keeps all and hides nothing, a blind generator hides all and teaches nothing."""

import numpy as np
import pytest

import unmask
from unmask.audits.attack.audit import attack
from unmask.utility.prediction import TrainAndTest


@pytest.fixture(scope="module")
def adults():
    adult = unmask.datasets.adult()
    return adult.take(np.random.default_rng(5).permutation(len(adult))[:1500])


def gains(generator, adults):
    """Privacy gain of record linkage on each target, with its interval."""
    sizes = {"targets": "isolated:3", "shadows": 0, "access": "no-box", "tests": 60, "train_rows": 200, "workers": 1}
    found = attack(generator, adults, attacks=("record-linkage",), seed=1, **sizes).records
    place = {name: found.columns.index(name) for name in ("privacy gain", "advantage on raw data", "low", "high")}
    for row in found.rows:
        gain, raw, low, high = (float(row[place[name]]) for name in place)
        yield gain, raw - high, raw - low


def test_the_real_table_has_utility_1_and_gain_0(adults):
    real, holdout = adults.take(np.arange(600)), adults.take(np.arange(600, 1000))
    rng = np.random.default_rng(1)
    taught = TrainAndTest("income", repeats=2).run(
        real, [unmask.generators.get("raw").fit(real, rng).sample(600, rng)], holdout=holdout, rng=rng
    )
    for each in taught.learners:  # another order of rows: forests draw other ones
        assert each.mean(each.synthetic - each.real).value == pytest.approx(0, abs=0.04)
    for gain, low, high in gains("raw", adults):
        assert gain == pytest.approx(0, abs=0.15)
        assert low <= 0 <= high


def test_a_generator_that_never_saw_the_data_has_gain_1_and_teaches_no_more_than_a_dummy(adults):
    real, holdout = adults.take(np.arange(600)), adults.take(np.arange(600, 1000))
    rng = np.random.default_rng(1)
    taught = TrainAndTest("income", repeats=3).run(
        real, [unmask.generators.get("oblivious").fit(real, rng).sample(600, rng)], holdout=holdout, rng=rng
    )
    for each in taught.learners:
        assert each.mean(each.synthetic - each.dummy).low <= 0
        assert each.mean(each.real - each.dummy).value > 0.03  # there is something to teach
    for gain, low, high in gains("oblivious", adults):
        assert gain == pytest.approx(1, abs=0.4)
        assert low <= 1 <= high
