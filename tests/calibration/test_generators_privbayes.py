"""PrivBayes as a whole, over thousands of fits: the network, the tables and the privacy that is really spent."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import mutual_info_score

from unmask.generators._counts import joint
from unmask.generators._noise import Seeded
from unmask.generators.privbayes import PrivBayes, choose_families, sensitivity
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

pytestmark = pytest.mark.calibration


def table_of(codes, sizes):
    columns = tuple(Column(f"c{j}", Kind.CATEGORICAL, tuple(f"v{i}" for i in range(s))) for j, s in enumerate(sizes))
    schema = Schema(columns)
    return Table(schema, np.asfortranarray(codes, dtype=schema.code_type), np.empty((len(codes), 0)))


def network_probabilities(table, degree, epsilon):
    """Probability of every order and choice of parents, by enumeration."""
    sizes, width = table.schema.sizes, len(table.schema.sizes)

    def score(child, parents):
        joined = np.ravel_multi_index(tuple(table.codes[:, list(parents)].T.astype(int)), sizes[list(parents)])
        return mutual_info_score(table.codes[:, child], joined)

    def grow(families, probability):
        chosen = [child for child, _ in families]
        left = [c for c in range(width) if c not in chosen]
        if not left:
            found[tuple(families)] = found.get(tuple(families), 0.0) + probability
            return
        sets = list(itertools.combinations(sorted(chosen), min(degree, len(chosen))))
        offers = list(itertools.product(left, sets))
        bound = sensitivity(len(table), all(sizes[c] <= 2 or np.prod(sizes[list(s)]) <= 2 for c, s in offers))
        weights = np.exp([epsilon / (width - 1) * score(*offer) / (2 * bound) for offer in offers])
        for offer, weight in zip(offers, weights / weights.sum(), strict=True):
            grow([*families, offer], probability * weight)

    found = {}
    for first in range(width):
        grow([(first, ())], 1 / width)
    return found


@pytest.mark.parametrize("degree", [1, 2])
def test_networks_are_chosen_with_the_probabilities_of_the_exponential_mechanism(degree, rng):
    base = rng.integers(0, 3, 40)
    codes = np.column_stack([base, np.where(rng.random(40) < 0.8, base % 2, 1), (base + rng.integers(0, 2, 40)) % 3])
    codes = np.column_stack([codes, rng.integers(0, 2, 40)])
    table = table_of(codes, (3, 2, 3, 2))
    truth = network_probabilities(table, degree, 8.0)
    assert sum(truth.values()) == pytest.approx(1.0)
    drawn = dict.fromkeys(truth, 0)
    for _ in range(20_000):
        families = choose_families(table, degree, 8.0, Seeded(rng))
        drawn[tuple((child, tuple(sorted(parents))) for child, parents in families)] += 1
    expected = 20_000 * np.array(list(truth.values()))
    observed = np.array([drawn[network] for network in truth])
    assert expected.max() / expected.min() > 5  # the data matter
    usual = expected > 5
    observed = np.append(observed[usual], observed[~usual].sum())
    expected = np.append(expected[usual], expected[~usual].sum())
    keep = expected > 0
    assert stats.chisquare(observed[keep], expected[keep]).pvalue > 1e-4


@pytest.mark.parametrize("degree", [1, 2])
def test_the_strongest_test_of_worst_case_neighbours_stays_within_epsilon(degree, rng):
    """Neyman-Pearson on the noisy tables: TPR / FPR stays below e^epsilon, and reaches the half that the tables may spend."""
    sizes, epsilon, runs = (2, 3, 2), 2.0, 8_000
    ones = table_of([[0, 0, 0], [1, 2, 1], [0, 2, 0]], sizes)
    twos = table_of([[0, 0, 0], [1, 2, 1], [1, 1, 1]], sizes)

    def loss(model):
        """Log-likelihood ratio of the measured tables, given the network (that of the network is left out)."""
        total = 0.0
        for m in model.measurements:
            near, far = (np.abs(m.counts - joint(t.codes, m.columns, t.schema.sizes)).sum() for t in (ones, twos))
            total += (far - near) / m.scale
        return total

    generator = PrivBayes(epsilon, degree)
    first, second = (np.array([loss(generator.fit(t, rng)) for _ in range(runs)]) for t in (ones, twos))
    assert np.abs(np.concatenate([first, second])).max() <= epsilon / 2 + 1e-9
    for threshold in np.unique(first.round(9)) - 1e-6:
        hits, alarms = (first > threshold).sum(), (second > threshold).sum()
        spread = 5 * math.sqrt(1 / hits + 1 / alarms)
        assert math.log(hits / alarms) <= epsilon + spread
    # the last threshold keeps the losses of exactly epsilon / 2: there the ratio is e^(epsilon / 2)
    assert math.log(hits / alarms) == pytest.approx(epsilon / 2, abs=spread)
    assert spread < epsilon / 4


@pytest.mark.parametrize(("epsilon", "degree"), [(0.5, 1), (2.0, 2), (10.0, 1)])
def test_noise_scale_over_many_fits(epsilon, degree, rng):
    """The scale that the draws imply is within 2 % of the formula, two-sided (at 5 standard errors)."""
    table = table_of(np.column_stack([rng.integers(0, s, 25) for s in (4, 3, 2, 5, 3)]), (4, 3, 2, 5, 3))
    scale = 2 * (5 - degree) / (epsilon / 2)
    noise = np.concatenate(
        [
            (m.counts - joint(table.codes, m.columns, table.schema.sizes)).ravel()
            for _ in range(3_000)
            for m in PrivBayes(epsilon, degree).fit(table, rng).measurements
        ]
    )
    ratio = math.exp(-1 / scale)
    mean, second = 2 * ratio / (1 - ratio**2), 2 * ratio / (1 - ratio) ** 2
    assert np.abs(noise).mean() == pytest.approx(mean, abs=5 * math.sqrt((second - mean**2) / noise.size))
    assert 5 * math.sqrt((second - mean**2) / noise.size) < 0.02 * mean
    assert (noise**2).mean() == pytest.approx(second, rel=0.03)
