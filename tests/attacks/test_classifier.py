"""The classifier between release and reference: worked log-odds, a shift of known size, honesty, awkward tables."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.ensemble import HistGradientBoostingClassifier

from tests.attacks.test_closest_record import assert_blind, assert_survives, crowd, mixed, scores_of, view_of
from unmask.attacks.classifier import Classifier, as_features
from unmask.datasets import gaussian, planted
from unmask.errors import ParameterError
from unmask.stats.auc import auc
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table
from unmask.threats.knowledge import Goal


def coins(heads, rows):
    """One column of two values, the second in this many rows."""
    codes = (np.arange(rows) < heads).astype(np.uint8)[:, None]
    return Table(Schema((Column("side", Kind.CATEGORICAL, values=("tail", "head")),)), codes, np.empty((rows, 0)))


def shifted(rows, by, seed):
    """A standard normal column, moved."""
    table = gaussian(1, rows, seed=seed)
    numbers = table.numbers + by
    return replace(table, codes=table.schema.columns[0].bin_of(numbers).astype(table.codes.dtype), numbers=numbers)


def values_of(values, code_count):
    """A column of as many codes as this, with rows that use these."""
    schema = Schema((Column("wide", Kind.CATEGORICAL, values=tuple(f"v{i}" for i in range(code_count - 1))),))
    assert schema.columns[0].code_count == code_count  # one is for unlisted values
    return Table(schema, np.asarray(values, dtype=schema.code_type)[:, None], np.empty((len(values), 0)))


def test_scores_of_a_coin_are_its_log_odds(rng):
    """60 boosted steps of a tenth reach the maximum likelihood: log of synthetic count over reference count."""
    scores = scores_of(Classifier(), view_of(coins(600, 1000), coins(300, 1000)), coins(1, 2), None, rng)
    np.testing.assert_allclose(scores, np.log([600 / 300, 400 / 700]), atol=0.01)


def test_a_shift_is_seen_as_well_as_can_be(rng):
    """Two normal tables one standard deviation apart: no score has an AUC above Phi(1 / sqrt 2) = .760; trees come near."""
    view = view_of(shifted(4000, 1.0, seed=1), shifted(4000, 0.0, seed=2))
    there, here = (scores_of(Classifier(), view, shifted(4000, by, seed=3), None, rng) for by in (1.0, 0.0))
    found, best = auc(there, here, confidence=0.999), norm.cdf(np.sqrt(0.5))
    assert found.interval[0] <= best
    assert found.value >= best - 0.02


def test_a_table_that_is_published_as_it_is_gives_its_people_away():
    """Trees bend towards the rows they were shown. A few planted copies among many rows are not expected to be seen."""
    real, reference, controls = crowd(300, seed=1), crowd(300, seed=2), crowd(300, seed=3)
    members, others = (
        scores_of(Classifier(), view_of(real, reference), people, None, np.random.default_rng(0))
        for people in (real, controls)
    )
    assert auc(members, others, confidence=0.999).interval[0] > 0.5


def test_equal_distributions_are_not_told_apart():
    """At 95 % confidence at most 1 in 20 private releases may look leaky, or the opposite (99.9 % limit of 100: 13)."""
    missed = 0
    for seed in range(100):
        made = planted(400, leaked=0, columns=4, seed=seed)
        reference, controls = (made.holdout.take(np.arange(low, low + 200)) for low in (0, 200))
        score = Classifier(rounds=10).between(made.synthetic, reference, np.random.default_rng(seed))
        low, high = auc(score(made.real), score(controls), confidence=0.95).interval
        missed += not low <= 0.5 <= high
    assert missed <= binom.ppf(0.999, 100, 0.05)


def test_nothing_to_see_when_nothing_leaks():
    assert_blind("classifier:rounds=10")


@pytest.mark.parametrize("table", [crowd, mixed])
def test_defaults_are_those_of_a_plain_fit(table):
    """All three to the last bit, so that the blind baseline and the attack are one instrument."""
    synthetic, reference, targets = table(300, seed=1), table(250, seed=2), table(20, seed=3)
    fit = HistGradientBoostingClassifier(
        max_iter=60,
        max_leaf_nodes=15,
        min_samples_leaf=20,
        categorical_features=[not c.is_numeric and c.code_count <= 255 for c in synthetic.schema.columns],
        early_stopping=False,
        random_state=int(np.random.default_rng(5).integers(2**31)),
    ).fit(np.concatenate([as_features(synthetic), as_features(reference)]), np.arange(550) < 300)
    plain = fit.decision_function(as_features(targets))
    np.testing.assert_array_equal(Classifier().between(synthetic, reference, np.random.default_rng(5))(targets), plain)
    view = view_of(synthetic, reference)
    np.testing.assert_array_equal(scores_of(Classifier(), view, targets, None, np.random.default_rng(5)), plain)
    assert len(np.unique(plain)) > 5


def test_large_tables_are_cut_to_size():
    """The same random part of each table for a seed, first the release's: as if no more had been given."""
    synthetic, reference, targets = crowd(400, seed=1), crowd(500, seed=2), crowd(20, seed=3)
    rng = np.random.default_rng(5)
    parts = [table.take(np.sort(rng.choice(len(table), 100, replace=False))) for table in (synthetic, reference)]
    expected = Classifier().between(*parts, rng)(targets)
    attack, view = Classifier(rows=100), view_of(synthetic, reference)
    one, two, other = (scores_of(attack, view, targets, None, np.random.default_rng(seed)) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one, expected)
    np.testing.assert_array_equal(two, expected)
    assert (other != expected).any()


@pytest.mark.parametrize("code_count", [255, 256, 1000])
def test_columns_with_hundreds_of_values(code_count, rng):
    """The last codes against the first: told apart as categories up to 255 codes, by their order beyond."""
    last = code_count - 2  # of those with a value
    high, low = values_of([last] * 30 + [last - 1] * 30, code_count), values_of([0] * 30 + [1] * 30, code_count)
    scores = scores_of(Classifier(), view_of(high, low), values_of([last, last - 1, 0, 1], code_count), None, rng)
    assert scores[:2].min() > 1 > -1 > scores[2:].max()


def test_a_number_that_is_always_missing_changes_nothing(rng):
    """Nobody has it in either table, so that a target who has it is scored by the rest."""
    synthetic, reference, targets = crowd(200, seed=1), crowd(200, seed=2), crowd(10, seed=3)
    lost = [replace(table, numbers=table.numbers * [np.nan, 1]) for table in (synthetic, reference)]
    same = [replace(table, numbers=table.numbers * [0, 1]) for table in (synthetic, reference)]
    found, expected = (
        scores_of(Classifier(), view_of(*tables), targets, None, np.random.default_rng(1)) for tables in (lost, same)
    )
    np.testing.assert_array_equal(found, expected)
    assert len(np.unique(found)) > 1


def test_scores_are_equal_where_nothing_can_be_learnt(rng):
    people, targets = crowd(50), crowd(5, seed=1)
    none = people.take([])
    for synthetic, reference in ((none, people), (people, none), (none, none)):
        assert scores_of(Classifier(), view_of(synthetic, reference), targets, None, rng).tolist() == [0.0] * 5
    for synthetic, reference in ((people.take([0]), people.take([1])), (people.take([0] * 50), people.take([0] * 40))):
        assert len(np.unique(scores_of(Classifier(), view_of(synthetic, reference), targets, None, rng))) == 1


def test_survives_awkward_releases():
    assert_survives(Classifier(rounds=5), goals=(Goal.MEMBERSHIP,))


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"leaves": 1}, {"leaves": 2.5}, {"rows": 0}, {"rows": True}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Classifier(**wrong)
