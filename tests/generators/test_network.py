import itertools

import numpy as np
import pytest
from scipy import stats

from unmask.generators._network import NetworkModel, Node
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table


def schema_of(*sizes):
    return Schema(
        tuple(Column(f"c{j}", Kind.CATEGORICAL, tuple(f"v{i}" for i in range(s))) for j, s in enumerate(sizes))
    )


def every_row(schema):
    codes = np.array(list(itertools.product(*map(range, schema.sizes))))
    return Table(schema, np.asfortranarray(codes, dtype=schema.code_type), np.empty((len(codes), 0)))


@pytest.fixture
def model(rng):
    schema = schema_of(2, 3, 4, 1)
    first = Node.from_counts(2, (), np.array([5, -3, 0, 7]))
    second = Node.from_counts(0, (2,), rng.integers(-2, 9, (4, 2)))
    third = Node.from_counts(1, (0, 2), rng.integers(-5, 9, (2, 4, 3)))
    last = Node.from_counts(3, (1,), np.zeros((3, 1), dtype=int))
    return NetworkModel(schema, (first, second, third, last))


def naive_probability(model, row):
    probability = 1.0
    for node in model.nodes:
        table = node.conditional.reshape(*model.schema.sizes[list(node.parents)], -1)
        probability *= table[(*row[list(node.parents)], row[node.child])]
    return probability


def test_log_likelihood_equals_the_product_of_the_conditionals_and_sums_to_one(model):
    rows = every_row(model.schema)
    found = np.exp(model.log_likelihood(rows))
    np.testing.assert_allclose(found, [naive_probability(model, row) for row in rows.codes], atol=1e-14)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.any(found == 0)  # clipped cells cannot be drawn


def test_samples_follow_the_log_likelihood(model, rng):
    rows = every_row(model.schema)
    expected = np.exp(model.log_likelihood(rows)) * 100_000
    sample = model.sample(100_000, rng)
    cells = np.ravel_multi_index(tuple(sample.codes.T.astype(int)), model.schema.sizes)
    observed = np.bincount(cells, minlength=len(expected))
    assert observed[expected == 0].sum() == 0
    seen = expected > 0
    assert stats.chisquare(observed[seen], expected[seen]).pvalue > 1e-4


def test_empty_rows_are_uniform():
    node = Node.from_counts(0, (1,), np.array([[0, 0, 0, 0], [-4, 0, 9, 0]]))
    np.testing.assert_array_equal(node.conditional, [[0.25] * 4, [0, 0, 1, 0]])


def test_values_that_the_schema_does_not_list_are_impossible(model):
    codes = np.asfortranarray(every_row(model.schema).codes[:2].copy())
    codes[0, 1] = 3
    assert model.log_likelihood(Table(model.schema, codes, np.empty((2, 0))))[0] == -np.inf
