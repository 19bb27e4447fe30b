"""Figures of single people against naive ones, and the list against its definition."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from unmask.audits.everyone.evidence import Evidence, Judged
from unmask.audits.everyone.people import judge_people, person_auc, person_tpr
from unmask.stats import e_bh, epsilon_for_listed, epsilon_of_bets, log_e_value_of_bets

RUNS, UNITS = 64, 40


def evidence(rng, runs: int = RUNS, units: int = UNITS, leaking: int = 10, grid: float = 0.0) -> Evidence:
    """The first units leak; with a grid there are ties."""
    members = rng.random((runs, units)) < 0.5
    scores = rng.normal(size=members.shape) + np.where(np.arange(units) < leaking, 4.0, 0.0) * (members - 0.5)
    return Evidence(np.round(scores / grid) * grid if grid else scores, members)


def naive_tpr(scores: np.ndarray, inside: np.ndarray, fpr: float) -> float:
    """The best over all thresholds whose false positive rate is allowed."""
    best = 0.0
    for threshold in [*scores, -np.inf]:
        guessed = scores > threshold
        if guessed[~inside].mean() <= fpr + 1e-9:
            best = max(best, float(guessed[inside].mean()))
    return best


@pytest.mark.parametrize("grid", [0.0, 0.5, 100.0], ids=["no ties", "ties", "all tied"])
def test_auc_and_tpr_of_a_person(grid, rng):
    found = evidence(rng, grid=grid)
    for unit, (auc, tpr) in enumerate(zip(person_auc(found), person_tpr(found), strict=True)):
        scores, inside = found.log_ratios[:, unit], found.members[:, unit]
        assert auc == pytest.approx(roc_auc_score(inside, scores))
        assert tpr == pytest.approx(naive_tpr(scores, inside, 0.1))


def test_a_person_who_was_in_or_out_of_all_runs_has_no_figures(rng):
    found = evidence(rng, runs=6, units=4)
    found.members[:, 0], found.members[:, 1] = True, False
    assert np.isnan(person_auc(found)).tolist() == [True, True, False, False]
    assert np.isnan(person_tpr(found)).tolist() == [True, True, False, False]


def test_the_list_is_that_of_e_bh_over_bets_of_both_parts(rng):
    early, late = evidence(rng, runs=20), evidence(rng)
    everyone = np.ones(UNITS, dtype=bool)
    people = judge_people(Judged(early, late, 40), everyone, rate=0.1, confidence=0.95)
    scores, members = np.concatenate([early.log_ratios, late.log_ratios]), np.concatenate([early.members, late.members])
    log_e = log_e_value_of_bets(scores, members)
    assert log_e == pytest.approx(
        log_e_value_of_bets(early.log_ratios, early.members) + log_e_value_of_bets(late.log_ratios, late.members)
    )
    listing = e_bh(log_e, rate=0.1)
    assert people.log_e == pytest.approx(log_e)
    assert np.array_equal(people.listed, listing.rejected)
    assert people.listed[:10].all()
    threshold = np.log(UNITS / (0.1 * people.listed.sum()))
    assert people.log_threshold == pytest.approx(threshold)
    bounds = epsilon_of_bets(scores[:, people.listed], members[:, people.listed], log_threshold=threshold)
    assert people.epsilon[people.listed] == pytest.approx(bounds)
    assert np.isnan(people.epsilon[~people.listed]).all()


def test_the_advantage_of_a_person_is_bounded_by_their_right_guesses(rng):
    """Bonferroni over all units; the likelihood ratio of each accuracy, averaged, must reach units / .05."""
    late = evidence(rng)
    people = judge_people(Judged(None, late, 40), np.ones(UNITS, dtype=bool), rate=0.1, confidence=0.95)
    right = ((late.log_ratios > 0) == late.members).sum(axis=0)
    bound = epsilon_for_listed(right, len(late.members), log_threshold=np.log(UNITS / 0.05))
    assert people.advantage == pytest.approx(np.tanh(bound / 2))
    assert people.advantage.max() > 0
    assert (people.advantage <= np.maximum(0, 2 * right / len(late.members) - 1)).all()


def test_ranks_follow_the_e_values_and_units_without_a_coin_are_never_listed(rng):
    late = evidence(rng)
    coined = np.ones(UNITS, dtype=bool)
    coined[[0, 20]] = False
    people = judge_people(Judged(None, late, 40), coined, rate=0.1, confidence=0.95)
    assert not people.listed[[0, 20]].any()
    assert sorted(people.rank[[0, 20]]) == [UNITS - 1, UNITS]  # last, since nothing is known about them
    assert np.all(np.diff(people.log_e[np.argsort(people.rank)][:-2]) <= 0)
    assert sorted(people.rank) == list(range(1, UNITS + 1))


def test_nobody_is_listed_without_evidence():
    silent = Evidence(np.zeros((16, 5)), np.arange(80).reshape(16, 5) % 2 == 0)
    people = judge_people(Judged(None, silent, 16), np.ones(5, dtype=bool), rate=0.1, confidence=0.95)
    assert not people.listed.any()
    assert people.advantage.tolist() == [0] * 5
    assert people.auc.tolist() == [0.5] * 5
