import numpy as np
import pytest

from unmask.generators._counts import joint, mutual_information
from unmask.generators.bayesnet import BayesNet


def test_degree_one_is_a_tree_of_largest_mutual_information(people, rng):
    """Greedy growth from any column is Prim's algorithm: the sum over edges is that of Kruskal's maximum spanning tree."""
    information = mutual_information(people.codes, people.schema.sizes)
    edges = sorted(((information[a, b], a, b) for a in range(6) for b in range(a)), reverse=True)
    group, best = list(range(6)), 0.0
    for weight, a, b in edges:
        if group[a] != group[b]:
            best += weight
            group = [group[a] if g == group[b] else g for g in group]
    for _ in range(10):
        nodes = BayesNet().fit(people, rng).nodes
        assert sum(information[n.child, n.parents[0]] for n in nodes[1:]) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("degree", [1, 2])
def test_tables_are_exact_counts_and_the_log_likelihood_their_ratio(people, degree, rng):
    model = BayesNet(degree).fit(people, rng)
    sizes, naive = people.schema.sizes, np.zeros(len(people))
    for node in model.nodes:
        counts = joint(people.codes, (*node.parents, node.child), sizes)
        cells = tuple(people.codes[:, [*node.parents, node.child]].T.astype(int))
        naive += np.log(counts[cells] / counts.sum(axis=-1)[cells[:-1]])
    np.testing.assert_allclose(model.log_likelihood(people), naive, atol=1e-12)
    assert all(m.noise == "none" and m.counts.sum() == len(people) for m in model.measurements)


@pytest.mark.parametrize("degree", [1, 2])
def test_samples_reproduce_the_measured_tables(people, degree, rng):
    """Degree 1: every edge's joint table, within 5 standard errors; degree 2: at least those of the first three columns."""
    model, rows = BayesNet(degree).fit(people, rng), 50_000
    sample = model.sample(rows, rng)
    for m in model.measurements if degree == 1 else model.measurements[:1]:
        share = m.counts / len(people)
        drawn = joint(sample.codes, m.columns, people.schema.sizes) / rows
        assert np.all(np.abs(drawn - share) <= 5 * np.sqrt(share * (1 - share) / rows))
