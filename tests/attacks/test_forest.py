"""The compiled forest against scikit-learn's, naive splits, and known answers."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from unmask.attacks._forest import Ranked, _amounts, _counted, _sorted, grow


def _grown(features, answers, seed=0, **choices):
    return grow(Ranked.of(features.astype(np.float32)), np.arange(len(features)), answers, seed, **choices)


def _made(rng, rows, width, classes=2, signal=1.0):
    """Features of which the first few tell the class; every third has few distinct values."""
    answers = np.arange(rows) % classes
    features = rng.normal(size=(rows, width))
    features[:, :3] += signal * answers[:, None]
    features[:, ::3] = np.round(features[:, ::3])
    return features.astype(np.float32), answers


def test_ranks_are_those_of_distinct_values(rng):
    features = np.round(rng.normal(size=(300, 4)), 1).astype(np.float32)
    features[:5, 0] = [-0.0, 0.0, np.inf, -np.inf, 1e-30]
    ranked = Ranked.of(features)
    for column in range(4):
        values, naive = np.unique(features[:, column] + np.float32(0), return_inverse=True)
        assert (ranked.ranks[column] == naive).all()
        assert ranked.distinct[column] == len(values)


def _gini(answers, classes):
    shares = np.bincount(answers, minlength=classes) / len(answers)
    return len(answers) * (1 - np.sum(shares**2))


@pytest.mark.parametrize("classes", [2, 3])
def test_the_root_is_the_best_cut_of_all(rng, classes):
    """One feature: the first cut of a tree has the least Gini impurity among all cuts of its bootstrap sample."""
    features, answers = _made(rng, 60, 1, classes)
    ranked = Ranked.of(features)
    every = np.arange(60)
    for seed in range(20):
        forest = grow(ranked, every, answers, seed, trees=1)
        weights = _bootstrap(seed, 60)
        rows = np.repeat(every, weights)
        values, held = features[rows, 0], answers[rows]
        cuts = np.unique(values)[:-1]
        impurity = [_gini(held[values <= c], classes) + _gini(held[values > c], classes) for c in cuts]
        found = forest.thresholds[0, 0]
        seen = _gini(held[values <= found], classes) + _gini(held[values > found], classes)
        assert seen == pytest.approx(min(impurity))


def _bootstrap(seed, count):
    """The draws of the first tree, from the definition of xorshift64*."""
    state, weights = (seed * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) % 2**64, np.zeros(count, dtype=int)
    for _ in range(count):
        state ^= state >> 12
        state = (state ^ (state << 25)) % 2**64
        state ^= state >> 27
        weights[((state * 2685821657736338717 % 2**64 >> 32) * count) >> 32] += 1
    return weights


@pytest.mark.parametrize("rows", [2, 63, 64, 65, 700])
def test_counting_finds_the_cut_that_sorting_finds(rng, rows):
    """Many distinct ranks, few, and one; nodes of two rows to all; the counters are zero again afterwards."""
    for digits in (0, 1, 6):
        features = np.round(rng.normal(size=(rows, 1)), digits).astype(np.float32)
        ranked, answers = Ranked.of(features), rng.integers(2, size=rows)
        weights = rng.integers(1, 4, size=rows)
        tally, seen = np.zeros(rows, dtype=np.uint64), np.zeros(rows // 64 + 1, dtype=np.uint64)
        for size in (2, rows // 2 + 1, rows):
            here = rng.permutation(rows)[:size].astype(np.uint32)
            total = np.bincount(answers[here], weights=weights[here], minlength=2).astype(np.int64)
            line, keys = ranked.ranks[0], np.empty(rows, dtype=np.int64)
            by_sorting = _sorted(line, answers, weights, here, total, keys)
            assert _counted(line, _amounts(weights, answers), here, total.sum(), total[1], tally, seen) == by_sorting
            assert (by_sorting[1] == -1) == (len(np.unique(line[here])) == 1)
            assert not tally.any()
            assert not seen.any()


@pytest.mark.parametrize(("classes", "width", "rows"), [(2, 30, 200), (3, 30, 150), (2, 400, 120)])
def test_scores_are_as_good_as_those_of_scikit_learn(rng, classes, width, rows):
    """Mean AUC of 8 forests each, on other rows; they may differ by four standard errors."""
    features, answers = _made(rng, rows, width, classes)
    others, truth = _made(rng, 400, width, classes)
    ours = [_area(truth, _grown(features, answers, seed).predict_proba(others)) for seed in range(8)]
    theirs = [
        _area(truth, RandomForestClassifier(100, random_state=seed).fit(features, answers).predict_proba(others))
        for seed in range(8)
    ]
    spread = np.hypot(np.std(ours), np.std(theirs)) / np.sqrt(8)
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * spread + 0.002
    assert np.std(ours) < 2.5 * np.std(theirs) + 0.002


def _area(truth, shares):
    return roc_auc_score(truth == 1, shares[:, 1] if shares.shape[1] == 2 else shares[:, 1] - shares[:, 0])


def test_noise_teaches_nothing(rng):
    """Labels that have nothing to do with the features: AUC one half, on average over 40 forests."""
    areas = []
    for seed in range(40):
        features, answers = _made(rng, 100, 20, signal=0.0)
        others, truth = _made(rng, 100, 20, signal=0.0)
        areas.append(_area(truth, _grown(features, answers, seed).predict_proba(others)))
    assert abs(np.mean(areas) - 0.5) < 3.3 * np.std(areas) / np.sqrt(40)


def test_rows_that_are_left_out_do_not_matter(rng):
    """A forest on some rows of a ranked table is the forest on a table of these rows."""
    features, answers = _made(rng, 90, 12)
    some = rng.permutation(90)[:50]
    whole = grow(Ranked.of(features), some, answers[some], 7)
    alone = _grown(features[some], answers[some], 7)
    assert (whole.predict_proba(features) == alone.predict_proba(features)).all()


def test_seeds_repeat_and_differ(rng):
    features, answers = _made(rng, 80, 10)
    first, same, other = (_grown(features, answers, seed).predict_proba(features) for seed in (1, 1, 2))
    assert (first == same).all()
    assert (first != other).any()


def test_constant_features_make_one_leaf():
    forest = _grown(np.ones((20, 5), dtype=np.float32), np.arange(20) % 2)
    assert (forest.features == -1).all()


def test_a_feature_among_many_constants_is_found(rng):
    """The search goes on until a feature differs, however many are constant."""
    features = np.zeros((60, 400), dtype=np.float32)
    answers = np.arange(60) % 2
    features[:, 123] = answers
    assert (_grown(features, answers).predict_proba(features).argmax(axis=1) == answers).all()


def test_classes_keep_their_names(rng):
    features, answers = _made(rng, 60, 5)
    forest = _grown(features, np.array([4, 9])[answers])
    assert forest.classes_.tolist() == [4, 9]
