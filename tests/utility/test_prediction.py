"""What models learn from a release: as much as from the real table if it is the real table, nothing if it is noise."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import unmask
from unmask.errors import InputError
from unmask.tables.table import Table
from unmask.utility.features import Encoding, FeatureMap, FeatureScaling
from unmask.utility.learners import CLASSIFIERS, OF_CLASSES
from unmask.utility.prediction import TrainAndTest, answers, predicted
from unmask.utility.subgroups import group_marginals, group_predictions


@pytest.fixture(scope="module")
def adults():
    adult = unmask.datasets.adult()
    order = np.random.default_rng(3).permutation(len(adult))
    return adult.take(order[:600]), adult.take(order[600:1000])


def test_the_real_table_teaches_all_that_it_teaches(adults, rng):
    """Exactly: the same rows are drawn of both."""
    taught = TrainAndTest("sex", repeats=4).run(adults[0], [adults[0]], holdout=adults[1], rng=rng)
    assert [each.learner for each in taught.learners] == ["forest", "logistic", "boosting"]
    for each in taught.learners:
        assert np.array_equal(each.real, each.synthetic)
        assert (each.kept.value, each.kept.low, each.kept.high) == pytest.approx((1, 1, 1))
    assert (taught.train_rows, taught.test_rows) == (480, 200)


def test_noise_teaches_nothing(adults, rng):
    noise = unmask.generators.get("oblivious").fit(adults[0], rng).sample(600, rng)
    taught = TrainAndTest("age", repeats=3).run(adults[0], [noise], rng=rng)
    linear = taught.learners[0]
    assert linear.learner == "linear"
    assert linear.mean(linear.real, 2).value > 0.2 > linear.mean(linear.synthetic, 2).value  # R2
    assert linear.kept.high < 0.5


def test_a_release_without_the_label_of_some_rows(people, rng):
    """Rows of unknown income neither teach nor test."""
    taught = TrainAndTest("income", repeats=2).run(people, [people], rng=rng)
    known = int((~np.isnan(answers(people, "income"))).sum())
    assert taught.train_rows == round(0.8 * known)
    assert np.isfinite(taught.learners[0].real).all()


def test_nobody_is_trained_on_and_tested(rng):
    """A person's rows stay on one side."""
    frame = pd.DataFrame({"x": rng.integers(0, 9, 300), "y": rng.choice(["a", "b"], 300)})
    table = Table.from_pandas(frame)
    table = replace(table, persons=np.array([f"p{row // 7}" for row in range(300)], dtype=object))
    trained, tested = TrainAndTest("y")._rows(table, None, 5)
    assert not set(table.persons[trained]) & set(table.persons[tested])
    assert len(trained) + len(tested) >= 294


def test_too_few_rows_are_refused(people, rng):
    with pytest.raises(InputError, match="20 of each are needed"):
        TrainAndTest("sex", repeats=2).run(people, [people.take(range(10))], rng=rng)


def test_too_many_classes_are_refused(rng):
    frame = pd.DataFrame({"x": [f"v{row % 60}" for row in range(240)], "y": rng.integers(0, 5, 240)})
    table = Table.from_pandas(frame)
    with pytest.raises(InputError, match="'x' has 60 categories; at most 50 are predicted"):
        TrainAndTest("x").run(table, [table], rng=rng)


def test_a_class_that_is_all_there_is_is_what_is_answered(people):
    only = people.take(people.codes[:, 0] == 0)
    assert set(predicted(CLASSIFIERS[0], only, people, "sex")) == {0}


def test_scores_of_classes_are_those_of_scikit_learn(rng):
    from sklearn.metrics import accuracy_score, balanced_accuracy_score

    truth, told = rng.integers(0, 3, 80), rng.integers(0, 3, 80)
    expected = accuracy_score(truth, told), balanced_accuracy_score(truth, told)
    assert OF_CLASSES.score(truth, told) == pytest.approx(expected)


def test_features_scaled_by_the_training_rows_or_each_by_itself(people):
    train, test = people.take(range(100)), people.take(range(100, 200))
    for scaling in FeatureScaling:
        mine, theirs = FeatureMap(Encoding.LABEL, scaling).matrices(train, test, "sex")
        assert mine.shape == theirs.shape == (100, 5)
        np.testing.assert_allclose(mine.mean(axis=0), 0, atol=1e-9)
        assert np.allclose(theirs.mean(axis=0), 0, atol=1e-9) == (scaling is FeatureScaling.EACH)


def test_rare_categories_share_a_feature(people):
    """Two sexes: one feature and the rest; three regions and missing: three and the rest."""
    matrix, _ = FeatureMap().matrices(people.select(["sex", "region"]), people.select(["sex", "region"]))
    assert matrix.shape == (200, 2 + 4)


def test_the_group_that_the_release_forgets_pays(adults, rng):
    """Women's rows are noise in this release, men's are real: only women are far off, and no group under ten is told."""
    real = adults[0]
    noise = unmask.generators.get("random").fit(real, rng).sample(600, rng)
    place = real.schema.position("sex")
    woman = real.schema.columns[place].values.index("Female")
    codes, numbers = real.codes.copy(), real.numbers.copy()
    theirs = real.codes[:, place] == woman
    codes[theirs], numbers[theirs] = noise.codes[theirs], noise.numbers[theirs]
    codes[theirs, place] = woman
    release = Table(real.schema, codes, numbers)
    found = {each.code: each for each in group_marginals(real, [release], "sex", rng=rng)}
    assert found[woman].estimate.low > 3 * found[woman].other
    assert found[1 - woman].estimate.value == 0
    taught = TrainAndTest("income", repeats=3).run(real, [release], holdout=adults[1], rng=rng)
    told = group_predictions(taught.people, "race")
    assert sum(each.people for each in told) <= 400
    assert all(each.people >= 10 for each in told)
