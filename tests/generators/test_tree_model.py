import itertools

import numpy as np
import pytest
from scipy import stats

from unmask.generators._tree_model import TreeModel, conditional, tree_model

TREES = {
    "chain": [(0, 1), (1, 2), (2, 3)],
    "star": [(0, 2), (1, 2), (2, 3)],
    "root in the middle": [(1, 3), (0, 3), (0, 2)],
    "two trees": [(0, 3), (1, 2)],
    "no edges": [],
}


def enumerated(sizes):
    return np.array(list(itertools.product(*(range(size) for size in sizes))))


def brute_force(sizes, edges, rng, *, empty=0.0):
    """A joint distribution with random potentials on columns and edges, by enumeration of all rows."""
    rows = enumerated(sizes)
    log_weight = sum(rng.normal(size=size)[rows[:, j]] for j, size in enumerate(sizes))
    weight = np.exp(log_weight)
    for a, b in edges:
        table = np.exp(rng.normal(size=(sizes[a], sizes[b])))
        table[1:, 1:] *= rng.random((sizes[a] - 1, sizes[b] - 1)) >= empty
        weight *= table[rows[:, a], rows[:, b]]
    return rows, weight / weight.sum()  # divided by the partition function


def summed(rows, joint, sizes, columns):
    table = np.zeros([sizes[j] for j in columns])
    np.add.at(table, tuple(rows[:, j] for j in columns), joint)
    return table


def model_of(rows, joint, sizes, edges, scale=1.0) -> TreeModel:
    columns = [scale * summed(rows, joint, sizes, (j,)) for j in range(len(sizes))]
    return tree_model(sizes, edges, columns, [scale * summed(rows, joint, sizes, edge) for edge in edges])


@pytest.mark.parametrize("edges", TREES.values(), ids=TREES)
@pytest.mark.parametrize("sizes", [(2, 3, 4, 2), (1, 5, 1, 3)])
@pytest.mark.parametrize("empty", [0.0, 0.3])
def test_inference_equals_enumeration(edges, sizes, empty, rng):
    for _ in range(5):
        rows, joint = brute_force(sizes, edges, rng, empty=empty)
        model = model_of(rows, joint, sizes, edges, scale=1000.0)  # counts or probabilities: no difference
        assert np.exp(model.log_probability(rows)) == pytest.approx(joint, abs=1e-10)
        assert np.exp(model.log_probability(rows)).sum() == pytest.approx(1, abs=1e-10)
        for a in range(4):
            assert model.marginal(a) == pytest.approx(summed(rows, joint, sizes, (a,)), abs=1e-10)
            for b in set(range(4)) - {a}:
                assert model.pair(a, b) == pytest.approx(summed(rows, joint, sizes, (a, b)), abs=1e-10)


@pytest.mark.parametrize("edges", TREES.values(), ids=TREES)
def test_samples_follow_the_distribution(edges, rng):
    sizes = (2, 3, 2, 3)
    rows, joint = brute_force(sizes, edges, rng)
    cells = model_of(rows, joint, sizes, edges).sample(40_000, rng)
    seen = np.bincount(np.ravel_multi_index(cells.T, sizes), minlength=len(rows))
    assert stats.chisquare(seen, joint * len(cells)).pvalue > 1e-4


def test_cells_of_probability_zero_are_never_drawn(rng):
    first = np.array([0.0, 0.3, 0.0, 0.7, 0.0])
    pair = np.diag(first)
    cells = tree_model((5, 5), [(0, 1)], [first, first], [pair]).sample(20_000, rng)
    assert set(cells[:, 0]) == {1, 3}
    assert np.array_equal(cells[:, 0], cells[:, 1])


def test_a_value_that_never_occurs_passes_the_overall_distribution_on():
    rows = conditional(np.array([[0.0, 0.0], [1.0, 3.0], [-2.0, 0.0]]))
    assert rows == pytest.approx(np.array([[0.25, 0.75], [0.25, 0.75], [0.25, 0.75]]))
    assert conditional(np.zeros((2, 4))) == pytest.approx(np.full((2, 4), 0.25))


def test_long_chains_and_many_rows(rng):
    width = 2_000
    pair = np.array([[0.45, 0.05], [0.05, 0.45]])
    model = tree_model(
        np.full(width, 2), [(j, j + 1) for j in range(width - 1)], [pair.sum(1)] * width, [pair] * (width - 1)
    )
    assert model.marginal(width - 1) == pytest.approx([0.5, 0.5])
    assert model.pair(0, 3)[0, 0] == pytest.approx((1 + 0.8**3) / 4)
    assert model.sample(3, rng).shape == (3, width)
    assert model.log_probability(model.sample(3, rng)).shape == (3,)
