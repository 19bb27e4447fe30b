"""Every exact method on the noisy histogram, the generator whose epsilon is known: none may exceed the truth too often."""

import numpy as np
import pytest
from scipy.stats import binom

from unmask.generators.histogram import Histogram
from unmask.stats import (
    Bonferroni,
    Given,
    MultiSplit,
    Split,
    epsilon_anytime,
    epsilon_clopper_pearson,
    epsilon_f_dp,
    epsilon_one_run,
)
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

SCHEMA = Schema((Column("x", Kind.CATEGORICAL, values=("a", "b")),))
REPEATS, RUNS = 500, 100  # runs per side


def noisy_counts(epsilon, present, rng):
    """The measured count of the target's own cell in many fits, with the target or without."""
    codes = np.zeros((12 + present, 1), dtype=SCHEMA.code_type, order="F")
    codes[12:] = 1
    table = Table(SCHEMA, codes, np.empty((len(codes), 0)))
    generator = Histogram(epsilon)
    return np.array(
        [generator.fit(table, rng).measurements[0].counts.ravel()[1] for _ in range(REPEATS * RUNS)], dtype=float
    )


@pytest.mark.calibration
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_exact_bounds_hold_for_the_noisy_histogram(epsilon):
    """500 audits of 100 + 100 runs at 95 %: at most 41 bounds above the truth (99.9 % limit of 5 %)."""
    rng = np.random.default_rng(round(10 * epsilon))
    inside, outside = (noisy_counts(epsilon, present, rng).reshape(REPEATS, RUNS) for present in (1, 0))
    above = dict.fromkeys(("given", "split", "multi-split", "bonferroni", "one run", "f-dp", "anytime"), 0)
    for here, gone in zip(inside, outside, strict=True):
        coins = rng.random(RUNS) < 0.5  # fair and independent: one run of each pair is seen
        right = int(((np.where(coins, here, gone) >= 1) == coins).sum())
        bounds = {
            "given": epsilon_clopper_pearson(here, gone, threshold=Given(1.0)),
            "split": epsilon_clopper_pearson(here, gone, threshold=Split(0.2), rng=rng),
            "multi-split": epsilon_clopper_pearson(here, gone, threshold=MultiSplit(), rng=rng),
            "bonferroni": epsilon_clopper_pearson(here, gone, threshold=Bonferroni()),
            "one run": epsilon_one_run(right, RUNS, coins=RUNS),
            "f-dp": epsilon_f_dp(right, RUNS, coins=RUNS),
            "anytime": epsilon_anytime(here >= 1, gone >= 1),
        }
        for name, bound in bounds.items():
            above[name] += bound.value > epsilon
    limit = binom.ppf(0.999, REPEATS, 0.05)
    assert limit == 41
    assert max(above.values()) <= limit, above
