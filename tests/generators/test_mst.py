import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from unmask import datasets
from unmask.errors import ParameterError
from unmask.generators import Neighbours, get, mst
from unmask.generators._merging import Merging
from unmask.generators._noise import Seeded
from unmask.generators.mst import MST, _edge_scores, edge_scores, estimated_total
from unmask.stats.zcdp import delta_from_rho
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table


def table_of(codes, sizes) -> Table:
    """A table of categorical codes under a public schema."""
    columns = tuple(
        Column(f"c{j}", Kind.CATEGORICAL, values=tuple(f"v{k}" for k in range(size))) for j, size in enumerate(sizes)
    )
    schema = Schema(columns)
    return Table(schema, np.asfortranarray(codes, dtype=schema.code_type), np.empty((len(codes), 0), order="F"))


def every_row(sizes) -> Table:
    return table_of(np.array(list(itertools.product(*(range(size) for size in sizes)))), sizes)


def related(rows, sizes, rng) -> Table:
    """Columns that follow the first one most of the time."""
    first = rng.integers(0, 100, rows)
    codes = [np.where(rng.random(rows) < 0.7, first, rng.integers(0, 100, rows)) % size for size in sizes]
    return table_of(np.column_stack(codes), sizes)


def counted(cells, columns, shape):
    counts = np.zeros(shape)
    np.add.at(counts, tuple(cells[:, j] for j in columns), 1)
    return counts


def exact(model, table):
    """What the model's measurements would be without noise."""
    cells = np.column_stack([model.merging.cell_of[j][table.codes[:, j]] for j in range(table.codes.shape[1])])
    return [
        counted(table.codes if len(m.columns) == 1 else cells, m.columns, m.counts.shape) for m in model.measurements
    ]


# The budget and the noise


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (1.0, 1e-9), (1.0, 1e-5), (10.0, 1e-6), (1000.0, 1e-9)])
def test_the_budget_is_spent_in_thirds_and_gives_epsilon_and_delta(epsilon, delta, rng):
    generator = MST(epsilon=epsilon, delta=delta)
    assert delta_from_rho(generator.rho, epsilon) <= delta
    assert delta_from_rho(generator.rho * (1 + 1e-6), epsilon) > delta
    assert generator.sigma == pytest.approx(math.sqrt(3 / (2 * generator.rho)))
    model = generator.fit(related(50, (2, 3, 4, 5), rng), rng)
    scales = [m.scale for m in model.measurements]
    assert scales == pytest.approx([generator.sigma * math.sqrt(4)] * 4 + [generator.sigma * math.sqrt(3)] * 3)
    assert sum(1 / (2 * m.scale**2) for m in model.measurements) == pytest.approx(generator.rho * 2 / 3)


def test_measured_noise_has_the_stated_scale(rng):
    """Thousands of draws; the sum of squares over the variance is chi-squared, so both sides are checked."""
    generator = MST(epsilon=2.0, delta=1e-6)
    table = related(3000, (4, 5, 3), rng)
    squares = {1: [], 2: []}
    totals = {1: [], 2: []}
    for _ in range(300):
        model = generator.fit(table, rng)
        for measurement, counts in zip(model.measurements, exact(model, table), strict=True):
            noise = (measurement.counts - counts) / measurement.scale
            squares[noise.ndim].append(noise.ravel() ** 2)
            totals[noise.ndim].append(noise.ravel())
            assert np.array_equal(measurement.counts, np.rint(measurement.counts))
    for order in (1, 2):
        drawn = np.concatenate(squares[order])
        assert len(drawn) >= 3000
        assert 0.001 < stats.chi2.cdf(drawn.sum(), len(drawn)) < 0.999
        assert abs(np.concatenate(totals[order]).mean()) < 4 / math.sqrt(len(drawn))


def test_edges_are_chosen_with_the_stated_weights(rng):
    """First of the d-1 choices: weight exp(eps_i q / 2) with (d-1) eps_i^2 / 8 = rho / 3."""
    generator = MST(epsilon=1.0)
    each = math.sqrt(8 * generator.rho / 9)
    scores = np.zeros((4, 4))
    first, second = np.triu_indices(4, 1)
    scores[first, second] = [3.0, 10.0, 0.0, 25.0, 14.0, 1.0]
    drawn = [generator._chosen(scores, np.full(4, 2), Seeded(rng)) for _ in range(6000)]
    weights = np.exp(each * scores[first, second] / 2)
    seen = [sum(edges[0] == pair for edges in drawn) for pair in zip(first, second, strict=True)]
    assert stats.chisquare(seen, 6000 * weights / weights.sum()).pvalue > 1e-4
    for edges in drawn[:200]:
        assert len(edges) == 3
        assert connected(edges, 4)


def connected(edges, width):
    reached = {0}
    for _ in range(width):
        reached |= {v for edge in edges if reached & set(edge) for v in edge}
    return len(reached) == width


def test_total_is_the_best_weighted_mean_and_unbiased(rng):
    table = related(400, (2, 7, 3), rng)
    generator = MST(epsilon=1.0)
    estimates, variance = [], None
    for _ in range(400):
        noisy = [m.counts for m in generator.fit(table, rng).measurements if len(m.columns) == 1]
        estimates.append(estimated_total([noisy]))
        variance = 1 / sum(1 / (counts.size * 3 * generator.sigma**2) for counts in noisy)
    assert abs(np.mean(estimates) - 400) < 4 * math.sqrt(variance / 400)
    assert 0.001 < stats.chi2.cdf(np.var(estimates) * 400 / variance, 399) < 0.999
    assert estimated_total([[np.array([-5, 2])], [np.array([[-3, 1]])]]) == 1.0
    mixed = estimated_total([[np.array([8, 2]), np.array([3, 3, 3])], [np.array([[6, 6], [1, 1]])]])
    assert mixed == pytest.approx((10 / 4 + 9 / 6 + 14 / 4) / (1 / 4 + 1 / 6 + 1 / 4))


# Scores


def test_scores_equal_the_distance_of_full_tables(rng):
    sizes = np.array([2, 5, 1, 7])
    for _ in range(20):
        cells = np.column_stack([rng.integers(0, size, 60) for size in sizes]).astype(np.uint8)
        total = 55.5
        shares = [rng.dirichlet(np.ones(size)) * (rng.random(size) < 0.8) for size in sizes]
        shares = [share / share.sum() if share.sum() else np.full(share.size, 1 / share.size) for share in shares]
        flat = np.concatenate(shares)
        scores = edge_scores(cells, sizes, flat * total, total)
        by_sorting = _edge_scores(
            np.ascontiguousarray(cells.T), sizes, np.cumsum(sizes) - sizes, flat, total, np.zeros(0, dtype=np.int32)
        )
        for a, b in itertools.combinations(range(4), 2):
            expected = total * np.outer(shares[a], shares[b])
            distance = np.abs(counted(cells, (a, b), expected.shape) - expected).sum()
            assert scores[a, b] == pytest.approx(distance)
            assert by_sorting[a, b] == pytest.approx(distance)


def test_one_row_more_or_less_moves_no_score_by_more_than_one(rng):
    sizes = np.array([3, 4, 2, 6])
    largest = 0.0
    for _ in range(300):
        rows = int(rng.integers(1, 30))
        cells = np.column_stack([rng.integers(0, size, rows) for size in sizes]).astype(np.uint8)
        total = float(rng.uniform(1, 40))
        expected = total * np.concatenate([rng.dirichlet(np.full(size, 0.5)) for size in sizes])
        scores = edge_scores(cells, sizes, expected, total)
        added = np.vstack([cells, [rng.integers(0, size) for size in sizes]]).astype(np.uint8)
        removed = np.delete(cells, rng.integers(rows), axis=0)
        for neighbour in (added, removed) if rows > 1 else (added,):
            moved = np.abs(edge_scores(neighbour, sizes, expected, total) - scores)
            largest = max(largest, moved.max())
    assert 0.999 < largest <= 1 + 1e-9


def test_nothing_but_noisy_values_reaches_the_model(monkeypatch, rng):
    """With measurements and choices that ignore the data, tables of other sizes and values give the same model."""

    class Deaf:
        def gaussian(self, counts, sigma):
            return np.arange(counts.size).reshape(counts.shape) % 7 * 100

        def choose(self, scores, epsilon, sensitivity):
            return len(scores) // 2

    monkeypatch.setattr(mst, "noise_for", lambda release, rng: Deaf())
    sizes = (3, 4, 5, 2)
    models = [MST().fit(related(rows, sizes, rng), rng) for rows in (1, 37, 5000)]
    for model in models[1:]:
        for one, other in zip(models[0].tree.tables, model.tree.tables, strict=True):
            assert np.array_equal(one, other)
        assert np.array_equal(model.tree.parents, models[0].tree.parents)
        drawn = [m.sample(50, np.random.default_rng(1)).codes for m in (models[0], model)]
        assert np.array_equal(*drawn)


# Merging


def test_rare_codes_are_merged_and_spread_evenly(rng):
    merging = Merging.of([np.array([50, -3, 29, 30, 2]), np.array([40, 31])], 30.0)
    assert [cells.tolist() for cells in merging.cell_of] == [[0, 2, 2, 1, 2], [0, 1]]
    assert [codes.tolist() for codes in merging.rare] == [[1, 2, 4], []]
    assert merging.sizes.tolist() == [3, 2]
    assert [counts.tolist() for counts in merging.add_up([np.array([50, -3, 29, 30, 2]), np.array([40, 31])])] == [
        [50, 30, 28],
        [40, 31],
    ]
    assert [counts.tolist() for counts in merging.spread] == [[1, 1, 3], [1, 1]]
    cells = np.column_stack([rng.integers(0, 3, 9000), rng.integers(0, 2, 9000)])
    codes = merging.codes_of(cells, rng)
    assert np.array_equal(merging.cells_of(codes), cells)
    assert stats.chisquare(np.bincount(codes[cells[:, 0] == 2, 0], minlength=5)[[1, 2, 4]]).pvalue > 1e-4
    assert merging.log_share(np.array([[0, 0], [1, 1], [4, 0]])) == pytest.approx([0, -math.log(3), -math.log(3)])


def test_without_noise_only_codes_that_never_occur_are_merged():
    merging = Merging.of([np.array([3, 0, 1, 0])], 0.0)
    assert merging.cell_of[0].tolist() == [0, 2, 1, 2]


def test_codes_below_three_standard_deviations_share_a_cell(rng):
    codes = np.column_stack([np.repeat([0, 1, 2, 3], [3000, 2990, 5, 5]), rng.integers(0, 2, 6000)])
    generator = MST(epsilon=1.0)
    model = generator.fit(table_of(codes, (4, 2)), rng)
    noisy = model.measurements[0].counts
    limit = 3 * generator.sigma * math.sqrt(2)
    assert np.array_equal(np.isin(np.arange(4), model.merging.rare[0]), noisy < limit)
    assert set(model.merging.rare[0]) == {2, 3}
    assert model.measurements[2].counts.shape == (3, 2)
    logs = model.log_likelihood(every_row((4, 2))).reshape(4, 2)
    assert logs[2] == pytest.approx(logs[3])


# The model


@pytest.mark.parametrize("epsilon", [math.inf, 1e6])
def test_a_large_epsilon_reproduces_columns_and_chosen_pairs(epsilon, people, rng):
    model = MST(epsilon=epsilon).fit(people, rng)
    rows = 40_000
    sampled = model.sample(rows, rng).codes
    assert len(model.measurements) == 11
    for measurement in model.measurements:
        shape = people.schema.sizes[list(measurement.columns)]
        truth = counted(people.codes, measurement.columns, shape).ravel() / len(people)
        drawn = counted(sampled, measurement.columns, shape).ravel()
        assert not drawn[truth == 0].any()
        assert stats.chisquare(drawn[truth > 0], rows * truth[truth > 0]).pvalue > 1e-5


def test_without_noise_the_tree_is_the_heaviest(rng):
    """Kruskal with the largest scores first is a maximum spanning tree."""
    table = related(300, (3, 4, 2, 5), rng)
    model = MST(epsilon=math.inf).fit(table, rng)
    weight = {}
    for a, b in itertools.combinations(range(4), 2):
        counts = counted(table.codes, (a, b), table.schema.sizes[[a, b]])
        weight[a, b] = np.abs(counts - np.outer(counts.sum(1), counts.sum(0)) / 300).sum()
    trees = [tree for tree in itertools.combinations(weight, 3) if connected(tree, 4)]
    best = max(trees, key=lambda tree: sum(weight[edge] for edge in tree))
    assert {m.columns for m in model.measurements[4:]} == set(best)
    assert all(m.noise == "none" and m.scale == 0 for m in model.measurements)


@pytest.mark.parametrize("epsilon", [0.5, 5.0, 50.0, math.inf])
def test_probabilities_add_up_to_one_and_samples_follow_them(epsilon, rng):
    sizes = (3, 4, 1, 5)
    model = MST(epsilon=epsilon).fit(related(500, sizes, rng), rng)
    rows = every_row(sizes)
    chances = np.exp(model.log_likelihood(rows))
    assert chances.sum() == pytest.approx(1, abs=1e-10)
    drawn = model.sample(20_000, rng).codes
    seen = np.bincount(np.ravel_multi_index(drawn.T.astype(np.int64), sizes), minlength=len(chances))
    assert not seen[chances == 0].any()
    usual = chances * 20_000 >= 5
    lumped = np.append(seen[usual], seen[~usual].sum()), 20_000 * np.append(chances[usual], chances[~usual].sum())
    assert stats.chisquare(lumped[0][lumped[1] > 0], lumped[1][lumped[1] > 0]).pvalue > 1e-4


def test_rows_with_values_outside_the_schema_have_no_probability(rng):
    table = related(50, (3, 2), rng)
    model = MST(epsilon=math.inf).fit(table, rng)
    strange = table_of(np.array([[0, 0], [3, 0]]), (3, 2))
    assert model.log_likelihood(strange)[1] == -math.inf


# Tables of every shape


SHAPES = [(1, (1,)), (1, (3, 2)), (40, (5,)), (4, (2, 2, 2)), (4, (2, 3, 2, 2)), (30, (1, 1, 1)), (30, (1, 4, 1, 9))]


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 100.0, math.inf])
@pytest.mark.parametrize(("rows", "sizes"), [*SHAPES, (80, (2, 3) * 30)])
def test_works_on_small_narrow_constant_and_wide_tables(rows, sizes, epsilon, rng):
    table = related(rows, sizes, rng)
    model = MST(epsilon=epsilon).fit(table, rng)
    sampled = model.sample(25, rng)
    assert len(sampled) == 25
    assert sampled.schema == table.schema
    assert (sampled.codes < table.schema.sizes).all()
    assert np.isfinite(model.log_likelihood(sampled)).all()
    assert len(model.sample(0, rng)) == 0
    assert len(model.measurements) == 2 * len(sizes) - 1


@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_works_with_missing_values_numbers_and_thousands_of_values(epsilon, people, rng):
    sampled = MST(epsilon=epsilon).fit(people, rng).sample(300, rng)
    assert sampled.to_pandas().shape == (300, 6)
    frame = pd.DataFrame(
        {"place": rng.integers(0, 3000, 6000).astype(str), "name": rng.integers(0, 3000, 6000).astype(str)}
    )
    frame["sex"] = rng.choice(["f", "m"], 6000)
    frame["gone"] = pd.Series([None] * 6000, dtype=object)
    table = Table.from_pandas(frame)
    model = MST(epsilon=epsilon).fit(table, rng)
    assert np.isfinite(model.log_likelihood(model.sample(100, rng))).all()


def test_pairs_of_too_many_cells_are_left_apart(rng, monkeypatch):
    monkeypatch.setattr(mst, "MAX_CELLS", 12)
    model = MST(epsilon=math.inf).fit(related(500, (5, 4, 3), rng), rng)
    assert {m.columns for m in model.measurements[3:]} == {(1, 2)}
    chances = np.exp(model.log_likelihood(every_row((5, 4, 3))))
    assert chances.sum() == pytest.approx(1)


# Parameters and promises


@pytest.mark.parametrize(
    "bad", [{"epsilon": 0}, {"epsilon": -1}, {"epsilon": math.nan}, {"epsilon": "1"}, {"delta": 0}, {"delta": 1.0}]
)
def test_impossible_parameters_are_refused(bad):
    with pytest.raises(ParameterError, match="mst: "):
        MST(**bad)


def test_an_epsilon_too_small_for_any_noise_is_refused(rng):
    with pytest.raises(ParameterError, match="larger"):
        MST(epsilon=1e-30, delta=1e-300).fit(related(20, (2, 2), rng), rng)


def test_claim_says_add_remove_and_is_void_for_an_inferred_schema(people, rng):
    generator = get("mst", epsilon=2, delta=1e-6)
    assert generator.claim.neighbours is Neighbours.ADD_REMOVE
    assert (generator.claim.epsilon, generator.claim.delta) == (2.0, 1e-6)
    assert "inferred" in generator.fit(people, rng).claim.void
    assert generator.fit(related(20, (2, 2), rng), rng).claim == generator.claim


def test_same_seed_same_model_and_parameters_pickle(people):
    generator = pickle.loads(pickle.dumps(MST(epsilon=3.0)))
    assert generator == MST(epsilon=3.0)
    one, other = (generator.fit(people, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(
        one.sample(30, np.random.default_rng(1)).codes, other.sample(30, np.random.default_rng(1)).codes
    )
    assert pickle.loads(pickle.dumps(one)).log_likelihood(people) == pytest.approx(one.log_likelihood(people))


def test_a_release_cannot_be_seeded_and_uses_hardened_noise(rng):
    table = related(500, (3, 4, 2), rng)
    with pytest.raises(ParameterError, match="rng=None"):
        MST(release=True).fit(table, rng)
    pytest.importorskip("opendp")
    models = [MST(epsilon=10.0, release=True).fit(table, None) for _ in range(2)]
    assert not np.array_equal(models[0].measurements[1].counts, models[1].measurements[1].counts)
    assert len(models[0].sample(10, rng)) == 10


def test_rounded_rows_have_the_expected_counts(rng):
    """One column: every count is the expected one, rounded up or down; over many draws the mean is the expectation."""
    table = datasets.adult().select(["education", "sex", "race"]).take(np.arange(2000))
    fitted = MST(10.0, rounded=True).fit(table, rng).tree
    root = int(fitted.order[0])
    expected = 333 * fitted.marginal(root)
    counts = np.array(
        [np.bincount(fitted.rounded_sample(333, rng)[:, root], minlength=len(expected)) for _ in range(200)]
    )
    assert (counts.sum(axis=1) == 333).all()
    assert (np.abs(counts - expected) < 1 + 1e-6).all()
    assert np.abs(counts.mean(axis=0) - expected).max() < 0.2


def test_rounded_pairs_vary_less_than_independent_ones(rng):
    table = datasets.adult().select(["education", "sex", "race"]).take(np.arange(2000))
    fitted = MST(10.0).fit(table, rng).tree
    child = int(fitted.order[1])
    parent = int(fitted.parents[child])
    spread = {}
    for how in (fitted.sample, fitted.rounded_sample):
        drawn = [how(500, rng) for _ in range(100)]
        counts = [
            np.bincount(
                rows[:, parent] * fitted.sizes[child] + rows[:, child],
                minlength=fitted.sizes[parent] * fitted.sizes[child],
            )
            for rows in drawn
        ]
        spread[how.__name__] = np.var(counts, axis=0).sum()
        expected = 500 * fitted.pair(parent, child).ravel()
        assert np.abs(np.mean(counts, axis=0) - expected).max() < 4
    assert spread["rounded_sample"] < spread["sample"] / 5
