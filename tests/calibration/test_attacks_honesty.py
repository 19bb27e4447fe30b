"""On releases that know nothing of the data, no attack may look as if it did."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from unmask.attacks import names
from unmask.audits.attack.audit import attack
from unmask.tables.read import read_table


def people(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.choice(list("pqrs"), 200) for name in "abc"})
    return read_table(frame.assign(n=rng.integers(0, 50, 200)))


def misses(goal, seeds, attacks, **choices):
    """How often the 95 % interval of the advantage misses 0, by attack; and how often anything was called a finding."""
    missed, found = Counter(), 0
    for seed in range(seeds):
        result = attack(
            "oblivious", people(seed), goal=goal, access="white-box", targets="random:1", attacks=attacks, shadows=16, tests=40,
            train_rows=40, seed=seed, **choices,
        )  # fmt: skip
        for finding in result.findings:
            missed[finding.name.rpartition("/")[0]] += not finding.estimate.low <= 0 <= finding.estimate.high
        found += result.severity.rank > 0
    return missed, found


@pytest.mark.calibration
def test_membership_attacks_are_honest_about_oblivious_releases():
    """At 95 % confidence at most 1 in 20 intervals may miss 0 (99.9 % limit of 200: 21), and so may all together."""
    limit = binom.ppf(0.999, 200, 0.05)
    # The classifier has a test of its own (tests/attacks/test_classifier.py): 11,200 fits of it would take minutes here.
    attacks = tuple(name for name in names() if name != "classifier")
    missed, found = misses("membership", 200, attacks)
    assert limit == 21
    assert max(missed.values(), default=0) <= limit, missed
    assert found <= limit, "a finding in any attack, all of them sharing the error"


@pytest.mark.calibration
def test_attribute_attacks_are_honest_about_oblivious_releases():
    """99.9 % limit of 100 intervals at 95 %: 13."""
    attacks = tuple(name for name in names() if name not in ("synthetic-predictor", "groundhog"))
    missed, found = misses(
        "attribute", 100, (*attacks, "synthetic-predictor:model=knn"), secret="b", secret_values="uniform"
    )
    assert max(missed.values(), default=0) <= 13, missed
    assert found <= 13
