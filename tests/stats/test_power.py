import math

import numpy as np
import pytest

from unmask.errors import ParameterError
from unmask.stats import (
    ErrorCounts,
    best_error,
    difference,
    epsilon_from_errors,
    epsilon_one_run,
    power_anytime,
    power_clopper_pearson,
    power_difference,
    power_one_run,
    smallest_visible_epsilon,
    smallest_visible_leak,
)

REPEATS = 1500
TOLERANCE = 4 * 0.5 / math.sqrt(REPEATS)  # four standard errors of a simulated probability


def test_the_power_of_clopper_pearson_is_what_a_simulation_finds():
    rng = np.random.default_rng(0)
    fp, fn = rng.binomial(150, 0.1, REPEATS), rng.binomial(120, 0.2, REPEATS)
    seen = np.mean(
        [epsilon_from_errors(ErrorCounts(int(a), 150, int(b), 120)).refutes(1.5) for a, b in zip(fp, fn, strict=True)]
    )
    assert 0.1 < seen < 0.9
    assert power_clopper_pearson(1.5, fpr=0.1, fnr=0.2, n_in=120, n_out=150) == pytest.approx(seen, abs=TOLERANCE)


@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_the_power_of_one_run_is_what_a_simulation_finds(delta):
    rng = np.random.default_rng(1)
    right = rng.binomial(100, 0.85, 600)
    seen = np.mean([epsilon_one_run(int(v), 100, coins=300, delta=delta).refutes(1.2) for v in right])
    found = power_one_run(1.2, accuracy=0.85, guesses=100, coins=300, delta=delta)
    assert 0.1 < seen < 0.9
    assert found == pytest.approx(seen, abs=4 * 0.5 / math.sqrt(600))


def test_a_claim_that_no_attack_can_refute_has_no_power():
    assert power_one_run(9.0, accuracy=1.0, guesses=20, coins=20) == 0.0
    assert power_clopper_pearson(9.0, fpr=0.0, fnr=0.0, n_in=20, n_out=20) == 0.0
    assert smallest_visible_epsilon(9.0, runs=20) == math.inf


def test_a_perfect_attack_is_seen_for_sure_below_the_largest_visible():
    assert power_clopper_pearson(4.2, fpr=0.0, fnr=0.0, n_in=250, n_out=250) == 1.0
    assert power_clopper_pearson(4.21, fpr=0.0, fnr=0.0, n_in=250, n_out=250) == 0.0


def test_the_smallest_visible_epsilon_is_seen_with_the_stated_probability():
    epsilon = smallest_visible_epsilon(1.0, runs=500)
    power = power_clopper_pearson(1.0, fpr=best_error(epsilon), fnr=best_error(epsilon), n_in=500, n_out=500)
    assert power == pytest.approx(0.8, abs=0.01)
    assert 1.0 < epsilon < 1.5
    assert smallest_visible_epsilon(1.0, runs=5000) < epsilon


def test_power_at_the_claim_is_at_most_the_level():
    """An exact method refutes a claim that is just true in at most 5 %, whatever n: computed, not simulated."""
    for n in (20, 100, 500):
        for epsilon in (0.0, 0.5, 1.0, 2.0, 4.0):
            error = best_error(epsilon)
            assert power_clopper_pearson(epsilon, fpr=error, fnr=error, n_in=n, n_out=n) <= 0.05
            assert power_one_run(epsilon, accuracy=1 - error, guesses=n, coins=n) <= 0.05


def test_the_power_of_a_difference_is_what_a_simulation_finds():
    rng = np.random.default_rng(2)
    a, c = rng.binomial(200, 0.12, REPEATS), rng.binomial(150, 0.05, REPEATS)
    seen = np.mean([difference((int(x), 200), (int(y), 150)).low > 0 for x, y in zip(a, c, strict=True)])
    assert power_difference(0.12, 0.05, n_attack=200, n_control=150) == pytest.approx(seen, abs=TOLERANCE)


def test_the_smallest_visible_leak_shrinks_with_n_and_grows_with_the_control():
    small, large = smallest_visible_leak(300, 300), smallest_visible_leak(3000, 3000)
    assert 0 < large < small < 0.05
    assert smallest_visible_leak(300, 300, control_rate=0.2) > small
    leak = smallest_visible_leak(300, 300, control_rate=0.2)
    assert power_difference(0.2 + 0.8 * leak, 0.2, n_attack=300, n_control=300) == pytest.approx(0.8, abs=0.01)


def test_a_leak_that_cannot_be_seen_is_infinite():
    assert smallest_visible_leak(1, 1) == math.inf
    with pytest.raises(ParameterError):
        smallest_visible_leak(0, 10)


def test_the_power_of_the_anytime_process_grows_with_pairs():
    few, many = (
        power_anytime(1.0, tpr=0.88, fpr=0.12, pairs=pairs, repeats=200, rng=np.random.default_rng(3))
        for pairs in (15, 100)
    )
    assert few < 0.3
    assert many > 0.95
