"""Attacks for deep generators are honest where a model remembers nobody."""

from collections import Counter

import pytest
from scipy.stats import binom

from tests.attacks.test_white_box_deep import BOTH, Diffusing
from tests.calibration.test_attacks_honesty import people
from unmask.audits.attack.audit import attack


@pytest.mark.calibration
def test_losses_and_critics_of_models_that_remember_nobody():
    """At 95 % confidence at most 1 in 20 intervals may miss 0 (99.9 % limit of 100: 13)."""
    missed = Counter()
    for seed in range(100):
        result = attack(
            Diffusing(0.0), people(seed), access="white-box", targets="random:1", attacks=BOTH, shadows=16, tests=40,
            train_rows=40, seed=seed,
        )  # fmt: skip
        assert len(result.findings) == 2
        for finding in result.findings:
            missed[finding.name] += not finding.estimate.low <= 0 <= finding.estimate.high
    assert binom.ppf(0.999, 100, 0.05) == 13
    assert max(missed.values()) <= 13, missed
