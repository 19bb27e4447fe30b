import itertools

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from unmask.generators._tree_fit import fit_columns, fit_tree

SIZES = np.array([2, 3, 1, 4])
TREES = {"chain": [(0, 1), (1, 2), (2, 3)], "star": [(0, 1), (1, 3), (1, 2)], "mixed": [(1, 3), (0, 3), (0, 2)]}


class Problem:
    """Noisy marginals of a small table, and the map from a joint distribution over all rows to those marginals."""

    def __init__(self, edges, total, noise, rng):
        self.edges, self.total = edges, total
        rows = np.array(list(itertools.product(*(range(size) for size in SIZES))))
        parts = [self._indicator(rows, (j,)) for j in range(len(SIZES))]
        parts += [self._indicator(rows, edge) for edge in edges]
        self.singles = sum(len(part) for part in parts[: len(SIZES)])
        self.map = np.concatenate(parts)
        self.variances = np.full(len(self.map), float(len(edges)))
        self.variances[: self.singles] = len(SIZES) * rng.integers(1, 5, self.singles)
        joint = rng.multinomial(total, rng.dirichlet(np.full(len(rows), 0.3)))
        self.measured = self.map @ joint + noise * np.sqrt(self.variances) * rng.normal(size=len(self.map))

    @staticmethod
    def _indicator(rows, columns):
        place = np.ravel_multi_index(rows[:, columns].T, SIZES[list(columns)])
        return (place == np.arange(np.prod(SIZES[list(columns)]))[:, None]).astype(float)

    def fitted(self):
        ends = np.cumsum([SIZES[a] * SIZES[b] for a, b in self.edges])
        pairs = np.split(self.measured[self.singles :], ends[:-1])
        pairs = [pair.reshape(SIZES[a], SIZES[b]) for pair, (a, b) in zip(pairs, self.edges, strict=True)]
        known = self.measured[: self.singles], self.variances[: self.singles]
        columns, tables = fit_tree(SIZES, self.edges, *known, pairs, float(len(self.edges)), float(self.total))
        return np.concatenate([*columns, *(table.ravel() for table in tables)])

    def loss(self, marginals):
        return 0.5 * ((marginals - self.measured) ** 2 / self.variances).sum()

    def gradient(self, marginals):
        return (marginals - self.measured) / self.variances


@pytest.fixture(params=itertools.product(TREES, [(200, 3.0), (50, 20.0), (10_000, 1.0)]), ids=str)
def problem(request, rng):
    tree, (total, noise) = request.param
    return Problem(TREES[tree], total, noise, rng)


def test_no_distribution_is_closer_to_the_measurements(problem):
    """The loss is convex, so it exceeds its least value by at most the slope towards the best single row."""
    fitted = problem.fitted()
    slope = problem.gradient(fitted)
    gap = slope @ fitted - problem.total * (slope @ problem.map).min()
    assert abs(gap) <= 1e-5 * problem.loss(np.zeros(len(fitted)))


def test_equals_nonnegative_least_squares_over_all_rows(problem):
    weights = 1 / np.sqrt(problem.variances)
    sums = 1e4 * np.ones((1, problem.map.shape[1]))
    best = lsq_linear(  # not nnls, which loses its way in scipy 1.12
        np.concatenate([problem.map * weights[:, None], sums]),
        np.append(problem.measured * weights, 1e4 * problem.total),
        bounds=(0, np.inf),
        method="bvls",
    )
    assert best.success
    assert problem.fitted() == pytest.approx(problem.map @ best.x, abs=1e-4 * problem.total)


def test_mirror_descent_goes_to_the_same_point(rng):
    """Entropic mirror descent on the joint distribution is what belief propagation does edge by edge."""
    problem = Problem(TREES["star"], 200, 3.0, rng)
    joint = np.full(problem.map.shape[1], problem.total / problem.map.shape[1])
    for _ in range(20_000):
        step = 0.2 / problem.total * (problem.gradient(problem.map @ joint) @ problem.map)
        joint = joint * np.exp(-step)
        joint *= problem.total / joint.sum()
    fitted = problem.fitted()
    assert problem.loss(problem.map @ joint) == pytest.approx(problem.loss(fitted), rel=1e-3)
    assert problem.map @ joint == pytest.approx(fitted, abs=0.005 * problem.total)


def test_marginals_agree_and_are_counts_of_the_total(problem):
    fitted = problem.fitted()
    assert fitted.min() >= -1e-6 * problem.total
    columns = np.split(fitted[: problem.singles], np.cumsum(SIZES)[:-1])
    begin = problem.singles
    for a, b in problem.edges:
        table = fitted[begin : begin + SIZES[a] * SIZES[b]].reshape(SIZES[a], SIZES[b])
        begin += table.size
        assert table.sum(1) == pytest.approx(columns[a], abs=1e-6 * problem.total)
        assert table.sum(0) == pytest.approx(columns[b], abs=1e-6 * problem.total)
        assert table.sum() == pytest.approx(problem.total)


def test_exact_measurements_come_back_unchanged(rng):
    problem = Problem(TREES["mixed"], 500, 0.0, rng)
    assert problem.fitted() == pytest.approx(problem.measured, abs=1e-9)


def test_columns_are_projected_on_their_total(rng):
    """Optimal: the moved cells share one shift per variance, and a cell at zero would need a negative one."""
    sizes = np.array([5, 1, 8])
    for _ in range(50):
        measured, variances = rng.normal(10, 20, sizes.sum()), rng.uniform(1, 9, sizes.sum())
        for total in (1.0, 30.0, 1000.0):
            fitted = fit_columns(sizes, measured, variances, total)
            for cells in np.split(np.arange(sizes.sum()), np.cumsum(sizes)[:-1]):
                shift = (fitted[cells] - measured[cells]) / variances[cells]
                assert fitted[cells].sum() == pytest.approx(total)
                assert fitted[cells].min() >= 0
                assert shift[fitted[cells] > 0] == pytest.approx(shift[fitted[cells] > 0][0])
                assert np.all(shift[fitted[cells] == 0] >= shift[fitted[cells] > 0][0] - 1e-9)


def test_columns_without_edges_are_fitted_on_their_own():
    sizes = np.array([2, 3, 4])
    singles = np.array([30.0, 30.0, -9.0, 40.0, 20.0, 15.0, 15.0, 14.0, 16.0])
    pair = np.full((2, 4), 7.5)
    columns, pairs = fit_tree(sizes, [(0, 2)], singles, np.ones(9), [pair], 1.0, 60.0)
    assert columns[1] == pytest.approx([0, 40, 20])
    assert pairs[0].sum(axis=0) == pytest.approx(columns[2], abs=1e-5)
    columns, pairs = fit_tree(sizes, [], singles, np.ones(9), [], 1.0, 60.0)
    assert columns[1] == pytest.approx([0, 40, 20])
    assert pairs == []
