"""The network: against enumeration, and against the posterior of a network that is known."""

import itertools

import numpy as np
import pytest

from unmask.metrics.completing.network import TreeNetwork

SIZES = np.array([2, 3, 2, 4, 3])
PARENTS = (-1, 0, 0, 1, 1)


def known_network(seed, concentration=1.0):
    rng = np.random.default_rng(seed)
    tables = [
        rng.dirichlet(np.full(size, concentration), 1 if parent < 0 else SIZES[parent])
        for size, parent in zip(SIZES, PARENTS, strict=True)
    ]
    return TreeNetwork((0, 1, 2, 3, 4), PARENTS, tuple(tables))


def joint(network):
    """Every record with its probability, by enumeration."""
    records = np.array(list(itertools.product(*(range(size) for size in SIZES))))
    chance = np.ones(len(records))
    for column, parent in enumerate(network.parents):
        above = records[:, parent] if parent >= 0 else 0
        chance *= network.tables[column][above, records[:, column]]
    return records, chance


def evidence(records, known, tilt=None):
    told = []
    for column, size in enumerate(SIZES):
        one = np.ones((len(records), size)) if tilt is None else np.tile(tilt[column], (len(records), 1))
        if column in known:
            one = one * (records[:, [column]] == np.arange(size))
        told.append(one)
    return told


@pytest.mark.parametrize("known", [(), (1,), (0, 3), (2, 3, 4)])
@pytest.mark.parametrize("tilted", [False, True])
def test_posteriors_and_the_likeliest_record_equal_enumeration(known, tilted):
    network = known_network(3)
    records, chance = joint(network)
    rng = np.random.default_rng(4)
    tilt = [rng.uniform(0.1, 1, size) for size in SIZES] if tilted else None
    if tilt is not None:
        chance = chance * np.prod([tilt[column][records[:, column]] for column in range(len(SIZES))], axis=0)
    asked = records[rng.choice(len(records), 12, replace=False)]
    posteriors, log_total = network.posteriors(evidence(asked, known, tilt))
    likeliest, log_best = network.likeliest(evidence(asked, known, tilt))
    for person, record in enumerate(asked):
        fits = np.all(records[:, list(known)] == record[list(known)], axis=1)
        assert np.exp(log_total[person]) == pytest.approx(chance[fits].sum())
        best = np.argmax(np.where(fits, chance, 0))
        assert np.exp(log_best[person]) == pytest.approx(chance[best])
        assert np.array_equal(likeliest[:, person], records[best])
        for column, size in enumerate(SIZES):
            exact = np.array([chance[fits & (records[:, column] == value)].sum() for value in range(size)])
            assert posteriors[column][person] == pytest.approx(exact / exact.sum())


def test_a_table_drawn_from_a_known_network_gives_its_posterior_back():
    """40,000 rows: the tree is found, and the posterior of every hidden column is within 0.02 of the true one on average."""
    true = known_network(8, concentration=0.5)
    records, chance = joint(true)
    rng = np.random.default_rng(1)
    drawn = records[rng.choice(len(records), 40_000, p=chance)]
    learnt = TreeNetwork.learnt(drawn.T.astype(np.int32), SIZES)
    edges = {frozenset((column, parent)) for column, parent in enumerate(learnt.parents) if parent >= 0}
    assert edges == {frozenset((column, parent)) for column, parent in enumerate(PARENTS) if parent >= 0}
    asked = drawn[:500]
    found, _ = learnt.posteriors(evidence(asked, (2, 3)))
    exact, _ = true.posteriors(evidence(asked, (2, 3)))
    for column in (0, 1, 4):
        assert np.abs(found[column] - exact[column]).max(axis=1).mean() < 0.02
