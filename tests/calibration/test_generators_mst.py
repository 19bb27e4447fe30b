"""The privacy that MST spends, seen from outside, and the utility that it buys on Adult."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

from unmask.generators._counts import joint
from unmask.generators.mst import MST
from unmask.stats.epsilon.clopper_pearson import epsilon_clopper_pearson
from unmask.tables.read import read_table
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

pytestmark = pytest.mark.calibration

TARGET = np.array([0, 1, 0])


@dataclass(frozen=True)
class TooLittleNoise(MST):
    """Claims what MST claims, with a twentieth of the noise."""

    @property
    def sigma(self) -> float:
        return super().sigma / 20


def neighbours() -> tuple[Table, Table]:
    """A table in which every value is common, and the same one with the target added."""
    schema = Schema(tuple(Column(f"c{j}", Kind.CATEGORICAL, values=("a", "b")) for j in range(3)))
    without = np.tile(list(itertools.product((0, 1), repeat=3)), (100, 1))
    return tuple(
        Table(schema, np.asfortranarray(codes, dtype=schema.code_type), np.empty((len(codes), 0), order="F"))
        for codes in (without, np.vstack([without, TARGET]))
    )


def scores(generator, table, without, runs, rng):
    """What a white-box attacker sums up: noisy minus expected counts of the target's cells, in variances."""
    columns = [at for order in (1, 2) for at in itertools.combinations(range(3), order)]
    cells = {at: tuple(TARGET[list(at)]) for at in columns}
    expected = {at: joint(without.codes, at, without.schema.sizes)[cells[at]] for at in columns}
    return np.array(
        [
            sum(
                (measured.counts[cells[measured.columns]] - expected[measured.columns]) / measured.scale**2
                for measured in generator.fit(table, rng).measurements
            )
            for _ in range(runs)
        ]
    )


def test_the_measurements_give_away_exactly_two_thirds_of_the_budget(rng):
    """d and d-1 Gaussians of sd sigma sqrt(d), sigma sqrt(d-1): the best test separates by sqrt(2)/sigma, both sides."""
    generator = MST(epsilon=4.0, delta=1e-6)
    without, with_target = neighbours()
    runs = 2500
    out, inside = (scores(generator, table, without, runs, rng) for table in (without, with_target))
    spread = math.sqrt((out.var(ddof=1) + inside.var(ddof=1)) / 2)
    separation = (inside.mean() - out.mean()) / spread
    truth = math.sqrt(2) / generator.sigma
    assert truth == pytest.approx(math.sqrt(2 * generator.rho * 2 / 3))  # mu-GDP of two thirds of rho
    assert abs(separation - truth) < 4 * math.sqrt(2 / runs)


def test_the_claim_stands_and_that_of_a_broken_twin_falls(rng):
    without, with_target = neighbours()
    bounds = {}
    for kind in (MST, TooLittleNoise):
        generator = kind(epsilon=1.0, delta=1e-9)
        played = [scores(generator, table, without, 1000, rng) for table in (with_target, without)]
        bounds[kind] = epsilon_clopper_pearson(*played, delta=1e-9, confidence=0.999, rng=rng).value
    assert bounds[MST] <= 1.0
    assert bounds[TooLittleNoise] > 1.0


def test_utility_on_adult(data, rng):
    """Mean total variation, n = 5000: about .024 / .087 at epsilon 1, .0055 / .048 at 10 and .0038 / .043 without noise."""
    adult = read_table(data / "adult" / "adult_complete.csv.gz")
    table = adult.take(rng.choice(len(adult), 5000, replace=False))
    most = {1.0: (0.03, 0.105), 10.0: (0.007, 0.055), math.inf: (0.005, 0.05)}
    for epsilon, limits in most.items():
        drawn = [MST(epsilon=epsilon).fit(table, rng).sample(50_000, rng) for _ in range(5)]
        for order, limit in zip((1, 2), limits, strict=True):
            assert np.mean([_variation(table, synthetic, order) for synthetic in drawn]) < limit


def _variation(one, other, order):
    sizes = one.schema.sizes
    return np.mean(
        [
            0.5 * np.abs(joint(one.codes, at, sizes) / len(one) - joint(other.codes, at, sizes) / len(other)).sum()
            for at in itertools.combinations(range(len(sizes)), order)
        ]
    )
