"""Best matches, heaviest value first, against the definition written out and against all pairs."""

import numpy as np
import pytest

from unmask.tables.search import best_match
from unmask.tables.search.agreement import best_agreement
from unmask.tables.search.best_match import BestMatch


@pytest.fixture(autouse=True)
def small_tables_too(monkeypatch):
    """Else all pairs of the tables below would be compared."""
    monkeypatch.setattr(best_match, "FEWEST_PAIRS", 0)


def naive(people, weights, rows, own):
    """Single precision, in the order of the columns, as the sums of all pairs are."""
    best = np.full(len(people), -np.inf, dtype=np.float32)
    for i, person in enumerate(people):
        for j, row in enumerate(rows):
            total = np.float32(0.0)
            for column in range(people.shape[1]):
                if person[column] >= 0 and person[column] == row[column]:
                    total += weights[i, column]
            if own[i] != j:
                best[i] = max(best[i], total)
    return best


def drawn(rng, people, rows, columns, values):
    """Codes with missing ones (-2 of people, -1 of rows), values that the other side lacks, and weights with ties."""
    asked = (rng.random((people, columns)) ** 2 * (values + 1)).astype(np.int32) - 2 * (
        rng.random((people, columns)) < 0.1
    )
    offered = (rng.random((rows, columns)) ** 2 * (values + 3)).astype(np.int32)
    offered[rng.random(offered.shape) < 0.1] = -1
    asked[asked < 0] = -2
    weights = rng.random((people, columns)).astype(np.float32) * rng.choice([0.0, 1e-3, 1.0, 20.0], columns)
    return asked, np.round(weights, 2).astype(np.float32), offered


@pytest.mark.parametrize("columns", [1, 2, 5, 15, 33])
@pytest.mark.parametrize("rows", [0, 1, 64, 130, 300])
def test_equals_naive_loops(rows, columns, monkeypatch):
    monkeypatch.setattr(best_match, "ROWS", 128)
    monkeypatch.setattr(best_match, "MOST_PEOPLE", 17)
    rng = np.random.default_rng(rows + columns)
    for values in (1, 3, 40, 1000):
        people, weights, offered = drawn(rng, 40, rows, columns, values)
        own = rng.integers(-1, max(rows, 1), 40)
        match = BestMatch(people, weights)
        assert np.array_equal(match.among(offered), naive(people, weights, offered, np.full(40, -1)))
        assert np.array_equal(match.among(offered, own), naive(people, weights, offered, own))
        assert match.among(offered).dtype == np.float32


def test_equals_all_pairs_where_sums_round():
    """Thousands of rows and weights of every size: what rounding does to a sum never lets a better row be passed over."""
    rng = np.random.default_rng(5)
    people, _, rows = drawn(rng, 3000, 9000, 15, 12)
    weights = np.exp(rng.normal(0, 4, people.shape)).astype(np.float32)
    assert np.array_equal(BestMatch(people, weights).among(rows), best_agreement(people, weights, rows))


def test_negative_weights_and_no_columns():
    rng = np.random.default_rng(6)
    people, weights, rows = drawn(rng, 30, 50, 4, 3)
    weights -= np.float32(0.5)
    assert np.array_equal(BestMatch(people, weights).among(rows), naive(people, weights, rows, np.full(30, -1)))
    assert BestMatch(people[:, :0], weights[:, :0]).among(rows[:, :0]).tolist() == [0.0] * 30
    assert BestMatch(people[:0], weights[:0]).among(rows).shape == (0,)
