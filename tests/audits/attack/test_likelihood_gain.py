"""Privacy gain of secret numbers by likelihood, against the paper's text on small tables."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from unmask.audits.attack.audit import attack
from unmask.audits.attack.likelihood import HEADS
from unmask.stats import Assumption, Estimate
from unmask.stats.cases import Cases
from unmask.stats.outcomes import judge_likelihood, likelihood_of, privacy_gain
from unmask.tables.read import read_table
from unmask.tables.schema import Origin


@pytest.fixture(scope="module")
def population():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(size=300).round(2), "b": rng.normal(size=300).round(2)})
    frame["n"] = (10 + 3 * frame["a"] + rng.normal(0, 2, 300)).round(1)
    frame.loc[:1] = [[3.5, -3.5, 18.5], [0.0, 0.0, 25.0]]  # guesses stay in the public range: let it be wide
    table = read_table(frame)
    return replace(table, schema=replace(table.schema, origin=Origin.PUBLIC))


def found(result, name="linear"):
    row = next(row for row in result.records.rows if row[2] == name)
    return dict(zip(result.records.columns, row, strict=True))


def naive_success(rows, target, truth):
    """8.3: link by the known values; else a linear model on centred features, no intercept, and its likelihood of the truth."""
    same = [row for row in rows if row[0] == target[0] and row[1] == target[1]]
    if len(same) == 1:
        return float(same[0][2] == truth)
    table = np.array(rows)
    features, answers = table[:, :2], table[:, 2]
    centred = features - features.mean(axis=0)
    weights, *_ = np.linalg.lstsq(centred, answers - answers.mean(), rcond=None)
    residuals = answers - answers.mean() - centred @ weights
    sigma = np.sqrt(residuals @ residuals / (len(rows) - 2))  # k = 3 columns, so n - (k - 1)
    guess = answers.mean() + (np.array(target) - features.mean(axis=0)) @ weights
    return min(norm.pdf(truth, guess, sigma), 1.0)


def test_likelihood_on_small_tables_is_that_of_the_paper(population, rng):
    from unmask.attacks.linear import FLOOR
    from unmask.attacks.record_linkage import RecordLinkage
    from unmask.simulation.target import masked_targets, secret_of
    from unmask.tables.table import concatenate
    from unmask.threats.game import Game
    from unmask.threats.knowledge import Access, Goal
    from unmask.threats.view import View

    game, target = Game(goal=Goal.ATTRIBUTE, secret="n"), population.take([0])
    masked, secret = masked_targets(target, game), secret_of(target, game)
    column = population.schema.columns[secret.position]
    for inside in (False, True):
        for seed in range(5):
            real = population.take(1 + np.random.default_rng(seed).choice(299, 30, replace=False))
            real = concatenate([real, target]) if inside else real
            view = View(frozenset({Access.SYNTHETIC}), synthetic=real)
            said = RecordLinkage(unique=True, model="linear").score(view, masked, secret, rng)
            chance = likelihood_of(
                said.mean, said.scale, np.array([18.5]), certain=1.001 * FLOOR * (column.upper - column.lower)
            )
            expected = naive_success(real.numbers.tolist(), (3.5, -3.5), 18.5)
            assert chance[0] == pytest.approx(expected, rel=1e-6)
            assert (expected == 1) == inside


def test_a_density_is_cut_at_one_and_a_number_that_was_read_is_right_or_not():
    mean, truth = np.array([0.0, 1.0, 0.0, 5.0]), np.zeros(4)
    scale = np.array([2.0, 1.0, 0.01, 1e-9])
    chances = likelihood_of(mean, scale, truth, certain=1e-8)
    assert chances.tolist() == pytest.approx([norm.pdf(0, 0, 2), norm.pdf(1), 1.0, 0.0])
    assert likelihood_of(np.zeros(1), np.array([1e-9]), np.zeros(1), certain=1e-8) == 1
    assert likelihood_of(np.array([1e300]), np.array([1e-300]), np.zeros(1), certain=0.0) == 0


def test_the_advantage_is_a_difference_of_means_over_releases(rng):
    members, chances = rng.random(120) < 0.5, rng.random(120)
    names = np.repeat(np.arange(40), 3)
    estimate = judge_likelihood(chances, members, confidence=0.9, releases=names)
    assert estimate.value == pytest.approx(chances[members].mean() - chances[~members].mean())
    assert estimate.n == 40
    assert estimate.low < estimate.value < estimate.high
    assert judge_likelihood(chances, np.ones(120, bool), confidence=0.9, releases=names) is None
    # values of 0 and 1 are bets on guesses, as everywhere
    right = chances > 0.5
    cases = Cases.of(names, 120)
    plain, bets = cases.gain(right, members, confidence=0.9), cases.mean_gain(right * 1.0, members, confidence=0.9)
    assert bets.interval == pytest.approx(plain.interval)


def test_the_privacy_gain_has_a_box():
    raw = Estimate(0.9, (0.7, 0.95), 0.975, "bets", Assumption.EXACT, 40)
    gain = privacy_gain(raw, Estimate(0.2, (0.1, 0.4), 0.975, "bets", Assumption.EXACT, 80))
    assert gain.value == pytest.approx(0.7)
    assert gain.interval == pytest.approx((0.3, 0.85))
    assert gain.confidence == pytest.approx(0.95)
    assert gain.n == 40


CHOICES = {"goal": "attribute", "secret": "n", "targets": "rows:0", "shadows": 4, "tests": 80, "train_rows": 40}


def test_published_data_has_no_gain_and_a_private_release_all_of_it(population):
    own = "record-linkage:model=linear,unique=true"
    raw = found(attack("raw", population, attacks=(own,), **CHOICES), own)
    assert raw["likelihood advantage"] > 0.6
    assert raw["likelihood gain low"] <= 0 <= raw["likelihood gain high"]
    private = found(attack("oblivious", population, attacks=("linear",), **CHOICES))
    assert private["likelihood low"] <= 0 <= private["likelihood high"]
    assert private["likelihood gain low"] > 0.3
    assert private["likelihood on raw data"] == pytest.approx(raw["likelihood on raw data"], abs=0.02)


def test_tolerance_changes_right_guesses_and_no_likelihood(population):
    one, other = (
        found(attack("bayesnet", population, attacks=("linear",), tolerance=tolerance, **CHOICES))
        for tolerance in (0.5, 5.0)
    )
    assert one["right with"] != other["right with"]
    assert [one[head] for head in HEADS] == [other[head] for head in HEADS]


def test_an_attack_that_gives_no_scale_has_no_likelihood(population):
    row = found(attack("bayesnet", population, attacks=("naive:classifier=knn",), **CHOICES), "naive:classifier=knn")
    assert np.isnan(row["likelihood advantage"])
    assert np.isnan(row["likelihood privacy gain"])
    assert row["likelihood on raw data"] > 0.6
