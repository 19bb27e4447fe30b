"""Every distance against a naive implementation, pandas or scikit-learn; and 0 between a table and itself."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import normalized_mutual_info_score

import unmask
from unmask.generators import get
from unmask.tables.table import Table
from unmask.utility import dependence, marginals, moments
from unmask.utility.comparison import gaps, student


@pytest.fixture
def other(people, rng):
    """Another table of the same schema, with other dependences."""
    return get("independent").fit(people, rng).sample(150, rng)


def naive_variation(real, synthetic, positions):
    mine, theirs = (
        pd.Series([tuple(row) for row in table.codes[:, positions].tolist()]).value_counts(normalize=True)
        for table in (real, synthetic)
    )
    return mine.sub(theirs, fill_value=0).abs().sum() / 2


@pytest.mark.parametrize("positions", [(0,), (2,), (1, 3), (0, 2, 4)])
@pytest.mark.parametrize("dense", [True, False])
def test_total_variation_is_that_of_the_definition(people, other, positions, dense, monkeypatch):
    monkeypatch.setattr(marginals, "DENSE", 10**9 if dense else 0)
    mine, theirs = (marginals.shares_of(table, positions) for table in (people, other))
    assert marginals.total_variation(mine, theirs) == pytest.approx(naive_variation(people, other, list(positions)))
    assert marginals.total_variation(mine, mine) == pytest.approx(0, abs=1e-12)


def test_tables_without_a_cell_in_common_are_as_far_apart_as_can_be(people):
    place = people.schema.position("sex")
    women, men = (marginals.shares_of(people.take(people.codes[:, place] == code), (place,)) for code in (0, 1))
    assert marginals.total_variation(women, men) == 1


def test_many_subsets_are_drawn_and_few_are_all(rng):
    assert marginals.subsets_of(range(4), 2, rng=rng) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    drawn = marginals.subsets_of(range(30), 3, rng=rng)
    assert len(set(drawn)) == marginals.MOST_SUBSETS


def test_correlations_are_those_of_pandas(people):
    """Over the rows that have both values."""
    places = dependence.on_a_scale(people)
    names = [people.schema.names[place] for place in places]
    assert names == ["sex", "age", "income", "joined", "smoker"]
    frame = pd.DataFrame(
        {
            name: people.numbers[:, people.schema.numeric.index(place)]
            if place in people.schema.numeric
            else people.codes[:, place].astype(float)
            for name, place in zip(names, places, strict=True)
        }
    )
    np.testing.assert_allclose(dependence.correlations(people, places), frame.corr().to_numpy(), atol=1e-10)


def test_a_constant_column_has_no_correlation_and_has_lost_those_it_had(people):
    places = dependence.on_a_scale(people)
    constant = people.take(np.zeros(50, dtype=int))
    assert np.isnan(dependence.correlations(constant, places)).all()
    real = dependence.correlations(people, places)
    lost = dependence.correlation_gaps(real, dependence.correlations(constant, places))
    np.testing.assert_allclose(lost, -real[dependence.upper(len(real))])


@pytest.mark.parametrize("dense", [True, False])
def test_mutual_information_is_that_of_scikit_learn(people, dense, monkeypatch):
    monkeypatch.setattr(dependence, "DENSE", 10**9 if dense else 0)
    places = tuple(range(len(people.schema.columns)))
    found = dependence.mutual_information(people, places)
    for i in places:
        for j in places:
            expected = normalized_mutual_info_score(people.codes[:, i], people.codes[:, j])
            assert found[i, j] == pytest.approx(expected, abs=1e-9)


def test_the_similarity_score_is_the_mean_over_columns_and_pairs(people, other):
    places = tuple(range(6))
    found = dependence.dissimilarity(*(dependence.similarity_statistic(each, places) for each in (people, other)))
    columns = [naive_variation(people, other, [place]) for place in places]
    tables = [
        [normalized_mutual_info_score(table.codes[:, i], table.codes[:, j]) for i in places for j in places if i < j]
        for table in (people, other)
    ]
    np.testing.assert_allclose(found, [*columns, *np.abs(np.subtract(*tables))], atol=1e-9)


def test_moments_are_those_of_pandas(people):
    numbers = pd.DataFrame(people.numbers)
    expected = np.column_stack([numbers.mean(), numbers.median(), numbers.var()])
    np.testing.assert_allclose(moments.moments(people), expected)


def test_a_shift_of_one_deviation_is_a_quantile_error_of_one(rng):
    """And of the mean, by the same amount; a column that is constant in the real table has none unless it is the same."""
    frame = pd.DataFrame({"x": rng.normal(5, 2, 500), "y": np.full(500, 3.0)})
    real = Table.from_pandas(frame)
    deviation = float(frame["x"].std(ddof=0))
    for shift, constant in ((deviation, 0.0), (0.0, np.nan)):
        moved = np.array([shift, 0.0 if constant == 0 else 1.0])
        shifted = Table(real.schema, real.codes, real.numbers + moved)
        error = moments.quantile_errors(moments.quantiles(real), moments.quantiles(shifted))
        np.testing.assert_allclose(error, [shift / deviation, constant])
    change = moments.moment_errors(moments.moments(real), moments.moments(shifted))
    np.testing.assert_allclose(change, [[0, 0, 0], [1, 1, 0]], atol=1e-12)


def test_numbers_near_the_largest_have_no_variance_and_no_alarm(rng):
    table = Table.from_pandas(pd.DataFrame({"x": rng.normal(size=50) * 1e300, "y": rng.normal(size=50)}))
    found = gaps(moments.moments, moments.moment_errors, table, [table], rng=rng)
    assert found.value[0] == 0
    assert np.isnan(found.value[2])


def test_a_table_is_at_no_distance_from_itself(people, rng):
    subsets = [(place,) for place in range(6)]
    found = gaps(partial(marginals.marginals, subsets=subsets), marginals.variations, people, [people], rng=rng)
    assert np.all(found.value == 0)
    assert found.mean.value == 0
    assert found.mean.low < 0 < found.mean.high  # bootstrap samples differ
    shares = np.bincount(people.codes[:, 2]) / 200
    deviations = np.sqrt(shares * (1 - shares) * (1 / 200 + 1 / 200))
    assert found.noise[2] == pytest.approx(np.sqrt(2 / np.pi) * deviations.sum() / 2, rel=0.2)  # of normal differences


def test_several_sets_have_the_interval_of_student(people, rng):
    sets = [people.take(rng.integers(200, size=200)) for _ in range(4)]
    each = [moments.moments(table) - moments.moments(people) for table in sets]
    found = gaps(moments.moments, moments.moment_errors, people, sets, rng=rng)
    from scipy.stats import ttest_1samp

    values = [one[0, 0] for one in each]
    expected = ttest_1samp(values, 0).confidence_interval(0.95)
    assert (found.at(0).value, found.at(0).low, found.at(0).high) == pytest.approx((np.mean(values), *expected))
    assert (found.method, found.n) == ("Student t over sets", 4)


def test_repeats_that_share_rows_have_a_wider_interval(rng):
    values = rng.normal(size=10)
    plain, shared = (student(values, confidence=0.95, method="", inflation=more) for more in (0.0, 0.25))
    assert (shared.high - shared.low) / (plain.high - plain.low) == pytest.approx(np.sqrt(3.5))


def test_the_package_does_not_take_the_place_of_the_function(people):
    from unmask.utility import propensity

    assert callable(unmask.utility)
    assert propensity.__name__ == "unmask.utility.propensity"
