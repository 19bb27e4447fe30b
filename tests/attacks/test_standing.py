"""How people stand against a release: what the definition says, and nothing about who is a member."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from unmask.attacks._agreements import PENALTY, Agreements, CodedRows, pair_counts
from unmask.attacks.linkage_weights import LinkageWeights
from unmask.attacks.standing import links_of, standing
from unmask.datasets import adult
from unmask.tables.exact import MISSING, ExactValues
from unmask.tables.read import read_table
from unmask.tables.table import concatenate
from unmask.threats.knowledge import Access
from unmask.threats.view import View


@pytest.fixture(scope="module")
def parts():
    everybody = adult()
    whole = np.flatnonzero((ExactValues(everybody).codes >= 0).all(axis=1))  # nothing is missing
    people = everybody.take(np.random.default_rng(2).choice(whole, 900, replace=False))
    return [people.take(np.arange(start, start + 300)) for start in (0, 300, 600)]


def naive_linkage(people, release, reference, own):
    """Best weighted match by the definition, value by value."""
    values = ExactValues(people)
    mine, theirs, known = values.codes, values.find(release), values.find(reference)
    scores = []
    for i, person in enumerate(mine):
        others = np.delete(known, own[i], axis=0) if own is not None else known
        worth = [
            -np.log(((others[:, c] == code).sum() + 0.5) / (len(known) + 1)) + PENALTY for c, code in enumerate(person)
        ]
        worth = np.where(person >= 0, worth, 0.0)
        scores.append(((theirs == person) * worth).sum(axis=1).max() - ((others == person) * worth).sum(axis=1).max())
    return np.array(scores)


def test_linkage_weights_are_as_defined(parts):
    people, release, reference = (part.take(np.arange(60)) for part in parts)
    found = standing(people, release, reference)
    assert found.links.weights == pytest.approx(naive_linkage(people, release, reference, None), abs=1e-4)
    both = concatenate([people, reference])
    inside = standing(both, release, both, own=np.arange(120))
    assert inside.links.weights == pytest.approx(naive_linkage(both, release, both, np.arange(120)), abs=1e-4)


def test_the_registered_attack_is_the_same_number(parts):
    people, release, reference = parts
    view = View(frozenset({Access.SYNTHETIC, Access.REFERENCE}), synthetic=release, reference=reference)
    rng = np.random.default_rng(0)
    scores = LinkageWeights().prepare(view, people, None, rng).score(view, people, None, rng)
    assert scores == pytest.approx(standing(people, release, reference).links.weights)


def test_linkage_weights_alone_are_the_same(parts):
    people, release, _ = parts
    rows = np.arange(10, 40)
    whole = standing(people, release, people, own=np.arange(len(people))).links
    some = links_of(people.take(rows), release, people, own=rows)
    assert some.weights == pytest.approx(whole.weights[rows], abs=1e-9)
    assert some.worth == pytest.approx(whole.worth[rows])


@pytest.mark.parametrize("pairs", [0, 10**9])  # by lists of sorted rows, and pair by pair
def test_numbers_about_some_and_links_of_all_are_those_of_each_alone(parts, monkeypatch, pairs):
    monkeypatch.setattr(import_module("unmask.tables.search.best_match"), "FEWEST_PAIRS", pairs)
    monkeypatch.setattr(import_module("unmask.tables.search.near_counts"), "FEWEST_PAIRS", pairs)
    people, release, _ = parts
    order = np.random.default_rng(4).permutation(len(people))
    both = standing(people.take(order), release, people, own=order, first=70)
    alone = standing(people.take(order[:70]), release, people, own=order[:70])
    assert both.names == alone.names
    assert np.array_equal(both.values, alone.values)
    assert np.array_equal(both.exact.in_release, alone.exact.in_release)
    everybody = links_of(people.take(order), release, people, own=order)
    assert np.array_equal(both.links.best, everybody.best)
    assert np.array_equal(both.links.usual, everybody.usual)
    assert np.array_equal(both.links.worth, everybody.worth)


def test_numbers_are_finite_and_named_once(parts):
    found = standing(*parts)
    assert np.isfinite(found.values).all()
    assert found.values.shape == (300, len(found.names))
    assert len(set(found.names)) == len(found.names)


def test_a_person_is_not_their_own_reference(parts):
    """Shuffling the crowd changes no number of anybody: nothing depends on who stands where, or on who is a member."""
    people, release, _ = parts
    order = np.random.default_rng(1).permutation(len(people))
    plain = standing(people, release, people, own=np.arange(len(people))).values
    mixed = standing(people.take(order), release, people.take(order), own=np.arange(len(people))).values
    assert plain[order] == pytest.approx(mixed, abs=1e-5)


def test_copies_stand_out(parts):
    people, release, reference = parts
    leaky = concatenate(
        [replace(part, notes=()) for part in (release.take(np.arange(290)), people.take(np.arange(10)))]
    )
    found = standing(people, leaky, reference)
    assert np.sort(np.argsort(-found.links.weights)[:10]).tolist() == list(range(10))
    assert found.links.found[:10] == pytest.approx(1.0)


def test_missing_values_agree_with_nothing_and_rounding_is_followed():
    people = read_table(pd.DataFrame({"amount": [1234.0, None, 5678.0], "town": ["a", None, "b"]}))
    release = read_table(
        pd.DataFrame({"amount": [1230.0, None, 1240.0], "town": [None, None, "a"]}), people.schema, unlisted="note"
    )
    found = standing(people, release, people, own=np.arange(3))
    assert found.exact.in_release.tolist() == [[1, 1], [0, 0], [0, 0]]
    assert found.links.best[1] == 0


def test_pairs_are_counted_as_a_plain_loop_counts_them(rng, monkeypatch):
    people = rng.integers(-2, 4, size=(30, 3)).astype(np.int16)
    people[people < 0] = MISSING
    rows = rng.integers(-1, 6, size=(80, 3)).astype(
        np.int16
    )  # values that nobody has, and values that none of the people has
    pairs = ((0, 1), (0, 2), (1, 2))
    expected = [
        [sum(one[a] >= 0 and one[b] >= 0 and one[a] == row[a] and one[b] == row[b] for row in rows) for a, b in pairs]
        for one in people
    ]
    assert np.array_equal(pair_counts(people, rows, pairs), expected)
    monkeypatch.setattr(import_module("unmask.attacks._agreements"), "MOST_CELLS", 0)
    assert np.array_equal(pair_counts(people, rows, pairs), expected), "by keys"


def test_compared_people_can_be_cut(parts):
    values = ExactValues(parts[0])
    exact = Agreements.of(values.codes, *(CodedRows(values, part) for part in parts[1:]), None, fully=0).shared
    some = exact.only([0, 2])
    assert (some.ratios == exact.ratios[:, [0, 2]]).all()


def test_numbers_do_not_hang_on_how_many_rows_are_read_at_a_time(parts, monkeypatch):
    people, release, reference = parts
    both = concatenate([people, reference])
    cases = ((people, release, reference, None), (both, release, both, np.arange(len(both))))
    plain = [standing(*each[:3], own=each[3]) for each in cases]
    monkeypatch.setattr(import_module("unmask.attacks._agreements"), "AT_ONCE", 17)
    monkeypatch.setattr(import_module("unmask.attacks._agreements"), "MOST_KEPT", 0)
    for one, each in zip(plain, cases, strict=True):
        other = standing(*each[:3], own=each[3])
        assert np.array_equal(one.values, other.values)
        assert np.array_equal(one.links.best, other.links.best)
        assert np.array_equal(one.links.usual, other.links.usual)
