import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from unmask.errors import ParameterError
from unmask.generators import Claim, Neighbours, get, privbayes
from unmask.generators._counts import joint
from unmask.generators._noise import Seeded
from unmask.generators.privbayes import Information, PrivBayes, choose_families, fit_network, sensitivity
from unmask.tables.schema import Column, Kind, Origin, Schema
from unmask.tables.table import Table


def table_of(codes, sizes):
    columns = tuple(Column(f"c{j}", Kind.CATEGORICAL, tuple(f"v{i}" for i in range(s))) for j, s in enumerate(sizes))
    schema = Schema(columns)
    return Table(schema, np.asfortranarray(codes, dtype=schema.code_type), np.empty((len(codes), 0)))


def random_table(rows, sizes, rng):
    """Columns that hang together: each is a noisy function of the one before."""
    codes = [rng.integers(0, sizes[0], rows)]
    for size in sizes[1:]:
        codes.append(np.where(rng.random(rows) < 0.6, codes[-1] % size, rng.integers(0, size, rows)))
    return table_of(np.column_stack(codes), sizes)


def with_other_row(table, rng):
    codes = table.codes.copy(order="F")
    codes[rng.integers(len(table))] = [rng.integers(size) for size in table.schema.sizes]
    return replace(table, codes=codes)


def information(table, child, parents):
    if not parents:
        return 0.0
    joined = np.ravel_multi_index(tuple(table.codes[:, list(parents)].T.astype(int)), table.schema.sizes[list(parents)])
    return mutual_info_score(table.codes[:, child], joined)


class Spy(Seeded):
    """Noise that remembers what was asked for."""

    def __init__(self, rng):
        super().__init__(rng)
        object.__setattr__(self, "choices", [])
        object.__setattr__(self, "scales", [])

    def choose(self, scores, epsilon, sensitivity):
        self.choices.append((np.array(scores), epsilon, sensitivity))
        return super().choose(scores, epsilon, sensitivity)

    def laplace(self, counts, scale):
        self.scales.append(scale)
        return super().laplace(counts, scale)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 9, 21, 100])
def test_sensitivity_holds_on_random_neighbours_and_is_reached(n, rng):
    """Binary: one row apart from a constant table. Otherwise: two halves (0, 1), (1, 0), and one row moves (0, 0) -> (2, 2)."""
    worst = {True: 0.0, False: 0.0}
    for _ in range(100):
        sizes = rng.integers(1, 6, 3)
        one = random_table(n, sizes, rng)
        two = with_other_row(one, rng)
        for child, parents in [(0, (1,)), (2, (0,)), (1, (0, 2))]:
            binary = bool(sizes[child] <= 2 or np.prod(sizes[list(parents)]) <= 2)
            change = abs(information(one, child, parents) - information(two, child, parents))
            worst[binary] = max(worst[binary], change)
    for binary, change in worst.items():
        assert change <= sensitivity(n, binary) + 1e-12
    if n > 1:
        constant, other = np.zeros((n, 2), dtype=int), np.zeros((n, 2), dtype=int)
        other[0] = 1
        assert mutual_info_score(*other.T) - mutual_info_score(*constant.T) == pytest.approx(sensitivity(n, True))
    if n % 2 and n > 1:
        halves = [(0, 1)] * (n // 2) + [(1, 0)] * (n // 2)
        changes = [
            abs(mutual_info_score(*zip(*halves, a, strict=True)) - mutual_info_score(*zip(*halves, b, strict=True)))
            for a, b in itertools.product(itertools.product(range(4), repeat=2), repeat=2)
        ]
        assert max(changes) == pytest.approx(sensitivity(n, False), abs=1e-12)


def test_information_equals_scikit_learn(rng):
    table = random_table(400, (3, 2, 7, 1, 4), rng)
    found = Information(table, 2)
    for child, a, b in itertools.permutations(range(5), 3):
        scores = found.of(np.array([child] * 3), np.array([[a, b], [a, 5], [5, 5]]))
        truth = [information(table, child, (a, b)), information(table, child, (a,)), 0]
        np.testing.assert_allclose(scores, truth, rtol=0, atol=1e-10)
    single = Information(table, 1).of(np.array([0]), np.array([[2, 5]]))
    assert single[0] == pytest.approx(information(table, 0, (2,)), abs=1e-10)


@pytest.mark.parametrize("degree", [1, 2])
def test_every_choice_offers_all_families_with_the_right_budget_and_sensitivity(degree, rng):
    table = random_table(60, (3, 2, 4, 2, 5), rng)
    noise = Spy(rng)
    families = choose_families(table, degree, 0.5, noise)
    chosen = [families[0][0]]
    for (child, _), (scores, epsilon, bound) in zip(families[1:], noise.choices, strict=True):
        left = [c for c in range(5) if c not in chosen]
        sets = list(itertools.combinations(chosen, min(degree, len(chosen))))
        truth = [information(table, c, s) for c in left for s in sets]
        np.testing.assert_allclose(sorted(scores), sorted(truth), atol=1e-10)
        assert epsilon == pytest.approx(0.5 / 4)
        sizes = table.schema.sizes
        binary = all(sizes[c] <= 2 or np.prod(sizes[list(s)]) <= 2 for c in left for s in sets)
        assert bound == sensitivity(60, binary)
        chosen.append(child)
    assert sorted(chosen) == list(range(5))


def test_binary_tables_use_the_smaller_sensitivity(rng):
    noise = Spy(rng)
    choose_families(random_table(40, (2, 2, 2), rng), 1, 1.0, noise)
    assert [bound for _, _, bound in noise.choices] == [sensitivity(40, True)] * 2


@pytest.mark.parametrize("degree", [1, 2])
def test_at_infinite_epsilon_it_is_bayesnet(degree, people, rng):
    for table in (people, random_table(150, (3, 2, 4, 6, 5), rng)):
        private = PrivBayes(math.inf, degree).fit(table, np.random.default_rng(5))
        plain = get("bayesnet", degree=degree).fit(table, np.random.default_rng(5))
        assert plain.claim is None
        for one, two in zip(private.nodes, plain.nodes, strict=True):
            assert (one.child, one.parents) == (two.child, two.parents)
            np.testing.assert_array_equal(one.running, two.running)
        samples = [m.sample(80, np.random.default_rng(6)).digest() for m in (private, plain)]
        assert samples[0] == samples[1]


@pytest.mark.parametrize(("degree", "joints"), [(1, 4), (2, 3)])
def test_noise_on_every_cell_of_the_joints_has_the_stated_scale(degree, joints, rng):
    """Lap(2 (d - degree) / (epsilon / 2)), measured over thousands of cells, two-sided, empty cells on their own too."""
    table, epsilon = random_table(8, (3, 2, 4, 2, 3), rng), 3.0
    scale = 2 * joints / (epsilon / 2)
    ratio = math.exp(-1 / scale)
    mean, second = 2 * ratio / (1 - ratio**2), 2 * ratio / (1 - ratio) ** 2
    noise, empty = [], []
    for _ in range(200):
        measurements = PrivBayes(epsilon, degree).fit(table, rng).measurements
        assert len(measurements) == joints
        for m in measurements:
            assert m.scale == pytest.approx(scale)
            assert m.noise == "laplace"
            assert len(m.columns) == degree + 1
            truth = joint(table.codes, m.columns, table.schema.sizes)
            noise.append((m.counts - truth).ravel())
            empty.append((m.counts - truth)[truth == 0])
    for cells in (np.concatenate(noise), np.concatenate(empty)):
        assert cells.size > 2_000
        assert np.abs(cells).mean() == pytest.approx(mean, abs=5 * math.sqrt((second - mean**2) / cells.size))


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("usefulness", [0.0, 0.05])
def test_tables_of_neighbours_differ_by_at_most_half_of_epsilon(degree, usefulness, rng):
    """Laplace noise: the privacy loss of the tables is the sum of |changes| / scale, whatever the network."""
    worst = 0.0
    for _ in range(40):
        one = random_table(12, (3, 2, 4, 2), rng)
        two = with_other_row(one, rng)
        model = PrivBayes(1.0, degree, usefulness).fit(one, rng)
        losses = [
            np.abs(joint(one.codes, m.columns, one.schema.sizes) - joint(two.codes, m.columns, one.schema.sizes)).sum()
            / m.scale
            for m in model.measurements
        ]
        worst = max(worst, sum(losses))
    assert worst == pytest.approx(0.5)


def log_probability(table, families, degree, epsilon):
    """Of choosing these families in this order, the first one given; a naive exponential mechanism."""
    sizes, n = table.schema.sizes, len(table)
    total, chosen = 0.0, [families[0][0]]
    for child, parents in families[1:]:
        left = [c for c in range(len(sizes)) if c not in chosen]
        offers = [(c, s) for c in left for s in itertools.combinations(sorted(chosen), min(degree, len(chosen)))]
        bound = sensitivity(n, all(sizes[c] <= 2 or np.prod(sizes[list(s)]) <= 2 for c, s in offers))
        logits = {o: epsilon / (len(sizes) - 1) * information(table, *o) / (2 * bound) for o in offers}
        total += logits[child, tuple(sorted(parents))] - np.log(np.sum(np.exp(list(logits.values()))))
        chosen.append(child)
    return total


@pytest.mark.parametrize("degree", [1, 2])
def test_networks_of_neighbours_are_alike_within_half_of_epsilon(degree, rng):
    for _ in range(30):
        one = random_table(int(rng.integers(2, 8)), (2, 3, 2, 3), rng)
        two = with_other_row(one, rng)
        families = choose_families(one, degree, 0.5, Seeded(rng))
        loss = log_probability(one, families, degree, 0.5) - log_probability(two, families, degree, 0.5)
        assert abs(loss) <= 0.5


def test_first_columns_are_derived_from_the_first_joint_table(rng):
    table = random_table(300, (3, 2, 4, 2), rng)
    model = PrivBayes(5.0, 2).fit(table, rng)
    first, second, third = model.nodes[:3]
    source = model.measurements[0]
    assert set(source.columns) == {first.child, second.child, third.child}
    clipped = np.maximum(source.counts, 0)
    spread = {column: axis for axis, column in enumerate(source.columns)}
    both = clipped.sum(axis=spread[third.child])
    both = both if spread[first.child] < spread[second.child] else both.T
    np.testing.assert_allclose(first.conditional[0], both.sum(axis=1) / both.sum())
    rows = both.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(second.conditional, np.where(rows > 0, both / np.maximum(rows, 1), 1 / both.shape[1]))


@pytest.mark.parametrize(
    ("degree", "sizes"), [(1, (3,)), (2, (3,)), (1, (3, 4)), (2, (3, 4)), (2, (1, 1, 1)), (2, (5, 1, 2))]
)
def test_narrow_tables_of_one_row_work(degree, sizes, rng):
    table = table_of(np.zeros((1, len(sizes)), dtype=int), sizes)
    model = PrivBayes(1.0, degree).fit(table, rng)
    assert len(model.measurements) == max(1, len(sizes) - degree)
    assert {m.scale for m in model.measurements} == {2 * max(1, len(sizes) - degree) / 0.5}
    sample = model.sample(20, rng)
    assert np.all(np.isfinite(model.log_likelihood(sample)))


def test_huge_joint_tables_are_no_candidates(rng, monkeypatch):
    table = random_table(200, (30, 20, 25, 3), rng)
    monkeypatch.setattr(privbayes, "MAX_CELLS", 2000)
    for seed in range(10):
        model = fit_network(table, 2, 1.0, Seeded(np.random.default_rng(seed)))
        assert max(m.counts.size for m in model.measurements) <= 2000
        assert sorted(node.child for node in model.nodes) == [0, 1, 2, 3]
        assert len({m.scale for m in model.measurements}) == 1
        assert model.measurements[0].scale == 2 * len(model.measurements) / 0.5
        assert len(model.sample(50, rng)) == 50


def test_wide_domains_fall_back_to_single_columns(rng):
    table = random_table(50, (5000, 4000, 2), rng)
    model = PrivBayes(1.0, 2).fit(table, rng)
    assert not any({0, 1} <= set(m.columns) for m in model.measurements)
    assert len(model.sample(10, rng)) == 10


def test_usefulness_limits_tables_by_public_numbers_only(rng):
    table, epsilon, usefulness = random_table(1000, (4, 3, 5, 2, 6, 3), rng), 4.0, 2.0
    limit = 1000 * (epsilon / 2) / (2 * 6 * usefulness)
    for degree in (1, 2):
        model = PrivBayes(epsilon, degree, usefulness).fit(table, rng)
        assert all(m.counts.size <= limit or len(m.columns) == 1 for m in model.measurements)
        assert all(len(table) / m.counts.size >= usefulness * m.scale for m in model.measurements if len(m.columns) > 1)
    unlimited = PrivBayes(math.inf, 2, 4.0).fit(table, np.random.default_rng(1))
    plain = PrivBayes(math.inf, 2).fit(table, np.random.default_rng(1))
    assert [node.parents for node in unlimited.nodes] == [node.parents for node in plain.nodes]


def test_claims_release_and_refusals(people, rng):
    public = replace(people, schema=replace(people.schema, origin=Origin.PUBLIC))
    claim = Claim(2.0, neighbours=Neighbours.REPLACE)
    assert PrivBayes(2.0).claim == PrivBayes(2.0).fit(public, rng).claim == claim
    assert "inferred" in PrivBayes(2.0).fit(people, rng).claim.void
    assert PrivBayes(2.0, release=True).fit(public, None).claim == claim
    with pytest.raises(ParameterError, match="rng=None"):
        PrivBayes(release=True).fit(public, rng)
    for name in ("privbayes", "bayesnet"):
        for degree in (0, 3, 5, True, "two"):
            with pytest.raises(ParameterError, match="1 or 2 parents"):
                get(name, degree=degree)
    for parameters in ({"epsilon": 0}, {"epsilon": -1}, {"epsilon": math.nan}, {"usefulness": -1}):
        with pytest.raises(ParameterError, match="above 0"):
            get("privbayes", **parameters)
