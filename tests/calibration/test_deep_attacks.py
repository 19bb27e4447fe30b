"""Attacks for deep generators: honest where a model remembers nobody, and a stack that is no worse than its parts on tabddpm."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom

from tests.attacks.test_stacked_shadow import stack_and_parts
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


@pytest.mark.calibration
def test_stack_is_no_worse_than_its_best_part_on_a_diffusion_model():
    """Paired over seeds; few steps of training and of diffusion, on few rows, so that minutes suffice."""
    pytest.importorskip("torch")
    generator = "tabddpm:steps=150,batch=100,diffusion_steps=20,layers=128+128"
    found = [stack_and_parts(generator, seed, rows=100, shadows=40, tests=60) for seed in (10, 11)]
    stacked, parts = np.mean([each[0] for each in found]), np.mean([each[1] for each in found], axis=0)
    assert stacked >= parts.max() - 0.01
