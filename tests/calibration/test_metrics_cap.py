"""Honesty of the CAP family over hundreds of seeds: intervals of means of shares, and excess over the holdout."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from unmask.metrics._shares import difference_of_shares, mean_of_shares
from unmask.metrics.attribute_scenario import attribute_scenario
from unmask.metrics.cap import NAMES, cap
from unmask.metrics.rank_linkage import rank_linkage
from unmask.tables.table import Table

pytestmark = pytest.mark.calibration


def most(runs, level):
    """The 99.9 % binomial limit."""
    return binom.ppf(0.999, runs, level)


DRAWS = {
    "skewed": (lambda rng, n: rng.beta(0.3, 2, n), 0.3 / 2.3),
    "rare": (lambda rng, n: np.where(rng.random(n) < 0.03, rng.random(n), 0.0), 0.015),
    "rarely right, else .02": (lambda rng, n: np.where(rng.random(n) < 0.02, 1.0, 0.02), 0.0396),
    "few levels": (lambda rng, n: rng.choice([0, 1 / 3, 0.5, 1], n, p=[0.4, 0.3, 0.2, 0.1]), 0.3),
    "nearly always right": (lambda rng, n: 1 - np.where(rng.random(n) < 0.03, rng.random(n), 0.0), 0.985),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("rows", [40, 100, 400])
def test_intervals_of_shares_cover(name, rows, rng):
    """95 % intervals of a mean (a score interval: at most 7 % misses) and of a difference (at most 5 %, either side 2.5 %)."""
    draw, truth = DRAWS[name]
    runs = 2000
    single = sum(not (found := mean_of_shares(draw(rng, rows))).low <= truth <= found.high for _ in range(runs))
    pairs = [difference_of_shares(draw(rng, rows), draw(rng, rows // 2)) for _ in range(runs)]
    assert single <= most(runs, 0.07)
    assert sum(pair.low > 0 for pair in pairs) <= most(runs, 0.025)
    assert sum(pair.high < 0 for pair in pairs) <= most(runs, 0.025)


def tables(seed, sizes):
    """A skewed population in which keys tell something about the secret; one table per size."""
    rng = np.random.default_rng(seed)
    rows = sum(sizes)
    a, b = rng.geometric(0.3, rows).clip(max=9), rng.geometric(0.5, rows).clip(max=6)
    frame = pd.DataFrame(
        {"a": a, "b": b, "c": rng.integers(0, 4, rows), "t": (a + rng.geometric(0.6, rows)).clip(max=9)}
    )
    whole = Table.from_pandas(frame)
    ends = np.cumsum(sizes)
    return [whole.take(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]


@pytest.mark.parametrize("sizes", [(300, 300, 300), (300, 60, 1000), (100, 400, 50)])
def test_no_leak_is_seen_where_there_is_none(sizes):
    """Real, holdout and synthetic rows from one population: the lower limit of the excess passes 0 in 2.5 % at most."""
    alarms, runs = dict.fromkeys(NAMES, 0), 400
    for seed in range(runs):
        real, holdout, synthetic = tables(seed, sizes)
        result = cap(real, synthetic, keys=["a", "b", "c"], secrets=["t"], holdout=holdout)
        for measure in result.measures:
            alarms[measure.name] += measure.excess is not None and measure.excess.low > 0
    assert max(alarms.values()) <= most(runs, 0.025), alarms


@pytest.mark.parametrize("sizes", [(150, 150, 150, 150), (200, 60, 150, 300)])
def test_attribute_scenario_does_not_blame_what_the_population_teaches(sizes):
    alarms, runs = np.zeros(2), 300
    for seed in range(runs):
        real, holdout, *releases = tables(seed, sizes)
        found = attribute_scenario(real, releases, attribute="t", holdout=holdout, rng=np.random.default_rng(seed))
        alarms += [risk.excess.low > 0 for risk in found.risks]
    assert alarms.max() <= most(runs, 0.025)


def test_rank_linkage_null_on_tied_tables():
    """Independent tables full of ties: one correct link on average, p-values at their level."""
    counts, small, runs = [], 0, 1000
    for seed in range(runs):
        real, release = tables(seed, (80, 80))
        found = rank_linkage(real, [release], permutations=39, rng=np.random.default_rng(seed)).releases[0]
        counts.append(found.correct.sum())
        small += found.p_value <= 0.05
    assert np.mean(counts) == pytest.approx(1, abs=4 * np.std(counts) / np.sqrt(runs))
    assert small <= most(runs, 0.05)
