"""Best matches and near rows, against the definition written out."""

import numpy as np
import pytest

from unmask.tables.search.agreement import BLOCK, NEAR, agreement, best_agreement


def naive(people, weights, rows, own):
    best, near = np.full(len(people), -np.inf), np.zeros((len(people), NEAR), dtype=int)
    for i, person in enumerate(people):
        for j, row in enumerate(rows):
            if j == own[i]:
                continue
            same = (person == row) & (person >= 0)
            best[i] = max(best[i], weights[i][same].sum())
            if (~same).sum() < NEAR:
                near[i, (~same).sum()] += 1
    return best, near


@pytest.mark.parametrize("columns", [1, 3, 9])
def test_as_defined(columns):
    rng = np.random.default_rng(columns)
    people, rows = rng.integers(-2, 3, (30, columns)), rng.integers(-1, 3, (70, columns))
    weights, own = rng.random(people.shape), rng.integers(-1, 70, 30)
    found = agreement(people, weights, rows, own=own)
    best, near = naive(people, weights, rows, own)
    assert np.allclose(found.best, best, atol=1e-6)
    assert (found.near == near).all()


def test_blocks_do_not_show():
    rng = np.random.default_rng(0)
    people, rows = rng.integers(0, 4, (3, 4)), rng.integers(0, 4, (2 * BLOCK + 7, 4))
    own = np.array([BLOCK - 1, BLOCK, 2 * BLOCK + 6])
    best, near = naive(people, weights := np.ones((3, 4)), rows, own)
    found = agreement(people, weights, rows, own=own)
    assert (found.best == best).all()
    assert (found.near == near).all()


def test_without_rows_there_is_no_match():
    found = agreement(np.zeros((2, 3)), np.ones((2, 3)), np.empty((0, 3)))
    assert np.isneginf(found.best).all()
    assert not found.near.any()


def test_the_best_match_alone_is_the_best_of_all(rng):
    people, rows = rng.integers(-2, 4, (60, 5)), rng.integers(-1, 4, (BLOCK + 90, 5))
    weights = rng.random((60, 5))
    both = agreement(people, weights, rows).best, best_agreement(people, weights, rows)
    assert both[0] == pytest.approx(both[1], rel=1e-6)
