import itertools

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from unmask.generators import _counts
from unmask.generators._counts import columns_of, joint, mutual_information, one_way, pair_sums, triple_sums

SIZES = np.array([1, 2, 5, 20, 41, 300])


@pytest.fixture
def codes(rng):
    drawn = np.column_stack([rng.integers(0, max(1, size - 1), 700) for size in SIZES])
    drawn[:, 4] = 2 * drawn[:, 3] + drawn[:, 1]  # a strong relation
    return np.asfortranarray(drawn.astype(np.uint16))


def naive_joint(codes, positions, sizes):
    counts = np.zeros(sizes[list(positions)], dtype=int)
    for row in codes:
        counts[tuple(row[list(positions)])] += 1
    return counts


def test_counts_equal_a_naive_loop(codes):
    for j, counts in enumerate(one_way(codes, SIZES)):
        assert counts.dtype == np.int64
        np.testing.assert_array_equal(counts, naive_joint(codes, [j], SIZES))
    for positions in [(3,), (4, 1), (1, 0, 5), (2, 4, 3)]:
        counts = joint(codes, positions, SIZES)
        assert counts.dtype == np.int64
        np.testing.assert_array_equal(counts, naive_joint(codes, positions, SIZES))


@pytest.mark.parametrize("dense", [1 << 22, 100], ids=["counted", "sorted"])
def test_mutual_information_equals_scikit_learn(codes, dense, monkeypatch):
    monkeypatch.setattr(_counts, "DENSE", dense)
    found = mutual_information(codes, SIZES)
    truth = [[mutual_info_score(a, b) for a in codes.T] for b in codes.T]
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-10)
    narrow = mutual_information(np.asfortranarray(codes[:, :5].astype(np.uint8)), SIZES[:5])
    np.testing.assert_allclose(narrow, np.array(truth)[:5, :5], rtol=0, atol=1e-10)


def test_mutual_information_of_one_row_and_of_huge_domains():
    assert mutual_information(np.array([[3, 0]], dtype=np.uint8), np.array([4, 2])).tolist() == [[0, 0], [0, 0]]
    codes = np.asfortranarray(np.array([[0, 5], [64_000, 5], [0, 64_999], [64_000, 64_999]], dtype=np.uint16))
    found = mutual_information(codes, np.array([65_000, 65_000]))
    np.testing.assert_allclose(found, np.log(2) * np.eye(2), atol=1e-12)


def test_three_way_sums_give_the_information_of_two_parents(codes):
    columns, n = columns_of(codes), len(codes)
    pairs, triples = pair_sums(columns, SIZES), triple_sums(columns, SIZES, 50_000)
    for child, a, b in itertools.permutations(range(6), 3):
        if np.prod(SIZES[[child, a, b]]) > 50_000:
            assert np.isnan(triples[child, a, b])
            continue
        both = codes[:, a].astype(int) * SIZES[b] + codes[:, b]
        found = np.log(n) + (triples[child, a, b] - pairs[child, child] - pairs[a, b]) / n
        assert found == pytest.approx(mutual_info_score(codes[:, child], both), abs=1e-10)
