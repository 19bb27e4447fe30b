"""Counts by hashing equal counts by comparing, whatever the columns."""

import numpy as np
import pytest

from unmask.attacks.everyone.subset_counts import AskedKeys, choose_subsets, count_keys, keys
from unmask.tables.matching import By, count_matches
from unmask.tables.schema import Column, Kind, Schema
from unmask.testing._tables import STYLES, plain
from unmask.threats.pairs import table_of


def categories(codes: np.ndarray, size: int):
    columns = tuple(Column(f"c{j}", Kind.CATEGORICAL, values=tuple(range(size))) for j in range(codes.shape[1]))
    return table_of(Schema(columns), codes)


@pytest.mark.parametrize("style", STYLES)
def test_counts_are_those_of_exact_matching(style):
    asked = plain(style)
    published = asked.take(np.random.default_rng(0).integers(0, len(asked), 45))
    subsets = choose_subsets(asked, np.random.default_rng(1))
    found = count_keys(keys(asked, subsets), keys(published, subsets))
    for place, subset in enumerate(subsets):
        names = [asked.schema.names[position] for position in subset]
        assert np.array_equal(found[:, place], count_matches(asked, published, columns=names, by=By.CODES)), names


@pytest.mark.parametrize("size", [2, 300])
def test_counts_equal_a_naive_loop_also_for_wide_columns(size, rng):
    """Codes of one and of two bytes; the columns trade places, so that (1, 2) must differ from (2, 1)."""
    asked = categories(rng.integers(0, min(size, 4), (50, 3)), size)
    published = categories(np.concatenate([asked.codes[:20, ::-1], asked.codes[5:30]]), size)
    subsets = ((0,), (1,), (0, 1), (1, 2), (0, 2), (0, 1, 2))
    found = count_keys(keys(asked, subsets), keys(published, subsets))
    for place, subset in enumerate(subsets):
        same = asked.codes[:, None, list(subset)] == published.codes[None, :, list(subset)]
        assert np.array_equal(found[:, place], same.all(axis=2).sum(axis=1))


def test_a_hundred_thousand_different_rows_have_different_keys(rng):
    rows = np.array(np.unravel_index(np.arange(100_000), (50, 40, 50))).T
    found = keys(categories(rows, 50), ((0, 1, 2),))[0]
    assert len(np.unique(found)) == len(rows)


def test_nothing_published_counts_nothing(rng):
    asked = categories(rng.integers(0, 3, (10, 2)), 3)
    assert count_keys(keys(asked, ((0,),)), keys(asked.take(np.arange(0)), ((0,),))).sum() == 0


def test_sets_come_by_size_without_doubles_and_end_with_all_columns(rng):
    for width in (1, 2, 5, 12, 70):
        table = categories(rng.integers(0, 3, (60, width)), 3)
        chosen = choose_subsets(table, np.random.default_rng(3))
        assert len(set(chosen)) == len(chosen)
        assert [len(each) for each in chosen] == sorted(len(each) for each in chosen)
        assert chosen[-1] == tuple(range(width))
        assert all(tuple(sorted(set(each))) == each for each in chosen)
        assert chosen == choose_subsets(table, np.random.default_rng(3))


def test_pairs_that_belong_together_are_asked_about(rng):
    """Of 30 columns two say the same: among 435 pairs this one is never left out."""
    codes = rng.integers(0, 4, (200, 30))
    codes[:, 17] = codes[:, 4]
    for seed in range(5):
        assert (4, 17) in choose_subsets(categories(codes, 4), np.random.default_rng(seed))


@pytest.mark.parametrize("kind", [np.uint16, np.uint32])
@pytest.mark.parametrize("style", STYLES)
def test_keys_that_are_asked_for_again_and_again_give_the_same_counts(style, kind):
    """Many rows share a key, or none does; of one set or of all; beside columns that others fill."""
    asked = plain(style)
    subsets = choose_subsets(asked, np.random.default_rng(1))
    for some in (subsets, subsets[:1], subsets[-3:]):
        prepared = AskedKeys.of(keys(asked, some))
        for seed, rows in enumerate((45, 1, 0)):
            published = asked.take(np.random.default_rng(seed).integers(0, len(asked), rows))
            found = np.full((len(asked), 2 + len(some) + 1), 7, dtype=kind)
            prepared.count(published.codes, some, 2, found)
            assert np.array_equal(found[:, 2:-1], count_keys(keys(asked, some), keys(published, some)))
            assert (found[:, [0, 1, -1]] == 7).all()
