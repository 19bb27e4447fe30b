"""What can be seen of an output: here the last bits of floating-point noise."""

import numpy as np

from unmask.attacks.claim.outputs import WHOLE, granularity


def test_granularity_tells_a_sum_from_small_noise():
    assert granularity(3.0) == WHOLE
    assert granularity(0.75) == -2
    assert granularity(1 + 2.0**-52) == -52
    noise = np.random.default_rng(0).laplace(0, 1, 500)
    small = noise[np.abs(noise) < 0.2]
    assert np.mean([granularity(x) < -53 for x in small]) > 0.8
    assert all(granularity(1 + x) >= -53 for x in small)
