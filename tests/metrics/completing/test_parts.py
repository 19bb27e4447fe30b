"""Matches, trees, scores: against plain loops."""

import numpy as np
import pytest

import unmask
from unmask.metrics.completing import combined, matches, published
from unmask.metrics.completing.domains import Domains
from unmask.metrics.completing.matches import NEAREST, best_rows
from unmask.metrics.completing.published import PublishedRows
from unmask.metrics.completing.scores import Weighed, dealt_p_value, near_p_value, rarity
from unmask.metrics.completing.trees import forests, predictors
from unmask.tables.search import best_matches


@pytest.fixture(scope="module")
def adult():
    return unmask.datasets.adult().take(np.arange(3000))


def test_best_rows_equal_a_plain_search(adult):
    known = ["age", "sex", "hours-per-week", "occupation"]
    release, people = adult.take(np.arange(400)).select(known), adult.take(np.arange(400, 430)).select(known)
    found = best_rows(people, PublishedRows.whole(release))
    numeric = {position: place for place, position in enumerate(people.schema.numeric)}
    for person in range(len(people)):
        scores, whole = np.zeros(len(release)), 0.0
        for place in range(len(known)):
            same = release.codes[:, place] == people.codes[person, place]
            weight = -np.log((same.sum() + 0.5) / (len(release) + 1))
            scores += weight * same
            whole += weight
            if place in numeric:
                very = release.numbers[:, numeric[place]] == people.numbers[person, numeric[place]]
                more = max(0.0, -np.log((very.sum() + 0.5) / (len(release) + 1)) - weight)
                scores += more * very
                whole += more
        assert np.allclose(np.sort(scores)[::-1][:NEAREST], found.scores[person], atol=1e-4)
        assert found.share[person] == pytest.approx(scores.max() / whole, abs=1e-4)
        assert found.equal[person] == min(NEAREST, int((scores > whole - 1e-6).sum()))


def test_a_row_does_not_find_itself(adult):
    release = adult.take(np.arange(500)).select(["age", "fnlwgt"])
    rows = np.arange(50)
    assert np.array_equal(best_rows(release.take(rows), PublishedRows.whole(release)).rows[:, 0], rows)
    assert not np.any(best_rows(release.take(rows), PublishedRows.whole(release), own=rows).rows == rows[:, None])


def test_trees_learn_what_is_there_and_rows_are_told_by_trees_that_did_not_see_them(adult):
    release = PublishedRows.whole(adult).select(["education", "sex", "education-num"])
    domains = Domains.of(release)
    columns, place = domains.encode(release.take(np.arange(len(adult)))), 2
    known = predictors(adult.select(["education", "sex"]))
    forest = forests(release, domains, 2, np.random.default_rng(1))[0]
    rows = np.arange(300)
    apart = forest.posterior(known[0][:, rows], rows)
    assert apart.sum(axis=1) == pytest.approx(np.ones(300))
    for row in (3, 77):
        others = [one for one in forest.trees if row not in one.rows]
        assert 0 < len(others) < len(forest.trees)
        votes = np.mean([one.shares[one.tree.leaves(known[0][one.known][:, [row]])][0] for one in others], axis=0)
        assert apart[row] == pytest.approx(votes, abs=1e-3)
    assert (np.argmax(apart, axis=1) == columns[place, rows]).mean() > 0.95


def test_weights_go_to_the_attack_that_is_right():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 400)
    good = np.full((400, 3), 0.1)
    good[np.arange(400), truth] = 0.8
    bad = rng.dirichlet(np.ones(3), 400)
    weights = combined._pooled_weights([bad, good, bad[::-1]], truth, np.ones(400))
    assert weights[1] > 0.8
    assert max(weights[0], weights[2]) < 0.2


def test_that_people_stand_in_the_release_is_seen_and_not_imagined(adult):
    """Everybody published: half of the people attacked are in it. A fresh table: nobody is."""
    people, names = adult.take(np.arange(1000)), ["age", "education", "occupation", "hours-per-week"]
    asked = people.select(names)
    for release, inside in ((adult.take(np.arange(500)), True), (adult.take(np.arange(1000, 1500)), False)):
        table = release.select(names)
        hidden = best_rows(table.take(np.arange(200)), PublishedRows.whole(table), own=np.arange(200))
        assert (combined._inside(best_rows(asked, PublishedRows.whole(table)), hidden) > 0.1) is inside


def test_shares_weigh_rare_values_and_have_an_interval():
    codes = np.array([[0], [0], [0], [1]])
    assert rarity(codes)[:, 0] == pytest.approx(-np.log([0.75, 0.75, 0.75, 0.25]))
    rng = np.random.default_rng(3)
    whole = rng.uniform(0.5, 2, 400)
    people = Weighed(whole * (rng.random(400) < 0.3), whole)
    share = people.share(0.95)
    again = [people.take(rng.integers(0, 400, 400)).value for _ in range(2000)]
    assert (share.low, share.high) == pytest.approx(tuple(np.quantile(again, (0.025, 0.975))), abs=0.006)
    assert np.isnan(Weighed(np.zeros(2), np.zeros(2)).value)
    assert (Weighed(np.ones(1), np.ones(1)).share(0.95).low, people.minus(people, 0.95).value) == (0, 0)


def test_the_p_value_is_that_of_dealt_labels():
    """Six people, three of them members: all 20 dealings are known."""
    people = Weighed(np.array([3.0, 2.0, 1.0, 0.0, 0.0, 1.0]), np.full(6, 3.0))
    assert dealt_p_value(people, 3, np.random.default_rng(1)) == pytest.approx(2 / 20, abs=0.02)
    rng = np.random.default_rng(4)
    found = [dealt_p_value(Weighed(rng.random(30), np.ones(30)), 10, rng) for _ in range(60)]
    assert 0.35 < np.mean(found) < 0.65
    assert sum(p <= 0.05 for p in found) <= 10, "99.9 % limit of 60 at 5 %"


def test_labels_are_dealt_within_strata_and_more_often_for_a_strict_level():
    """Members have the easy stratum: without strata they seem to be known. Twelve of twelve at .00001 need more dealings."""
    strata = np.repeat([0, 1, 0, 1], [40, 10, 10, 40])
    people = Weighed(1.0 * (strata == 0), np.ones(100))
    assert dealt_p_value(people, 50, np.random.default_rng(1)) == pytest.approx(1 / 5000)
    assert dealt_p_value(people, 50, np.random.default_rng(1), strata=strata) == 1
    known = Weighed(np.repeat([1.0, 0.0], 15), np.ones(30))
    assert dealt_p_value(known, 15, np.random.default_rng(1), level=1.5e-4) == pytest.approx(1 / 20_001)


def test_the_near_p_value_is_near():
    rng = np.random.default_rng(5)
    for shift in (0.0, 0.1, 0.2):
        whole = rng.uniform(0.5, 2, 300)
        right = whole * (rng.random(300) < np.where(np.arange(300) < 120, 0.3 + shift, 0.3))
        people = Weighed(right, whole)
        dealt, near = dealt_p_value(people, 120, rng), near_p_value(people, 120)
        assert near == pytest.approx(dealt, abs=0.02, rel=0.5)
    assert near_p_value(Weighed(np.zeros(4), np.zeros(4)), 2) == 1


def test_intervals_cover_also_with_few_people_and_rare_hits():
    """400 people, 15 in the control, hits in 2 of 100, heavy weights: 95 % intervals cover 0 in at least 90 of 100 draws."""
    rng = np.random.default_rng(6)
    covered = 0
    for _ in range(200):
        sides = []
        for size in (400, 15):
            whole = rng.exponential(size=size)
            sides.append(Weighed(whole * (rng.random(size) < 0.02), whole))
        interval = sides[0].minus(sides[1], 0.95)
        covered += interval.low <= 0 <= interval.high
    assert covered >= 180


def test_the_function_hides_no_package():
    import unmask.metrics.completing.scores as scores
    from unmask.metrics import completion

    assert scores.rarity is rarity
    assert callable(completion)


@pytest.mark.parametrize("known", [["age", "sex", "hours-per-week", "occupation"], ["sex", "income"], ["fnlwgt"]])
def test_best_rows_of_a_large_table_are_those_of_a_search_of_all(adult, known, monkeypatch):
    """Ties included: of equal rows the first ones; of few columns nearly all are equal."""
    release, rows = PublishedRows.whole(adult.take(np.arange(2500)).select(known)), np.arange(100)
    cases = [(adult.take(np.arange(2400, 2600)).select(known), None), (release.take(rows), rows)]
    plain = [best_rows(people, release, own=own) for people, own in cases]
    monkeypatch.setattr(best_matches, "FEWEST_ROWS", 100)
    monkeypatch.setattr(matches, "BEGUN", 150)
    monkeypatch.setattr(best_matches, "ROWS", 190)
    monkeypatch.setattr(published, "AT_ONCE", 700)
    for one, (people, own) in zip(plain, cases, strict=True):
        other = best_rows(people, release, own=own)
        for name in ("rows", "scores", "share", "equal"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
