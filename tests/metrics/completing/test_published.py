"""A release in an order of its own equals the copy that it stands for, however many rows are read at a time."""

import numpy as np
import pytest

import unmask
from unmask.metrics.completing import published
from unmask.metrics.completing.combined import guesses
from unmask.metrics.completing.published import PublishedRows
from unmask.tables.table import concatenate

KNOWN, HIDDEN = ["age", "sex", "occupation"], ["hours-per-week", "income", "relationship"]


@pytest.fixture(scope="module")
def adult():
    return unmask.datasets.adult().take(np.arange(1500))


def test_rows_that_are_replaced_equal_a_copy_of_the_table(adult, rng):
    release, new, gone = adult.take(np.arange(500)), adult.take(np.arange(900, 930)), rng.permutation(500)[:30]
    copy = concatenate([release.take(np.setdiff1d(np.arange(500), gone)), new]).select(HIDDEN)
    grown = PublishedRows.replaced(release, gone, new).select(HIDDEN)
    order = rng.permutation(len(copy))
    assert grown.take(order).digest() == copy.take(order).digest()
    for place, counts in enumerate(grown.counts):
        assert np.array_equal(counts, np.bincount(copy.codes[:, place], minlength=len(counts)))


def test_nobody_added_is_the_table_less_some_rows(adult):
    less = PublishedRows.replaced(adult, np.array([3, 7]), adult.take(np.arange(0)))
    assert less.take(np.arange(len(less))).digest() == adult.take(np.setdiff1d(np.arange(len(adult)), [3, 7])).digest()


def test_guesses_do_not_hang_on_how_many_rows_are_read_at_a_time(adult, monkeypatch):
    people, release = adult.take(np.arange(1000, 1200)), adult.take(np.arange(1000))
    grown = PublishedRows.replaced(release, np.arange(40), people.take(np.arange(40)))

    def found():
        return [
            guesses(people, each, KNOWN, HIDDEN, np.random.default_rng(1))
            for each in (PublishedRows.whole(release), grown)
        ]

    whole = found()
    monkeypatch.setattr(published, "AT_ONCE", 64)
    for one, other in zip(whole, found(), strict=True):
        for name, guess in one.items():
            assert np.array_equal(guess.columns, other[name].columns)
            assert np.array_equal(guess.whole, other[name].whole)
